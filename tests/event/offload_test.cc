#include "violet/event/offload.h"

#include "tests/event/run_task.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace violet {
namespace {

int add(int a, const std::string& b) { return a + static_cast<int>(b.size()); }

// Holds workers until it is opened.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    while (!is_open_) changed_.wait(lock);
  }
  void wait_for(int count) {
    std::unique_lock lock(mutex_);
    while (waiting_ < count) changed_.wait(lock);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;
  int waiting_ = 0;
};

TEST(Offload, RunsOnAnotherThreadAndComesBack) {
  Loop loop;
  const std::thread::id here = std::this_thread::get_id();
  auto body = [&]() -> Task<> {
    auto where = [] { return std::this_thread::get_id(); };
    auto there = co_await offload(where);
    EXPECT_NE(there.value(), here);
    EXPECT_EQ(std::this_thread::get_id(), here);
    EXPECT_EQ((co_await offload(add, 1, "four")).value(), 5);
    auto nothing = [] {};
    EXPECT_TRUE(co_await offload(nothing));
  };
  run_task(loop, body());
}

TEST(Offload, MovesItsArgumentsInAndItsValueOut) {
  Loop loop;
  auto body = []() -> Task<> {
    auto in = std::make_unique<int>(3);
    auto twice = [](std::unique_ptr<int> n) {
      *n *= 2;
      return n;
    };
    Result<std::unique_ptr<int>> out = co_await offload(twice, std::move(in));
    EXPECT_EQ(**out, 6);
  };
  run_task(loop, body());
}

TEST(Offload, FlattensAResult) {
  Loop loop;
  auto body = []() -> Task<> {
    auto failing = []() -> Result<int> { return fail(ErrorKind::NotFound); };
    Result<int> result = co_await offload(failing);
    EXPECT_EQ(result.error().kind(), ErrorKind::NotFound);
  };
  run_task(loop, body());
}

TEST(Offload, ThrowsAtTheAwait) {
  Loop loop;
  auto body = []() -> Task<> {
    auto throwing = []() -> int { throw std::runtime_error("on a worker"); };
    (void)co_await offload(throwing);
  };
  EXPECT_THROW(run_task(loop, body()), std::runtime_error);
}

TEST(Offload, RunsInParallelUpToTheThreadCount) {
  Loop loop;
  Gate gate;
  WorkerPool pool(4);
  auto body = [&]() -> Task<> {
    std::vector<Task<>> tasks;
    auto hold = [&]() -> Task<> {
      auto work = [&gate] { gate.pass(); };
      EXPECT_TRUE(co_await offload_to(pool, work));
    };
    for (int i = 0; i < 4; ++i) tasks.push_back(hold());
    auto open = [&]() -> Task<> {
      auto work = [&gate] {
        gate.wait_for(4);
        gate.open();
      };
      WorkerPool other(1);
      EXPECT_TRUE(co_await offload_to(other, work));
    };
    tasks.push_back(open());
    co_await when_all(std::move(tasks));
  };
  run_task(loop, body());
}

TEST(Offload, AFullQueueIsBusy) {
  Loop loop;
  Gate gate;
  WorkerPool pool(1, 2);
  auto body = [&]() -> Task<> {
    auto hold = [&]() -> Task<bool> {
      auto work = [&gate] { gate.pass(); };
      co_return (co_await offload_to(pool, work)).has_value();
    };
    auto probe = [&]() -> Task<bool> {
      gate.wait_for(1);
      std::vector<Task<bool>> queued;
      queued.push_back(hold());
      queued.push_back(hold());
      queued.push_back([](WorkerPool& p, Gate& g) -> Task<bool> {
        auto work = [] {};
        auto result = co_await offload_to(p, work);
        g.open();
        co_return result.error().kind() == ErrorKind::Busy;
      }(pool, gate));
      const std::vector<bool> results = co_await when_all(std::move(queued));
      co_return results[0] && results[1] && results[2];
    };
    auto [held, probed] = co_await when_all(hold(), probe());
    EXPECT_TRUE(held);
    EXPECT_TRUE(probed);
  };
  run_task(loop, body());
}

TEST(Offload, AStoppedTaskGoesOnWhileTheWorkerRuns) {
  Gate gate;
  Loop loop;
  auto token = std::make_shared<int>(0);
  auto body = [&]() -> Task<> {
    auto slow = [&]() -> Task<> {
      auto work = [&gate, token] { gate.pass(); };
      auto result = co_await offload(work);
      EXPECT_EQ(result.error().kind(), ErrorKind::Timeout);
    };
    EXPECT_FALSE(co_await with_deadline(slow(), 3));
  };
  run_task(loop, body());
  EXPECT_EQ(token.use_count(), 2);  // the worker's
  gate.open();
  while (token.use_count() > 1) loop.step(10);
}

TEST(Offload, QueuedWorkOfAStoppedTaskNeverRuns) {
  Gate gate;
  Loop loop;
  WorkerPool pool(1);
  bool has_run = false;
  auto body = [&]() -> Task<> {
    auto hold = [&]() -> Task<> {
      auto work = [&gate] { gate.pass(); };
      EXPECT_TRUE(co_await offload_to(pool, work));
    };
    auto queued = [&]() -> Task<> {
      gate.wait_for(1);
      auto work = [&has_run] { has_run = true; };
      auto attempt = [&]() -> Task<> { EXPECT_FALSE(co_await offload_to(pool, work)); };
      EXPECT_FALSE(co_await with_deadline(attempt(), 3));
      gate.open();
    };
    co_await when_all(hold(), queued());
  };
  run_task(loop, body());
  EXPECT_FALSE(has_run);
}

TEST(Offload, ADestroyedChainGetsNothingWrittenIntoIt) {
  Loop loop;
  for (int round = 0; round < 50; ++round) {
    Gate gate;
    auto token = std::make_shared<int>(0);
    {
      Loop::Scope scope(loop);
      auto root = std::make_unique<TaskRoot>();
      auto body = [&]() -> Task<> {
        auto work = [&gate, token] {
          gate.pass();
          return std::string(100, 'x');
        };
        (void)co_await offload(work);
      };
      root->start(body(), [](Outcome<void>&&) noexcept { ADD_FAILURE(); });
      if (round % 2 == 0) gate.wait_for(1);
      if (round % 3 == 0) {
        gate.open();
        std::this_thread::yield();
      }
      root.reset();
    }
    gate.open();
    while (token.use_count() > 1) loop.step(1);
  }
}

TEST(Offload, AResultThatFindsNoLoopIsDropped) {
  Gate gate;
  WorkerPool pool(1);
  auto token = std::make_shared<int>(0);
  {
    Loop loop;
    Loop::Scope scope(loop);
    TaskRoot root;
    auto body = [&]() -> Task<> {
      auto work = [&gate, token] { gate.pass(); };
      (void)co_await offload_to(pool, work);
    };
    root.start(body(), [](Outcome<void>&&) noexcept {});
    gate.wait_for(1);
  }
  gate.open();
  while (token.use_count() > 1) std::this_thread::yield();
}

TEST(Offload, APoolThatEndsFailsWhatIsQueued) {
  Loop loop;
  Loop::Scope scope(loop);
  Gate gate;
  auto pool = std::make_unique<WorkerPool>(1);
  int held = 0;
  int failed = 0;
  auto body = [&]() -> Task<> {
    auto work = [&gate] { gate.pass(); };
    auto result = co_await offload_to(*pool, work);
    if (result) ++held;
    if (!result && result.error().kind() == ErrorKind::ShuttingDown) ++failed;
  };
  TaskRoot roots[3];
  for (TaskRoot& root : roots) root.start(body(), [](Outcome<void>&&) noexcept {});
  gate.wait_for(1);
  std::thread opener([&] { gate.open(); });
  pool.reset();
  opener.join();
  while (held + failed < 3) loop.step(100);
  EXPECT_GE(held, 1);
}

TEST(Offload, AThousandInFlightWhenTheLoopStops) {
  std::atomic<int> ran = 0;
  int ended = 0;
  {
    Loop loop;
    for (int i = 0; i < 1000; ++i) {
      spawn(loop, [&]() -> Task<> {
        auto work = [&ran] { ran.fetch_add(1); };
        (void)co_await offload(work);
        ++ended;
      });
    }
    loop.stop();
    loop.run();
    EXPECT_EQ(ended, 1000);
  }
  EXPECT_LE(ran.load(), 1000);
}

TEST(Offload, LoopsCanShareAPool) {
  WorkerPool pool(2);
  std::vector<std::thread> threads;
  std::atomic<int> total = 0;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      Loop loop;
      loop.set_workers(pool);
      auto body = [&]() -> Task<> {
        for (int i = 0; i < 100; ++i) {
          auto one = [] { return 1; };
          total += (co_await offload(one)).value();
        }
      };
      run_task(loop, body());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(total.load(), 300);
}

}  // namespace
}  // namespace violet
