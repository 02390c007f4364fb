// The shapes of awaits that users are led to, compiled by both compilers and run under AddressSanitizer.
//
// g++ 12 destroys temporaries twice when one full expression holds a co_await and a lambda with captures, an aggregate
// with a destructor, or a conditional operator whose branches make something with a destructor (a std::string
// suffices). The API is such that its own calls need none of them, and refuses those that it can see. It also loses the
// body of a coroutine whose outermost block declares no variable and that has a co_await in the condition of an if:
// there the awaited value gets a name.

#include "tests/event/run_task.h"
#include "violet/base/function.h"
#include "violet/event/loop.h"
#include "violet/event/offload.h"
#include "violet/event/wait.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace violet {
namespace {

// Counts itself, and crashes under AddressSanitizer when it is destroyed twice.
struct Piece {
  static inline int alive = 0;
  Piece() : value(new int(7)) { ++alive; }
  Piece(const Piece& other) : value(new int(*other.value)) { ++alive; }
  Piece(Piece&& other) noexcept : value(std::exchange(other.value, nullptr)) { ++alive; }
  Piece& operator=(Piece&&) = delete;
  ~Piece() {
    --alive;
    delete value;
  }
  int* value;
};
// Options that are safe in an awaited call: with a constructor, or trivially destructible.
struct Options {
  Options(Piece piece_value, int count_value = 0) : piece(std::move(piece_value)), count(count_value) {}
  Piece piece;
  int count;
};
struct PlainOptions {
  int limit = 1;
  bool is_strict = false;
};

int read(const Piece& piece) { return *piece.value; }
Task<int> seven() { co_return 7; }
Task<int> with(Options options) { co_return read(options.piece); }
Task<int> with_plain(PlainOptions options) { co_return options.limit; }
Task<int> of_text(std::string text) { co_return static_cast<int>(text.size()); }
template <class F>
Task<int> calling(F fn) {
  co_return fn();
}

Task<int> condition_with_a_name(int n) {
  if (Result<void> slept = co_await sleep_ms(0); !slept) co_return -1;
  if (int value = co_await seven(); value != n) co_return -1;
  co_return n;
}

Task<int> shapes() {
  Piece piece;
  int total = 0;
  // offload with a function and arguments, with a lambda without captures, with a named one, with one by reference
  total += (co_await offload(read, piece)).value();
  total += (co_await offload([](const Piece& p) { return read(p); }, piece)).value();
  auto named = [piece] { return read(piece); };
  total += (co_await offload(named)).value();
  total += (co_await offload([&piece] { return read(piece); })).value();
  total += (co_await offload(read, Piece(piece))).value();
  // tasks: named lambdas, options with a constructor, plain options, temporaries with destructors
  total += co_await calling(named);
  total += co_await calling(std::move(named));
  total += co_await with(Options(piece, 1));
  total += co_await with(Options{piece});
  total += co_await with({piece, 2});
  total += co_await with_plain({.limit = 7, .is_strict = true});
  total += co_await with_plain(total > 0 ? PlainOptions{7} : PlainOptions{});
  total += co_await of_text(std::string("1234567"));
  total += co_await of_text("1234567");
  // groups of temporaries
  auto [a, b] = co_await when_all(seven(), with(Options(piece)));
  total += a + b;
  total += (co_await when_any(seven(), with(Options(piece)))).value;
  total += (co_await with_deadline(with(Options(piece)), 1000)).value_or(0);
  total += (co_await shielded(with(Options(piece)), 1000)).value_or(0);
  std::vector<Task<int>> many;
  for (int i = 0; i < 3; ++i) many.push_back(with(Options(piece)));
  for (int value : co_await when_all(std::move(many))) total += value;
  // conditions and loops
  total += co_await condition_with_a_name(7);
  if (co_await seven() == 7 && co_await with(Options(piece)) == 7) total += 7;
  while (co_await seven() != 7) {
  }
  co_return total;
}

TEST(Shapes, EveryShapeOfTheGuideDestroysEachTemporaryOnce) {
  {
    Loop loop;
    EXPECT_EQ(run_task(loop, shapes()), 24 * 7);
  }
  EXPECT_EQ(Piece::alive, 0);
}

TEST(Shapes, HoldWhenTheChainIsStoppedOrDestroyedInBetween) {
  for (int turns = 0; turns < 12; ++turns) {
    Loop loop;
    Loop::Scope scope(loop);
    {
      TaskRoot root;
      root.start(shapes(), [](Outcome<int>&&) noexcept {});
      for (int i = 0; i < turns; ++i) loop.step(1);
    }
  }
  EXPECT_EQ(Piece::alive, 0);
}

TEST(Shapes, ASpawnedLambdaKeepsItsCaptures) {
  {
    Loop loop;
    Piece piece;
    int got = 0;
    spawn(loop, [piece, &got, &loop]() -> Task<> {
      co_await sleep_ms(1);
      got = read(piece);
      loop.stop();
    });
    loop.run();
    EXPECT_EQ(got, 7);
  }
  EXPECT_EQ(Piece::alive, 0);
}

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
TEST(Shapes, WhatTheCompilerBreaksIsRefused) {
  Piece piece;
  auto lambda = [piece] { return 1; };
  using Lambda = decltype(lambda);
  struct Aggregate {
    Piece piece;
  };
  static_assert(!detail::is_safe_in_await<Lambda>);
  static_assert(detail::is_safe_in_await<Lambda&>);
  static_assert(!detail::is_safe_argument<Aggregate>);
  static_assert(detail::is_safe_argument<std::string>);
  EXPECT_EQ(lambda(), 1);
}
#endif

}  // namespace
}  // namespace violet
