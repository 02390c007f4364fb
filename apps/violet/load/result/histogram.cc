#include "load/result/histogram.h"

#include <algorithm>
#include <cmath>

namespace violet::load {

void Histogram::add(const Histogram& other) noexcept {
  for (std::size_t i = 0; i < kBuckets; ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  most_ = std::max(most_, other.most_);
  least_ = std::min(least_, other.least_);
}

void Histogram::clear() noexcept {
  std::fill(counts_.begin(), counts_.end(), 0);
  count_ = sum_ = most_ = 0;
  least_ = ~std::uint64_t{0};
}

std::uint64_t Histogram::middle_of(std::size_t bucket) noexcept {
  if (bucket < 2 * kHalf) return bucket;
  const std::uint64_t shift = (bucket >> kBits) - 1;
  const std::uint64_t first = (bucket - shift * kHalf) << shift;
  return first + (std::uint64_t{1} << shift) / 2;
}

std::uint64_t Histogram::quantile(double share) const noexcept {
  if (count_ == 0) return 0;
  const auto wanted =
      std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_))));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    seen += counts_[i];
    if (seen >= wanted) return std::min(middle_of(i), most_);
  }
  return most_;
}

}  // namespace violet::load
