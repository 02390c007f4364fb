#pragma once

// EntryIndex: finds the entries of one loop by their key. Open addressing, at most half full: a look-up reads a slot
// and the entry that it names.

#include "violet/features/files/load/entry.h"
#include "violet/memory/text.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace violet::files {

class EntryIndex {
 public:
  // `seed`: of hashes, known to nobody else; clients choose the keys.
  explicit EntryIndex(std::uint64_t seed) noexcept : seed_(seed) {}

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  // nullptr: there is none.
  [[nodiscard]] Entry* find(std::string_view key) const noexcept {
    const std::uint64_t hash = hash_text(key, seed_);
    for (std::size_t at = home_of(hash);; at = next(at)) {
      const Slot& slot = slots_[at];
      if (!slot.entry) return nullptr;
      if (slot.hash == hash && are_equal(slot.entry->key, key)) return slot.entry.get();
    }
  }
  // REQUIRES: none has its key.
  void add(Ref<Entry> entry);
  // REQUIRES: it is there.
  void remove(const Entry& entry) noexcept;

 private:
  struct Slot {
    std::uint64_t hash = 0;
    Ref<Entry> entry;
  };

  [[nodiscard]] std::size_t home_of(std::uint64_t hash) const noexcept { return hash & (slots_.size() - 1); }
  [[nodiscard]] std::size_t next(std::size_t at) const noexcept { return (at + 1) & (slots_.size() - 1); }
  void place(Slot slot) noexcept;
  void grow();

  std::vector<Slot> slots_ = std::vector<Slot>(16);  // a power of two
  std::size_t size_ = 0;
  std::uint64_t seed_;
};

}  // namespace violet::files
