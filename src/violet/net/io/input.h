#pragma once

// Input: what sessions have read, whatever protocol they speak: Bytes as they arrived, and KeptBytes, those of them
// that could not be used yet. A connection keeps a buffer only while there are such.

#include "violet/memory/buffer.h"
#include "violet/memory/ref.h"

#include <cstddef>
#include <cstdint>

namespace violet::net {

// A part of what `owner` holds; whoever uses bytes moves `begin`.
struct Bytes {
  const char* begin;
  const char* end;
  Buffer* owner;
  [[nodiscard]] bool is_empty() const noexcept { return begin == end; }
  [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(end - begin); }
};

class KeptBytes {
 public:
  struct Room {
    char* data;
    std::size_t size;
  };

  explicit operator bool() const noexcept { return static_cast<bool>(buffer_); }
  [[nodiscard]] std::uint32_t size() const noexcept { return end_ - begin_; }
  // REQUIRES: there are some. Valid as long as somebody holds buffer().
  [[nodiscard]] Bytes bytes() const noexcept {
    return {buffer_->data() + begin_, buffer_->data() + end_, buffer_.get()};
  }
  [[nodiscard]] const Ref<HeapBuffer>& buffer() const noexcept { return buffer_; }

  // Where the next read goes. REQUIRES: there are some.
  [[nodiscard]] Room room();
  // n bytes were read there. True when a line has come to its end in them or another 4 KiB are full: what drips in is
  // worth another look only then.
  [[nodiscard]] bool commit(std::size_t n) noexcept;
  // Keeps what is left, perhaps of these same bytes.
  void keep(const Bytes& rest);
  void clear() noexcept;

 private:
  std::uint32_t begin_ = 0;
  std::uint32_t end_ = 0;
  Ref<HeapBuffer> buffer_;
};

}  // namespace violet::net
