// Buckets: what is let through when, and who is remembered.

#include "violet/features/limit/rate/key.h"
#include "violet/features/limit/rate/table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace violet::rate {
namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kStart = 1'000'000 * kMs;

TEST(RateTable, LetsABurstThroughAndThenAsManyAsFlowIn) {
  Table table({.requests = 10, .per_s = 1, .burst = 3}, 8);
  for (std::uint32_t left : {2U, 1U, 0U}) {
    const RateDecision decision = table.take(7, kStart);
    EXPECT_TRUE(decision.is_allowed);
    EXPECT_EQ(decision.remaining, left);
    EXPECT_EQ(decision.reset_ms, (3 - left) * 100);
  }
  RateDecision decision = table.take(7, kStart + 30 * kMs);
  EXPECT_FALSE(decision.is_allowed);
  EXPECT_EQ(decision.retry_ms, 70u);
  EXPECT_EQ(decision.reset_ms, 270u);
  EXPECT_FALSE(table.take(7, kStart + 100 * kMs - 1).is_allowed);
  EXPECT_TRUE(table.take(7, kStart + 100 * kMs).is_allowed);
  EXPECT_FALSE(table.take(7, kStart + 100 * kMs).is_allowed);
  // Who waits for long has a whole burst again, and no more.
  int allowed = 0;
  for (int i = 0; i < 10; ++i) allowed += table.take(7, kStart + 3'600'000 * kMs).is_allowed;
  EXPECT_EQ(allowed, 3);
}

TEST(RateTable, NeverLetsMoreThroughThanThePolicySays) {
  Table table({.requests = 5, .per_s = 1, .burst = 5}, 8);
  int allowed = 0;
  // 20 a second for 10 seconds: a burst and 5 a second.
  for (std::uint64_t i = 0; i < 200; ++i) allowed += table.take(1, kStart + i * 50 * kMs).is_allowed;
  EXPECT_GE(allowed, 5 + 49);
  EXPECT_LE(allowed, 5 + 50);
}

TEST(RateTable, KeysHaveBucketsOfTheirOwn) {
  Table table({.requests = 1, .per_s = 1, .burst = 1}, 1024);
  for (std::uint64_t key = 0; key < 100; ++key) EXPECT_TRUE(table.take(key * 0x9e3779b97f4a7c15, kStart).is_allowed);
  for (std::uint64_t key = 0; key < 100; ++key) EXPECT_FALSE(table.take(key * 0x9e3779b97f4a7c15, kStart).is_allowed);
}

TEST(RateTable, ForgetsTheBucketThatIsNearestToFull) {
  Table table({.requests = 10, .per_s = 1, .burst = 10}, 8);
  EXPECT_EQ(table.key_count_max(), 8u);
  // Eight keys in the one set: key n has used n requests.
  for (std::uint64_t key = 1; key <= 8; ++key) {
    for (std::uint64_t i = 0; i < key; ++i) EXPECT_TRUE(table.take(key << 32, kStart).is_allowed);
  }
  EXPECT_EQ(table.take(std::uint64_t{99} << 32, kStart).remaining, 9u);
  EXPECT_EQ(table.take(std::uint64_t{8} << 32, kStart).remaining, 1u) << "who has asked much is remembered";
  EXPECT_EQ(table.take(std::uint64_t{1} << 32, kStart).remaining, 9u) << "who had one less than a full bucket is not";
}

TEST(RateTable, IsSharedByThreadsWhichCountTogether) {
  Table table({.requests = 1, .per_s = 3'600, .burst = 1'000}, 64);
  std::atomic<int> allowed = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 1'000; ++n) allowed += table.take(42, kStart).is_allowed;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(allowed, 1'000);
}

TEST(RateTable, ThreadsThatTakePlacesFromEachOtherComeToAnEnd) {
  Table table({.requests = 1, .per_s = 1, .burst = 2}, 8);
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < 4; ++i) {
    threads.emplace_back([&table, i] {
      for (std::uint64_t n = 0; n < 5'000; ++n) table.take((i * 5'000 + n) << 20, kStart + n * kMs);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

Address address(const char* text) { return *Address::parse(text, 99); }

TEST(RateKey, CountsIpv6ByItsNetwork) {
  const Secret secret = make_secret();
  const auto hash = [&](const char* text) { return Key(address(text)).hash(secret); };
  EXPECT_EQ(hash("2001:db8:1:2::1"), hash("2001:db8:1:2:ffff:ffff:ffff:ffff"));
  EXPECT_NE(hash("2001:db8:1:2::1"), hash("2001:db8:1:3::1"));
  EXPECT_NE(hash("192.0.2.1"), hash("192.0.2.2"));
  EXPECT_EQ(hash("192.0.2.1"), hash("::ffff:192.0.2.1"));
  EXPECT_NE(hash("::ffff:192.0.2.1"), hash("::ffff:192.0.2.2")) << "not all IPv4 clients are one";
  EXPECT_EQ(Key(address("2001:db8:1:2::7")).text(), "a:2001:db8:1:2::");
  EXPECT_EQ(Key(address("::ffff:192.0.2.1")).text(), "a:192.0.2.1");
  EXPECT_EQ(Key({.family = Address::Family::Unix}).text(), "a:unix");
}

TEST(RateKey, TellsKindsAndTextsApart) {
  const Secret secret = {1, 2};
  std::set<std::uint64_t> seen;
  for (const Kind kind : {Kind::Field, Kind::Named}) {
    std::string text;
    for (int i = 0; i < 40; ++i, text += 'a') EXPECT_TRUE(seen.insert(Key(kind, text).hash(secret)).second) << i;
  }
  EXPECT_EQ(Key(Kind::Field, "token").text(), "f:token");
  EXPECT_NE(Key(Kind::Field, "token").hash(secret), Key(Kind::Field, "token").hash({2, 2})) << "a secret has a say";
}

TEST(RateKey, IsTheHashThatItsAuthorsHaveDefined) {
  // SipHash-1-3 of 0, 1, 2 … under the key 0, 1, 2 … 15; the kind is folded into the key, so it is taken out first.
  const Secret secret = {0x0706050403020100 ^ 'f', 0x0f0e0d0c0b0a0908};
  EXPECT_EQ(Key(Kind::Field, "").hash(secret), 0xabac0158050fc4dcu);
}

}  // namespace
}  // namespace violet::rate
