#pragma once

// Buffer: counted storage behind slices. What it is (a pooled block, a heap string, bytes shared between loops, an open
// file) decides how it counts and what happens at zero. All but Shared count without atomics and stay on one loop.

#include "violet/base/check.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>

namespace violet {

// Readable bytes behind the end of blocks and heap buffers, so that scanners may load whole vectors past an end.
inline constexpr std::size_t kScanPadding = 32;

class Buffer {
 public:
  enum class Kind : std::uint8_t {
    Block,   // a read or output block of a loop's pool
    Heap,    // bytes of one loop
    Shared,  // bytes of many loops: the one kind with an atomic count
    File,    // a descriptor; its slices are ranges of the file
  };

  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  void retain() noexcept {
    if (kind_ == Kind::Shared) {
      std::atomic_ref(count_).fetch_add(1, std::memory_order_relaxed);
    } else {
      ++count_;
    }
  }
  void release() noexcept {
    if (kind_ == Kind::Shared) {
      const std::uint32_t before = std::atomic_ref(count_).fetch_sub(1, std::memory_order_acq_rel);
      VIOLET_ASSERT(before > 0);
      if (before == 1) dispose_(this);
    } else {
      VIOLET_ASSERT(count_ > 0);
      if (--count_ == 0) dispose_(this);
    }
  }
  [[nodiscard]] bool is_unique() const noexcept { return count_ == 1; }
  [[nodiscard]] bool is_shared_beyond(std::uint32_t count) const noexcept { return count_ > count; }

 protected:
  using Dispose = void (*)(Buffer*) noexcept;
  Buffer(Kind kind, Dispose dispose) noexcept : dispose_(dispose), kind_(kind) {}
  ~Buffer() = default;

 private:
  Dispose dispose_;
  std::uint32_t count_ = 1;
  Kind kind_;
};

// A std::string behind slices: moved in, freed with the last slice.
class StringBuffer final : public Buffer {
 public:
  static StringBuffer* make(std::string text, Kind kind = Kind::Heap) {
    return new StringBuffer(std::move(text), kind);
  }
  [[nodiscard]] std::string_view text() const noexcept { return text_; }

 private:
  StringBuffer(std::string text, Kind kind)
      : Buffer(kind, [](Buffer* self) noexcept { delete static_cast<StringBuffer*>(self); }), text_(std::move(text)) {}
  std::string text_;
};

// Raw bytes behind slices, uninitialised, with room for scanners behind the end.
class HeapBuffer final : public Buffer {
 public:
  static HeapBuffer* make(std::size_t capacity) {
    return ::new (::operator new(sizeof(HeapBuffer) + capacity + kScanPadding)) HeapBuffer(capacity);
  }
  [[nodiscard]] char* data() noexcept { return reinterpret_cast<char*>(this + 1); }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 private:
  explicit HeapBuffer(std::size_t capacity) noexcept
      : Buffer(Kind::Heap, [](Buffer* self) noexcept { ::operator delete(static_cast<HeapBuffer*>(self)); }),
        capacity_(capacity) {}
  std::size_t capacity_;
};

// An open file behind slices; the descriptor closes with the last one.
class FileBuffer final : public Buffer {
 public:
  // Takes `descriptor` over.
  static FileBuffer* make(int descriptor) { return new FileBuffer(descriptor); }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  explicit FileBuffer(int descriptor) noexcept : Buffer(Kind::File, &close_file), descriptor_(descriptor) {}
  static void close_file(Buffer* self) noexcept;
  int descriptor_;
};

}  // namespace violet
