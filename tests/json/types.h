#pragma once

// Types that the tests of JSON read and write: one of each kind.

#include "violet/data/rule/checked.h"
#include "violet/data/type_of.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace violet::json {

enum class Color : std::uint8_t { Red, Green, Blue = 7 };
enum class Level : int { Low = -1, High = 1 };

struct Point {
  int x = 0;
  int y = 0;
  friend bool operator==(const Point&, const Point&) = default;
};
struct Cat {
  std::string name;
  int lives = 9;
  friend bool operator==(const Cat&, const Cat&) = default;
};
struct Dog {
  std::string name;
  bool barks = true;
  friend bool operator==(const Dog&, const Dog&) = default;
};
using Pet = std::variant<Cat, Dog>;
using Loose = std::variant<bool, std::int64_t, double, std::string, std::vector<int>>;

struct Everything {
  bool flag = false;
  std::int8_t i8 = 0;
  std::int16_t i16 = 0;
  std::int32_t i32 = 0;
  std::int64_t i64 = 0;
  std::uint8_t u8 = 0;
  std::uint16_t u16 = 0;
  std::uint32_t u32 = 0;
  std::uint64_t u64 = 0;
  float f = 0;
  double d = 0;
  std::string text;
  Color color = Color::Red;
  Point point;
  std::optional<std::string> maybe;
  std::unique_ptr<Point> pointer;
  std::vector<Point> points;
  std::vector<bool> bits;
  std::array<int, 3> three{};
  std::map<std::string, int> map;
  std::unordered_map<int, std::string> by_number;
  std::vector<std::byte> bytes;
  Pet pet;
  Loose loose;
  std::chrono::sys_time<std::chrono::milliseconds> when{};
  std::chrono::sys_days day{};
  std::chrono::milliseconds length{};
  std::vector<std::vector<std::string>> lists;
};

// What typed readers know best: members without anything unusual, texts of both kinds, lists of them.
struct Stock {
  std::int64_t id = 0;
  std::string name;
  std::string_view category;
  std::uint32_t price = 0;
  std::optional<int> discount;
  bool active = false;
  std::vector<std::string> tags;
  std::vector<std::int64_t> counts;
  Point place;
  std::uint64_t total = 0;
};

struct Tree {
  int value = 0;
  std::vector<Tree> children;
};

struct Described {
  std::int64_t id = 0;
  std::string display_name;
  std::string cache = "kept";
  std::string note;
  secret<std::string> password;

  static constexpr Note describe[] = {
      {.member = "display_name", .name = "display/\"name\"", .about = "Shown to others"},
      {.member = "cache", .ignored = true},
      {.member = "note", .optional = true},
  };
};

}  // namespace violet::json

template <>
inline constexpr int violet::kEnumMin<violet::json::Level> = -1;
