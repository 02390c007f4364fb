#include "violet/event/wait.h"

#include "tests/event/run_task.h"
#include "violet/base/log.h"
#include "violet/event/loop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace violet {
namespace {

using namespace std::chrono_literals;

Task<int> after(int delay_ms, int value) {
  const Result<void> slept = co_await sleep_ms(static_cast<std::uint64_t>(delay_ms));
  co_return slept ? value : -value;
}
Task<> pause(int delay_ms) { co_await sleep_ms(static_cast<std::uint64_t>(delay_ms)); }
Task<int> throw_after(int delay_ms) {
  co_await sleep_ms(static_cast<std::uint64_t>(delay_ms));
  throw std::runtime_error("thrown");
}
Task<Result<int>> careful(int delay_ms, int value) {
  if (auto slept = co_await sleep_ms(static_cast<std::uint64_t>(delay_ms)); !slept) co_return fail(slept.error());
  co_return value;
}
// Never ends by itself, never heeds a stop.
Task<int> deaf() {
  for (;;) co_await sleep_ms(1'000'000);
}
// Not inlined, so that its frame is a real one.
[[gnu::noinline]] Task<int> ready(int value) { co_return value; }

TEST(Sleep, NeverEndsEarlyAndIsRarelyLate) {
  Loop loop;
  auto body = []() -> Task<std::vector<std::uint64_t>> {
    std::vector<std::uint64_t> late_us;
    for (int i = 0; i < 50; ++i) {
      const auto delay_ms = static_cast<std::uint64_t>(1 + i % 7);
      const std::uint64_t start = Loop::clock_us();
      EXPECT_TRUE(co_await sleep_ms(delay_ms));
      const std::uint64_t took = Loop::clock_us() - start;
      EXPECT_GE(took, delay_ms * 1000);
      late_us.push_back(took - delay_ms * 1000);
    }
    co_return late_us;
  };
  std::vector<std::uint64_t> late_us = run_task(loop, body());
  std::sort(late_us.begin(), late_us.end());
  EXPECT_LE(late_us[late_us.size() / 2], 2'000u);
}

TEST(Sleep, TakesAnyDuration) {
  Loop loop;
  auto body = []() -> Task<> {
    const std::uint64_t start = Loop::clock_us();
    co_await sleep(3ms);
    co_await sleep(1500us);  // rounded up to 2 ms
    co_await sleep(std::chrono::duration<double>(0.001));
    EXPECT_GE(Loop::clock_us() - start, 6'000u);
    co_await sleep(-1s);
    co_await sleep(0s);
  };
  run_task(loop, body());
}

TEST(Sleep, ThousandsAtOnceAreOneTimer) {
  Loop loop;
  auto body = []() -> Task<std::size_t> {
    std::vector<Task<int>> tasks;
    for (int i = 0; i < 32'000; ++i) tasks.push_back(after(1 + i % 50, 1));
    co_return (co_await when_all(std::move(tasks))).size();
  };
  EXPECT_EQ(run_task(loop, body()), 32'000u);
}

TEST(Yield, LetsOthersGoFirst) {
  Loop loop;
  std::vector<int> order;
  auto body = [&]() -> Task<> {
    loop.post([&] { order.push_back(1); });
    co_await yield();
    co_await yield();
    order.push_back(2);
  };
  run_task(loop, body());
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(WhenAll, GivesEveryValueInItsPlace) {
  Loop loop;
  auto body = []() -> Task<> {
    auto [a, b, c, d] = co_await when_all(after(5, 1), ready(2), pause(1), careful(2, 4));
    EXPECT_EQ(a, 1);
    EXPECT_EQ(b, 2);
    static_assert(std::is_same_v<decltype(c), std::monostate>);
    EXPECT_EQ(d.value(), 4);
    co_await when_all(pause(1), pause(2));
    static_assert(std::is_void_v<decltype(when_all(pause(1)).await_resume())>);
  };
  run_task(loop, body());
}

TEST(WhenAll, RunsAtOnceAndNotInARow) {
  Loop loop;
  auto body = []() -> Task<> {
    const std::uint64_t start = Loop::clock_us();
    std::vector<Task<int>> tasks;
    for (int i = 0; i < 100; ++i) tasks.push_back(after(20, i));
    const std::vector<int> values = co_await when_all(std::move(tasks));
    EXPECT_LT(Loop::clock_us() - start, 1'000'000u);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(values[static_cast<std::size_t>(i)], i);
    EXPECT_TRUE((co_await when_all(std::vector<Task<int>>())).empty());
  };
  run_task(loop, body());
}

TEST(WhenAll, TheFirstExceptionStopsTheOthersAndWaitsForThem) {
  Loop loop;
  auto body = []() -> Task<> {
    int stopped = 0;
    auto noting = [&stopped]() -> Task<int> {
      auto slept = co_await sleep_ms(1'000'000);
      EXPECT_EQ(slept.error().kind(), ErrorKind::Cancelled);
      co_await shielded(pause(3), 1000);  // cleans up
      ++stopped;
      co_return 1;
    };
    bool has_thrown = false;
    try {
      co_await when_all(noting(), throw_after(1), noting(), throw_after(100'000));
    } catch (const std::runtime_error&) {
      has_thrown = true;
      EXPECT_EQ(stopped, 2);
    }
    EXPECT_TRUE(has_thrown);
    has_thrown = false;
    std::vector<Task<int>> tasks;
    tasks.push_back(after(100'000, 1));
    tasks.push_back(throw_after(1));
    try {
      co_await when_all(std::move(tasks));
    } catch (const std::runtime_error&) {
      has_thrown = true;
    }
    EXPECT_TRUE(has_thrown);
  };
  run_task(loop, body());
}

TEST(WhenAll, AMillionChildrenThatEndAtOnce) {
  Loop loop;
  constexpr std::size_t kCount = 1'000'000;
  auto body = []() -> Task<std::size_t> {
    std::vector<Task<int>> tasks;
    tasks.reserve(kCount);
    for (std::size_t i = 0; i < kCount; ++i) tasks.push_back(ready(1));
    const std::vector<int> values = co_await when_all(std::move(tasks));
    co_return static_cast<std::size_t>(std::count(values.begin(), values.end(), 1));
  };
  EXPECT_EQ(run_task(loop, body()), kCount);
}

TEST(WhenAll, AStopReachesEveryChild) {
  Loop loop;
  Loop::Scope scope(loop);
  TaskRoot root;
  int sum = 0;
  auto body = [&]() -> Task<> {
    auto [a, b] = co_await when_all(after(100'000, 1), after(200'000, 2));
    sum = a + b;
  };
  bool has_ended = false;
  root.start(body(), [&has_ended](Outcome<void>&& end) noexcept { has_ended = end.has_value(); });
  root.stop(ErrorKind::Closed);
  EXPECT_TRUE(has_ended);
  EXPECT_EQ(sum, -3);
  EXPECT_EQ(loop.timers().next_due(), TimerWheel::kNever);
}

TEST(WhenAll, ChildrenOfAStoppedChainAreStoppedFromTheStart) {
  Loop loop;
  Loop::Scope scope(loop);
  TaskRoot root;
  int sum = 0;
  auto body = [&]() -> Task<> {
    auto [a, b] = co_await when_all(after(100'000, 1), after(200'000, 2));
    sum = a + b;
  };
  root.stop(ErrorKind::Closed);
  root.start(body(), [](Outcome<void>&&) noexcept {});
  EXPECT_EQ(sum, -3);
}

TEST(WhenAll, ChildrenShareTheArenaAndTheDeadline) {
  Loop loop;
  Loop::Scope scope(loop);
  alignas(16) char room[4096];
  Arena arena(room, sizeof room);
  TaskRoot root(&arena);
  bool is_in_arena = false;
  std::uint64_t remaining_ms = 0;
  auto child = [&]() -> Task<> {
    Task<int> inner = ready(1);
    is_in_arena = !inner.is_on_heap();
    remaining_ms = this_task().remaining_ms();
    co_return;
  };
  auto body = [&]() -> Task<> { co_await when_all(child(), pause(1)); };
  root.set_deadline(loop.now_ms() + 50'000);
  {
    TaskRoot::Enter enter(root);
    root.start(body(), [](Outcome<void>&&) noexcept {});
  }
  EXPECT_TRUE(is_in_arena);
  EXPECT_LE(remaining_ms, 50'000u);
  root.reset();
}

TEST(WhenAll, AnAbandonedChildAbandonsTheStoppedChain) {
  Loop loop;
  Loop::Scope scope(loop);
  TaskRoot root;
  auto token = std::make_shared<int>(0);
  auto body = [](std::shared_ptr<int>) -> Task<> { co_await when_all(deaf(), ready(1)); };
  ErrorKind kind = ErrorKind::None;
  root.start(body(token), [&kind](Outcome<void>&& end) noexcept { kind = end.error().kind(); });
  root.stop(ErrorKind::Closed);
  EXPECT_EQ(kind, ErrorKind::Closed);
  EXPECT_EQ(token.use_count(), 1);
}

TEST(WhenAll, DestroyingTheChainDestroysTheChildren) {
  Loop loop;
  Loop::Scope scope(loop);
  auto token = std::make_shared<int>(0);
  auto child = [](std::shared_ptr<int>) -> Task<> { co_await sleep_ms(100'000); };
  auto body = [&]() -> Task<> { co_await when_all(child(token), child(token)); };
  {
    TaskRoot root;
    root.start(body(), [](Outcome<void>&&) noexcept { ADD_FAILURE(); });
    EXPECT_EQ(token.use_count(), 3);
  }
  EXPECT_EQ(token.use_count(), 1);
  EXPECT_EQ(loop.timers().next_due(), TimerWheel::kNever);
}

TEST(WhenAny, GivesTheFirstAndStopsTheOthers) {
  Loop loop;
  auto body = []() -> Task<> {
    const std::uint64_t start = Loop::clock_us();
    First<int> first = co_await when_any(after(100'000, 1), after(1, 2), after(100'000, 3));
    EXPECT_EQ(first.index, 1u);
    EXPECT_EQ(first.value, 2);
    First<void> silent = co_await when_any(pause(100'000), pause(1));
    EXPECT_EQ(silent.index, 1u);
    auto mixed = co_await when_any(pause(100'000), after(1, 5));
    EXPECT_EQ(mixed.index, 1u);
    EXPECT_EQ(std::get<1>(mixed.value), 5);
    std::vector<Task<int>> tasks;
    for (int i = 10; i > 0; --i) tasks.push_back(after(i == 3 ? 1 : 100'000, i));
    first = co_await when_any(std::move(tasks));
    EXPECT_EQ(first.index, 7u);
    EXPECT_EQ(first.value, 3);
    EXPECT_LT(Loop::clock_us() - start, 5'000'000u);
  };
  run_task(loop, body());
}

TEST(WhenAny, WaitsForTheLosers) {
  Loop loop;
  auto body = []() -> Task<> {
    bool has_cleaned_up = false;
    auto loser = [&]() -> Task<int> {
      co_await sleep_ms(100'000);
      co_await shielded(pause(5), 1000);
      has_cleaned_up = true;
      co_return 1;
    };
    co_await when_any(ready(1), loser());
    EXPECT_TRUE(has_cleaned_up);
  };
  run_task(loop, body());
}

TEST(WhenAny, ADeafLoserIsAbandoned) {
  Loop loop;
  auto body = []() -> Task<int> { co_return (co_await when_any(deaf(), after(1, 2))).value; };
  EXPECT_EQ(run_task(loop, body()), 2);
}

TEST(WhenAny, ThrowsWhatTheFirstThrew) {
  Loop loop;
  auto body = []() -> Task<> { co_await when_any(after(100'000, 1), throw_after(1)); };
  EXPECT_THROW(run_task(loop, body()), std::runtime_error);
}

TEST(WithDeadline, GivesTheValueOrTimeout) {
  Loop loop;
  auto body = []() -> Task<> {
    Result<int> in_time = co_await with_deadline(after(1, 5), 10'000);
    EXPECT_EQ(in_time.value(), 5);
    const std::uint64_t start = Loop::clock_us();
    Result<int> late = co_await with_deadline(after(100'000, 5), 5);
    EXPECT_EQ(late.error().kind(), ErrorKind::Timeout);
    EXPECT_GE(Loop::clock_us() - start, 5'000u);
    Result<int> flat = co_await with_deadline(careful(100'000, 5), 5);
    EXPECT_EQ(flat.error().kind(), ErrorKind::Timeout);
    Result<int> deafened = co_await with_deadline(deaf(), 5);
    EXPECT_EQ(deafened.error().kind(), ErrorKind::Timeout);
    Result<void> nothing = co_await with_deadline(pause(1), 10'000);
    EXPECT_TRUE(nothing);
    EXPECT_FALSE(this_task().is_stopped());
    EXPECT_TRUE(co_await sleep_ms(1));  // this chain goes on
  };
  run_task(loop, body());
}

TEST(WithDeadline, ThrowsWhatTheTaskThrows) {
  Loop loop;
  auto body = []() -> Task<> { (void)co_await with_deadline(throw_after(1), 10'000); };
  EXPECT_THROW(run_task(loop, body()), std::runtime_error);
}

TEST(WithDeadline, TheNearerOneCounts) {
  Loop loop;
  auto inner = []() -> Task<> {
    Result<int> result = co_await with_deadline(after(100'000, 1), 100'000);
    EXPECT_EQ(result.error().kind(), ErrorKind::Timeout);
    EXPECT_TRUE(this_task().is_stopped());
    EXPECT_LE(this_task().remaining_ms(), 5u);
  };
  auto nested = [&]() -> Task<> {
    const std::uint64_t start = Loop::clock_us();
    EXPECT_FALSE(co_await with_deadline(inner(), 5));
    EXPECT_LT(Loop::clock_us() - start, 5'000'000u);
  };
  run_task(loop, nested());
}

TEST(Shielded, IsNotReachedByTheStop) {
  Loop loop;
  Loop::Scope scope(loop);
  TaskRoot root;
  std::vector<std::string> notes;
  auto roll_back = [&]() -> Task<Result<int>> {
    if (auto slept = co_await sleep_ms(3); !slept) co_return fail(slept.error());
    notes.push_back("rolled back");
    co_return 1;
  };
  auto body = [&]() -> Task<> {
    co_await sleep_ms(100'000);
    notes.push_back("stopped");
    Result<int> done = co_await shielded(roll_back(), 1000);
    EXPECT_TRUE(done);
  };
  bool has_ended = false;
  root.start(body(), [&has_ended](Outcome<void>&&) noexcept { has_ended = true; });
  root.stop(ErrorKind::Closed);
  EXPECT_FALSE(has_ended);
  while (!has_ended) loop.step(100);
  EXPECT_EQ(notes, (std::vector<std::string>{"stopped", "rolled back"}));
}

TEST(Shielded, IsStoppedNeitherLaterNorByTheDeadlineOfTheChain) {
  Loop loop;
  Loop::Scope scope(loop);
  TaskRoot root;
  bool is_whole = false;
  auto body = [&]() -> Task<> { is_whole = (co_await shielded(after(10, 1), 1000)).value_or(0) == 1; };
  bool has_ended = false;
  loop.step();
  root.set_deadline(loop.now_ms() + 2);
  root.start(body(), [&has_ended](Outcome<void>&&) noexcept { has_ended = true; });
  while (!has_ended) loop.step(100);
  EXPECT_TRUE(is_whole);
  EXPECT_EQ(root.why().kind(), ErrorKind::Timeout);
}

TEST(Shielded, HasALimitOfItsOwn) {
  Loop loop;
  auto body = []() -> Task<> {
    Result<int> result = co_await shielded(after(100'000, 1), 3);
    EXPECT_EQ(result.error().kind(), ErrorKind::Timeout);
  };
  run_task(loop, body());
}

TEST(Spawn, KeepsWhatTheCallableCaptured) {
  Loop loop;
  int got = 0;
  spawn(loop, [&loop, &got, text = std::make_unique<int>(5)]() -> Task<> {
    co_await sleep_ms(2);
    got = *text;
    loop.stop();
  });
  loop.run();
  EXPECT_EQ(got, 5);
}

TEST(Spawn, TakesATaskFromTheHeap) {
  Loop loop;
  int got = 0;
  auto body = [&]() -> Task<> {
    co_await sleep_ms(1);
    got = 1;
    loop.stop();
  };
  spawn(loop, body());
  loop.run();
  EXPECT_EQ(got, 1);
}

TEST(Spawn, InsideAChainWithAnArenaItsFramesComeFromTheHeap) {
  Loop loop;
  Loop::Scope scope(loop);
  alignas(16) char room[2048];
  Arena arena(room, sizeof room);
  bool has_ended = false;
  {
    TaskRoot root(&arena);
    auto body = [&]() -> Task<> {
      spawn(loop, [&has_ended]() -> Task<> {
        co_await sleep_ms(3);
        has_ended = true;
      });
      co_return;
    };
    TaskRoot::Enter enter(root);
    root.start(body(), [](Outcome<void>&&) noexcept {});
  }
  std::fill(std::begin(room), std::end(room), '\xee');
  while (!has_ended) loop.step(100);
}

TEST(Spawn, LogsWhatItThrows) {
  static std::string logged;
  logged.clear();
  set_log_sink([](LogLevel, std::string_view text) noexcept { logged = text; });
  Loop loop;
  spawn(loop, []() -> Task<> {
    throw std::runtime_error("lost otherwise");
    co_return;
  });
  set_log_sink(nullptr);
  EXPECT_NE(logged.find("lost otherwise"), std::string::npos);
}

TEST(Spawn, AThousandInFlightEndWhenTheLoopStops) {
  Loop loop;
  int ended = 0;
  for (int i = 0; i < 1000; ++i) {
    spawn(loop, [&ended]() -> Task<> {
      auto slept = co_await sleep_ms(1'000'000);
      EXPECT_EQ(slept.error().kind(), ErrorKind::ShuttingDown);
      EXPECT_TRUE(co_await shielded(pause(2), 1000));
      ++ended;
    });
  }
  spawn(loop, [&]() -> Task<> {
    loop.stop();
    co_return;
  });
  loop.run();
  EXPECT_EQ(ended, 1000);
}

TEST(Spawn, WhatIsSpawnedWhileTheLoopEndsIsStoppedFromTheStart) {
  Loop loop;
  ErrorKind kind = ErrorKind::None;
  spawn(loop, [&]() -> Task<> {
    co_await sleep_ms(1'000'000);
    spawn(loop, [&kind]() -> Task<> { kind = (co_await sleep_ms(1'000'000)).error().kind(); });
  });
  loop.stop();
  loop.run();
  EXPECT_EQ(kind, ErrorKind::ShuttingDown);
}

TEST(Spawn, WhatDoesNotEndInTimeIsDestroyed) {
  static int warnings;
  warnings = 0;
  set_log_sink([](LogLevel, std::string_view) noexcept { ++warnings; });
  Loop loop;
  loop.set_drain_ms(10);
  auto token = std::make_shared<int>(0);
  spawn(loop, [token]() -> Task<> { (void)co_await shielded(pause(1'000'000), 1'000'000); });
  loop.stop();
  loop.run();
  set_log_sink(nullptr);
  EXPECT_EQ(token.use_count(), 1);
  EXPECT_EQ(warnings, 1);
}

TEST(Spawn, TheLoopsDestructorEndsWhatNeverRan) {
  auto token = std::make_shared<int>(0);
  set_log_sink([](LogLevel, std::string_view) noexcept {});
  {
    Loop loop;
    spawn(loop, [token]() -> Task<> { co_await sleep_ms(1'000'000); });
    EXPECT_EQ(token.use_count(), 2);
  }
  set_log_sink(nullptr);
  EXPECT_EQ(token.use_count(), 1);
}

TEST(SpawnDeathTest, RefusesATaskFromAnArena) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        Loop loop;
        alignas(16) char room[2048];
        Arena arena(room, sizeof room);
        TaskRoot root(&arena);
        TaskRoot::Enter enter(root);
        spawn(loop, pause(1));
      },
      "is_on_heap");
}

}  // namespace
}  // namespace violet
