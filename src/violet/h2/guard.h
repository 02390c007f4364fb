#pragma once

// Budgets that bound what a peer of HTTP/2 may cost beside its bytes in time (core/pace.h): pure counters, no I/O and
// no clock of their own.

#include <algorithm>
#include <cstdint>

namespace violet::h2 {

// Budget: a token bucket. It starts full, fills at a rate, and useful traffic may earn more; what a peer does at our
// cost is taken from it.
class Budget {
 public:
  // Takes `count`. False when there was not that much: the peer is to be sent away.
  [[nodiscard]] bool take(std::uint64_t count, std::uint64_t now_ms, std::uint64_t burst, std::uint64_t rate) noexcept {
    const std::uint64_t back = (now_ms - at_ms_) * rate;  // thousandths
    at_ms_ = now_ms;
    used_ -= std::min(used_, back);
    used_ += count * 1000;
    return used_ <= burst * 1000;
  }
  void earn(std::uint64_t count) noexcept { used_ -= std::min(used_, count * 1000); }

 private:
  std::uint64_t used_ = 0;  // thousandths of a token
  std::uint64_t at_ms_ = 0;
};

// Control frames that useful traffic earns: window updates and pings that go with it.
inline constexpr std::uint64_t kControlFramesPerRequest = 2;
inline constexpr std::uint64_t kControlFramesPerData = 4;

// Patience: how long data may still wait for the peer to open a window. The clock runs only while the window is closed,
// and each byte that leaves buys time at the least rate, so that opening it drop by drop does not start it anew.
class Patience {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  [[nodiscard]] bool is_running() const noexcept { return due_ms_ != kNever; }
  [[nodiscard]] std::uint64_t due_ms() const noexcept { return due_ms_; }

  // The window has closed. `stall_ms` 0: no limit.
  void block(std::uint64_t now_ms, std::uint64_t stall_ms) noexcept {
    if (is_running() || stall_ms == 0) return;
    due_ms_ = now_ms + stall_ms - std::min(spent_ms_, stall_ms);
    stall_ms_ = stall_ms;
  }
  // The window is open again.
  void unblock(std::uint64_t now_ms) noexcept {
    if (!is_running()) return;
    spent_ms_ = stall_ms_ - std::min(stall_ms_, due_ms_ > now_ms ? due_ms_ - now_ms : 0);
    due_ms_ = kNever;
  }
  // `rate_min` in bytes a second; 0: any progress counts as enough.
  void moved(std::uint64_t bytes, std::uint64_t rate_min) noexcept {
    if (spent_ms_ == 0) [[likely]]
      return;
    spent_ms_ -= rate_min == 0 ? spent_ms_ : std::min(spent_ms_, bytes * 1000 / rate_min);
  }

 private:
  std::uint64_t due_ms_ = kNever;
  std::uint64_t stall_ms_ = 0;
  std::uint64_t spent_ms_ = 0;
};

// ClosedStreams: what is still known of a peer's streams that are over: which of the last 64 numbers were used at all,
// and which of them we ended, so that frames which were on their way meanwhile are no fault (RFC 9113 §5.1). Of those
// before, whether any was passed by and whether we ended any.
class ClosedStreams {
 public:
  // `distance`: by how many streams a number is behind the newest one; not 0 here.
  void advance(std::uint32_t distance) noexcept {
    const bool keeps_some = distance < 64;
    const std::uint64_t lost = keeps_some ? ~std::uint64_t{0} << (64 - distance) : ~std::uint64_t{0};
    has_lost_reset_ = has_lost_reset_ || (reset_ & lost) != 0;
    has_lost_gap_ = has_lost_gap_ || (~used_ & lost) != 0 || distance > 64;
    used_ = keeps_some ? used_ << distance | 1 : 1;
    reset_ = keeps_some ? reset_ << distance : 0;
  }
  void note_reset(std::uint32_t distance) noexcept {
    if (distance < 64) {
      reset_ |= std::uint64_t{1} << distance;
    } else {
      has_lost_reset_ = true;
    }
  }
  enum class Past : std::uint8_t { NeverUsed, Ended, ResetByUs, Forgotten };
  [[nodiscard]] Past past(std::uint32_t distance) const noexcept {
    if (distance >= 64) {
      if (has_lost_reset_) return Past::Forgotten;
      return has_lost_gap_ ? Past::NeverUsed : Past::Ended;
    }
    if ((reset_ >> distance & 1) != 0) return Past::ResetByUs;
    return (used_ >> distance & 1) != 0 ? Past::Ended : Past::NeverUsed;
  }

 private:
  std::uint64_t used_ = ~std::uint64_t{0};  // before the first number there is none to pass by
  std::uint64_t reset_ = 0;
  bool has_lost_reset_ = false;
  bool has_lost_gap_ = false;
};

}  // namespace violet::h2
