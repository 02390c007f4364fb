#include "violet/base/function.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <utility>

namespace violet {
namespace {

// Counts how many of its kind live, and how often one was moved.
struct Counted {
  explicit Counted(int* living_count) : living(living_count) { ++*living; }
  Counted(Counted&& other) noexcept : living(other.living) { ++*living; }
  Counted(const Counted& other) : living(other.living) { ++*living; }
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --*living; }
  int* living;
};

struct Small : Counted {
  using Counted::Counted;
  int operator()(int n) { return n + 1; }
};

struct Large : Counted {
  using Counted::Counted;
  int operator()(int n) { return n + static_cast<int>(room.size()); }
  std::array<char, 200> room{};
};

struct ThrowingMove : Counted {
  using Counted::Counted;
  ThrowingMove(ThrowingMove&& other) noexcept(false) : Counted(std::move(other)) {}  // NOLINT: the point of this type
  int operator()(int n) { return n * 2; }
};

TEST(Function, IsEmptyAtFirst) {
  Function<void()> empty;
  Function<void()> null(nullptr);
  EXPECT_FALSE(empty);
  EXPECT_FALSE(null);
}

TEST(Function, CallsWithArgumentsAndResult) {
  Function<std::string(const std::string&, int)> repeat = [](const std::string& text, int count) {
    std::string result;
    for (int i = 0; i < count; ++i) result += text;
    return result;
  };
  EXPECT_EQ(repeat("ab", 3), "ababab");
}

TEST(Function, CallsAPlainFunction) {
  Function<int(const char*)> length = +[](const char* text) { return static_cast<int>(std::string(text).size()); };
  EXPECT_EQ(length("four"), 4);
}

TEST(Function, KeepsStateBetweenCalls) {
  Function<int()> count = [n = 0]() mutable { return ++n; };
  EXPECT_EQ(count(), 1);
  EXPECT_EQ(count(), 2);
}

TEST(Function, DropsTheResultOfAVoidSignature) {
  int calls = 0;
  Function<void()> call = [&] { return ++calls; };
  call();
  EXPECT_EQ(calls, 1);
}

TEST(Function, PassesReferencesAndThingsThatOnlyMove) {
  Function<void(int&, std::unique_ptr<int>)> add = [](int& sum, std::unique_ptr<int> n) { sum += *n; };
  int sum = 1;
  add(sum, std::make_unique<int>(2));
  EXPECT_EQ(sum, 3);
}

TEST(Function, HoldsWhatOnlyMoves) {
  Function<int()> read = [value = std::make_unique<int>(7)] { return *value; };
  Function<int()> moved = std::move(read);
  EXPECT_EQ(moved(), 7);
}

template <class Callable>
class FunctionOf : public testing::Test {};
using Callables = testing::Types<Small, Large, ThrowingMove>;
TYPED_TEST_SUITE(FunctionOf, Callables);

TYPED_TEST(FunctionOf, DestroysItsCallableOnce) {
  int living = 0;
  {
    Function<int(int)> function = TypeParam(&living);
    EXPECT_EQ(living, 1);
    const int expected = TypeParam(&living)(5);
    EXPECT_EQ(function(5), expected);
  }
  EXPECT_EQ(living, 0);
}

TYPED_TEST(FunctionOf, MovingLeavesTheSourceEmpty) {
  int living = 0;
  {
    Function<int(int)> from = TypeParam(&living);
    Function<int(int)> to = std::move(from);
    EXPECT_FALSE(from);  // NOLINT(bugprone-use-after-move): the state after a move is what this test is about
    EXPECT_TRUE(to);
    EXPECT_EQ(living, 1);
  }
  EXPECT_EQ(living, 0);
}

TYPED_TEST(FunctionOf, AssigningDestroysTheOldCallable) {
  int old_living = 0;
  int living = 0;
  Function<int(int)> function = TypeParam(&old_living);
  function = Function<int(int)>(TypeParam(&living));
  EXPECT_EQ(old_living, 0);
  EXPECT_EQ(living, 1);
  function = nullptr;
  EXPECT_EQ(living, 0);
  EXPECT_FALSE(function);
}

TYPED_TEST(FunctionOf, AssigningToItselfChangesNothing) {
  int living = 0;
  Function<int(int)> function = TypeParam(&living);
  Function<int(int)>& alias = function;
  function = std::move(alias);
  EXPECT_TRUE(function);
  EXPECT_EQ(living, 1);
}

TYPED_TEST(FunctionOf, ResetsToEmpty) {
  int living = 0;
  Function<int(int)> function = TypeParam(&living);
  function.reset();
  function.reset();
  EXPECT_FALSE(function);
  EXPECT_EQ(living, 0);
}

#ifdef VIOLET_ASSERTIONS
TEST(FunctionDeathTest, AnEmptyOneIsNotCalled) {
  Function<void()> empty;
  EXPECT_DEATH(empty(), "table_");
}
#endif

}  // namespace
}  // namespace violet
