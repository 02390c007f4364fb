#pragma once

// Body: what goes out after a head. Either a chain of slices, all there, or a Source that is asked for more whenever
// the wire has room, or a chain followed by a source.

#include "violet/http/fields.h"
#include "violet/memory/chain.h"

#include <cstdint>
#include <memory>
#include <optional>

namespace violet {

class Stream;

enum class Pull : std::uint8_t {
  More,    // ask again when there is room; where nothing was appended, when all that is queued has left
  Wait,    // nothing now (though something may have been appended); Stream::wake() says when to ask again
  End,     // that was all (something may have been appended)
  Failed,  // the body cannot be completed: the stream is reset
};

class Source {
 public:
  Source() noexcept = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  // Appends up to about `max` bytes to `out`; a slice that is there anyway may go a little beyond.
  virtual Pull pull(Chain& out, std::size_t max) = 0;

  // Asked once after End; nullptr for none. They live as long as the source.
  virtual const http::Fields* trailers() { return nullptr; }

  // Tells the source which stream to wake; nullptr when that stream is gone, after which wake() must not be called.
  virtual void attach(Stream* stream) noexcept { static_cast<void>(stream); }

  // Ends the source's life: heap objects by default; those that live elsewhere override it.
  virtual void dispose() noexcept { delete this; }
};

struct SourceDisposer {
  void operator()(Source* source) const noexcept { source->dispose(); }
};
using SourcePtr = std::unique_ptr<Source, SourceDisposer>;

class Body {
 public:
  Body() noexcept = default;
  Body(Slice slice) noexcept : chain_(std::move(slice)) {}
  Body(Chain chain) noexcept : chain_(std::move(chain)) {}
  // `length`: how many bytes the source will give, when that is known.
  explicit Body(SourcePtr source, std::optional<std::uint64_t> length = {}) noexcept
      : source_(std::move(source)), source_length_(length.value_or(kUnknown)) {}

  // Bytes in all; nullopt when a source does not know.
  [[nodiscard]] std::optional<std::uint64_t> length() const noexcept {
    if (source_ == nullptr) return chain_.size();
    if (source_length_ == kUnknown) return std::nullopt;
    return chain_.size() + source_length_;
  }
  [[nodiscard]] bool is_empty() const noexcept { return source_ == nullptr && chain_.is_empty(); }

  [[nodiscard]] Chain& chain() noexcept { return chain_; }
  [[nodiscard]] const Chain& chain() const noexcept { return chain_; }
  [[nodiscard]] Source* source() const noexcept { return source_.get(); }
  [[nodiscard]] SourcePtr take_source() noexcept { return std::move(source_); }

 private:
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
  Chain chain_;
  SourcePtr source_;
  std::uint64_t source_length_ = kUnknown;
};

}  // namespace violet
