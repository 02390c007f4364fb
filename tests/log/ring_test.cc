// Lines on their way from a loop to the log's thread.

#include "violet/features/log/ring.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

namespace violet::access {
namespace {

std::string taken(Ring& ring) {
  std::string out;
  ring.take(out);
  return out;
}

TEST(LogRing, GivesBackWhatWasAppendedInOrder) {
  Ring ring(16);
  EXPECT_TRUE(ring.append("abc\n"));
  EXPECT_TRUE(ring.append("defg\n"));
  EXPECT_EQ(taken(ring), "abc\ndefg\n");
  EXPECT_EQ(taken(ring), "");
  // Around the end.
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(ring.append("0123456\n"));
    EXPECT_TRUE(ring.append("789\n"));
    EXPECT_EQ(taken(ring), "0123456\n789\n");
  }
}

TEST(LogRing, DropsAndCountsWhatHasNoRoom) {
  Ring ring(8);
  EXPECT_TRUE(ring.append("1234567\n"));
  EXPECT_FALSE(ring.append("x"));
  EXPECT_FALSE(ring.append("longer than the ring"));
  EXPECT_EQ(ring.dropped_count(), 2u);
  EXPECT_EQ(taken(ring), "1234567\n");
  EXPECT_TRUE(ring.append("12345678"));
}

TEST(LogRing, SaysWhenItRunsFull) {
  Ring ring(8);
  EXPECT_TRUE(ring.append("1234"));
  EXPECT_FALSE(ring.is_half_full());
  EXPECT_TRUE(ring.append("5"));
  EXPECT_TRUE(ring.is_half_full());
}

TEST(LogRing, OneThreadAppendsWhileAnotherTakes) {
  Ring ring(64);
  std::string expected;
  std::atomic<bool> is_done = false;
  std::string got;
  std::thread taker([&] {
    while (!is_done.load()) ring.take(got);
    ring.take(got);
  });
  for (int i = 0; i < 20'000; ++i) {
    const std::string line = std::to_string(i) + "\n";
    if (ring.append(line)) expected += line;
  }
  is_done = true;
  taker.join();
  EXPECT_EQ(got, expected);
}

}  // namespace
}  // namespace violet::access
