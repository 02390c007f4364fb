#pragma once

// Loop: one libuv loop with what every layer above needs from it: posting from other threads, work at the end of the
// turn, one timer wheel, a clock read once a turn.
//
// Everything belongs to the loop's thread, which is the one that calls run(), except what says "any thread". A turn is
// one round of libuv: due timers, what the kernel reports, then whatever was deferred; then the loop blocks until the
// next event. No periodic timer runs, so an idle loop does not wake.
//
//   Loop loop;
//   std::thread other([&] { loop.post([&] { loop.stop(); }); });
//   loop.run();
//   other.join();
//
// Who owns what: objects that hold libuv handles of this loop close them before the loop is destroyed; the destructor
// runs the pending close callbacks, destroys tasks that spawn() still has, and checks that nothing stays open.

#include "violet/base/function.h"
#include "violet/base/list.h"
#include "violet/event/timer.h"

#include <uv.h>

#include <atomic>
#include <cstdint>

namespace violet {

class WorkerPool;
namespace detail {
class Mailbox;
class Spawned;
}  // namespace detail

// Work for the end of the turn, an entry inside its owner. Destroying it takes it out of the queue.
class Deferred : public ListNode<Deferred> {
 public:
  using Callback = void (*)(Deferred&) noexcept;
  explicit Deferred(Callback callback) noexcept : callback_(callback) {}
  [[nodiscard]] bool is_pending() const noexcept { return is_linked(); }

 private:
  friend class Loop;
  Callback callback_;
};

// A Deferred that calls a member function: DeferredTo<&Session::flush> flush{*this};
template <auto Member>
class DeferredTo;
template <class Owner, void (Owner::*Member)() noexcept>
class DeferredTo<Member> : public Deferred {
 public:
  explicit DeferredTo(Owner& owner) noexcept : Deferred(&DeferredTo::call), owner_(&owner) {}

 private:
  static void call(Deferred& deferred) noexcept { (static_cast<DeferredTo&>(deferred).owner_->*Member)(); }
  Owner* owner_;
};

// A loop as other threads may hold it: it may outlive the loop. Copying, destroying and post() are for any thread.
class LoopRef {
 public:
  LoopRef() noexcept = default;
  LoopRef(const LoopRef& other) noexcept;
  LoopRef(LoopRef&& other) noexcept : mailbox_(std::exchange(other.mailbox_, nullptr)) {}
  LoopRef& operator=(LoopRef other) noexcept {
    std::swap(mailbox_, other.mailbox_);
    return *this;
  }
  ~LoopRef();

  // False when the loop is gone; `fn` is then destroyed here, without having run.
  bool post(Function<void()> fn);

 private:
  friend class Loop;
  detail::Mailbox* mailbox_ = nullptr;
};

class Loop {
 public:
  Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  // REQUIRES: not running, no foreign handle open (closing is enough, the callbacks are awaited here), nobody posts any
  // more except through a LoopRef. What was posted and did not run is destroyed without running.
  ~Loop();

  // The loop that runs on this thread, or that a Scope has entered; nullptr if there is none.
  [[nodiscard]] static Loop* current() noexcept { return current_; }
  [[nodiscard]] uv_loop_t* uv() noexcept { return &uv_; }

  // Makes a loop current() without running it.
  class Scope {
   public:
    explicit Scope(Loop& loop) noexcept : outer_(current_) { current_ = &loop; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() { current_ = outer_; }

   private:
    Loop* outer_;
  };

  // Runs until stop(). Before it returns, spawned tasks are stopped with ErrorKind::ShuttingDown and given turns until
  // they have ended, for at most drain_ms. It can be run again.
  void run();
  // Any thread. A stop that comes before run() makes that run() return at once; several count as one.
  void stop() noexcept;
  // One turn, blocking at most `timeout_ms`, for tests and for embedding; false once stop() was called, which this does
  // not take back: the next run() returns at once.
  bool step(int timeout_ms = 0);
  // False on every thread but the loop's while it runs; true when it does not run. For assertions.
  [[nodiscard]] bool is_own_thread() const noexcept {
    Loop* const* thread = thread_.load(std::memory_order_relaxed);
    return thread == nullptr || thread == &current_;
  }
  [[nodiscard]] bool is_stopping() const noexcept { return stop_requested_.load(std::memory_order_relaxed); }
  // How long run() waits for spawned tasks after a stop; what has not ended then is destroyed. Default 5,000.
  void set_drain_ms(std::uint64_t drain_ms) noexcept { drain_ms_ = drain_ms; }

  // Any thread, as long as the loop lives (a thread that cannot know holds a LoopRef). Runs `fn` on the loop's thread,
  // in the order of posting, never inline. A batch costs one wake-up.
  void post(Function<void()> fn);
  [[nodiscard]] LoopRef ref() noexcept;

  // Runs `work` after the current batch of events and before the loop blocks. Nothing happens if it is queued already.
  // What is deferred by such work runs before the loop blocks as well.
  void defer(Deferred& work) noexcept {
    VIOLET_ASSERT(is_own_thread());
    if (!work.is_linked()) deferred_.push_back(work);
  }

  // Monotonic milliseconds, read once a turn.
  [[nodiscard]] std::uint64_t now_ms() const noexcept { return uv_now(&uv_); }
  // Monotonic microseconds on the same scale, exact.
  [[nodiscard]] static std::uint64_t clock_us() noexcept { return uv_hrtime() / 1000; }
  // Seconds since 1970, read at most once a turn.
  [[nodiscard]] std::int64_t wall_seconds() noexcept {
    const std::uint64_t now = now_ms();
    if (now != wall_read_at_ms_) [[unlikely]]
      read_wall(now);
    return wall_seconds_;
  }

  TimerWheel& timers() noexcept { return timers_; }

  // The one T of this loop, made from the loop on first use and destroyed with it: pools and the like that objects of a
  // kind share. To be looked up now and then, not for each event.
  template <class T>
  [[nodiscard]] T& local() {
    for (Local* local = locals_; local != nullptr; local = local->next) {
      if (local->key == &kLocalKey<T>) return *static_cast<T*>(local->object);
    }
    T* object = new T(*this);
    locals_ = new Local{locals_, &kLocalKey<T>, object, [](void* gone) noexcept { delete static_cast<T*>(gone); }};
    return *object;
  }

  // The worker threads for offload(). Several loops can share a pool that outlives them; a loop that was given none
  // makes its own on first use.
  WorkerPool& workers();
  void set_workers(WorkerPool& pool) noexcept { workers_ = &pool; }

 private:
  friend class detail::Spawned;
  friend class detail::Mailbox;
  struct Local {
    Local* next;
    const void* key;
    void* object;
    void (*destroy)(void*) noexcept;
  };
  template <class T>
  static inline constexpr char kLocalKey = 0;

  void read_wall(std::uint64_t now_ms) noexcept;
  void destroy_locals() noexcept;
  void set_wake_up() noexcept;
  [[nodiscard]] bool is_running() const noexcept { return thread_.load(std::memory_order_relaxed) != nullptr; }
  void run_deferred() noexcept;
  void run_posted() noexcept;
  void drain_spawned();
  void destroy_spawned() noexcept;

  static inline constinit thread_local Loop* current_ [[gnu::tls_model("initial-exec")]] = nullptr;

  uv_loop_t uv_;
  List<Deferred, Deferred> deferred_;
  std::uint64_t wall_read_at_ms_ = ~std::uint64_t{0};
  std::int64_t wall_seconds_ = 0;
  std::uint64_t armed_for_ms_ = TimerWheel::kNever;
  std::uint64_t drain_ms_ = 5000;
  std::atomic<bool> stop_requested_ = false;
  std::atomic<Loop* const*> thread_ = nullptr;  // the address of current_ there while it runs
  bool is_draining_ = false;
  WorkerPool* workers_ = nullptr;
  WorkerPool* own_workers_ = nullptr;
  detail::Mailbox* mailbox_ = nullptr;
  Local* locals_ = nullptr;  // newest first
  List<detail::Spawned, detail::Spawned> spawned_;
  uv_async_t async_;      // somebody posted, or asked for the end
  uv_prepare_t prepare_;  // before the loop blocks
  uv_check_t check_;      // after it has blocked and the events are handled
  uv_timer_t wake_up_;    // the wheel's next due time
  uv_timer_t step_end_;
  TimerWheel timers_;
};

}  // namespace violet
