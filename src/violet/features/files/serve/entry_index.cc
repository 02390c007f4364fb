#include "violet/features/files/serve/entry_index.h"

#include "violet/base/check.h"

#include <utility>

namespace violet::files {

void EntryIndex::add(Ref<Entry> entry) {
  VIOLET_ASSERT(find(entry->key) == nullptr);
  if ((size_ + 1) * 2 > slots_.size()) grow();
  const std::uint64_t hash = hash_text(entry->key, seed_);
  place({hash, std::move(entry)});
  ++size_;
}

void EntryIndex::remove(const Entry& entry) noexcept {
  std::size_t hole = home_of(hash_text(entry.key, seed_));
  while (slots_[hole].entry.get() != &entry) {
    VIOLET_ASSERT(slots_[hole].entry);
    hole = next(hole);
  }
  const Ref<Entry> removed = std::move(slots_[hole].entry);
  --size_;
  // A search ends at the first free slot: those behind the hole that it would hide move up.
  for (std::size_t at = next(hole); slots_[at].entry; at = next(at)) {
    const std::size_t mask = slots_.size() - 1;
    const std::size_t from_home = (at - home_of(slots_[at].hash)) & mask;
    if (from_home < ((at - hole) & mask)) continue;
    slots_[hole] = std::move(slots_[at]);
    hole = at;
  }
}

void EntryIndex::place(Slot slot) noexcept {
  std::size_t at = home_of(slot.hash);
  while (slots_[at].entry) at = next(at);
  slots_[at] = std::move(slot);
}

void EntryIndex::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  for (Slot& slot : old) {
    if (slot.entry) place(std::move(slot));
  }
}

}  // namespace violet::files
