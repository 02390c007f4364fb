#include "violet/features/limit/rate/table.h"

#include <algorithm>
#include <bit>

namespace violet::rate {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kMs = 1'000'000;

std::uint64_t round_up(std::uint64_t ns) noexcept { return (ns + kMs - 1) / kMs; }

}  // namespace

Table::Table(const RatePolicy& policy, std::size_t keys_max)
    : step_ns_(std::max<std::uint64_t>(policy.per_s * kSecond / std::max(policy.requests, 1U), 1)),
      depth_ns_(step_ns_ * std::max(policy.burst, 1U)),
      set_count_(std::bit_ceil(std::max<std::size_t>((keys_max + kWays - 1) / kWays, 1))),
      sets_(std::make_unique<Set[]>(set_count_)) {}

RateDecision Table::take(std::uint64_t hash, std::uint64_t now_ns) noexcept {
  // The lower bits choose the set; a key is never 0.
  Set& set = sets_[hash & (set_count_ - 1)];
  const std::uint64_t key = hash != 0 ? hash : 1;
  for (;;) {
    Slot* slot = find(set, key);
    if (slot == nullptr) slot = claim(set, key);
    if (slot == nullptr) continue;  // another loop was faster: look again
    std::uint64_t full_at = slot->full_at_ns.load(std::memory_order_relaxed);
    const std::uint64_t begin = std::max(full_at, now_ns);
    const std::uint64_t next = begin + step_ns_;
    const std::uint64_t missing = next - now_ns;
    if (missing > depth_ns_) {
      return {.is_allowed = false,
              .remaining = 0,
              .reset_ms = round_up(begin - now_ns),
              .retry_ms = round_up(missing - depth_ns_)};
    }
    if (!slot->full_at_ns.compare_exchange_weak(full_at, next, std::memory_order_relaxed)) continue;
    return {.is_allowed = true,
            .remaining = static_cast<std::uint32_t>((depth_ns_ - missing) / step_ns_),
            .reset_ms = round_up(missing)};
  }
}

Table::Slot* Table::find(Set& set, std::uint64_t key) noexcept {
  for (Slot& slot : set.slots) {
    if (slot.key.load(std::memory_order_acquire) == key) return &slot;
  }
  return nullptr;
}

// The place that is free, or else that of the bucket nearest to full. nullptr when somebody else has taken it.
Table::Slot* Table::claim(Set& set, std::uint64_t key) noexcept {
  Slot* best = nullptr;
  std::uint64_t best_full_at = 0;
  for (Slot& slot : set.slots) {
    const std::uint64_t full_at = slot.full_at_ns.load(std::memory_order_relaxed);
    if (best == nullptr || full_at < best_full_at) {
      best = &slot;
      best_full_at = full_at;
    }
  }
  std::uint64_t old_key = best->key.load(std::memory_order_relaxed);
  if (old_key == key || !best->key.compare_exchange_strong(old_key, key, std::memory_order_acq_rel)) return nullptr;
  // The new key's bucket is full; unless the old one's was used right now, which changed it.
  best->full_at_ns.compare_exchange_strong(best_full_at, 0, std::memory_order_relaxed);
  return best;
}

}  // namespace violet::rate
