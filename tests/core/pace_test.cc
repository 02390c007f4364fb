#include "violet/core/pace.h"

#include <gtest/gtest.h>

namespace violet {
namespace {

TEST(Pace, GivesAGraceAndThenTimeForBytes) {
  Pace pace;
  EXPECT_FALSE(pace.is_running());
  EXPECT_EQ(pace.due_ms(), Pace::kNever);
  pace.moved(1000, 5, 10, 100);  // not running: no effect
  EXPECT_FALSE(pace.is_running());
  pace.begin(1000, 500);
  EXPECT_EQ(pace.due_ms(), 1500u);
  pace.moved(10, 1100, 100, 10'000);  // 10 bytes at 100 B/s buy 100 ms
  EXPECT_EQ(pace.due_ms(), 1600u);
  pace.moved(0, 1100, 100, 10'000);
  EXPECT_EQ(pace.due_ms(), 1600u);
  pace.moved(1'000'000, 1200, 100, 700);  // never more than the stall ahead of now
  EXPECT_EQ(pace.due_ms(), 1900u);
  pace.moved(1'000'000, 1250, 100, 10);  // and never earlier than what was given
  EXPECT_EQ(pace.due_ms(), 1900u);
  pace.end();
  EXPECT_FALSE(pace.is_running());
  pace.begin(1000, 0);  // no limit
  EXPECT_EQ(pace.due_ms(), Pace::kNever);
}

TEST(Pace, WithoutARateTakesAnyProgress) {
  Pace pace;
  pace.begin(0, 100);
  pace.moved(1, 50, 0, 1000);
  EXPECT_EQ(pace.due_ms(), 1050u);
}

TEST(H1Guard, ADripNeverOutlivesItsRate) {
  Pace pace;
  pace.begin(0, 5000);
  std::uint64_t now = 0;
  // One byte each 100 ms is 10 B/s, less than 240.
  while (now < pace.due_ms() && now < 1'000'000) {
    now += 100;
    pace.moved(1, now, 240, 30'000);
  }
  EXPECT_LT(now, 6000u);
}

}  // namespace
}  // namespace violet
