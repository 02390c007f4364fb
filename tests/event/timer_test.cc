#include "violet/event/timer.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <vector>

namespace violet {
namespace {

struct Probe : Timer {
  explicit Probe(std::vector<int>* fired_list = nullptr, int number = 0)
      : Timer(&Probe::on_due), fired(fired_list), id(number) {}
  static void on_due(Timer& timer) noexcept {
    auto& self = static_cast<Probe&>(timer);
    EXPECT_FALSE(self.is_armed());
    if (self.fired != nullptr) self.fired->push_back(self.id);
    if (self.action) self.action(self);
  }
  std::vector<int>* fired;
  int id;
  void (*action)(Probe&) = nullptr;
  void* data = nullptr;
};

TEST(TimerWheel, FiresAtTheDueTimeAndNotBefore) {
  for (std::uint64_t due : {1u, 2u, 63u, 64u, 65u, 4095u, 4096u, 4097u, 300'000u}) {
    TimerWheel wheel(0);
    std::vector<int> fired;
    Probe timer(&fired, 1);
    wheel.arm(timer, due);
    wheel.advance(due - 1);
    EXPECT_TRUE(fired.empty()) << due;
    EXPECT_EQ(wheel.wake_at_ms(), due);
    wheel.advance(due);
    EXPECT_EQ(fired.size(), 1u) << due;
    EXPECT_EQ(wheel.wake_at_ms(), TimerWheel::kNever);
  }
}

TEST(TimerWheel, WakesOnceForOneFarTimer) {
  TimerWheel wheel(12'345);
  std::vector<int> fired;
  Probe timer(&fired);
  wheel.arm(timer, 12'345 + 75'000);
  int wake_count = 0;
  while (wheel.wake_at_ms() != TimerWheel::kNever) {
    wheel.advance(wheel.wake_at_ms());
    ++wake_count;
  }
  EXPECT_EQ(wake_count, 1);
  EXPECT_EQ(fired.size(), 1u);
}

TEST(TimerWheel, TenYearsDoNotOverflow) {
  const std::uint64_t ten_years = 10ull * 366 * 24 * 3600 * 1000;
  for (std::uint64_t start : {std::uint64_t{0}, ten_years, std::uint64_t{0xfffff'ffffull}}) {
    TimerWheel wheel(start);
    std::vector<int> fired;
    Probe timer(&fired);
    wheel.arm(timer, start + ten_years);
    wheel.advance(start + ten_years - 1);
    EXPECT_TRUE(fired.empty());
    EXPECT_TRUE(timer.is_armed());
    wheel.advance(start + ten_years);
    EXPECT_EQ(fired.size(), 1u);
  }
}

TEST(TimerWheel, NeverIsAnAllowedDueTime) {
  TimerWheel wheel(7);
  std::vector<int> fired;
  Probe never(&fired, 1);
  Probe soon(&fired, 2);
  wheel.arm(never, TimerWheel::kNever);
  wheel.arm(soon, 9);
  wheel.advance(1'000'000'000'000ull);
  EXPECT_EQ(fired, std::vector<int>{2});
  EXPECT_TRUE(never.is_armed());
}

TEST(TimerWheel, AClockThatGoesBackwardsCountsAsStanding) {
  TimerWheel wheel(0);
  std::vector<int> fired;
  Probe timer(&fired, 1);
  Probe later(&fired, 2);
  wheel.advance(5'000);
  wheel.advance(10);
  wheel.arm(timer, 4'999);
  wheel.arm(later, 5'001);
  wheel.advance(20);
  EXPECT_EQ(fired, std::vector<int>{1});
  wheel.advance(5'001);
  EXPECT_EQ(fired, (std::vector<int>{1, 2}));
}

TEST(TimerWheel, WhatIsDueAlreadyFiresInTheNextAdvance) {
  TimerWheel wheel(100);
  std::vector<int> fired;
  Probe timer(&fired);
  wheel.arm(timer, 3);
  EXPECT_TRUE(fired.empty());
  EXPECT_LE(wheel.wake_at_ms(), 100u);
  wheel.advance(100);
  EXPECT_EQ(fired.size(), 1u);
}

TEST(TimerWheel, ATimerThatRearmsForThePastFiresOncePerAdvance) {
  TimerWheel wheel(10);
  std::vector<int> fired;
  Probe timer(&fired);
  timer.data = &wheel;
  timer.action = [](Probe& self) { static_cast<TimerWheel*>(self.data)->arm(self, 0); };
  wheel.arm(timer, 20);
  wheel.advance(30);
  EXPECT_EQ(fired.size(), 1u);
  wheel.advance(30);
  EXPECT_EQ(fired.size(), 2u);
}

TEST(TimerWheel, DestroyingNeighboursAndItselfInACallbackIsLegal) {
  struct Group {
    std::vector<std::unique_ptr<Probe>> timers;
    TimerWheel wheel{0};
    std::unique_ptr<Probe> late;
  } group;
  std::vector<int> fired;
  for (int i = 0; i < 10; ++i) {
    group.timers.push_back(std::make_unique<Probe>(&fired, i));
    group.timers.back()->data = &group;
    group.wheel.arm(*group.timers.back(), 5);
  }
  // The first destroys its neighbours 1 to 3, moves 4 away, cancels 5, arms a new one in the same slot, then goes
  // itself.
  group.timers[0]->action = [](Probe& self) {
    Group& g = *static_cast<Group*>(self.data);
    for (int i = 1; i <= 3; ++i) g.timers[static_cast<std::size_t>(i)].reset();
    g.wheel.arm(*g.timers[4], 70);
    g.timers[5]->cancel();
    g.late = std::make_unique<Probe>(self.fired, 100);
    g.wheel.arm(*g.late, 6);
    g.timers[0].reset();
  };
  group.wheel.advance(6);
  EXPECT_EQ(fired, (std::vector<int>{0, 6, 7, 8, 9, 100}));
  group.wheel.advance(70);
  EXPECT_EQ(fired.back(), 4);
}

TEST(TimerWheel, DestroyedWheelLeavesTimersUnarmed) {
  Probe timer;
  {
    TimerWheel wheel(0);
    wheel.arm(timer, 1000);
  }
  EXPECT_FALSE(timer.is_armed());
}

TEST(TimerTo, CallsTheMember) {
  struct Owner {
    void on_due() noexcept { ++count; }
    int count = 0;
    TimerTo<&Owner::on_due> timer{*this};
  } owner;
  static_assert(sizeof(owner.timer) <= 40);
  TimerWheel wheel(0);
  wheel.arm(owner.timer, 1);
  wheel.advance(1);
  EXPECT_EQ(owner.count, 1);
}

// Random operations against a map; every step of the clock must fire exactly what the map says, in its order of due
// times, and wake_at_ms() must never be later than the earliest due time.
TEST(TimerWheel, AgreesWithANaiveModel) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    std::uint64_t now = random() % 1'000'000;
    TimerWheel wheel(now);
    constexpr int kTimers = 200;
    std::vector<int> fired;
    std::vector<std::unique_ptr<Probe>> timers;
    for (int i = 0; i < kTimers; ++i) timers.push_back(std::make_unique<Probe>(&fired, i));
    std::map<int, std::uint64_t> model;
    for (int step = 0; step < 5000; ++step) {
      const auto which = static_cast<int>(random() % kTimers);
      switch (random() % 5) {
        case 0:
        case 1: {
          const std::uint64_t range = std::uint64_t{1} << (random() % 36);
          const std::uint64_t due = now + random() % range;
          wheel.arm(*timers[static_cast<std::size_t>(which)], due);
          model[which] = due;
          break;
        }
        case 2:
          timers[static_cast<std::size_t>(which)]->cancel();
          model.erase(which);
          break;
        case 3:
          timers[static_cast<std::size_t>(which)] = std::make_unique<Probe>(&fired, which);
          model.erase(which);
          break;
        case 4: {
          const std::uint64_t range = std::uint64_t{1} << (random() % 20);
          std::uint64_t next = now + random() % range;
          if (random() % 4 == 0 && wheel.next_due() != TimerWheel::kNever) next = std::max(now, wheel.next_due());
          now = next;
          fired.clear();
          wheel.advance(now);
          std::size_t due_count = 0;
          std::uint64_t earliest = TimerWheel::kNever;
          for (const auto& [id, due] : model) {
            due_count += due <= now;
            if (due > now) earliest = std::min(earliest, due);
          }
          ASSERT_EQ(fired.size(), due_count) << "seed " << seed << " step " << step;
          std::uint64_t last = 0;
          bool is_ordered = true;
          for (int id : fired) {
            ASSERT_TRUE(model.contains(id) && model[id] <= now);
            is_ordered &= model[id] >= last;
            last = model[id];
            model.erase(id);
          }
          // What was armed for the past goes first, in the order of arming.
          EXPECT_TRUE(is_ordered || last <= now);
          ASSERT_LE(wheel.wake_at_ms(), earliest);
          ASSERT_EQ(wheel.wake_at_ms() == TimerWheel::kNever, earliest == TimerWheel::kNever);
          break;
        }
      }
      for (int id = 0; id < kTimers; ++id) {
        ASSERT_EQ(timers[static_cast<std::size_t>(id)]->is_armed(), model.contains(id));
      }
    }
  }
}

TEST(TimerWheel, HoldsManyTimersAndFiresEachInItsMillisecond) {
  constexpr int kTimers = 32'000;
  std::mt19937_64 random(1);
  TimerWheel wheel(1'000);
  static std::uint64_t now;
  static int wrong;
  static int fired_count;
  now = 1'000;
  wrong = fired_count = 0;
  struct Exact : Timer {
    Exact()
        : Timer([](Timer& timer) noexcept {
            ++fired_count;
            if (timer.due_ms() != now) ++wrong;
          }) {}
  };
  std::vector<Exact> timers(kTimers);
  for (Exact& timer : timers) wheel.arm(timer, now + 1 + random() % 100'000);
  int wake_count = 0;
  while (wheel.wake_at_ms() != TimerWheel::kNever) {
    now = wheel.wake_at_ms();
    wheel.advance(now);
    ++wake_count;
  }
  EXPECT_EQ(fired_count, kTimers);
  EXPECT_EQ(wrong, 0);
  EXPECT_LT(wake_count, kTimers);
}

}  // namespace
}  // namespace violet
