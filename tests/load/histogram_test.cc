#include "load/result/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace violet::load {
namespace {

TEST(LoadHistogram, IsExactBelowTwoMicroseconds) {
  Histogram histogram;
  for (std::uint64_t ns = 1; ns <= 2000; ++ns) histogram.add(ns);
  EXPECT_EQ(histogram.quantile(0.5), 1000u);
  EXPECT_EQ(histogram.quantile(0.001), 2u);
  EXPECT_EQ(histogram.quantile(1), 2000u);
  EXPECT_EQ(histogram.least(), 1u);
  EXPECT_DOUBLE_EQ(histogram.mean(), 1000.5);
}

// Against sorted values, over nine orders of magnitude.
TEST(LoadHistogram, HasThreeDigitsEverywhere) {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> latencies(13, 3);
  std::vector<std::uint64_t> values;
  Histogram histogram;
  for (int i = 0; i < 100'000; ++i) {
    values.push_back(std::min<std::uint64_t>(static_cast<std::uint64_t>(latencies(random)) + 1, (1ull << 40) - 1));
    histogram.add(values.back());
  }
  std::sort(values.begin(), values.end());
  for (double share : {0.0001, 0.01, 0.5, 0.9, 0.99, 0.999, 0.9999}) {
    const auto exact = static_cast<double>(values[static_cast<std::size_t>(std::ceil(share * 100'000)) - 1]);
    EXPECT_NEAR(static_cast<double>(histogram.quantile(share)), exact, exact / 1000 + 1) << share;
  }
  EXPECT_EQ(histogram.most(), values.back());
}

TEST(LoadHistogram, KeepsWhatIsTooLargeAsTheLargest) {
  Histogram histogram;
  histogram.add(~std::uint64_t{0});
  EXPECT_EQ(histogram.count(), 1u);
  EXPECT_EQ(histogram.most(), (std::uint64_t{1} << 40) - 1);
  EXPECT_GT(histogram.quantile(0.5), (std::uint64_t{1} << 40) / 1000 * 999);
}

TEST(LoadHistogram, SumsAreThoseOfItsParts) {
  Histogram both;
  Histogram one;
  Histogram other;
  for (std::uint64_t ns : {10u, 5000u, 700000u}) {
    one.add(ns);
    both.add(ns);
  }
  other.add(99);
  both.add(99);
  one.add(other);
  for (double share : {0.1, 0.5, 0.9, 1.0}) EXPECT_EQ(one.quantile(share), both.quantile(share));
  EXPECT_EQ(one.count(), 4u);
  EXPECT_EQ(one.least(), 10u);
  one.clear();
  EXPECT_EQ(one.count() + one.quantile(0.5) + one.most() + one.least(), 0u);
}

}  // namespace
}  // namespace violet::load
