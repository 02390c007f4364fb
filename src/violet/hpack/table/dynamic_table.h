#pragma once

// DynamicTable: the entries that a connection has seen (RFC 7541 §2.3.2, §4), for either end of it. A ring of entries,
// newest first by index, oldest first out, and their texts one behind the other in a buffer that slides: when its end
// is reached, what is alive moves to the front. Both start with nothing and grow to what the capacity can need.
//
// Each entry has a number, counted from the first ever inserted, that stays while its index moves on. Owned by one
// decoder or encoder.

#include "violet/base/check.h"
#include "violet/hpack/table/static_table.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace violet::hpack {

struct Entry {
  std::uint32_t place = 0;  // of the value; the name of an other key stands before it
  std::uint16_t name_bytes = 0;
  std::uint16_t value_bytes = 0;
  // Of an encoder: the number of an older entry that may have the same name.
  std::uint32_t previous = 0;
  Key key;
  // Of a decoder: what is wrong with the name and the value, Section::Flaw.
  std::uint8_t flaws = 0;

  // What the entry counts for (RFC 7541 §4.1).
  [[nodiscard]] std::uint32_t size() const noexcept { return kOverhead + name_bytes + value_bytes; }
  static constexpr std::uint32_t kOverhead = 32;
};
static_assert(sizeof(Entry) == 16);

class DynamicTable {
 public:
  static constexpr std::uint32_t kCapacityMax = 65'536;

  explicit DynamicTable(std::uint32_t capacity) noexcept : capacity_(capacity) {}
  DynamicTable(const DynamicTable&) = delete;
  DynamicTable& operator=(const DynamicTable&) = delete;

  [[nodiscard]] std::uint32_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
  // The number of the newest entry, modulo 2^32.
  [[nodiscard]] std::uint32_t newest() const noexcept { return newest_; }
  // Bytes on the heap.
  [[nodiscard]] std::size_t heap_bytes() const noexcept {
    return ring_capacity_ * sizeof(Entry) + (text_ ? text_capacity_ + kPadding : 0);
  }

  // Entries are asked for by age: 0 is the newest. REQUIRES: age < count().
  [[nodiscard]] const Entry& at(std::uint32_t age) const noexcept {
    VIOLET_ASSERT(age < count_);
    return ring_[(newest_ - age) & (ring_capacity_ - 1)];
  }
  // By its number; nullptr when it is gone.
  [[nodiscard]] const Entry* find(std::uint32_t number) const noexcept {
    return newest_ - number < count_ ? &ring_[number & (ring_capacity_ - 1)] : nullptr;
  }
  // Of an other key; the texts live until the next insert() or set_capacity().
  [[nodiscard]] std::string_view name(const Entry& entry) const noexcept {
    return {text_.get() + (entry.place - entry.name_bytes - base_), entry.name_bytes};
  }
  [[nodiscard]] std::string_view value(const Entry& entry) const noexcept {
    return {text_.get() + (entry.place - base_), entry.value_bytes};
  }

  // Takes memory for the first entries now. REQUIRES: nothing was ever inserted.
  void reserve();

  // Gives memory back that no entry stands in.
  void fit();

  // Evicts what does not fit any more (RFC 7541 §4.3). REQUIRES: capacity <= kCapacityMax.
  void set_capacity(std::uint32_t capacity) noexcept;

  // Evicts what has to go, which is everything for an entry that is larger than the table and then not inserted
  // (RFC 7541 §4.4). `entry` has key, previous and flaws. REQUIRES: the texts do not lie in this table.
  void insert(Entry entry, std::string_view name, std::string_view value);

 private:
  static constexpr std::size_t kPadding = 16;
  void evict_to(std::uint32_t size_max) noexcept;
  // Where the text of the oldest entry begins.
  [[nodiscard]] std::uint32_t text_begin() const noexcept;
  void make_text_room(std::uint32_t bytes);
  void move_text(std::uint32_t begin, std::uint32_t capacity);
  void move_ring(std::uint32_t capacity);

  std::unique_ptr<Entry[]> ring_;
  std::unique_ptr<char[]> text_;
  std::uint32_t ring_capacity_ = 0;  // a power of two, or 0
  std::uint32_t text_capacity_ = 0;
  std::uint32_t capacity_;
  std::uint32_t size_ = 0;
  std::uint32_t count_ = 0;
  std::uint32_t newest_ = 0;
  // Places of texts, counted like entries for ever, modulo 2^32: the first byte of text_, and the end of the last text.
  std::uint32_t base_ = 0;
  std::uint32_t end_ = 0;
};

}  // namespace violet::hpack
