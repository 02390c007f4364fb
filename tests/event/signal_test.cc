#include "violet/event/signal.h"

#include <gtest/gtest.h>

#include <csignal>
#include <memory>

namespace violet {
namespace {

TEST(SignalWatcher, CallsOnTheLoop) {
  Loop loop;
  int got = 0;
  SignalWatcher watcher(loop, SIGUSR1, [&](int number) {
    got = number;
    loop.stop();
  });
  EXPECT_TRUE(watcher.is_active());
  loop.post([] { std::raise(SIGUSR1); });
  loop.run();
  EXPECT_EQ(got, SIGUSR1);
}

TEST(SignalWatcher, SeveralMayWatchOneSignal) {
  Loop loop;
  int count = 0;
  auto note = [&](int) {
    if (++count == 2) loop.stop();
  };
  SignalWatcher first(loop, SIGUSR1, note);
  SignalWatcher second(loop, SIGUSR1, note);
  loop.post([] { std::raise(SIGUSR1); });
  loop.run();
  EXPECT_EQ(count, 2);
}

TEST(SignalWatcher, MayBeDestroyedInItsCallback) {
  Loop loop;
  std::unique_ptr<SignalWatcher> watcher;
  auto token = std::make_shared<int>(0);
  watcher = std::make_unique<SignalWatcher>(loop, SIGUSR1, [&, token](int) {
    watcher.reset();
    EXPECT_EQ(token.use_count(), 2);  // the captures are still there
    loop.stop();
  });
  loop.post([] { std::raise(SIGUSR1); });
  loop.run();
  EXPECT_FALSE(watcher);
  loop.step();
  EXPECT_EQ(token.use_count(), 1);
}

TEST(SignalWatcher, SaysWhenTheSystemRefuses) {
  Loop loop;
  SignalWatcher watcher(loop, SIGKILL, [](int) {});
  EXPECT_FALSE(watcher.is_active());
}

}  // namespace
}  // namespace violet
