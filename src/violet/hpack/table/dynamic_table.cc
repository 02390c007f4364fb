#include "violet/hpack/table/dynamic_table.h"

#include "violet/memory/text.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace violet::hpack {
namespace {

constexpr std::uint32_t kRingMin = 8;
constexpr std::uint32_t kRingReserved = 16;
constexpr std::uint32_t kTextMin = 256;

}  // namespace

void DynamicTable::evict_to(std::uint32_t size_max) noexcept {
  while (size_ > size_max) {
    size_ -= at(count_ - 1).size();
    --count_;
  }
}

void DynamicTable::reserve() {
  VIOLET_ASSERT(newest_ == 0);
  ring_ = std::make_unique_for_overwrite<Entry[]>(kRingReserved);
  ring_capacity_ = kRingReserved;
  text_ = std::make_unique_for_overwrite<char[]>(kTextMin + kPadding);
  text_capacity_ = kTextMin;
}

void DynamicTable::set_capacity(std::uint32_t capacity) noexcept {
  VIOLET_ASSERT(capacity <= kCapacityMax);
  capacity_ = capacity;
  evict_to(capacity);
}

void DynamicTable::insert(Entry entry, std::string_view name, std::string_view value) {
  const std::size_t size = Entry::kOverhead + name.size() + value.size();
  if (size > capacity_) {
    evict_to(0);
    return;
  }
  evict_to(capacity_ - static_cast<std::uint32_t>(size));
  entry.name_bytes = static_cast<std::uint16_t>(name.size());
  entry.value_bytes = static_cast<std::uint16_t>(value.size());
  const std::string_view stored_name = entry.key.is_other() ? name : std::string_view{};
  const auto text_bytes = static_cast<std::uint32_t>(stored_name.size() + value.size());
  if (end_ - base_ + text_bytes > text_capacity_) [[unlikely]]
    make_text_room(text_bytes);
  if (count_ == ring_capacity_) [[unlikely]]
    move_ring(std::max(kRingMin, ring_capacity_ * 2));
  put_text(put_text(text_.get() + (end_ - base_), stored_name), value);
  end_ += text_bytes;
  entry.place = end_ - entry.value_bytes;
  size_ += static_cast<std::uint32_t>(size);
  ++count_;
  ring_[++newest_ & (ring_capacity_ - 1)] = entry;
}

void DynamicTable::fit() {
  move_text(text_begin(), end_ - text_begin());
  move_ring(count_ == 0 ? 0 : std::bit_ceil(count_));
}

std::uint32_t DynamicTable::text_begin() const noexcept {
  if (count_ == 0) return end_;
  const Entry& oldest = at(count_ - 1);
  return oldest.place - (oldest.key.is_other() ? oldest.name_bytes : 0);
}

// Twice what is alive, so that moving it costs no more than writing it has.
void DynamicTable::make_text_room(std::uint32_t bytes) {
  const std::uint32_t begin = text_begin();
  const std::uint32_t alive = end_ - begin;
  if (2 * (alive + bytes) > text_capacity_ || !text_) {
    move_text(begin, std::bit_ceil(std::max(kTextMin, 2 * (alive + bytes))));
  } else {
    std::memmove(text_.get(), text_.get() + (begin - base_), alive);
    base_ = begin;
  }
}

void DynamicTable::move_text(std::uint32_t begin, std::uint32_t capacity) {
  auto moved = std::make_unique_for_overwrite<char[]>(capacity + kPadding);
  if (end_ != begin) std::memcpy(moved.get(), text_.get() + (begin - base_), end_ - begin);
  text_ = std::move(moved);
  text_capacity_ = capacity;
  base_ = begin;
}

void DynamicTable::move_ring(std::uint32_t capacity) {
  auto moved = std::make_unique_for_overwrite<Entry[]>(capacity);
  for (std::uint32_t age = 0; age < count_; ++age) moved[(newest_ - age) & (capacity - 1)] = at(age);
  ring_ = std::move(moved);
  ring_capacity_ = capacity;
}

}  // namespace violet::hpack
