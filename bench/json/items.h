#pragma once

// What JSON is weighed with: the arena's own types (apps/arena/items.h), 50 items to be written, 100 KB of them to be
// read.

#include "apps/arena/items.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weigh {

using arena::Item;

// The same with texts that look into what was read.
struct ItemView {
  int id;
  std::string_view name;
  std::string_view category;
  int price;
  int quantity;
  bool active;
  std::vector<std::string_view> tags;
  arena::Rating rating;
};

inline constexpr std::size_t kWrittenItems = 50;
inline constexpr std::size_t kReadItems = 640;

// The same ones on every machine.
std::vector<Item> make_items(std::size_t count);
// What is written.
arena::Listing make_listing(const arena::Dataset& dataset, violet::Arena& memory);

std::string read_text();

// One way of reading or writing. Returns how many bytes of JSON a round is.
struct Arm {
  std::string_view name;
  std::string_view about;
  std::size_t (*run)(std::size_t rounds);
};

std::span<const Arm> violet_arms();
std::span<const Arm> nlohmann_arms();
std::span<const Arm> simdjson_arms();
std::string simdjson_kernel();  // which of its sets of instructions it has chosen

}  // namespace weigh
