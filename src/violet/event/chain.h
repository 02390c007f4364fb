#pragma once

// Chain: what a chain of awaiting coroutines shares, and how it is suspended and resumed. The words are explained at
// the head of task.h, which is what to include; the recipe for own awaitables stands there, too.

#include "violet/base/check.h"
#include "violet/base/error.h"
#include "violet/base/list.h"
#include "violet/event/timer.h"
#include "violet/memory/arena.h"

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace violet {

template <class T>
class Task;
class TaskContext;
class Waiter;

// Called once, on the loop's thread, when its chain is asked to stop; an entry inside its owner. It may not destroy the
// chain.
class StopCallback : public ListNode<StopCallback> {
 public:
  using Callback = void (*)(StopCallback&, Error why) noexcept;
  explicit StopCallback(Callback callback) noexcept : callback_(callback) {}

 private:
  friend class TaskContext;
  Callback callback_;
};

namespace detail {

struct Ready;  // tag of the list of chains that are to run next

// The newest frames of an arena, as a stack threaded through the frames themselves.
struct FrameHead;
struct FrameStack {
  Arena* arena = nullptr;
  FrameHead* newest = nullptr;
};
struct alignas(16) FrameHead {
  FrameStack* stack;     // nullptr: from the heap
  std::uintptr_t older;  // FrameHead*; bit 0: this frame is dead, its size stands behind the head
};

struct TaskThread {
  TaskContext* context = nullptr;  // whose coroutine runs; new frames are made for it
  bool is_resuming = false;        // run() or a ResumeBatch is active: others that are to run go into the ready list
  bool has_ready = false;          // and there are some
};
inline constinit thread_local TaskThread task_thread [[gnu::tls_model("initial-exec")]];

void* new_frame(std::size_t size);
void delete_frame(void* frame, std::size_t size) noexcept;
inline bool is_heap_frame(const void* frame) noexcept {
  return (static_cast<const FrameHead*>(frame) - 1)->stack == nullptr;
}

class TaskBase {
 public:
  TaskBase(const TaskBase&) = delete;
  TaskBase& operator=(const TaskBase&) = delete;

 protected:
  explicit TaskBase(void* frame) noexcept : frame_(frame) {}
  ~TaskBase() { destroy(); }
  void destroy() noexcept {
    if (frame_ != nullptr) std::coroutine_handle<>::from_address(std::exchange(frame_, nullptr)).destroy();
  }

  friend class violet::TaskContext;
  void* frame_;
};

// Any Task, without its type.
struct AnyTask : TaskBase {
  explicit AnyTask(void* task_frame = nullptr) noexcept : TaskBase(task_frame) {}
  using TaskBase::destroy;
  using TaskBase::frame_;
};

// One link of a chain: who awaits, and the Task it awaits. Lives in the awaiting frame.
struct TaskLink {
  TaskLink* outer = nullptr;
  void* awaiting = nullptr;
  TaskBase* awaited = nullptr;
};

}  // namespace detail

// One chain's state. Users see it through this_task() (wait.h); TaskRoot and the groups in wait.h own it.
class TaskContext : public ListNode<detail::Ready>, private Timer {
 public:
  static constexpr std::uint64_t kNoDeadline = TimerWheel::kNever;
  static constexpr int kFailedAwaitsMax = 1000;

  // The chain whose coroutine runs on this thread, nullptr outside coroutines.
  [[nodiscard]] static TaskContext* current() noexcept { return detail::task_thread.context; }

  // Asks the chain to end: its awaitables answer with `why`. The first reason stays. The chain may be gone afterwards.
  void stop(Error why) noexcept;
  [[nodiscard]] bool is_stopped() const noexcept { return static_cast<bool>(why_); }
  // Why it was stopped; ErrorKind::None while it was not.
  [[nodiscard]] Error why() const noexcept { return why_; }
  // Called on stop; at once if it was stopped before.
  void on_stop(StopCallback& callback) noexcept;

  // Stops the chain with Timeout at `due_ms` (the loop's now_ms); the nearer one of two deadlines counts.
  void set_deadline(std::uint64_t due_ms) noexcept;
  [[nodiscard]] std::uint64_t deadline_ms() const noexcept { return deadline_ms_; }
  // It has a coroutine that has not ended.
  [[nodiscard]] bool is_active() const noexcept { return state_ != State::Idle; }
  [[nodiscard]] Arena* arena() const noexcept { return frames_ != nullptr ? frames_->arena : nullptr; }

 protected:
  // Called when the outermost coroutine has ended, or the chain was abandoned; never inside a coroutine.
  using EndCallback = void (*)(TaskContext&) noexcept;

  TaskContext() noexcept : Timer(&TaskContext::on_deadline) {}
  ~TaskContext() { VIOLET_ASSERT(state_ == State::Idle); }

  // Runs the coroutine at `frame` until it suspends; if a coroutine runs on this thread, after that one has suspended.
  // The context and its owner may be gone afterwards.
  void begin(void* frame, EndCallback on_end) noexcept {
    VIOLET_ASSERT(state_ == State::Idle);
    on_end_ = on_end;
    resume_next_ = frame;
    schedule();
  }
  // Destroys the frames from the innermost to `outermost`; leaves everything the chain waits on.
  void destroy_frames(detail::TaskBase& outermost) noexcept;
  // Nothing is left to be done but to take the outcome. REQUIRES: ended, or idle.
  void rest() noexcept {
    state_ = State::Idle;
    if (has_leftovers_) [[unlikely]]
      drop_leftovers();
  }
  // The chain ended by itself (not abandoned).
  [[nodiscard]] bool has_ended() const noexcept { return state_ == State::Ended; }
  // Forgets stop and deadline. REQUIRES: idle.
  void clear() noexcept {
    VIOLET_ASSERT(state_ == State::Idle);
    why_ = {};
    deadline_ms_ = kNoDeadline;
    failed_await_count_ = 0;
  }
  // New frames come from where `parent` has them.
  void share_frames(const TaskContext& parent) noexcept { frames_ = parent.frames_; }
  // Is stopped and has a deadline as `parent`, whose timer stops us through the group in which it waits.
  void inherit(const TaskContext& parent) noexcept {
    why_ = parent.why_;
    deadline_ms_ = parent.deadline_ms_;
  }

  template <class T>
  friend class TaskAwaiter;
  friend struct TaskPromiseBase;
  friend class Waiter;
  friend class ResumeBatch;
  friend void* detail::new_frame(std::size_t);

  // protected for TaskRoot and the groups; the rest is theirs to leave alone
  enum class State : std::uint8_t {
    Idle,       // no coroutine
    Ready,      // in the list of those to run: schedule()
    Running,    // run()
    Waiting,    // in a Waiter: Waiter::suspend()
    Ended,      // the outermost coroutine is at its end: step_out()
    Abandoned,  // Waiter::suspend() of a chain that ignored its stop
  };

  // Runs the chain now, or puts it into the ready list when something runs on this thread.
  void schedule() noexcept {
    state_ = State::Ready;
    if (detail::task_thread.is_resuming) {
      make_ready();
    } else {
      run();
    }
  }
  void run() noexcept;
  void make_ready() noexcept;
  void drop_leftovers() noexcept;
  void step_in(detail::TaskLink& link, void* frame) noexcept {
    link.outer = innermost_;
    innermost_ = &link;
    resume_next_ = frame;
  }
  void step_out() noexcept {
    if (detail::TaskLink* link = innermost_) {
      innermost_ = link->outer;
      resume_next_ = link->awaiting;
    } else {
      state_ = State::Ended;
    }
  }
  // Counts an await of a stopped chain; true when it was one too many.
  bool is_worn_out() noexcept { return ++failed_await_count_ >= kFailedAwaitsMax; }
  static void on_deadline(Timer& timer) noexcept;
  void arm_deadline() noexcept;

  void* resume_next_ = nullptr;  // the coroutine that runs when this chain is resumed
  detail::TaskLink* innermost_ = nullptr;
  Waiter* waiter_ = nullptr;              // what it waits in
  detail::FrameStack* frames_ = nullptr;  // nullptr: frames from the heap
  std::uint64_t deadline_ms_ = kNoDeadline;
  Error why_;
  List<StopCallback, StopCallback> stop_callbacks_;
  EndCallback on_end_ = nullptr;
  int failed_await_count_ = 0;
  State state_ = State::Idle;
  bool is_deadline_set_ = false;  // and its timer is not armed yet
  bool has_leftovers_ = false;    // a deadline or stop callbacks, to be taken away at the end
};

// While one lives, resumed coroutines are collected; they run when the outermost batch ends. Makes it safe to wake
// several waiters in a loop, and to resume from a function that still needs its object.
class ResumeBatch {
 public:
  ResumeBatch() noexcept : is_outermost_(!std::exchange(detail::task_thread.is_resuming, true)) {}
  ResumeBatch(const ResumeBatch&) = delete;
  ResumeBatch& operator=(const ResumeBatch&) = delete;
  ~ResumeBatch() {
    if (!is_outermost_) return;
    if (detail::task_thread.has_ready) run_ready();
    detail::task_thread.is_resuming = false;
  }

 private:
  friend class TaskContext;
  static void run_one(TaskContext& context) noexcept;
  static void run_ready() noexcept;
  bool is_outermost_;
};

// Base of everything that suspends a chain; the recipe stands at the head of this file.
class Waiter {
 public:
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

 protected:
  Waiter() noexcept = default;
  virtual ~Waiter() {
    if (context_ != nullptr) context_->waiter_ = nullptr;
  }

  // The chain is to stop. Leave the source, then resume_with(why). Overriders may put it off to clean up first.
  virtual void on_stop(Error why) noexcept = 0;

  // Registers with the running chain. False: the chain is stopped, error() says why, do not suspend.
  [[nodiscard]] bool suspend(std::coroutine_handle<> handle) noexcept {
    TaskContext* context = TaskContext::current();
    VIOLET_ASSERT(context != nullptr && context->state_ == TaskContext::State::Running);
    if (context->why_) [[unlikely]]
      return refuse(*context);
    enlist(*context, handle);
    return true;
  }
  // The same for awaitables that must wait although the chain is stopped: those that clean up and those that wait for
  // children. False only when the chain is abandoned with this very await; then nothing will resume it.
  bool suspend_anyway(std::coroutine_handle<> handle) noexcept;

  [[nodiscard]] bool is_waiting() const noexcept { return context_ != nullptr; }
  [[nodiscard]] TaskContext* context() const noexcept { return context_; }

  // Runs the coroutine now, or when the running one suspends. No effect if it does not wait. The last thing to do.
  void resume() noexcept {
    TaskContext* context = std::exchange(context_, nullptr);
    if (context == nullptr) return;
    context->waiter_ = nullptr;
    context->schedule();
  }
  void resume_with(Error error) noexcept {
    error_ = error;
    resume();
  }
  [[nodiscard]] const Error& error() const noexcept { return error_; }
  // For groups whose children were abandoned: this chain cannot go on either. REQUIRES: it is stopped.
  void abandon() noexcept;

 private:
  friend class TaskContext;
  void enlist(TaskContext& context, std::coroutine_handle<> handle) noexcept {
    context_ = &context;
    context.waiter_ = this;
    context.resume_next_ = handle.address();
    context.state_ = TaskContext::State::Waiting;
  }
  bool refuse(TaskContext& context) noexcept;

  TaskContext* context_ = nullptr;  // not nullptr while waiting
  Error error_;
};

inline void* detail::new_frame(std::size_t size) {
  size = (size + sizeof(FrameHead) + 15) & ~std::size_t{15};
  TaskContext* context = task_thread.context;
  FrameHead* head;
  if (context != nullptr && context->frames_ != nullptr) {
    FrameStack& stack = *context->frames_;
    head = static_cast<FrameHead*>(stack.arena->allocate(size, alignof(FrameHead)));
    head->stack = &stack;
    head->older = reinterpret_cast<std::uintptr_t>(stack.newest);
    stack.newest = head;
  } else {
    head = static_cast<FrameHead*>(::operator new(size));
    head->stack = nullptr;
  }
  return head + 1;
}

}  // namespace violet
