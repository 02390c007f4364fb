#pragma once

// What JSON is weighed with: items of the arena's shape (docs: tools/arena/dataset.py), 50 of them to be written, 100
// KB of them to be read.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weigh {

struct Rating {
  int score;
  int count;
};

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

// The same with texts that look into what was read.
struct ItemView {
  int id;
  std::string_view name;
  std::string_view category;
  int price;
  int quantity;
  bool active;
  std::vector<std::string_view> tags;
  Rating rating;
};

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

inline constexpr std::size_t kWrittenItems = 50;
inline constexpr std::size_t kReadItems = 640;

// The same ones on every machine.
std::vector<Item> make_items(std::size_t count);
std::vector<PricedItem> price(const std::vector<Item>& items, std::int64_t multiplier);

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
