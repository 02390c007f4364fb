#pragma once

// Chain: a queue of slices. Two have room inside; more go to one heap array that clear() keeps. Move-only.

#include "violet/memory/slice.h"

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>

namespace violet {

class Chain {
 public:
  Chain() noexcept : slices_(inline_slices()) {}
  explicit Chain(Slice slice) noexcept : Chain() {
    if (!slice.is_empty()) append(std::move(slice));
  }
  Chain(Chain&& other) noexcept : Chain() {
    if (!other.is_pristine()) take(other);
  }
  Chain& operator=(Chain&& other) noexcept {
    if (this != &other) {
      if (!is_pristine()) destroy();
      if (!other.is_pristine()) take(other);
    }
    return *this;
  }
  ~Chain() {
    for (std::uint32_t i = begin_; i < end_; ++i) slices_[i].~Slice();
    if (capacity_ != kInline) ::operator delete(slices_);
  }

  [[nodiscard]] bool is_empty() const noexcept { return begin_ == end_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_bytes_; }  // bytes
  [[nodiscard]] std::size_t count() const noexcept { return end_ - begin_; }
  [[nodiscard]] Slice* begin() noexcept { return slices_ + begin_; }
  [[nodiscard]] Slice* end() noexcept { return slices_ + end_; }
  [[nodiscard]] const Slice* begin() const noexcept { return slices_ + begin_; }
  [[nodiscard]] const Slice* end() const noexcept { return slices_ + end_; }
  [[nodiscard]] Slice& front() noexcept { return slices_[begin_]; }
  [[nodiscard]] Slice& back() noexcept { return slices_[end_ - 1]; }

  // Empty slices are left out.
  void append(Slice slice) {
    if (slice.is_empty()) return;
    size_bytes_ += slice.size();
    if (end_ == capacity_) make_room();
    ::new (slices_ + end_++) Slice(std::move(slice));
  }
  void append(Chain&& other);

  // REQUIRES: not empty.
  Slice pop_front() noexcept {
    Slice slice(std::move(slices_[begin_]));
    slices_[begin_++].~Slice();
    size_bytes_ -= slice.size();
    if (begin_ == end_) begin_ = end_ = 0;
    return slice;
  }
  // Forgets the first n bytes. REQUIRES: n <= size().
  void drop_front(std::size_t n) noexcept;
  // Moves the first n bytes to the end of `to`. REQUIRES: n <= size().
  void move_front(std::size_t n, Chain& to);
  // Copies what is borrowed, so that the chain may be kept.
  void make_owned();
  void clear() noexcept;

  // All bytes in one string. REQUIRES: no file range.
  [[nodiscard]] std::string to_string() const;

 private:
  static constexpr std::uint32_t kInline = 2;
  // Empty, and without an array of its own.
  [[nodiscard]] bool is_pristine() const noexcept { return end_ == 0 && capacity_ == kInline; }
  Slice* inline_slices() noexcept { return reinterpret_cast<Slice*>(inline_); }
  void take(Chain& other) noexcept;
  void destroy() noexcept;
  void make_room();

  Slice* slices_;
  std::uint32_t begin_ = 0;
  std::uint32_t end_ = 0;
  std::uint32_t capacity_ = kInline;
  std::size_t size_bytes_ = 0;
  alignas(Slice) std::byte inline_[kInline * sizeof(Slice)];
};

}  // namespace violet
