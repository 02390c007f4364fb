#include "items.h"

#include <nlohmann/json.hpp>

#include <cstdlib>

namespace weigh {
namespace {

using nlohmann::json;

json tree_of(const arena::Listing& listing) {
  json list = json::array();
  for (const arena::PricedItem& item : listing.items) {
    json tags = json::array();
    for (const std::string& tag : item.tags) tags.push_back(tag);
    list.push_back({{"id", item.id},
                    {"name", item.name},
                    {"category", item.category},
                    {"price", item.price},
                    {"quantity", item.quantity},
                    {"active", item.active},
                    {"tags", tags},
                    {"rating", {{"score", item.rating.score}, {"count", item.rating.count}}},
                    {"total", item.total}});
  }
  return {{"items", list}, {"count", listing.count}};
}

// The tree is there already: only its text is made.
std::size_t dump(std::size_t rounds) {
  const arena::Dataset dataset{make_items(kWrittenItems)};
  violet::Arena memory;
  const json listing = tree_of(make_listing(dataset, memory));
  std::size_t size = 0;
  for (std::size_t i = 0; i < rounds; ++i) size = listing.dump().size();
  return size;
}

// A tree, not objects.
std::size_t parse(std::size_t rounds) {
  const std::string text = read_text();
  for (std::size_t i = 0; i < rounds; ++i) {
    if (json::parse(text).size() != kReadItems) std::abort();
  }
  return text.size();
}

constexpr Arm kArms[] = {
    {"write-nlohmann", "nlohmann::json::dump of the same", &dump},
    {"read-nlohmann", "nlohmann::json::parse of the same, into its tree", &parse},
};

}  // namespace

std::span<const Arm> nlohmann_arms() { return kArms; }

}  // namespace weigh
