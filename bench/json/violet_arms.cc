#include "items.h"
#include "violet/json/block_writer.h"
#include "violet/json/reader.h"
#include "violet/json/typed.h"
#include "violet/json/writer.h"
#include "violet/memory/arena.h"

#include <cstdlib>

namespace weigh {
namespace {

using namespace violet;

std::size_t write(std::size_t rounds) {
  const arena::Dataset dataset{make_items(kWrittenItems)};
  Arena memory;
  const arena::Listing listing = make_listing(dataset, memory);
  BlockPool pool;
  std::size_t size = 0;
  for (std::size_t i = 0; i < rounds; ++i) {
    json::BlockWriter writer(pool);
    json::put<arena::Listing>(writer, &listing);
    size = writer.take().size();
  }
  return size;
}

template <class T>
std::size_t read(std::size_t rounds) {
  const std::string text = read_text();
  Arena arena;
  for (std::size_t i = 0; i < rounds; ++i) {
    const auto items = json::read<std::vector<T>>(text, arena);
    if (!items || items->size() != kReadItems || items->back().id != int{kReadItems}) std::abort();
    arena.reset();
  }
  return text.size();
}

constexpr Arm kArms[] = {
    {"write", "violet, a listing of 50 items from objects", &write},
    {"read", "violet, 100 KB into std::vector<Item> with std::string", &read<Item>},
    {"read-views", "violet, the same with std::string_view", &read<ItemView>},
};

}  // namespace

std::string read_text() { return json::to_string(make_items(kReadItems)); }
std::span<const Arm> violet_arms() { return kArms; }

}  // namespace weigh
