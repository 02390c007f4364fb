#pragma once

// Gate: how many requests may be under way at once, for all loops together. Who finds room takes it by one atomic
// step; only when there is none do requests stand in a queue, behind a lock, and those who leave hand their place over.
//
//            try_enter()                     leave(): nobody waits
//   (none) --------------> inside --------------------------------> (none)
//      |                     ^  \--- leave(): hands over to the first who waits, by a post to its loop
//      | no room             |
//      +-----> queued -------+
//                 |
//                 +--- its time is over, its client has left: out of the queue
//
// Adaptive: the number follows how long requests take. Every one that ends in time lets it grow by its part, one that
// took too long makes it a tenth smaller, at most once in that time (AIMD, as TCP finds its rate).

#include "violet/base/error.h"
#include "violet/base/list.h"
#include "violet/event/loop.h"
#include "violet/event/task.h"
#include "violet/event/timer.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

namespace violet::limit {

class Place;

class Gate {
 public:
  struct Settings {
    std::uint32_t max = 100;
    std::uint32_t min = 1;         // adaptive: never fewer
    std::uint64_t latency_us = 0;  // adaptive: what requests should take at most; 0: fixed
  };
  explicit Gate(const Settings& settings) noexcept
      : settings_(settings), room_(static_cast<std::int64_t>(settings.max) * kUnit) {}
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // Any thread. False: there is no room, or others wait for it.
  [[nodiscard]] bool try_enter() noexcept;
  // Any thread, once for each that has entered. `took_us` 0: not to be learned from.
  void leave(std::uint64_t took_us) noexcept;

  [[nodiscard]] std::uint32_t inside_count() const noexcept {
    return static_cast<std::uint32_t>(inside_.load(std::memory_order_relaxed));
  }
  [[nodiscard]] std::uint32_t queued_count() const noexcept {
    return static_cast<std::uint32_t>(queued_.load(std::memory_order_relaxed));
  }
  // How many may be inside now.
  [[nodiscard]] std::uint32_t room() const noexcept {
    return static_cast<std::uint32_t>(room_.load(std::memory_order_relaxed) / kUnit);
  }

 private:
  friend class Wait;
  // Room is counted in parts, so that it can grow by less than one.
  static constexpr std::int64_t kUnit = 1'024;

  [[nodiscard]] bool take() noexcept;
  void hand_over() noexcept;
  void learn(std::uint64_t took_us) noexcept;
  // False: `queue_max` wait already. Whoever was given a place meanwhile is not queued.
  bool queue(const std::shared_ptr<Place>& place, std::uint32_t queue_max);
  void unqueue(Place& place) noexcept;

  Settings settings_;
  std::atomic<std::int64_t> room_;
  std::atomic<std::int64_t> inside_ = 0;
  std::atomic<std::int64_t> queued_ = 0;
  std::atomic<std::uint64_t> shrunk_at_us_ = 0;
  std::mutex mutex_;
  List<Place, Place> queue_;  // the first one has waited longest
};

// Awaits a place: nothing when it has one, Busy when the queue is full, Timeout when its time is over, or why the chain
// was stopped.
class Wait : public Waiter, private Timer {
 public:
  Wait(Gate& gate, std::uint32_t queue_max, std::uint64_t queue_ms) noexcept
      : Timer(&Wait::on_due), gate_(gate), queue_max_(queue_max), queue_ms_(queue_ms) {}
  ~Wait() override { give_up(); }

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> handle) noexcept;
  Result<void> await_resume() noexcept;

 private:
  friend class Place;
  void on_stop(Error why) noexcept override;
  static void on_due(Timer& timer) noexcept;
  void on_place() noexcept;
  void give_up() noexcept;

  Gate& gate_;
  std::uint32_t queue_max_;
  std::uint64_t queue_ms_;
  std::shared_ptr<Place> place_;
  bool has_place_ = false;
};

}  // namespace violet::limit
