#include "violet/event/chain.h"

#include "violet/event/loop.h"

namespace violet {
namespace {

// Those that run when the running one suspends.
List<TaskContext, detail::Ready>& ready_list() noexcept {
  thread_local List<TaskContext, detail::Ready> list;
  return list;
}

}  // namespace

void detail::delete_frame(void* frame, std::size_t size) noexcept {
  FrameHead* head = static_cast<FrameHead*>(frame) - 1;
  size = (size + sizeof(FrameHead) + 15) & ~std::size_t{15};
  FrameStack* stack = head->stack;
  if (stack == nullptr) {
    ::operator delete(static_cast<void*>(head), size);
    return;
  }
  if (stack->newest != head) {
    // A younger frame lives on: wait for it. The size finds room in the dead frame.
    head->older |= 1;
    ::new (frame) std::size_t(size);
    return;
  }
  for (;;) {
    const std::uintptr_t older = head->older & ~std::uintptr_t{1};
    stack->arena->give_back(head, size);
    head = reinterpret_cast<FrameHead*>(older);
    if (head == nullptr || (head->older & 1) == 0) break;
    size = *std::launder(reinterpret_cast<std::size_t*>(head + 1));
  }
  stack->newest = head;
}

inline void ResumeBatch::run_one(TaskContext& context) noexcept {
  using State = TaskContext::State;
  detail::TaskThread& thread = detail::task_thread;
  thread.context = &context;
  if (context.failed_await_count_ < TaskContext::kFailedAwaitsMax) [[likely]] {
    context.state_ = State::Running;
    do {
      void* next = std::exchange(context.resume_next_, nullptr);
      VIOLET_CHECK(next != nullptr);  // a coroutine waits in something that is no Waiter
      std::coroutine_handle<>::from_address(next).resume();
    } while (context.state_ == State::Running);
  } else {
    context.state_ = State::Abandoned;
  }
  thread.context = nullptr;
  if (context.state_ == State::Ended || context.state_ == State::Abandoned) {
    context.on_end_(context);
  } else if (context.is_deadline_set_) {
    context.arm_deadline();
  }
}

void ResumeBatch::run_ready() noexcept {
  detail::TaskThread& thread = detail::task_thread;
  TaskContext* outer = thread.context;
  while (TaskContext* context = ready_list().pop_front()) run_one(*context);
  thread.has_ready = false;
  thread.context = outer;
}

void TaskContext::run() noexcept {
  detail::TaskThread& thread = detail::task_thread;
  TaskContext* outer = thread.context;
  thread.is_resuming = true;
  ResumeBatch::run_one(*this);
  if (thread.has_ready) [[unlikely]]
    ResumeBatch::run_ready();
  thread.is_resuming = false;
  thread.context = outer;
}

void TaskContext::make_ready() noexcept {
  ready_list().push_back(*this);
  detail::task_thread.has_ready = true;
}

void TaskContext::stop(Error why) noexcept {
  VIOLET_ASSERT(why);
  if (why_) return;
  // Keeps this object alive until its waiters have been told: coroutines run when the batch ends.
  ResumeBatch batch;
  why_ = why;
  Timer::cancel();
  while (StopCallback* callback = stop_callbacks_.pop_front()) callback->callback_(*callback, why);
  if (waiter_ != nullptr) waiter_->on_stop(why);
}

void TaskContext::on_stop(StopCallback& callback) noexcept {
  if (why_) {
    callback.callback_(callback, why_);
  } else if (!callback.is_linked()) {
    stop_callbacks_.push_back(callback);
    has_leftovers_ = true;
  }
}

void TaskContext::set_deadline(std::uint64_t due_ms) noexcept {
  if (due_ms >= deadline_ms_) return;
  deadline_ms_ = due_ms;
  is_deadline_set_ = has_leftovers_ = true;
  // A chain that never waits needs no timer; run() arms it at the first suspension.
  if (state_ == State::Waiting) arm_deadline();
}

void TaskContext::arm_deadline() noexcept {
  is_deadline_set_ = false;
  if (why_) return;
  Loop* loop = Loop::current();
  VIOLET_ASSERT(loop != nullptr);
  loop->timers().arm(*this, deadline_ms_);
}

void TaskContext::on_deadline(Timer& timer) noexcept { static_cast<TaskContext&>(timer).stop(ErrorKind::Timeout); }

void TaskContext::destroy_frames(detail::TaskBase& outermost) noexcept {
  VIOLET_CHECK(state_ != State::Running);  // a chain cannot be destroyed by its own running coroutine
  // Destructors in the frames may resume other chains; those run afterwards.
  ResumeBatch batch;
  ListNode<detail::Ready>::unlink();
  rest();
  while (detail::TaskLink* link = innermost_) {
    innermost_ = link->outer;
    link->awaited->destroy();
  }
  outermost.destroy();
}

void TaskContext::drop_leftovers() noexcept {
  has_leftovers_ = is_deadline_set_ = false;
  Timer::cancel();
  stop_callbacks_.clear();
}

bool Waiter::refuse(TaskContext& context) noexcept {
  error_ = context.why_;
  if (!context.is_worn_out()) return false;
  // Suspends for good: run_one() ends the chain.
  context.state_ = TaskContext::State::Abandoned;
  return true;
}

bool Waiter::suspend_anyway(std::coroutine_handle<> handle) noexcept {
  TaskContext* context = TaskContext::current();
  VIOLET_ASSERT(context != nullptr && context->state_ == TaskContext::State::Running);
  if (context->why_ && context->is_worn_out()) {
    context->state_ = TaskContext::State::Abandoned;
    return false;
  }
  enlist(*context, handle);
  return true;
}

void Waiter::abandon() noexcept {
  if (context_ == nullptr) return;
  VIOLET_ASSERT(context_->is_stopped());
  context_->failed_await_count_ = TaskContext::kFailedAwaitsMax;
  resume();
}

}  // namespace violet
