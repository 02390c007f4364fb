#include "violet/event/loop.h"

#include "violet/event/wait.h"

#include <gtest/gtest.h>

#include <atomic>
#include <ctime>
#include <memory>
#include <sys/resource.h>
#include <thread>
#include <vector>

namespace violet {
namespace {

TEST(Loop, CurrentIsTheRunningLoop) {
  EXPECT_EQ(Loop::current(), nullptr);
  Loop outer;
  Loop inner;
  Loop::Scope scope(outer);
  EXPECT_EQ(Loop::current(), &outer);
  Loop* seen = nullptr;
  inner.post([&] {
    seen = Loop::current();
    inner.stop();
  });
  inner.run();
  EXPECT_EQ(seen, &inner);
  EXPECT_EQ(Loop::current(), &outer);
}

TEST(Loop, AStopBeforeRunMakesRunReturn) {
  Loop loop;
  loop.stop();
  loop.stop();
  loop.run();
  bool has_run = false;
  loop.post([&] {
    has_run = true;
    loop.stop();
  });
  loop.run();
  EXPECT_TRUE(has_run);
}

TEST(Loop, RunsAndStopsAThousandTimes) {
  Loop loop;
  int count = 0;
  for (int i = 0; i < 1000; ++i) {
    loop.post([&] {
      ++count;
      loop.stop();
    });
    loop.run();
  }
  EXPECT_EQ(count, 1000);
}

TEST(Loop, StopComesFromAnyThread) {
  for (int i = 0; i < 200; ++i) {
    Loop loop;
    std::thread other([&] { loop.stop(); });
    loop.run();
    other.join();
  }
}

TEST(Loop, PostsFromManyThreadsRunInOrderAndNoneIsLost) {
  Loop loop;
  constexpr int kThreads = 4;
  constexpr int kPosts = 20'000;
  int next[kThreads] = {};
  int disorder = 0;
  std::atomic<int> done = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kPosts; ++i) {
        loop.post([&, t, i] { disorder += next[t]++ != i; });
      }
      if (done.fetch_add(1) == kThreads - 1) loop.post([&] { loop.stop(); });
    });
  }
  loop.run();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(disorder, 0);
  for (int count : next) EXPECT_EQ(count, kPosts);
}

TEST(Loop, APostFromTheLoopItselfIsNeverInline) {
  Loop loop;
  std::vector<int> order;
  loop.post([&] {
    loop.post([&] {
      order.push_back(2);
      loop.stop();
    });
    order.push_back(1);
  });
  loop.run();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(Loop, APostedFunctionThatThrowsDoesNotEndTheLoop) {
  Loop loop;
  bool has_run = false;
  loop.post([] { throw std::runtime_error("expected by a test"); });
  loop.post([&] {
    has_run = true;
    loop.stop();
  });
  loop.run();
  EXPECT_TRUE(has_run);
}

TEST(Loop, WhatWasPostedIsDestroyedWithoutRunningWhenTheLoopDies) {
  auto token = std::make_shared<int>(1);
  bool has_run = false;
  {
    Loop loop;
    loop.post([token, &has_run] { has_run = true; });
    EXPECT_EQ(token.use_count(), 2);
  }
  EXPECT_EQ(token.use_count(), 1);
  EXPECT_FALSE(has_run);
}

TEST(LoopRef, MayOutliveItsLoop) {
  LoopRef ref;
  EXPECT_FALSE(ref.post([] {}));
  {
    Loop loop;
    ref = loop.ref();
    LoopRef copy = ref;
    bool has_run = false;
    EXPECT_TRUE(copy.post([&] { has_run = true; }));
    loop.step();
    EXPECT_TRUE(has_run);
  }
  auto token = std::make_shared<int>(1);
  EXPECT_FALSE(ref.post([token] {}));
  EXPECT_EQ(token.use_count(), 1);
}

TEST(LoopRef, PostsFromOtherThreadsWhileTheLoopDies) {
  for (int i = 0; i < 100; ++i) {
    auto loop = std::make_unique<Loop>();
    std::atomic<bool> is_ready = false;
    std::thread other([ref = loop->ref(), &is_ready]() mutable {
      is_ready = true;
      while (ref.post([] {})) {
      }
    });
    while (!is_ready) std::this_thread::yield();
    loop->step();
    loop.reset();
    other.join();
  }
}

TEST(Loop, DeferredWorkRunsOnceAtTheEndOfTheTurn) {
  Loop loop;
  std::vector<int> order;
  struct Work : Deferred {
    explicit Work(std::vector<int>& list, int number)
        : Deferred([](Deferred& self) noexcept {
            Work& work = static_cast<Work&>(self);
            work.order.push_back(work.id);
            if (work.then != nullptr) Loop::current()->defer(*work.then);
          }),
          order(list),
          id(number) {}
    std::vector<int>& order;
    int id;
    Work* then = nullptr;
  };
  Work first(order, 2);
  Work second(order, 3);
  Work gone(order, 99);
  first.then = &second;
  loop.post([&] {
    loop.defer(first);
    loop.defer(first);
    EXPECT_TRUE(first.is_pending());
    loop.defer(gone);
    gone.unlink();
    order.push_back(1);
  });
  loop.step();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST(Loop, WorkThatDefersItselfDoesNotStarveTheLoop) {
  Loop loop;
  struct Again {
    void on_turn_end() noexcept {
      ++count;
      Loop::current()->defer(work);
    }
    int count = 0;
    DeferredTo<&Again::on_turn_end> work{*this};
  } again;
  loop.defer(again.work);
  loop.post([&] { loop.post([&] { loop.post([&] { loop.stop(); }); }); });
  loop.run();
  EXPECT_GT(again.count, 0);
}

TEST(Loop, StepDoesNotBlockLonger) {
  Loop loop;
  EXPECT_TRUE(loop.step(0));
  const std::uint64_t start = Loop::clock_us();
  EXPECT_TRUE(loop.step(20));
  const std::uint64_t took = Loop::clock_us() - start;
  EXPECT_GE(took, 15'000u);
  EXPECT_LT(took, 2'000'000u);
  loop.stop();
  EXPECT_FALSE(loop.step(1000));
}

TEST(Loop, AStoppedStepIsKeptForRun) {
  Loop loop;
  loop.stop();
  loop.step();
  loop.run();  // returns at once
}

TEST(Loop, ClocksAgree) {
  Loop loop;
  loop.step();
  const auto wall = static_cast<std::int64_t>(std::time(nullptr));
  EXPECT_NEAR(static_cast<double>(loop.wall_seconds()), static_cast<double>(wall), 1.0);
  EXPECT_NEAR(static_cast<double>(loop.now_ms()), static_cast<double>(Loop::clock_us()) / 1000, 500.0);
  EXPECT_EQ(loop.wall_seconds(), loop.wall_seconds());
}

TEST(Loop, TimersFireOnTheLoop) {
  Loop loop;
  struct Owner {
    explicit Owner(Loop& l) : loop(l) {}
    void on_due() noexcept {
      fired_us = Loop::clock_us();
      loop.stop();
    }
    Loop& loop;
    std::uint64_t fired_us = 0;
    TimerTo<&Owner::on_due> timer{*this};
  } owner(loop);
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t now_us = Loop::clock_us();
    loop.timers().arm_after(owner.timer, 12);
    EXPECT_GE(owner.timer.due_ms() * 1000, now_us + 12'000);
  }
  const std::uint64_t start = Loop::clock_us();
  loop.timers().arm_after(owner.timer, 12);
  loop.run();
  EXPECT_GE(owner.fired_us - start, 12'000u);
  EXPECT_LT(owner.fired_us - start, 1'000'000u);
}

TEST(Loop, AnEarlierTimerArmedLaterFiresFirst) {
  Loop loop;
  static std::vector<int> order;
  order.clear();
  struct Numbered : Timer {
    explicit Numbered(int number)
        : Timer([](Timer& self) noexcept {
            order.push_back(static_cast<Numbered&>(self).id);
            if (order.size() == 2) Loop::current()->stop();
          }),
          id(number) {}
    int id;
  };
  Numbered late(2);
  Numbered early(1);
  loop.timers().arm_after(late, 30);
  loop.post([&] { loop.timers().arm_after(early, 5); });
  loop.run();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

// Blocking in the kernel is a voluntary context switch; an idle loop makes hardly any.
TEST(Loop, AnIdleLoopDoesNotWake) {
  Loop loop;
  struct Far : Timer {
    Far() : Timer([](Timer&) noexcept {}) {}
  };
  std::vector<Far> timers(1000);
  std::uint64_t delay = 60'000;
  loop.step();
  for (Far& timer : timers) loop.timers().arm_after(timer, delay += 13);
  long switches = 0;
  std::thread runner([&] {
    rusage before{};
    rusage after{};
    getrusage(RUSAGE_THREAD, &before);
    loop.run();
    getrusage(RUSAGE_THREAD, &after);
    switches = after.ru_nvcsw - before.ru_nvcsw;
  });
  timespec pause{0, 300'000'000};
  nanosleep(&pause, nullptr);
  loop.stop();
  runner.join();
  EXPECT_LE(switches, 5);
}

TEST(Loop, ClosingHandlesAreDrainedByTheDestructor) {
  struct Handle {
    uv_timer_t timer;
    bool* is_closed;
  };
  bool is_closed = false;
  {
    Loop loop;
    auto* handle = new Handle{{}, &is_closed};
    handle->timer.data = handle;
    uv_timer_init(loop.uv(), &handle->timer);
    uv_close(reinterpret_cast<uv_handle_t*>(&handle->timer), [](uv_handle_t* closed) {
      auto* self = static_cast<Handle*>(closed->data);
      *self->is_closed = true;
      delete self;
    });
  }
  EXPECT_TRUE(is_closed);
}

TEST(LoopDeathTest, AnOpenForeignHandleIsAFault) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        uv_timer_t timer;
        Loop loop;
        uv_timer_init(loop.uv(), &timer);
      },
      "a handle outlives its loop");
}

}  // namespace
}  // namespace violet
