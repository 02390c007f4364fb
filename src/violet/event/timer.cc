#include "violet/event/timer.h"

#include "violet/event/loop.h"

namespace violet {
namespace {

// In a slot with more timers than this the slot's beginning stands for the earliest due time.
constexpr int kExactMax = 16;

}  // namespace

void TimerWheel::arm_after(Timer& timer, std::uint64_t delay_ms) noexcept {
  // Rounded up to the tick that follows the exact end.
  arm(timer, (Loop::clock_us() + 999) / 1000 + delay_ms);
}

bool TimerWheel::first_slot(int& level, unsigned& slot, std::uint64_t& start_ms) noexcept {
  for (level = 0; level < kLevels; ++level) {
    while (used_[level] != 0) {
      slot = static_cast<unsigned>(__builtin_ctzll(used_[level]));
      if (slots_[level][slot].is_empty()) {
        used_[level] &= used_[level] - 1;
        continue;
      }
      const int shift = kBits * level;
      start_ms = (((now_ms_ >> shift) & ~std::uint64_t{kSlots - 1}) | slot) << shift;
      return true;
    }
  }
  return false;
}

void TimerWheel::fire_all(Slot& due) noexcept {
  while (Timer* timer = due.pop_front()) timer->callback_(*timer);
}

void TimerWheel::advance(std::uint64_t now_ms) noexcept {
  if (now_ms < now_ms_) now_ms = now_ms_;
  // Callbacks may arm for a time that has passed: such timers wait in overdue_ for the next advance(), so this ends.
  Slot due;
  due.splice_back(overdue_);
  fire_all(due);
  int level = 0;
  unsigned slot = 0;
  std::uint64_t start_ms = 0;
  while (first_slot(level, slot, start_ms) && start_ms <= now_ms) {
    if (start_ms > now_ms_) now_ms_ = start_ms;
    Slot taken;
    taken.splice_back(slots_[level][slot]);
    if (level == 0) {
      fire_all(taken);
      continue;
    }
    // The slot has become current: its timers move to lower levels, those of its first millisecond are due.
    while (Timer* timer = taken.pop_front()) {
      if (timer->due_ms_ <= now_ms_) {
        due.push_back(*timer);
      } else {
        insert(*timer);
      }
    }
    fire_all(due);
  }
  now_ms_ = now_ms;
  wake_at_ms_ = next_due();
}

std::uint64_t TimerWheel::next_due() noexcept {
  if (!overdue_.is_empty()) return now_ms_;
  int level = 0;
  unsigned slot = 0;
  std::uint64_t start_ms = 0;
  if (!first_slot(level, slot, start_ms)) return kNever;
  if (level == 0) return start_ms;
  std::uint64_t earliest = kNever;
  int count = 0;
  const Slot& timers = slots_[level][slot];
  for (Timer* timer = timers.front(); timer != nullptr; timer = timers.next(*timer)) {
    if (++count > kExactMax) return start_ms;
    if (timer->due_ms_ < earliest) earliest = timer->due_ms_;
  }
  return earliest;
}

}  // namespace violet
