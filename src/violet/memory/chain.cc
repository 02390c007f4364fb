#include "violet/memory/chain.h"

#include <new>

namespace violet {

void Chain::clear() noexcept {
  for (std::uint32_t i = begin_; i < end_; ++i) slices_[i].~Slice();
  begin_ = end_ = 0;
  size_bytes_ = 0;
}

void Chain::destroy() noexcept {
  clear();
  if (slices_ != inline_slices()) ::operator delete(slices_);
  slices_ = inline_slices();
  capacity_ = kInline;
}

// REQUIRES: we are empty and inline.
void Chain::take(Chain& other) noexcept {
  if (other.slices_ == other.inline_slices()) {
    for (std::uint32_t i = other.begin_; i < other.end_; ++i) {
      ::new (slices_ + end_++) Slice(std::move(other.slices_[i]));
      other.slices_[i].~Slice();
    }
  } else {
    slices_ = std::exchange(other.slices_, other.inline_slices());
    begin_ = other.begin_;
    end_ = other.end_;
    capacity_ = std::exchange(other.capacity_, kInline);
  }
  size_bytes_ = std::exchange(other.size_bytes_, 0);
  other.begin_ = other.end_ = 0;
}

void Chain::make_room() {
  const std::uint32_t used = end_ - begin_;
  Slice* to = slices_;
  std::uint32_t capacity = capacity_;
  // A queue that is drained at the front slides back; only a full one grows.
  if (begin_ < capacity_ / 2 || begin_ == 0) {
    capacity = capacity_ * 2 < 8 ? 8 : capacity_ * 2;
    to = static_cast<Slice*>(::operator new(capacity * sizeof(Slice)));
  }
  for (std::uint32_t i = 0; i < used; ++i) {
    ::new (to + i) Slice(std::move(slices_[begin_ + i]));
    slices_[begin_ + i].~Slice();
  }
  if (to != slices_ && slices_ != inline_slices()) ::operator delete(slices_);
  slices_ = to;
  capacity_ = capacity;
  begin_ = 0;
  end_ = used;
}

void Chain::append(Chain&& other) {
  while (!other.is_empty()) append(other.pop_front());
}

void Chain::drop_front(std::size_t n) noexcept {
  VIOLET_ASSERT(n <= size_bytes_);
  while (n > 0) {
    Slice& first = front();
    if (first.size() > n) {
      first.drop_front(n);
      size_bytes_ -= n;
      return;
    }
    n -= pop_front().size();
  }
}

void Chain::move_front(std::size_t n, Chain& to) {
  VIOLET_ASSERT(n <= size_bytes_);
  while (n > 0) {
    if (front().size() > n) {
      to.append(front().prefix(n));
      drop_front(n);
      return;
    }
    n -= front().size();
    to.append(pop_front());
  }
}

void Chain::make_owned() {
  for (Slice& slice : *this) {
    if (slice.is_borrowed()) slice = std::move(slice).owned();
  }
}

std::string Chain::to_string() const {
  std::string text;
  text.reserve(size_bytes_);
  for (const Slice& slice : *this) text.append(slice.text());
  return text;
}

}  // namespace violet
