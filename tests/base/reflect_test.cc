#include "violet/base/reflect.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace outer {

enum class Colour : std::uint8_t { Red, Green };
struct Point {
  int x;
  int y;
};
struct Everything {
  int limit = 20;
  std::string name;
  std::optional<int> age;
  std::vector<std::string> tags;
  Point at;
  std::string_view view;
  bool is_on;
  std::optional<std::string> text;
  double ratio = 0.5;
  Colour colour;
  std::vector<Point> points;
  std::array<int, 3> triple;
  std::unique_ptr<int> owned;
};
template <class T>
struct Box {
  T value;
  std::vector<T> values;
};
struct One {
  int only;
};
struct ThirtyTwo {
  int a1, a2, a3, a4, a5, a6, a7, a8, b1, b2, b3, b4, b5, b6, b7, b8;
  std::string c1, c2, c3, c4, c5, c6, c7, c8, d1, d2, d3, d4, d5, d6, d7, d8;
};
struct NotDefault {
  explicit NotDefault(int n) : value(n) {}
  int value;
};
struct HoldsNotDefault {
  NotDefault first;
  int second = 7;
};
struct Empty {};
class Closed {
 public:
  Closed() = default;

 private:
  [[maybe_unused]] int value_ = 0;
};

}  // namespace outer

namespace {
struct Hidden {
  int here;
  std::string there;
};
}  // namespace

namespace violet::reflect {
namespace {

using namespace outer;
using Names = std::vector<std::string_view>;

template <class T>
Names names_of() {
  return {kMemberNames<T>.begin(), kMemberNames<T>.end()};
}

TEST(Reflect, CountsMembers) {
  EXPECT_EQ(kMemberCount<One>, 1u);
  EXPECT_EQ(kMemberCount<Point>, 2u);
  EXPECT_EQ(kMemberCount<Everything>, 13u);
  EXPECT_EQ(kMemberCount<Box<std::string>>, 2u);
  EXPECT_EQ(kMemberCount<ThirtyTwo>, 32u);
  EXPECT_EQ(kMemberCount<HoldsNotDefault>, 2u);
}

TEST(Reflect, KnowsAggregates) {
  EXPECT_TRUE(Aggregate<Point>);
  EXPECT_TRUE(Aggregate<Everything>);
  EXPECT_FALSE(Aggregate<Empty>);
  EXPECT_FALSE(Aggregate<Closed>);
  EXPECT_FALSE(Aggregate<int>);
  EXPECT_FALSE(Aggregate<std::string>);
  EXPECT_FALSE(Aggregate<std::string_view>);
  EXPECT_FALSE((Aggregate<std::array<int, 3>>));
}

TEST(Reflect, NamesMembers) {
  EXPECT_EQ(names_of<One>(), Names{"only"});
  EXPECT_EQ(names_of<Everything>(), (Names{"limit", "name", "age", "tags", "at", "view", "is_on", "text", "ratio",
                                           "colour", "points", "triple", "owned"}));
  EXPECT_EQ(names_of<Box<Point>>(), (Names{"value", "values"}));
  EXPECT_EQ(kMemberNames<ThirtyTwo>.back(), "d8");
  EXPECT_EQ(names_of<HoldsNotDefault>(), (Names{"first", "second"}));
  EXPECT_EQ(names_of<Hidden>(), (Names{"here", "there"}));
  struct Local {
    int inside;
    std::string_view also;
  };
  EXPECT_EQ(names_of<Local>(), (Names{"inside", "also"}));
}

TEST(Reflect, VisitsMembersByReference) {
  Point point{1, 2};
  for_each(point, [](std::string_view name, int& member) { member += name == "x" ? 10 : 20; });
  EXPECT_EQ(point.x, 11);
  EXPECT_EQ(point.y, 22);
  const Point fixed{3, 4};
  EXPECT_EQ(visit(fixed, [](const int& x, const int& y) { return x * y; }), 12);
  Everything all;
  all.at = {5, 6};
  int depth = 0;
  for_each(all, [&](std::string_view, auto& member) {
    if constexpr (Aggregate<std::remove_cvref_t<decltype(member)>>) {
      for_each(member, [&](std::string_view, int& inner) { depth += inner; });
    }
  });
  EXPECT_EQ(depth, 11);
}

TEST(Reflect, FindsMembersWithoutValue) {
  EXPECT_EQ(declared_without_value<Point>(), 0b11u);
  EXPECT_EQ(declared_without_value<One>(), 0b1u);
  // is_on and colour; numbers with a default, classes and nested aggregates are left out.
  EXPECT_EQ(declared_without_value<Everything>(), (1u << 6) | (1u << 9));
  EXPECT_EQ(declared_without_value<HoldsNotDefault>(), 0u);
  struct Zero {
    int a = 0;
    int b{};
    bool c = false;
    void* d = nullptr;
    int e;
  };
  EXPECT_EQ(declared_without_value<Zero>(), 0b10000u);
}

TEST(Reflect, NamesTypes) {
  EXPECT_TRUE(type_name<Point>().ends_with("Point"));
  EXPECT_EQ(type_name<int>(), "int");
}

}  // namespace
}  // namespace violet::reflect
