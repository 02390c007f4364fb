#include "items.h"

#include <cstdlib>
#include <cstring>
#include <simdjson.h>

namespace weigh {
namespace {

namespace od = simdjson::ondemand;

// Members in the order of the struct, as one writes it by hand: find_field() goes on where the last one ended.
template <class T, class Text>
void read_item(od::object from, T& item) {
  item.id = static_cast<int>(std::int64_t{from["id"]});
  item.name = Text(std::string_view(from["name"]));
  item.category = Text(std::string_view(from["category"]));
  item.price = static_cast<int>(std::int64_t{from["price"]});
  item.quantity = static_cast<int>(std::int64_t{from["quantity"]});
  item.active = bool{from["active"]};
  for (auto tag : od::array(from["tags"])) item.tags.emplace_back(std::string_view(tag));
  od::object rating = from["rating"];
  item.rating.score = static_cast<int>(std::int64_t{rating["score"]});
  item.rating.count = static_cast<int>(std::int64_t{rating["count"]});
}

// Its parser, its buffers and the padded copy of the text are made once.
template <class T, class Text>
std::size_t read(std::size_t rounds) {
  const simdjson::padded_string text(read_text());
  od::parser parser;
  for (std::size_t i = 0; i < rounds; ++i) {
    std::vector<T> items;
    od::document document = parser.iterate(text);
    for (od::object item : od::array(document)) read_item<T, Text>(item, items.emplace_back());
    if (items.size() != kReadItems || items.back().id != int{kReadItems}) std::abort();
  }
  return text.size();
}

// Its first pass alone.
std::size_t index(std::size_t rounds) {
  const simdjson::padded_string text(read_text());
  od::parser parser;
  for (std::size_t i = 0; i < rounds; ++i) {
    od::document document = parser.iterate(text);
    if (document.is_scalar()) std::abort();
  }
  return text.size();
}

constexpr Arm kArms[] = {
    {"read-simdjson", "simdjson On-Demand by hand, into std::vector<Item>", &read<Item, std::string>},
    {"read-views-simdjson", "simdjson On-Demand by hand, the same with std::string_view",
     &read<ItemView, std::string_view>},
    {"index-simdjson", "simdjson's first pass alone, which finds where values begin", &index},
};

}  // namespace

std::span<const Arm> simdjson_arms() { return kArms; }
std::string simdjson_kernel() { return simdjson::get_active_implementation()->name(); }

}  // namespace weigh
