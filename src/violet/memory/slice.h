#pragma once

// Slice: bytes, or a range of a file, and whatever keeps them alive. A value: copying adds a count, moving is free.
//
//   Slice::literal("ok")              bytes that live for ever
//   Slice::borrowed(view)             bytes that live only until the call they are passed to returns; whoever wants
//                                     them longer calls owned()
//   Slice::of(std::string)            bytes of one loop
//   Slice::shared(std::string)        bytes that several loops may hold at once (one atomic count)
//   Slice(block, data, size)          part of a block
//   Slice::file(file, offset, size)   a range of an open file, sent by sendfile or pread

#include "violet/memory/buffer.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace violet {

class Slice {
 public:
  Slice() noexcept = default;
  // Adds a count to `owner`, which holds the bytes.
  Slice(Buffer& owner, const char* data, std::size_t size) noexcept : data_(data), size_(size), owner_(&owner) {
    owner.retain();
  }
  Slice(const Slice& other) noexcept
      : data_(other.data_), size_(other.size_), owner_(other.owner_), is_borrowed_(other.is_borrowed_) {
    if (owner_ != nullptr) owner_->retain();
  }
  Slice(Slice&& other) noexcept
      : data_(other.data_),
        size_(std::exchange(other.size_, 0)),
        owner_(std::exchange(other.owner_, nullptr)),
        is_borrowed_(other.is_borrowed_) {}
  Slice& operator=(Slice other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(owner_, other.owner_);
    std::swap(is_borrowed_, other.is_borrowed_);
    return *this;
  }
  ~Slice() {
    if (owner_ != nullptr) owner_->release();
  }

  static Slice literal(std::string_view text) noexcept { return Slice(text, false); }
  static Slice borrowed(std::string_view text) noexcept { return Slice(text, true); }
  static Slice of(std::string text) { return adopt_string(StringBuffer::make(std::move(text))); }
  static Slice shared(std::string text) {
    return adopt_string(StringBuffer::make(std::move(text), Buffer::Kind::Shared));
  }
  static Slice file(FileBuffer& file, std::uint64_t offset, std::size_t size) noexcept {
    Slice slice(file, nullptr, size);
    slice.offset_ = offset;
    return slice;
  }

  [[nodiscard]] bool is_file() const noexcept { return owner_ != nullptr && owner_->kind() == Buffer::Kind::File; }
  [[nodiscard]] bool is_borrowed() const noexcept { return is_borrowed_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool is_empty() const noexcept { return size_ == 0; }

  // REQUIRES: !is_file().
  [[nodiscard]] const char* data() const noexcept {
    VIOLET_ASSERT(!is_file());
    return data_;
  }
  [[nodiscard]] std::string_view text() const noexcept { return {data(), size_}; }

  // REQUIRES: is_file().
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
  [[nodiscard]] int descriptor() const noexcept {
    VIOLET_ASSERT(is_file());
    return static_cast<FileBuffer*>(owner_)->descriptor();
  }

  // REQUIRES: n <= size().
  void drop_front(std::size_t n) noexcept {
    VIOLET_ASSERT(n <= size_);
    if (is_file()) {
      offset_ += n;
    } else {
      data_ += n;
    }
    size_ -= n;
  }
  [[nodiscard]] Slice prefix(std::size_t n) const noexcept {
    VIOLET_ASSERT(n <= size_);
    Slice slice(*this);
    slice.size_ = n;
    return slice;
  }
  // The bytes from `at` on. REQUIRES: at + size <= size(), and no file.
  [[nodiscard]] Slice part(std::size_t at, std::size_t size) const noexcept {
    VIOLET_ASSERT(at <= size_ && size <= size_ - at && !is_file());
    Slice slice(*this);
    slice.data_ += at;
    slice.size_ = size;
    return slice;
  }
  // The same bytes, safe to keep: a borrowed slice is copied, others only counted.
  [[nodiscard]] Slice owned() && { return is_borrowed_ ? of(std::string(data_, size_)) : std::move(*this); }
  // The same bytes, safe to keep and to write to as long as nobody else looks at them: what is borrowed, lives for ever
  // or is shared between loops is copied.
  [[nodiscard]] Slice writable() && {
    const bool is_ours = owner_ != nullptr && owner_->kind() != Buffer::Kind::Shared;
    return is_ours ? std::move(*this) : of(std::string(data_, size_));
  }

 private:
  Slice(std::string_view text, bool is_borrowed) noexcept
      : data_(text.data()), size_(text.size()), is_borrowed_(is_borrowed) {}
  static Slice adopt_string(StringBuffer* buffer) noexcept {
    Slice slice;
    slice.data_ = buffer->text().data();
    slice.size_ = buffer->text().size();
    slice.owner_ = buffer;
    return slice;
  }

  union {
    const char* data_ = nullptr;
    std::uint64_t offset_;
  };
  std::size_t size_ = 0;
  Buffer* owner_ = nullptr;
  bool is_borrowed_ = false;
};
static_assert(sizeof(Slice) == 32);

}  // namespace violet
