#pragma once

// Task<T>: a coroutine that another one awaits. Handlers that must wait are Tasks:
//
//   Task<int> twice(int n) {
//     if (auto slept = co_await sleep_ms(10); !slept) co_return -1;   // the client left, or a deadline passed
//     co_return 2 * n;
//   }
//   Task<> caller() { int four = co_await twice(2); }
//
// A Task starts when it is awaited, belongs to whoever holds it, and throws in the awaiter what its body throws.
//
// **Chains.** A coroutine, the Task it awaits, and so on down to the innermost one are a chain: at most one of them
// runs or waits. Each chain has a TaskContext: its arena, its deadline, and whether it was asked to stop. A TaskRoot is
// a context together with the outermost coroutine; an exchange embeds one. when_all() and its kin (wait.h) give each of
// their children a chain of its own below the caller's.
//
// **Frames** come from the context's arena if it has one, else from the heap. RULE: a Task that was made in a chain
// with an arena must not outlive that chain (a Task that shall go on alone is made by spawn(), see wait.h). Frames that
// die in any order give their memory back as soon as no younger frame lives, so a loop of calls does not grow.
//
// **Stack.** No coroutine ever resumes another one: each hands the next to the loop in TaskContext::run(), so depth and
// number of tasks do not cost stack. A resume() inside a running coroutine waits until that one suspends.
//
// **Stop.** stop(why) makes the awaitable that the chain waits in answer with that Error; every later one answers at
// once. A chain that goes on awaiting (1,000 times) is abandoned: its frames are destroyed, its end reports the Error.
//
// **Own awaitables** derive from Waiter:
//
//   class Receive : public Waiter, public ListNode<Receive> {
//    public:
//     explicit Receive(Mailbox& box) noexcept : box_(box) {}
//     bool await_ready() const noexcept { return box_.has_item(); }
//     bool await_suspend(std::coroutine_handle<> handle) noexcept {
//       if (!suspend(handle)) return false;           // the chain is stopped: error() says why
//       box_.receivers.push_back(*this);              // whoever wakes us unlinks us and calls resume(), last of all
//       return true;
//     }
//     Result<Item> await_resume() noexcept {
//       if (error()) return fail(error());
//       return box_.take();
//     }
//    private:
//     void on_stop(Error why) noexcept override {     // leave the source, then resume with the error
//       unlink();
//       resume_with(why);
//     }
//     Mailbox& box_;
//   };
//
// Its destructor must leave the source, too (ListNode and Timer do): a chain can be destroyed while it waits. resume()
// may run the coroutine at once and with it destroy the Waiter, the chain and what belongs to it; touch nothing after
// it. To wake many in a row, hold a ResumeBatch: coroutines then run when it ends.
//
// One thread: the loop's, for all of this.

#include "violet/base/check.h"
#include "violet/base/error.h"
#include "violet/event/chain.h"
#include "violet/memory/arena.h"

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

namespace violet {

namespace detail {
class Child;
}

template <class T = void>
class Task;

// How a task ended: with a value, with an exception, or with an Error because its chain was abandoned.
template <class T>
class Outcome {
  static_assert(!std::is_reference_v<T>, "a Task returns values; return a pointer instead of a reference");
  struct Nothing {};

 public:
  using Value = std::conditional_t<std::is_void_v<T>, Nothing, T>;

  Outcome() noexcept : state_(State::Empty) {}
  explicit Outcome(Error error) noexcept : state_(State::Failed) { ::new (&error_) Error(error); }
  Outcome(Outcome&& other) noexcept(std::is_nothrow_move_constructible_v<Value>) : state_(other.state_) {
    switch (state_) {
      case State::Empty: break;
      case State::Value: ::new (&value_) Value(std::move(other.value_)); break;
      case State::Threw: ::new (&exception_) std::exception_ptr(std::move(other.exception_)); break;
      case State::Failed: ::new (&error_) Error(other.error_); break;
    }
  }
  Outcome& operator=(Outcome&&) = delete;
  ~Outcome() { clear(); }

  template <class... Args>
  void set_value(Args&&... args) {
    VIOLET_ASSERT(state_ == State::Empty);
    ::new (&value_) Value(std::forward<Args>(args)...);
    state_ = State::Value;
  }
  void set_exception(std::exception_ptr exception) noexcept {
    clear();
    ::new (&exception_) std::exception_ptr(std::move(exception));
    state_ = State::Threw;
  }

  [[nodiscard]] bool has_value() const noexcept { return state_ == State::Value; }
  [[nodiscard]] bool has_exception() const noexcept { return state_ == State::Threw; }
  // REQUIRES: has_value().
  [[nodiscard]] Value& value() noexcept {
    VIOLET_ASSERT(has_value());
    return value_;
  }
  // What it threw, else nullptr.
  [[nodiscard]] std::exception_ptr exception() const noexcept {
    return state_ == State::Threw ? exception_ : std::exception_ptr();
  }
  // Why the chain was abandoned; ErrorKind::Handler for an exception, None for a value.
  [[nodiscard]] Error error() const noexcept {
    if (state_ == State::Failed) return error_;
    return state_ == State::Threw ? Error(ErrorKind::Handler) : Error();
  }

 private:
  enum class State : std::uint8_t { Empty, Value, Threw, Failed };

  void clear() noexcept {
    if (state_ == State::Value) value_.~Value();
    if (state_ == State::Threw) exception_.~exception_ptr();
    state_ = State::Empty;
  }

  union {
    Value value_;
    std::exception_ptr exception_;
    Error error_;
  };
  State state_;
};

struct TaskPromiseBase {
  struct AtEnd {
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) const noexcept { TaskContext::current()->step_out(); }
    void await_resume() const noexcept {}
  };
  std::suspend_always initial_suspend() const noexcept { return {}; }
  AtEnd final_suspend() const noexcept { return {}; }
  static void* operator new(std::size_t size) { return detail::new_frame(size); }
  static void operator delete(void* frame, std::size_t size) noexcept { detail::delete_frame(frame, size); }
};

template <class T>
struct TaskPromise : TaskPromiseBase {
  Outcome<T> outcome;

  Task<T> get_return_object() noexcept;
  void unhandled_exception() noexcept { outcome.set_exception(std::current_exception()); }
  template <class U = T>
    requires std::is_constructible_v<T, U&&>
  void return_value(U&& value) {
    outcome.set_value(std::forward<U>(value));
  }
};

template <>
struct TaskPromise<void> : TaskPromiseBase {
  Outcome<void> outcome;

  Task<void> get_return_object() noexcept;
  void unhandled_exception() noexcept { outcome.set_exception(std::current_exception()); }
  void return_void() noexcept { outcome.set_value(); }
};

template <class T>
class TaskAwaiter {
 public:
  explicit TaskAwaiter(Task<T>& task) noexcept : task_(task) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> awaiting) noexcept {
    link_.awaiting = awaiting.address();
    link_.awaited = &task_;
    TaskContext::current()->step_in(link_, task_.frame_);
  }
  T await_resume() { return task_.take(); }

 private:
  Task<T>& task_;
  detail::TaskLink link_;
};

template <class T>
class [[nodiscard("a Task does nothing until it is awaited")]] Task : public detail::TaskBase {
 public:
  using promise_type = TaskPromise<T>;
  using value_type = T;

  Task(Task&& other) noexcept : TaskBase(std::exchange(other.frame_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      destroy();
      frame_ = std::exchange(other.frame_, nullptr);
    }
    return *this;
  }
  ~Task() = default;

  // co_await f(), or co_await std::move(task). REQUIRES: not awaited before.
  TaskAwaiter<T> operator co_await() && noexcept {
    VIOLET_CHECK(frame_ != nullptr);
    return TaskAwaiter<T>(*this);
  }

  // False after it was moved from or awaited.
  explicit operator bool() const noexcept { return frame_ != nullptr; }
  // Whether its frame is memory of its own, not of an arena. Only for a Task that is handed on: the compiler may put
  // the frame of one that never leaves its function into that function's.
  [[nodiscard]] bool is_on_heap() const noexcept { return detail::is_heap_frame(frame_); }

 private:
  friend struct TaskPromise<T>;
  friend class TaskAwaiter<T>;
  friend class TaskRoot;
  friend class detail::Child;

  explicit Task(void* frame) noexcept : TaskBase(frame) {}
  // Moves the outcome out and destroys the frame. REQUIRES: it ended.
  Outcome<T> take_outcome() noexcept(std::is_nothrow_move_constructible_v<typename Outcome<T>::Value>) {
    Outcome<T> outcome(std::move(std::coroutine_handle<promise_type>::from_address(frame_).promise().outcome));
    destroy();
    return outcome;
  }
  // Its value, or throws what it threw.
  T take() {
    Outcome<T> outcome = take_outcome();
    if (!outcome.has_value()) [[unlikely]]
      std::rethrow_exception(outcome.exception());
    if constexpr (!std::is_void_v<T>) return std::move(outcome.value());
  }
};

template <class T>
Task<T> TaskPromise<T>::get_return_object() noexcept {
  return Task<T>(std::coroutine_handle<TaskPromise>::from_promise(*this).address());
}
inline Task<void> TaskPromise<void>::get_return_object() noexcept {
  return Task<void>(std::coroutine_handle<TaskPromise>::from_promise(*this).address());
}

// TaskRoot: starts a chain and owns it. Embedded in its owner, allocates nothing, can be used again and again.
//
//   TaskRoot root{&arena};
//   Task<Reply> task = [&] { TaskRoot::Enter scope(root); return handler(request); }();   // frames from the arena
//   root.start(std::move(task), [this](Outcome<Reply>&& end) noexcept { … });
//
// The sink is called exactly once, when the frames are gone, never inside a coroutine: it may reset, restart or destroy
// the root and the arena. If the task does not wait, start() calls it before it returns. Destroying or resetting the
// root first destroys the frames, and the sink is never called.
class TaskRoot : public TaskContext {
 public:
  explicit TaskRoot(Arena* arena = nullptr) noexcept : stack_{arena, nullptr} {
    if (arena != nullptr) frames_ = &stack_;
  }
  // REQUIRES: its coroutine is not running right now (destroy it at the end of the turn instead).
  ~TaskRoot() { reset(); }

  // While one lives, coroutine frames made on this thread are made for `root`.
  class Enter {
   public:
    explicit Enter(TaskRoot& root) noexcept : outer_(detail::task_thread.context) {
      detail::task_thread.context = &root;
    }
    Enter(const Enter&) = delete;
    Enter& operator=(const Enter&) = delete;
    ~Enter() { detail::task_thread.context = outer_; }

   private:
    TaskContext* outer_;
  };

  // Runs `task` until it first suspends; when a coroutine runs on this thread, after that one has suspended. The sink
  // is a small trivially copyable callable, void(Outcome<T>&&) noexcept. The root may be gone when start() returns.
  template <class T, class Sink>
  void start(Task<T>&& task, Sink sink) noexcept {
    static_assert(std::is_nothrow_invocable_v<Sink&, Outcome<T>&&>,
                  "a sink is called with Outcome<T>&& and is noexcept");
    static_assert(
        sizeof(Sink) <= sizeof(sink_) && alignof(Sink) <= alignof(void*) && std::is_trivially_copyable_v<Sink>,
        "a sink captures at most two pointers");
    VIOLET_CHECK(!is_active() && task);
    task_.frame_ = std::exchange(task.frame_, nullptr);
    ::new (static_cast<void*>(sink_)) Sink(sink);
    begin(task_.frame_, &TaskRoot::end<T, Sink>);
  }

  // Destroys what runs and makes the root as new; a stop and a deadline are forgotten.
  void reset() noexcept {
    if (is_active()) destroy_frames(task_);
    VIOLET_ASSERT(stack_.newest == nullptr);  // a Task outlives the chain in which it was made
    clear();
  }

 private:
  template <class T, class Sink>
  static void end(TaskContext& context) noexcept {
    TaskRoot& root = static_cast<TaskRoot&>(context);
    Sink sink = *std::launder(reinterpret_cast<Sink*>(root.sink_));
    if (root.has_ended()) [[likely]] {
      Task<T> task(std::exchange(root.task_.frame_, nullptr));
      Outcome<T> outcome = task.take_outcome();
      root.rest();
      sink(std::move(outcome));
    } else {
      const Error why = root.why();
      root.destroy_frames(root.task_);
      sink(Outcome<T>(why));
    }
  }

  detail::FrameStack stack_;
  detail::AnyTask task_;
  alignas(void*) std::byte sink_[2 * sizeof(void*)];
};

static_assert(sizeof(TaskContext) <= 136 && sizeof(TaskRoot) <= 176);

}  // namespace violet
