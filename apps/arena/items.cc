#include "items.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <new>

namespace arena {

std::expected<Dataset, std::string> load_dataset(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Dataset{};
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  auto items = violet::json::read<std::vector<Item>>(text);
  if (!items) return std::unexpected(path + ": " + items.error().to_string());
  return Dataset{std::move(*items)};
}

Listing list_items(const Dataset& dataset, std::size_t count, std::int64_t multiplier, violet::Arena& arena) {
  const std::span<const Item> items = std::span(dataset.items).first(std::min(count, dataset.items.size()));
  auto* const priced = arena.array<PricedItem>(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Item& item = items[i];
    ::new (priced + i) PricedItem{.id = item.id,
                                  .name = item.name,
                                  .category = item.category,
                                  .price = item.price,
                                  .quantity = item.quantity,
                                  .active = item.active,
                                  .tags = item.tags,
                                  .rating = item.rating,
                                  .total = std::int64_t{item.price} * item.quantity * multiplier};
  }
  return {{priced, items.size()}, items.size()};
}

}  // namespace arena
