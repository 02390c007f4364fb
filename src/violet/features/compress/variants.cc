#include "violet/features/compress/variants.h"

#include <utility>

namespace violet::encoding {

Slice Variants::find(std::string_view key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return {};
  Entry& entry = *found->second;
  entry.unlink();
  by_use_.push_front(entry);
  return entry.body;
}

void Variants::put(std::string_view key, Slice body, const Budget& budget) {
  if (const auto found = entries_.find(key); found != entries_.end()) remove(*found->second);
  const std::size_t weight = weight_of(key, body);
  if (weight > budget.bytes_max || budget.entries_max == 0) return;
  trim({budget.bytes_max - weight, budget.entries_max - 1});
  auto entry = std::make_unique<Entry>(key, std::move(body));
  bytes_ += weight;
  by_use_.push_front(*entry);
  const std::string_view own_key = entry->key;
  entries_.emplace(own_key, std::move(entry));
}

void Variants::trim(const Budget& budget) noexcept {
  while (bytes_ > budget.bytes_max || entries_.size() > budget.entries_max) remove(*by_use_.back());
}

void Variants::remove(Entry& entry) noexcept {
  bytes_ -= entry.weight();
  entries_.erase(entries_.find(entry.key));
}

}  // namespace violet::encoding
