#include "violet/event/task.h"

#include "tests/event/run_task.h"
#include "tests/support/counting_new.h"
#include "violet/event/wait.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace violet {
namespace {

Task<int> number(int n) { co_return n; }
Task<std::string> text(std::string s) { co_return s + "!"; }
Task<> thrower() {
  throw std::runtime_error("thrown");
  co_return;
}
Task<int> sum() {
  int total = 0;
  for (int i = 0; i < 10; ++i) total += co_await number(i);
  co_return total;
}

// A one-place mailbox, as in the recipe.
struct Box {
  class Receive : public Waiter, public ListNode<Receive> {
   public:
    explicit Receive(Box& box) noexcept : box_(box) {}
    bool await_ready() const noexcept { return box_.count > 0; }
    bool await_suspend(std::coroutine_handle<> handle) noexcept {
      if (!suspend(handle)) return false;
      box_.receivers.push_back(*this);
      return true;
    }
    Result<int> await_resume() noexcept {
      if (error()) return fail(error());
      return box_.count--;
    }

   private:
    friend struct Box;
    void on_stop(Error why) noexcept override {
      unlink();
      resume_with(why);
    }
    Box& box_;
  };
  Receive receive() noexcept { return Receive(*this); }
  void put() {
    ++count;
    if (Receive* receiver = receivers.pop_front()) receiver->resume();
  }
  int count = 0;
  List<Receive, Receive> receivers;
};

TEST(Task, GivesItsValue) {
  Loop loop;
  EXPECT_EQ(run_task(loop, number(7)), 7);
  EXPECT_EQ(run_task(loop, text("hi")), "hi!");
  EXPECT_EQ(run_task(loop, sum()), 45);
}

TEST(Task, IsLazy) {
  bool has_run = false;
  auto body = [&]() -> Task<> {
    has_run = true;
    co_return;
  };
  {
    Task<> task = body();
  }
  EXPECT_FALSE(has_run);
}

TEST(Task, CarriesMoveOnlyValues) {
  Loop loop;
  auto make = []() -> Task<std::unique_ptr<int>> { co_return std::make_unique<int>(3); };
  auto outer = [&]() -> Task<std::unique_ptr<int>> {
    auto inner = make();
    auto value = co_await std::move(inner);
    EXPECT_FALSE(inner);
    ++*value;
    co_return value;
  };
  EXPECT_EQ(*run_task(loop, outer()), 4);
}

TEST(Task, ThrowsInTheAwaiter) {
  Loop loop;
  auto outer = []() -> Task<std::string> {
    std::string caught;
    try {
      co_await thrower();
    } catch (const std::runtime_error& error) {
      caught = error.what();
    }
    co_return caught;
  };
  EXPECT_EQ(run_task(loop, outer()), "thrown");
  EXPECT_THROW(run_task(loop, thrower()), std::runtime_error);
}

Task<int> deep(int depth) {
  if (depth == 0) co_return 0;
  co_return 1 + co_await deep(depth - 1);
}
Task<> deep_throw(int depth) {
  if (depth == 0) throw std::runtime_error("bottom");
  co_await deep_throw(depth - 1);
}
Task<int> deep_wait(int depth, Box& box) {
  if (depth == 0) co_return co_await box.receive() ? 0 : -1;
  co_return 1 + co_await deep_wait(depth - 1, box);
}

TEST(Task, RecursesWithoutStack) {
  Loop loop;
  EXPECT_EQ(run_task(loop, deep(100'000)), 100'000);
  EXPECT_THROW(run_task(loop, deep_throw(5'000)), std::runtime_error);
}

TEST(Task, AMillionCallsInALoopUseNoStack) {
  Loop loop;
  auto body = []() -> Task<int> {
    int total = 0;
    for (int i = 0; i < 1'000'000; ++i) total += co_await number(1);
    co_return total;
  };
  EXPECT_EQ(run_task(loop, body()), 1'000'000);
}

TEST(TaskRoot, DestroysADeepSuspendedChainWithoutStack) {
  Loop loop;
  Loop::Scope scope(loop);
  Box box;
  {
    TaskRoot root;
    root.start(deep_wait(100'000, box), [](Outcome<int>&&) noexcept { ADD_FAILURE(); });
    EXPECT_FALSE(box.receivers.is_empty());
  }
  EXPECT_TRUE(box.receivers.is_empty());
}

TEST(TaskRoot, ResumesADeepChain) {
  Loop loop;
  Loop::Scope scope(loop);
  Box box;
  TaskRoot root;
  int got = 0;
  root.start(deep_wait(100'000, box), [&got](Outcome<int>&& end) noexcept { got = end.value(); });
  EXPECT_EQ(got, 0);
  box.put();
  EXPECT_EQ(got, 100'000);
  EXPECT_FALSE(root.is_active());
}

TEST(TaskRoot, DestructionRunsDestructorsInnermostFirst) {
  Loop loop;
  Loop::Scope scope(loop);
  static std::vector<int> order;
  order.clear();
  struct Noted {
    int id;
    explicit Noted(int n) : id(n) {}
    ~Noted() { order.push_back(id); }
  };
  Box box;
  struct Bodies {
    static Task<> inner(Box& b) {
      Noted noted(1);
      co_await b.receive();
    }
    static Task<> outer(Box& b) {
      Noted noted(2);
      co_await inner(b);
    }
  };
  TaskRoot root;
  root.start(Bodies::outer(box), [](Outcome<void>&&) noexcept { ADD_FAILURE(); });
  root.reset();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(TaskRoot, ASinkMayDestroyOrRestartIt) {
  Loop loop;
  Loop::Scope scope(loop);
  auto* root = new TaskRoot;
  static int count;
  count = 0;
  root->start(number(1), [root](Outcome<int>&&) noexcept {
    ++count;
    delete root;
  });
  EXPECT_EQ(count, 1);
  TaskRoot again;
  again.start(number(1), [&again](Outcome<int>&&) noexcept {
    ++count;
    again.start(number(2), [](Outcome<int>&& end) noexcept { count += end.value(); });
  });
  EXPECT_EQ(count, 4);
}

TEST(TaskRoot, ReportsExceptions) {
  TaskRoot root;
  std::string what;
  root.start(thrower(), [&what](Outcome<void>&& end) noexcept {
    EXPECT_FALSE(end.has_value());
    EXPECT_EQ(end.error().kind(), ErrorKind::Handler);
    try {
      std::rethrow_exception(end.exception());
    } catch (const std::exception& error) {
      what = error.what();
    }
  });
  EXPECT_EQ(what, "thrown");
}

TEST(TaskRoot, FramesComeFromTheArenaAndNothingIsAllocated) {
  Loop loop;
  Loop::Scope scope(loop);
  alignas(16) char room[4096];
  Arena arena(room, sizeof room);
  TaskRoot root(&arena);
  Box box;
  auto body = [&box]() -> Task<int> {
    int total = 0;
    for (int i = 0; i < 10'000; ++i) total += co_await number(1);
    const Result<int> received = co_await box.receive();
    co_return received ? total : -1;
  };
  std::size_t before = 0;
  for (int request = 0; request < 3; ++request) {
    if (request == 1) before = test::allocation_count();
    int got = 0;
    {
      TaskRoot::Enter enter(root);
      Task<int> task = body();
      EXPECT_FALSE(task.is_on_heap());
      root.start(std::move(task), [&got](Outcome<int>&& end) noexcept { got = end.value(); });
    }
    box.put();
    EXPECT_EQ(got, 10'000);
    root.reset();
    arena.reset();
  }
  if (test::kCountsAllocations) EXPECT_EQ(test::allocation_count() - before, 0u);
  EXPECT_EQ(arena.heap_bytes(), 0u);
}

TEST(TaskRoot, FramesThatDieOutOfOrderDoNotGrowTheArena) {
  Loop loop;
  alignas(16) char room[8192];
  Arena arena(room, sizeof room);
  TaskRoot root(&arena);
  auto body = []() -> Task<int> {
    for (int i = 0; i < 1000; ++i) {
      Task<int> a = number(1);
      Task<int> b = number(2);
      Task<int> c = number(3);
      co_await std::move(b);
      co_await std::move(a);
      co_await std::move(c);
      co_await when_all(number(1), number(2));
    }
    co_return 1;
  };
  Loop::Scope scope(loop);
  int got = 0;
  {
    TaskRoot::Enter enter(root);
    root.start(body(), [&got](Outcome<int>&& end) noexcept { got = end.value(); });
  }
  EXPECT_EQ(got, 1);
  EXPECT_EQ(arena.heap_bytes(), 0u);
}

TEST(TaskRoot, StopEndsTheWaitWithItsReason) {
  Loop loop;
  Loop::Scope scope(loop);
  Box box;
  TaskRoot root;
  ErrorKind kind = ErrorKind::None;
  auto body = [&]() -> Task<> {
    auto first = co_await box.receive();
    kind = first.error().kind();
    EXPECT_TRUE(this_task().is_stopped());
    auto second = co_await box.receive();  // at once
    EXPECT_EQ(second.error().kind(), ErrorKind::Closed);
  };
  bool has_ended = false;
  root.start(body(), [&has_ended](Outcome<void>&& end) noexcept { has_ended = end.has_value(); });
  root.stop(ErrorKind::Closed);
  root.stop(ErrorKind::Timeout);  // the first reason stays
  EXPECT_TRUE(has_ended);
  EXPECT_EQ(kind, ErrorKind::Closed);
  EXPECT_TRUE(box.receivers.is_empty());
}

TEST(TaskRoot, AStopBeforeTheStartIsSeen) {
  Loop loop;
  Loop::Scope scope(loop);
  Box box;
  TaskRoot root;
  root.stop(ErrorKind::Cancelled);
  bool is_stopped = false;
  auto body = [&]() -> Task<> { is_stopped = !co_await box.receive(); };
  root.start(body(), [](Outcome<void>&&) noexcept {});
  EXPECT_TRUE(is_stopped);
  root.reset();
  EXPECT_FALSE(root.is_stopped());
}

TEST(TaskRoot, ATaskThatIgnoresItsStopIsAbandoned) {
  Loop loop;
  Loop::Scope scope(loop);
  Box box;
  TaskRoot root;
  int spins = 0;
  auto token = std::make_shared<int>(0);
  auto body = [](Box& b, int& count, std::shared_ptr<int>) -> Task<> {
    for (;;) {
      co_await b.receive();
      ++count;
    }
  };
  Error why;
  root.start(body(box, spins, token), [&why](Outcome<void>&& end) noexcept { why = end.error(); });
  EXPECT_EQ(token.use_count(), 2);
  root.stop(ErrorKind::Timeout);
  EXPECT_EQ(why.kind(), ErrorKind::Timeout);
  EXPECT_EQ(token.use_count(), 1);
  EXPECT_LE(spins, 1001);
  EXPECT_GE(spins, 900);
}

TEST(TaskRoot, StopCallbacksFireOnce) {
  Loop loop;
  Loop::Scope scope(loop);
  struct Counted : StopCallback {
    Counted()
        : StopCallback([](StopCallback& self, Error error) noexcept {
            ++static_cast<Counted&>(self).count;
            static_cast<Counted&>(self).why = error;
          }) {}
    int count = 0;
    Error why;
  };
  Counted counted;
  Counted late;
  Counted gone;
  Box box;
  auto body = [&]() -> Task<> {
    this_task().on_stop(counted);
    this_task().on_stop(gone);
    gone.unlink();
    co_await box.receive();
    this_task().on_stop(late);
  };
  TaskRoot root;
  root.start(body(), [](Outcome<void>&&) noexcept {});
  root.stop(ErrorKind::Closed);
  EXPECT_EQ(counted.count, 1);
  EXPECT_EQ(counted.why.kind(), ErrorKind::Closed);
  EXPECT_EQ(late.count, 1);
  EXPECT_EQ(gone.count, 0);
}

TEST(TaskRoot, ACallbackThatWakesTheTaskDuringItsStopIsLegal) {
  Loop loop;
  Loop::Scope scope(loop);
  static Box* shared;
  Box box;
  shared = &box;
  StopCallback wake([](StopCallback&, Error) noexcept { shared->put(); });
  auto* root = new TaskRoot;
  bool had_value = false;
  auto body = [&]() -> Task<> {
    this_task().on_stop(wake);
    had_value = (co_await box.receive()).has_value();
  };
  root->start(body(), [root](Outcome<void>&&) noexcept { delete root; });
  root->stop(ErrorKind::Closed);
  EXPECT_TRUE(had_value);
}

TEST(TaskRoot, DeadlineStopsWithTimeout) {
  Loop loop;
  Loop::Scope scope(loop);
  Box box;
  TaskRoot root;
  ErrorKind kind = ErrorKind::None;
  auto body = [&]() -> Task<> {
    EXPECT_LE(this_task().remaining_ms(), 10u);
    kind = (co_await box.receive()).error().kind();
  };
  bool has_ended = false;
  loop.step();
  root.set_deadline(loop.now_ms() + 10);
  root.start(body(), [&has_ended](Outcome<void>&&) noexcept { has_ended = true; });
  while (!has_ended) loop.step(100);
  EXPECT_EQ(kind, ErrorKind::Timeout);
  EXPECT_EQ(loop.timers().next_due(), TimerWheel::kNever);
}

TEST(TaskRoot, TheFirstReasonAndTheNearerDeadlineStay) {
  Loop loop;
  Loop::Scope scope(loop);
  Box box;
  auto pause = [&]() -> Task<> { co_await box.receive(); };
  auto body = [&]() -> Task<> { (void)co_await shielded(pause(), 100'000); };
  TaskRoot root;
  root.set_deadline(loop.now_ms() + 5'000);
  root.set_deadline(loop.now_ms() + 9'000);
  EXPECT_EQ(root.deadline_ms(), loop.now_ms() + 5'000);
  root.start(body(), [](Outcome<void>&&) noexcept {});
  root.stop(ErrorKind::Closed);
  root.stop(ErrorKind::Timeout);
  EXPECT_EQ(root.why().kind(), ErrorKind::Closed);
  EXPECT_TRUE(root.is_active());
}

TEST(TaskRoot, LeavesNothingBehindWhenItEnds) {
  Loop loop;
  Loop::Scope scope(loop);
  Box box;
  static int call_count;
  call_count = 0;
  StopCallback callback([](StopCallback&, Error) noexcept { ++call_count; });
  auto body = [&]() -> Task<> {
    this_task().on_stop(callback);
    co_await box.receive();
  };
  TaskRoot root;
  root.set_deadline(loop.now_ms() + 5'000);
  root.start(body(), [](Outcome<void>&&) noexcept {});
  EXPECT_NE(loop.timers().next_due(), TimerWheel::kNever);
  box.put();
  EXPECT_FALSE(root.is_active());
  EXPECT_EQ(loop.timers().next_due(), TimerWheel::kNever);
  root.stop(ErrorKind::Closed);
  EXPECT_EQ(call_count, 0);
}

TEST(TaskRoot, ResetTakesAWokenChainOutOfTheReadyOnes) {
  Loop loop;
  Loop::Scope scope(loop);
  Box box;
  bool has_run = false;
  auto body = [&]() -> Task<> {
    co_await box.receive();
    has_run = true;
  };
  TaskRoot root;
  root.start(body(), [](Outcome<void>&&) noexcept {});
  {
    ResumeBatch batch;
    box.put();
    root.reset();
  }
  EXPECT_FALSE(has_run);
}

TEST(TaskRoot, AChainThatIgnoresItsStopInGroupsIsAbandonedToo) {
  Loop loop;
  Loop::Scope scope(loop);
  auto body = []() -> Task<> {
    for (;;) co_await when_all(number(1), number(2));
  };
  TaskRoot root;
  root.stop(ErrorKind::Closed);
  ErrorKind kind = ErrorKind::None;
  root.start(body(), [&kind](Outcome<void>&& end) noexcept { kind = end.error().kind(); });
  EXPECT_EQ(kind, ErrorKind::Closed);
}

TEST(TaskRoot, ATaskThatDoesNotWaitArmsNoTimer) {
  Loop loop;
  Loop::Scope scope(loop);
  TaskRoot root;
  root.set_deadline(loop.now_ms() + 10);
  root.start(number(1), [](Outcome<int>&&) noexcept {});
  EXPECT_EQ(loop.timers().next_due(), TimerWheel::kNever);
  root.reset();
  EXPECT_EQ(root.deadline_ms(), TaskContext::kNoDeadline);
}

TEST(ResumeBatch, LetsAListOfWaitersBeWokenSafely) {
  Loop loop;
  Loop::Scope scope(loop);
  Box box;
  struct Member {
    TaskRoot root;
    Box* box;
    static Task<> run(Box& b, std::vector<std::unique_ptr<Member>>& all) {
      co_await b.receive();
      // The first to run destroys all the others, woken or not.
      for (auto& other : all) {
        if (other && !other->root.is_stopped() && TaskContext::current() != &other->root) other.reset();
      }
    }
  };
  std::vector<std::unique_ptr<Member>> all;
  for (int i = 0; i < 10; ++i) all.push_back(std::make_unique<Member>());
  for (auto& member : all) member->root.start(Member::run(box, all), [](Outcome<void>&&) noexcept {});
  {
    ResumeBatch batch;
    for (int i = 0; i < 5; ++i) box.put();
  }
  EXPECT_TRUE(box.receivers.is_empty());
}

TEST(Task, AResumeInsideACoroutineWaitsUntilThatOneSuspends) {
  Loop loop;
  Loop::Scope scope(loop);
  Box box;
  std::vector<int> order;
  auto receiver = [&]() -> Task<> {
    co_await box.receive();
    order.push_back(2);
  };
  auto sender = [&]() -> Task<> {
    box.put();
    order.push_back(1);
    co_return;
  };
  TaskRoot a;
  TaskRoot b;
  a.start(receiver(), [](Outcome<void>&&) noexcept {});
  b.start(sender(), [](Outcome<void>&&) noexcept {});
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(TaskRoot, StartedInsideACoroutineUsesNoStack) {
  // Each task starts the next one: 100,000 chains in a row.
  Loop loop;
  Loop::Scope scope(loop);
  struct Starter {
    static Task<> run(int left, int& ended) {
      ++ended;
      if (left > 0) spawn(*Loop::current(), [left, &ended] { return run(left - 1, ended); });
      co_return;
    }
  };
  int ended = 0;
  run_task(loop, Starter::run(100'000, ended));
  EXPECT_EQ(ended, 100'001);
}

TEST(TaskRootDeathTest, DestroyingAChainFromItsOwnCoroutineIsAFault) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        auto* root = new TaskRoot;
        auto body = [root]() -> Task<> {
          delete root;
          co_return;
        };
        root->start(body(), [](Outcome<void>&&) noexcept {});
      },
      "state_ != State::Running");
}

TEST(TaskRootDeathTest, SuspendingInSomethingThatIsNoWaiterIsAFault) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        auto body = []() -> Task<> { co_await std::suspend_always(); };
        TaskRoot root;
        root.start(body(), [](Outcome<void>&&) noexcept {});
      },
      "next != nullptr");
}

TEST(TaskRootDeathTest, ATaskCannotBeAwaitedTwice) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        Loop loop;
        auto body = []() -> Task<> {
          Task<int> task = number(1);
          co_await std::move(task);
          co_await std::move(task);
        };
        run_task(loop, body());
      },
      "frame_ != nullptr");
}

}  // namespace
}  // namespace violet
