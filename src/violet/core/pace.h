#pragma once

// Pace: how long a transfer may still take. It begins with a grace; each byte moved buys time at the least rate, but
// never more than `stall_ms` ahead, so that neither a drip nor a stop after a burst can hold a connection. Pure
// numbers, no clock of its own.

#include <algorithm>
#include <cstdint>

namespace violet {

class Pace {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  void begin(std::uint64_t now_ms, std::uint64_t grace_ms) noexcept {
    due_ms_ = grace_ms != 0 ? now_ms + grace_ms : kNever;
  }
  void end() noexcept { due_ms_ = kNever; }
  [[nodiscard]] bool is_running() const noexcept { return due_ms_ != kNever; }
  [[nodiscard]] std::uint64_t due_ms() const noexcept { return due_ms_; }

  // `rate_min` in bytes a second; 0: any progress counts as enough.
  void moved(std::uint64_t bytes, std::uint64_t now_ms, std::uint64_t rate_min, std::uint64_t stall_ms) noexcept {
    if (due_ms_ == kNever || bytes == 0) return;
    const std::uint64_t latest = now_ms + stall_ms;
    const std::uint64_t bought = rate_min == 0 ? stall_ms : bytes * 1000 / rate_min;
    // Never shortens what the grace gave.
    due_ms_ = std::max(due_ms_, std::min(due_ms_ + bought, latest));
  }

 private:
  std::uint64_t due_ms_ = kNever;
};

}  // namespace violet
