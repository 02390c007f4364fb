#pragma once

// Table: the buckets of a rate limit in the memory of a process, for all its loops at once, without a lock.
//
// A bucket is one number, the time at which it will be full (the virtual scheduling of ATM Forum TM 4.0, "GCRA"): a
// request moves it ahead by the time in which one flows in, and is refused when that would leave the bucket's depth. So
// nothing has to be filled, and a bucket that nobody remembers is the same as a full one.
//
// Keys are 64 bits of a keyed hash; two clients share a bucket once in 2^64 pairs. The table has a fixed size: sets of
// eight places. A key whose set is full takes the place of the bucket that is nearest to full, so that those who ask
// too much are remembered. Where two loops take one place at the same moment, a request may be counted for the other
// key; none is counted twice.

#include "violet/features/limit/rate_store.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace violet::rate {

class Table {
 public:
  // Room for at least `keys_max` keys, and for eight.
  Table(const RatePolicy& policy, std::size_t keys_max);

  // `now_ns` is of a clock that never goes back, the same for all loops. Any thread.
  RateDecision take(std::uint64_t hash, std::uint64_t now_ns) noexcept;
  [[nodiscard]] std::size_t key_count_max() const noexcept { return set_count_ * kWays; }

 private:
  static constexpr std::size_t kWays = 8;
  struct Slot {
    std::atomic<std::uint64_t> key{0};  // 0: free
    std::atomic<std::uint64_t> full_at_ns{0};
  };
  struct alignas(64) Set {
    Slot slots[kWays];
  };

  static Slot* find(Set& set, std::uint64_t key) noexcept;
  static Slot* claim(Set& set, std::uint64_t key) noexcept;

  std::uint64_t step_ns_;   // in which one request flows in
  std::uint64_t depth_ns_;  // in which an empty bucket becomes full
  std::size_t set_count_;   // a power of two
  std::unique_ptr<Set[]> sets_;
};

}  // namespace violet::rate
