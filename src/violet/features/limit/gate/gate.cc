#include "violet/features/limit/gate/gate.h"

#include <algorithm>
#include <utility>

namespace violet::limit {

// One who waits, as the gate and its loop's mail hold it: it may be handed a place when nobody wants it any more.
class Place : public ListNode<Place>, public std::enable_shared_from_this<Place> {
 public:
  Place(Gate& gate, Wait& wait, LoopRef loop) noexcept : gate_(gate), wait_(&wait), loop_(std::move(loop)) {}

  // Its loop's thread: nobody waits any more.
  void forget() noexcept { wait_ = nullptr; }
  // Any thread, out of the queue: the place is this one's.
  void give() noexcept {
    if (loop_.post([self = shared_from_this()] { self->arrive(); })) return;
    gate_.leave(0);  // the loop is gone
  }

 private:
  // Its loop's thread.
  void arrive() noexcept {
    if (wait_ != nullptr) return std::exchange(wait_, nullptr)->on_place();
    gate_.leave(0);
  }

  Gate& gate_;
  Wait* wait_;
  LoopRef loop_;
};

bool Gate::take() noexcept {
  std::int64_t inside = inside_.load(std::memory_order_relaxed);
  do {
    if ((inside + 1) * kUnit > room_.load(std::memory_order_relaxed)) return false;
  } while (!inside_.compare_exchange_weak(inside, inside + 1, std::memory_order_seq_cst));
  return true;
}

bool Gate::try_enter() noexcept { return queued_.load(std::memory_order_relaxed) == 0 && take(); }

// Whoever queues says so before it looks for room once more, and who leaves makes room before it looks who waits: one
// of the two sees the other.
void Gate::leave(std::uint64_t took_us) noexcept {
  if (took_us != 0 && settings_.latency_us != 0) learn(took_us);
  inside_.fetch_sub(1, std::memory_order_seq_cst);
  if (queued_.load(std::memory_order_seq_cst) != 0) [[unlikely]]
    hand_over();
}

void Gate::hand_over() noexcept {
  for (;;) {
    std::shared_ptr<Place> next;
    {
      const std::lock_guard lock(mutex_);
      if (queue_.is_empty() || !take()) return;
      next = queue_.front()->shared_from_this();
      next->unlink();
      queued_.fetch_sub(1, std::memory_order_seq_cst);
    }
    next->give();
  }
}

bool Gate::queue(const std::shared_ptr<Place>& place, std::uint32_t queue_max) {
  {
    const std::lock_guard lock(mutex_);
    if (queued_.load(std::memory_order_relaxed) >= static_cast<std::int64_t>(queue_max)) return false;
    queued_.fetch_add(1, std::memory_order_seq_cst);
    queue_.push_back(*place);
  }
  hand_over();
  return true;
}

void Gate::unqueue(Place& place) noexcept {
  const std::lock_guard lock(mutex_);
  if (!place.is_linked()) return;
  place.unlink();
  queued_.fetch_sub(1, std::memory_order_seq_cst);
}

void Gate::learn(std::uint64_t took_us) noexcept {
  std::int64_t room = room_.load(std::memory_order_relaxed);
  if (took_us <= settings_.latency_us) {
    // Only who is busy learns that more would do. A whole round of requests adds one place.
    if (inside_.load(std::memory_order_relaxed) * 2 * kUnit < room) return;
    const std::int64_t grown = room + std::max<std::int64_t>(kUnit * kUnit / room, 1);
    room_.compare_exchange_strong(room, std::min(grown, settings_.max * kUnit), std::memory_order_relaxed);
    return;
  }
  // Those that are late together are late for one reason: it counts once.
  const std::uint64_t now = Loop::clock_us();
  std::uint64_t before = shrunk_at_us_.load(std::memory_order_relaxed);
  if (now - before < settings_.latency_us ||
      !shrunk_at_us_.compare_exchange_strong(before, now, std::memory_order_relaxed)) {
    return;
  }
  room_.store(std::max(room * 9 / 10, settings_.min * kUnit), std::memory_order_relaxed);
}

// --- waiting

bool Wait::await_suspend(std::coroutine_handle<> handle) noexcept {
  if (!suspend(handle)) return false;
  Loop& loop = *Loop::current();
  place_ = std::make_shared<Place>(gate_, *this, loop.ref());
  if (!gate_.queue(place_, queue_max_)) {
    place_.reset();
    resume_with(Error(ErrorKind::Busy));
    return true;
  }
  loop.timers().arm_after(*this, queue_ms_);
  return true;
}

Result<void> Wait::await_resume() noexcept {
  if (has_place_) return {};
  return fail(error());
}

void Wait::on_place() noexcept {
  place_.reset();
  has_place_ = true;
  cancel();
  resume();
}

void Wait::on_stop(Error why) noexcept {
  give_up();
  resume_with(why);
}

void Wait::on_due(Timer& timer) noexcept {
  auto& wait = static_cast<Wait&>(timer);
  wait.give_up();
  wait.resume_with(Error(ErrorKind::Timeout));
}

void Wait::give_up() noexcept {
  cancel();
  if (place_ == nullptr) return;
  place_->forget();
  gate_.unqueue(*place_);
  place_.reset();
}

}  // namespace violet::limit
