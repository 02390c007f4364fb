#pragma once

// Histogram: how often each latency occurred, to three digits, from one nanosecond to eighteen minutes; adding is a
// shift and an increment. Log-linear: each power of two has 1024 buckets, so a bucket is never wider than a thousandth
// of what it holds.

#include <cstdint>
#include <vector>

namespace violet::load {

class Histogram {
 public:
  Histogram() : counts_(kBuckets) {}

  void add(std::uint64_t ns) noexcept {
    if (ns > kMost) ns = kMost;
    ++counts_[bucket_of(ns)];
    ++count_;
    sum_ += ns;
    if (ns > most_) most_ = ns;
    if (ns < least_) least_ = ns;
  }
  void add(const Histogram& other) noexcept;
  void clear() noexcept;

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  // The least value that `share` (0 to 1) of all values do not exceed, as the middle of its bucket; 0 when empty.
  [[nodiscard]] std::uint64_t quantile(double share) const noexcept;
  [[nodiscard]] std::uint64_t most() const noexcept { return most_; }
  [[nodiscard]] std::uint64_t least() const noexcept { return count_ == 0 ? 0 : least_; }
  [[nodiscard]] double mean() const noexcept {
    return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
  }

 private:
  static constexpr unsigned kBits = 10;
  static constexpr std::uint64_t kHalf = std::uint64_t{1} << kBits;
  static constexpr unsigned kPowers = 40;
  static constexpr std::uint64_t kMost = (std::uint64_t{1} << kPowers) - 1;
  static constexpr std::size_t kBuckets = (kPowers - kBits + 1) << kBits;

  static std::size_t bucket_of(std::uint64_t ns) noexcept {
    if (ns < 2 * kHalf) return static_cast<std::size_t>(ns);
    const auto shift = static_cast<unsigned>(63 - __builtin_clzll(ns)) - kBits;
    return static_cast<std::size_t>(shift * kHalf + (ns >> shift));
  }
  static std::uint64_t middle_of(std::size_t bucket) noexcept;

  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t most_ = 0;
  std::uint64_t least_ = ~std::uint64_t{0};
};

}  // namespace violet::load
