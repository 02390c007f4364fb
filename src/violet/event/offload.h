#pragma once

// Worker threads for what blocks: password hashes, SQLite, cold files.
//
//   Result<Digest> digest = co_await offload(hash_password, password, salt);   // arguments are copied or moved in
//
//   auto work = [key] { return compress(key); };                               // a lambda with captures gets a name
//   Result<Blob> blob = co_await offload(work);
//
// `fn` runs on a worker thread and may use only what it owns: never references to the coroutine's frame, because the
// coroutine goes on (with the error) when its chain is stopped, even while `fn` still runs; what `fn` gives is dropped
// then. Exceptions of `fn` are thrown at the await. A full queue answers ErrorKind::Busy at once. The result comes back
// by a post to the loop that the coroutine left. What `fn` holds is destroyed on the loop's thread, or, when the loop
// is gone by then, on the worker's.
//
// g++ 12 destroys the captures of a lambda written inside a co_await expression twice; there it is refused.

#include "violet/base/error.h"
#include "violet/base/list.h"
#include "violet/event/loop.h"
#include "violet/event/task.h"
#include "violet/event/wait.h"

#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace violet {

// WorkerPool: threads that take jobs in order. They are started when jobs need them and never more than `thread_count`.
// Whoever makes it owns it; it must outlive the loops and tasks that use it. submit() and withdraw() are for any
// thread.
class WorkerPool {
 public:
  class Job : public ListNode<Job> {
   public:
    virtual ~Job() = default;

   private:
    friend class WorkerPool;
    // On a worker; afterwards, and for a job that never ran (the pool is going), finish(), which takes the job over.
    virtual void run() noexcept = 0;
    virtual void finish(bool has_run) noexcept = 0;
  };

  explicit WorkerPool(unsigned thread_count = 4, std::size_t queue_max = 4096);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  // Waits for the jobs that run; finishes those in the queue without running them.
  ~WorkerPool();

  // False when `queue_max` jobs wait; the job is still the caller's then.
  [[nodiscard]] bool submit(Job& job);
  // Takes a job back that no worker has begun. False if one has.
  bool withdraw(Job& job) noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

namespace detail {

class OffloadJob;

// The part of the awaitable that does not depend on types.
class OffloadWaiter : public Waiter {
 public:
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> handle) noexcept;

 protected:
  OffloadWaiter(WorkerPool* pool, std::unique_ptr<OffloadJob> job) noexcept;
  ~OffloadWaiter() override;
  [[nodiscard]] OffloadJob& job() const noexcept { return *job_; }

 private:
  friend class OffloadJob;
  void leave() noexcept;
  void on_stop(Error why) noexcept override;

  WorkerPool* pool_;
  std::unique_ptr<OffloadJob> job_;  // ours before the start and after the end
  OffloadJob* running_ = nullptr;    // the pool's, or on its way back
};

class OffloadJob : public WorkerPool::Job {
 public:
  OffloadJob() noexcept = default;

 private:
  friend class OffloadWaiter;
  void finish(bool has_run) noexcept override;
  static void arrive(std::unique_ptr<OffloadJob> job) noexcept;

  OffloadWaiter* waiter_ = nullptr;  // the loop's thread only; nullptr: nobody waits any more
  LoopRef origin_;
  bool has_run_ = false;
};

template <class F, class... Args>
class OffloadCall final : public OffloadJob {
 public:
  using Value = std::invoke_result_t<F&, Args&&...>;

  template <class G, class... Brgs>
  explicit OffloadCall(G&& fn, Brgs&&... args) : fn_(std::forward<G>(fn)), args_(std::forward<Brgs>(args)...) {}
  Outcome<Value> outcome;

 private:
  void run() noexcept override {
    try {
      auto call = [this](Args&... args) -> decltype(auto) { return fn_(std::move(args)...); };
      if constexpr (std::is_void_v<Value>) {
        std::apply(call, args_);
        outcome.set_value();
      } else {
        outcome.set_value(std::apply(call, args_));
      }
    } catch (...) {
      outcome.set_exception(std::current_exception());
    }
  }
  F fn_;
  std::tuple<Args...> args_;
};

template <class Call>
class [[nodiscard("co_await it")]] Offload : public OffloadWaiter {
 public:
  Offload(WorkerPool* pool, std::unique_ptr<Call> call) noexcept : OffloadWaiter(pool, std::move(call)) {}

  Flat<typename Call::Value> await_resume() {
    if (error()) return fail(error());
    Outcome<typename Call::Value>& outcome = static_cast<Call&>(job()).outcome;
    if (outcome.has_exception()) std::rethrow_exception(outcome.exception());
    if constexpr (std::is_void_v<typename Call::Value>) {
      return {};
    } else {
      return std::move(outcome.value());
    }
  }
};

// What g++ 12 cannot have as a temporary of a co_await expression: aggregates (a lambda is one there) with a
// destructor.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
template <class F>
inline constexpr bool is_safe_in_await =
    std::is_lvalue_reference_v<F> || std::is_trivially_destructible_v<std::remove_cvref_t<F>>;
template <class A>
inline constexpr bool is_safe_argument = is_safe_in_await<A> || !std::is_aggregate_v<std::remove_cvref_t<A>>;
#else
template <class F>
inline constexpr bool is_safe_in_await = true;
template <class A>
inline constexpr bool is_safe_argument = true;
#endif

template <class F, class... Args>
auto make_offload(WorkerPool* pool, F&& fn, Args&&... args) {
  static_assert(is_safe_in_await<F>, "g++ 12: give a lambda with captures a name and pass that, or pass arguments");
  static_assert((is_safe_argument<Args> && ...), "g++ 12: give an aggregate a name and pass that");
  using Call = OffloadCall<std::decay_t<F>, std::decay_t<Args>...>;
  return Offload<Call>(pool, std::make_unique<Call>(std::forward<F>(fn), std::forward<Args>(args)...));
}

}  // namespace detail

// Runs fn(args...) on the worker threads of the loop and gives Flat<its result>.
template <class F, class... Args>
  requires std::is_invocable_v<std::decay_t<F>&, std::decay_t<Args>&&...>
auto offload(F&& fn, Args&&... args) {
  return detail::make_offload(nullptr, std::forward<F>(fn), std::forward<Args>(args)...);
}

// The same on a pool of one's own.
template <class F, class... Args>
  requires std::is_invocable_v<std::decay_t<F>&, std::decay_t<Args>&&...>
auto offload_to(WorkerPool& pool, F&& fn, Args&&... args) {
  return detail::make_offload(&pool, std::forward<F>(fn), std::forward<Args>(args)...);
}

}  // namespace violet
