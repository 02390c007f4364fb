#include "violet/base/list.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace violet {
namespace {

struct ByAge;
struct ByName;

struct Item : ListNode<ByAge>, ListNode<ByName> {
  explicit Item(int n) : number(n) {}
  int number;
};

using Ages = List<Item, ByAge>;
using Names = List<Item, ByName>;

template <class L>
std::vector<int> numbers(const L& list) {
  std::vector<int> result;
  for (Item* item = list.front(); item != nullptr; item = list.next(*item)) result.push_back(item->number);
  return result;
}

bool is_linked_by_age(const Item& item) { return static_cast<const ListNode<ByAge>&>(item).is_linked(); }
void unlink_by_age(Item& item) { static_cast<ListNode<ByAge>&>(item).unlink(); }

TEST(List, IsEmptyAtFirst) {
  Ages list;
  EXPECT_TRUE(list.is_empty());
  EXPECT_EQ(list.front(), nullptr);
  EXPECT_EQ(list.back(), nullptr);
  EXPECT_EQ(list.pop_front(), nullptr);
}

TEST(List, KeepsTheOrderOfBothEnds) {
  Item one(1);
  Item two(2);
  Item three(3);
  Ages list;
  list.push_back(two);
  list.push_back(three);
  list.push_front(one);
  EXPECT_EQ(numbers(list), (std::vector{1, 2, 3}));
  EXPECT_EQ(list.front(), &one);
  EXPECT_EQ(list.back(), &three);
}

TEST(List, PopsFromTheFront) {
  Item one(1);
  Item two(2);
  Ages list;
  list.push_back(one);
  list.push_back(two);
  EXPECT_EQ(list.pop_front(), &one);
  EXPECT_FALSE(is_linked_by_age(one));
  EXPECT_EQ(numbers(list), std::vector{2});
}

TEST(List, AnElementLeavesFromTheMiddle) {
  Item one(1);
  Item two(2);
  Item three(3);
  Ages list;
  list.push_back(one);
  list.push_back(two);
  list.push_back(three);
  unlink_by_age(two);
  EXPECT_EQ(numbers(list), (std::vector{1, 3}));
  unlink_by_age(two);  // a second time changes nothing
  EXPECT_EQ(numbers(list), (std::vector{1, 3}));
}

TEST(List, AnElementThatDiesLeaves) {
  Item one(1);
  auto two = std::make_unique<Item>(2);
  Item three(3);
  Ages list;
  list.push_back(one);
  list.push_back(*two);
  list.push_back(three);
  two.reset();
  EXPECT_EQ(numbers(list), (std::vector{1, 3}));
}

TEST(List, AnElementCanComeBack) {
  Item one(1);
  Item two(2);
  Ages list;
  list.push_back(one);
  list.push_back(two);
  unlink_by_age(one);
  list.push_back(one);
  EXPECT_EQ(numbers(list), (std::vector{2, 1}));
}

TEST(List, OneElementIsInTwoListsByTwoTags) {
  Item one(1);
  Item two(2);
  Ages ages;
  Names names;
  ages.push_back(one);
  ages.push_back(two);
  names.push_back(two);
  names.push_back(one);
  unlink_by_age(one);
  EXPECT_EQ(numbers(ages), std::vector{2});
  EXPECT_EQ(numbers(names), (std::vector{2, 1}));
}

TEST(List, SplicesTheOtherToItsEnd) {
  Item one(1);
  Item two(2);
  Item three(3);
  Ages list;
  Ages other;
  list.push_back(one);
  other.push_back(two);
  other.push_back(three);
  list.splice_back(other);
  EXPECT_TRUE(other.is_empty());
  EXPECT_EQ(numbers(list), (std::vector{1, 2, 3}));
  list.splice_back(other);  // nothing to take
  EXPECT_EQ(numbers(list), (std::vector{1, 2, 3}));
}

TEST(List, SplicesIntoAnEmptyList) {
  Item one(1);
  Ages list;
  Ages other;
  other.push_back(one);
  list.splice_back(other);
  EXPECT_EQ(list.back(), &one);
  unlink_by_age(one);
  EXPECT_TRUE(list.is_empty());
}

TEST(List, ElementsOutliveTheList) {
  Item one(1);
  {
    Ages list;
    list.push_back(one);
    EXPECT_TRUE(is_linked_by_age(one));
  }
  EXPECT_FALSE(is_linked_by_age(one));
}

TEST(List, ClearUnlinksAndDestroysNothing) {
  Item one(1);
  Item two(2);
  Ages list;
  list.push_back(one);
  list.push_back(two);
  list.clear();
  EXPECT_TRUE(list.is_empty());
  EXPECT_FALSE(is_linked_by_age(one));
  EXPECT_FALSE(is_linked_by_age(two));
}

#ifdef VIOLET_ASSERTIONS
TEST(ListDeathTest, AnElementIsInOneListOfATagOnly) {
  Item one(1);
  Ages list;
  list.push_back(one);
  EXPECT_DEATH(list.push_back(one), "is_linked");
}
#endif

}  // namespace
}  // namespace violet
