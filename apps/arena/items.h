#pragma once

// The items of dataset.json, read once when the program starts, and what /json answers from them.

#include <violet/violet.h>

#include <algorithm>
#include <cstdint>
#include <expected>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace arena {

struct Rating {
  int score;
  int count;
};

// As it stands in dataset.json.
struct Item {
  int id;
  std::string name;
  std::string category;
  int price;
  int quantity;
  bool active;
  std::vector<std::string> tags;
  Rating rating;
};

struct Dataset {
  std::vector<Item> items;
};

// What is wrong is a sentence. A file that is not there is an empty set.
std::expected<Dataset, std::string> load_dataset(const std::string& path);

// One item of an answer, and what it costs in all.
struct PricedItem {
  int id;
  std::string_view name;
  std::string_view category;
  int price;
  int quantity;
  bool active;
  std::span<const std::string> tags;
  Rating rating;
  std::int64_t total;
};
struct Listing {
  std::span<const PricedItem> items;
  std::size_t count;
};

// The first `count` items, in the request's memory.
inline Listing list_items(const Dataset& dataset, std::size_t count, std::int64_t multiplier, violet::Arena& arena) {
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
