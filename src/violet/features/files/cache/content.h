#pragma once

// Content: the bytes of one version of one file in memory. Read once, then never changed; shared by all loops through
// one atomic count, and within a loop through a Holding, whose count is plain: a hot file costs no atomic operation.

#include "violet/features/files/disk/version.h"
#include "violet/memory/ref.h"
#include "violet/memory/slice.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace violet::files {

// How many bytes of contents there are, wherever they are held. Outlives all of them.
using ByteCount = std::atomic<std::uint64_t>;

class Content final : public Buffer {
 public:
  // The bytes are for the caller to fill, before anybody else sees it.
  static Ref<Content> make(const Version& version, std::shared_ptr<ByteCount> resident);

  [[nodiscard]] char* data() noexcept { return reinterpret_cast<char*>(this + 1); }
  [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(version_.size); }
  [[nodiscard]] const Version& version() const noexcept { return version_; }
  // What it takes of a budget: its bytes and what stands around them.
  [[nodiscard]] std::uint64_t cost() const noexcept { return cost_of(version_.size); }
  static constexpr std::uint64_t cost_of(std::uint64_t size) noexcept { return size + kOverheadBytes; }

  // Any thread: used now, in seconds of any clock. Stored only when it is new, so that the line stays shared.
  void touch(std::uint32_t second) noexcept {
    if (touched_.load(std::memory_order_relaxed) != second) touched_.store(second, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint32_t touched() const noexcept { return touched_.load(std::memory_order_relaxed); }
  // The budget wants it back: whoever still has it lets go.
  void evict() noexcept { is_evicted_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool is_evicted() const noexcept { return is_evicted_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::uint64_t kOverheadBytes = 512;  // this object, its place in the store and in an entry
  Content(const Version& version, std::shared_ptr<ByteCount> resident) noexcept;
  static void destroy(Buffer* self) noexcept;

  Version version_;
  std::shared_ptr<ByteCount> resident_;
  std::atomic<std::uint32_t> touched_ = 0;
  std::atomic<bool> is_evicted_ = false;
};

// One loop's hold on a content; its slices count it without atomics.
class Holding final : public Buffer {
 public:
  static Ref<Holding> make(Ref<Content> content) { return Ref<Holding>::adopt(new Holding(std::move(content))); }
  [[nodiscard]] Content& content() const noexcept { return *content_; }
  [[nodiscard]] Slice slice(std::uint64_t first, std::uint64_t size) noexcept {
    return Slice(*this, content_->data() + first, static_cast<std::size_t>(size));
  }

 private:
  explicit Holding(Ref<Content> content) noexcept
      : Buffer(Kind::Heap, [](Buffer* self) noexcept { delete static_cast<Holding*>(self); }),
        content_(std::move(content)) {}
  Ref<Content> content_;
};

}  // namespace violet::files
