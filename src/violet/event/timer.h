#pragma once

// Timer and TimerWheel: any number of timeouts in one hierarchical wheel of one-millisecond ticks.
//
// A Timer is an entry inside its owner: arming, moving and cancelling it cost O(1) and no memory, destroying it cancels
// it. The wheel knows no clock and no libuv: advance(now) fires what is due, wake_at() says when to call it again.
// Each Loop owns one wheel (loop.timers()) and sets one uv_timer_t to it, so an idle loop sleeps until something is
// due.
//
//   struct Session {
//     void on_idle() noexcept;
//     TimerTo<&Session::on_idle> idle{*this};
//   };
//   loop.timers().arm(session.idle, loop.now_ms() + 75'000);
//
// One thread: the loop's. Inside a callback everything is legal: arming, cancelling and destroying this timer, its
// neighbours and its owner. A timer that fires is no longer armed when its callback runs.

#include "violet/base/list.h"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace violet {

class Timer : public ListNode<Timer> {
 public:
  using Callback = void (*)(Timer&) noexcept;

  explicit Timer(Callback callback) noexcept : callback_(callback) {}

  [[nodiscard]] bool is_armed() const noexcept { return is_linked(); }
  // The time it was armed for, in the wheel's milliseconds; meaningless before the first arm().
  [[nodiscard]] std::uint64_t due_ms() const noexcept { return due_ms_; }
  void cancel() noexcept { unlink(); }

 private:
  friend class TimerWheel;
  std::uint64_t due_ms_ = 0;
  Callback callback_;
};
static_assert(sizeof(Timer) <= 40);

// A Timer that calls a member function: TimerTo<&Session::on_idle> idle{*this};
template <auto Member>
class TimerTo;
template <class Owner, void (Owner::*Member)() noexcept>
class TimerTo<Member> : public Timer {
 public:
  explicit TimerTo(Owner& owner) noexcept : Timer(&TimerTo::call), owner_(&owner) {}

 private:
  static void call(Timer& timer) noexcept { (static_cast<TimerTo&>(timer).owner_->*Member)(); }
  Owner* owner_;
};

class TimerWheel {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  explicit TimerWheel(std::uint64_t now_ms = 0) noexcept : now_ms_(now_ms) {}
  TimerWheel(const TimerWheel&) = delete;
  TimerWheel& operator=(const TimerWheel&) = delete;

  // Fires in the first advance() whose now is at least `due_ms`; what is due already fires in the next advance(), never
  // inline. An armed timer moves.
  void arm(Timer& timer, std::uint64_t due_ms) noexcept {
    timer.unlink();
    timer.due_ms_ = due_ms;
    insert(timer);
    if (due_ms < wake_at_ms_) wake_at_ms_ = due_ms;
  }
  // Never fires before `delay_ms` have really passed, however long this turn of the loop has lasted: counts from the
  // exact clock, not from the turn's. Only for a wheel that runs on Loop's clock.
  void arm_after(Timer& timer, std::uint64_t delay_ms) noexcept;

  // Fires everything due at `now_ms` in the order of due times. A time before the last one counts as the last one.
  void advance(std::uint64_t now_ms) noexcept;

  // When advance() has to be called next: at or before the earliest due time; kNever when nothing is armed. May be too
  // early after a cancel; next_due() is exact about that.
  [[nodiscard]] std::uint64_t wake_at_ms() const noexcept { return wake_at_ms_; }
  // The same, looked up anew.
  std::uint64_t next_due() noexcept;

 private:
  // Seven levels of 64 slots; a slot of level n spans 64^n ms, so the last level ends after 139 years.
  static constexpr int kBits = 6;
  static constexpr int kSlots = 1 << kBits;
  static constexpr int kLevels = 7;
  static constexpr std::uint64_t kSpanMax = (std::uint64_t{1} << (kBits * kLevels)) - 1;
  using Slot = List<Timer, Timer>;

  // A due time lives on the level of the highest digit (base 64) in which it differs from now; so the slots in use of a
  // level lie behind its current digit, and every slot of a lower level comes before every slot of a higher one.
  void insert(Timer& timer) noexcept {
    if (timer.due_ms_ <= now_ms_) {
      overdue_.push_back(timer);
      return;
    }
    std::uint64_t due = timer.due_ms_;
    if ((due ^ now_ms_) > kSpanMax) [[unlikely]]
      due = now_ms_ | kSpanMax;
    const int level = (63 - __builtin_clzll(due ^ now_ms_)) / kBits;
    const auto slot = static_cast<unsigned>(due >> (kBits * level)) % kSlots;
    used_[level] |= std::uint64_t{1} << slot;
    slots_[level][slot].push_back(timer);
  }
  // The earliest slot in use and the time at which it begins; false when there is none.
  bool first_slot(int& level, unsigned& slot, std::uint64_t& start_ms) noexcept;
  void fire_all(Slot& due) noexcept;

  std::uint64_t now_ms_;
  std::uint64_t wake_at_ms_ = kNever;
  std::uint64_t used_[kLevels] =
      {};  // a bit for each slot that may hold timers; bits of cancelled timers stay for a while
  Slot overdue_;
  Slot slots_[kLevels][kSlots];
};

}  // namespace violet
