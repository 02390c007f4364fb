#include "items.h"

#include <array>

namespace weigh {
namespace {

constexpr std::array<std::string_view, 10> kFirst = {"Alpha", "Beta", "Gamma", "Delta", "Epsilon",
                                                     "Zeta",  "Eta",  "Theta", "Iota",  "Kappa"};
constexpr std::array<std::string_view, 5> kSecond = {"Widget", "Gadget", "Gizmo", "Device", "Tool"};
constexpr std::array<std::string_view, 10> kCategories = {"electronics", "furniture", "clothing", "books", "toys",
                                                          "sports",      "garden",    "kitchen",  "music", "office"};
constexpr std::array<std::string_view, 7> kTags = {"sale", "new", "fast", "popular", "limited", "eco", "premium"};

// Numbers by chance that are the same everywhere (Numerical Recipes' linear congruence).
class Chance {
 public:
  int between(int least, int most) noexcept {
    state_ = state_ * 1664525 + 1013904223;
    return least + static_cast<int>((state_ >> 8) % static_cast<std::uint32_t>(most - least + 1));
  }

 private:
  std::uint32_t state_ = 2026;
};

}  // namespace

std::vector<Item> make_items(std::size_t count) {
  Chance chance;
  std::vector<Item> items;
  items.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    Item item{.id = static_cast<int>(i + 1),
              .name = std::string(kFirst[i % 10]).append(" ").append(kSecond[i / 10 % 5]),
              .category = std::string(kCategories[i % 10]),
              .price = chance.between(2, 496),
              .quantity = chance.between(4, 97),
              .active = chance.between(0, 9) < 6,
              .tags = {},
              .rating = {.score = chance.between(1, 50), .count = chance.between(1, 500)}};
    const int first = chance.between(0, 6);
    const int tags = chance.between(1, 4);
    for (int tag = 0; tag < tags; ++tag) item.tags.emplace_back(kTags[static_cast<std::size_t>((first + tag) % 7)]);
    items.push_back(std::move(item));
  }
  return items;
}

arena::Listing make_listing(const arena::Dataset& dataset, violet::Arena& memory) {
  return arena::list_items(dataset, kWrittenItems, 6, memory);
}

}  // namespace weigh
