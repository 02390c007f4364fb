// Worker processes without a server: what the supervisor does for any work.
#include "violet/event/process/supervisor.h"

#include "tests/support/client.h"
#include "violet/base/log.h"
#include "violet/event/loop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace violet {
namespace {

using test::eventually;

// A pipe that all processes of a test share.
struct Pipe {
  Pipe() { EXPECT_EQ(::pipe(ends), 0); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  void write(char byte) const { EXPECT_EQ(::write(ends[1], &byte, 1), 1); }
  char read() const {
    char byte = 0;
    return ::read(ends[0], &byte, 1) == 1 ? byte : '!';
  }
  int ends[2] = {-1, -1};
};

// A worker that says it is ready and obeys: writes each order, ends by Drain, Cut or Orphaned.
int obey(int line, const Pipe& pipe) {
  Loop loop;
  WorkerLink link(loop, line, [&](WorkerLink::Order order) {
    pipe.write(static_cast<char>(order));
    if (order != WorkerLink::Order::Reload) loop.stop();
  });
  // The link alone keeps no loop running.
  uv_async_t keep;
  uv_async_init(loop.uv(), &keep, nullptr);
  WorkerLink::say(line, WorkerLink::Word::Ready);
  loop.run();
  uv_close(reinterpret_cast<uv_handle_t*>(&keep), nullptr);
  return 0;
}

Supervisor::Plan plan_of(int count, Function<int(int, int)> work) {
  return {.options = {.count = count, .stable_ms = 600'000, .failures_max = 3, .backoff_ms = 1, .backoff_ms_max = 2},
          .drain_ms = 20'000,
          .reloads = true,
          .work = std::move(work)};
}

int run(Supervisor::Plan plan) {
  set_log_level(LogLevel::Off);
  Supervisor supervisor(std::move(plan));
  return supervisor.run();
}

TEST(Supervisor, TellsOnceThatAllAreReadyAndEndsThemBySigterm) {
  Pipe pipe;
  const int parent = test::start_child([&] {
    Supervisor::Plan plan = plan_of(3, [&](int, int line) { return obey(line, pipe); });
    plan.on_ready = [&] { pipe.write('R'); };
    plan.on_close = [&] { pipe.write('X'); };
    return run(std::move(plan));
  });
  EXPECT_EQ(pipe.read(), 'R');
  ::kill(parent, SIGTERM);
  std::string rest;
  for (int i = 0; i < 4; ++i) rest += pipe.read();
  EXPECT_EQ(test::wait_child(parent), 0);
  EXPECT_EQ(std::ranges::count(rest, 'd'), 3) << rest;
  EXPECT_EQ(std::ranges::count(rest, 'X'), 1) << rest;
}

TEST(Supervisor, PassesReloadsOnAndASecondSignalCuts) {
  Pipe pipe;
  const int parent = test::start_child([&] {
    Supervisor::Plan plan = plan_of(1, [&](int, int line) {
      Loop loop;
      WorkerLink link(loop, line, [&](WorkerLink::Order order) {
        pipe.write(static_cast<char>(order));
        if (order == WorkerLink::Order::Cut) loop.stop();
      });
      uv_async_t keep;
      uv_async_init(loop.uv(), &keep, nullptr);
      WorkerLink::say(line, WorkerLink::Word::Ready);
      loop.run();
      uv_close(reinterpret_cast<uv_handle_t*>(&keep), nullptr);
      return 0;
    });
    plan.on_ready = [&] { pipe.write('R'); };
    return run(std::move(plan));
  });
  EXPECT_EQ(pipe.read(), 'R');
  ::kill(parent, SIGHUP);
  EXPECT_EQ(pipe.read(), 'r');
  ::kill(parent, SIGINT);
  EXPECT_EQ(pipe.read(), 'd');
  ::kill(parent, SIGTERM);
  EXPECT_EQ(pipe.read(), 'c');
  EXPECT_EQ(test::wait_child(parent), 0);
}

TEST(Supervisor, ReplacesAWorkerThatLeavesWhileItDrains) {
  Pipe pipe;
  const int parent = test::start_child([&] {
    return run(plan_of(1, [&, count = 0](int, int line) mutable {
      if (++count == 1) WorkerLink::say(line, WorkerLink::Word::Ready);
      pipe.write('w');
      WorkerLink::say(line, WorkerLink::Word::Leaving);
      return obey(line, pipe);
    }));
  });
  // Each says that it leaves and goes on; three in a row are too many, and all of them are told to end.
  EXPECT_EQ(pipe.read(), 'w');
  EXPECT_EQ(pipe.read(), 'w');
  EXPECT_EQ(pipe.read(), 'w');
  EXPECT_EQ(pipe.read(), 'd');
  EXPECT_EQ(pipe.read(), 'd');
  EXPECT_EQ(pipe.read(), 'd');
  EXPECT_EQ(test::wait_child(parent), Supervisor::kGaveUp);
}

TEST(Supervisor, OutlivesAHangupThatHasNothingToReload) {
  Pipe pipe;
  const int parent = test::start_child([&] {
    Supervisor::Plan plan = plan_of(1, [&](int, int line) { return obey(line, pipe); });
    plan.reloads = false;
    plan.on_ready = [&] { pipe.write('R'); };
    return run(std::move(plan));
  });
  EXPECT_EQ(pipe.read(), 'R');
  ::kill(parent, SIGHUP);
  ::kill(parent, SIGTERM);
  EXPECT_EQ(pipe.read(), 'd') << "the first order";
  EXPECT_EQ(test::wait_child(parent), 0);
}

TEST(Supervisor, EndsWhenAWorkerEndsBeforeItServes) {
  EXPECT_EQ(test::in_child([] { return run(plan_of(2, [](int, int) { return 5; })); }), Supervisor::kNotStarted);
}

TEST(Supervisor, EndsTheOthersWhenOneCannotServe) {
  Pipe pipe;
  EXPECT_EQ(test::in_child([&] {
              return run(plan_of(2, [&](int index, int line) { return index == 0 ? obey(line, pipe) : 1; }));
            }),
            Supervisor::kNotStarted);
  EXPECT_EQ(pipe.read(), 'd');
}

// Ready, and then dead.
int fail_at_once(int line) {
  WorkerLink::say(line, WorkerLink::Word::Ready);
  return 9;
}

TEST(Supervisor, GivesUpOnAWorkerThatKeepsDying) {
  Pipe pipe;
  EXPECT_EQ(test::in_child([&] {
              return run(plan_of(1, [&](int, int line) {
                pipe.write('w');
                return fail_at_once(line);
              }));
            }),
            Supervisor::kGaveUp);
  pipe.write('.');
  std::string starts;
  for (char byte = pipe.read(); byte != '.'; byte = pipe.read()) starts += byte;
  EXPECT_EQ(starts, "www") << "failures_max of them";
}

TEST(Supervisor, ReplacesForEverWhatHadLivedLongEnough) {
  Pipe pipe;
  const int parent = test::start_child([&] {
    Supervisor::Plan plan = plan_of(1, [&](int, int line) {
      pipe.write('w');
      return fail_at_once(line);
    });
    plan.options.stable_ms = 0;
    return run(std::move(plan));
  });
  for (int i = 0; i < 10; ++i) EXPECT_EQ(pipe.read(), 'w');
  ::kill(parent, SIGTERM);
  // The last one may have died while it was being stopped, which is a failure to end well.
  EXPECT_LE(test::wait_child(parent), 1);
}

TEST(Supervisor, KillsWhatDoesNotEndInTime) {
  Pipe pipe;
  const int parent = test::start_child([&] {
    Supervisor::Plan plan = plan_of(2, [&](int, int line) -> int {
      ::signal(SIGTERM, SIG_IGN);
      WorkerLink::say(line, WorkerLink::Word::Ready);
      for (;;) ::pause();
    });
    plan.drain_ms = 50;
    plan.on_ready = [&] { pipe.write('R'); };
    return run(std::move(plan));
  });
  EXPECT_EQ(pipe.read(), 'R');
  ::kill(parent, SIGTERM);
  EXPECT_EQ(test::wait_child(parent), Supervisor::kNotStarted);
}

TEST(Supervisor, ItsDeathIsAnOrderToEnd) {
  Pipe pipe;
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const int parent = test::start_child([&] {
    // SIGTERM, which the kernel sends as well, is left to the line here.
    Supervisor::Plan plan = plan_of(2, [&](int, int line) {
      ::signal(SIGTERM, SIG_IGN);
      return obey(line, pipe);
    });
    plan.on_ready = [&] { pipe.write('R'); };
    return run(std::move(plan));
  });
  EXPECT_EQ(pipe.read(), 'R');
  ::kill(parent, SIGKILL);
  EXPECT_EQ(pipe.read(), 'o');
  EXPECT_EQ(pipe.read(), 'o');
  EXPECT_EQ(test::wait_child(parent), 1000 + SIGKILL);
  EXPECT_EQ(::waitpid(-1, nullptr, 0) > 0, true);
  EXPECT_EQ(::waitpid(-1, nullptr, 0) > 0, true) << "both end, and are ours now";
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST(Supervisor, ASystemSignalEndsAWorkerThatHasNotGotFar) {
  Pipe pipe;
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const int parent = test::start_child([&] {
    return run(plan_of(1, [&](int, int) -> int {
      pipe.write('w');
      for (;;) ::pause();
    }));
  });
  EXPECT_EQ(pipe.read(), 'w');
  ::kill(parent, SIGKILL);
  EXPECT_EQ(test::wait_child(parent), 1000 + SIGKILL);
  int status = 0;
  EXPECT_GT(::waitpid(-1, &status, 0), 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST(Supervisor, AWorkerCanAskForTheEndOfAll) {
  Pipe pipe;
  EXPECT_EQ(test::in_child([&] {
              return run(plan_of(2, [&](int index, int line) {
                if (index == 1) WorkerLink::say(line, WorkerLink::Word::Stop);
                return obey(line, pipe);
              }));
            }),
            0);
}

}  // namespace
}  // namespace violet
