#include "violet/event/wait.h"

#include "violet/base/check.h"
#include "violet/base/log.h"
#include "violet/event/loop.h"

#include <exception>
#include <string>

namespace violet {

bool Sleep::await_suspend(std::coroutine_handle<> handle) noexcept {
  if (!suspend(handle)) return false;
  Loop* loop = Loop::current();
  VIOLET_CHECK(loop != nullptr);
  if (delay_ms_ == 0) {
    loop->timers().arm(*this, 0);
  } else {
    loop->timers().arm_after(*this, delay_ms_);
  }
  return true;
}

std::uint64_t TaskView::remaining_ms() const noexcept {
  const std::uint64_t deadline_ms = context_->deadline_ms();
  if (deadline_ms == TaskContext::kNoDeadline) return deadline_ms;
  const std::uint64_t now_ms = Loop::clock_us() / 1000;
  return deadline_ms > now_ms ? deadline_ms - now_ms : 0;
}

namespace detail {

void Child::on_end(bool threw) noexcept {
  rest();
  group_->on_child_end(*this, threw);
}

void Child::on_abandoned() noexcept {
  destroy_frames(task_);
  group_->on_child_end(*this, false);
}

bool ChildGroup::await_suspend(std::coroutine_handle<> handle) noexcept {
  TaskContext& parent = *TaskContext::current();
  if (!suspend_anyway(handle)) return true;
  pending_count_ = child_count_;
  for (std::size_t i = 0; i < child_count_; ++i) {
    Child& child = children_[i];
    child.group_ = this;
    child.share_frames(parent);
    if (kind_ != Kind::Shielded) child.inherit(parent);
    if (limit_ms_ != TaskContext::kNoDeadline) child.set_deadline((Loop::clock_us() + 999) / 1000 + limit_ms_);
    // A coroutine runs, so this only puts the child behind those that are ready.
    child.begin(child.task_.frame_, child.on_child_end_);
  }
  return true;
}

void ChildGroup::on_child_end(Child& child, bool threw) noexcept {
  const bool decides = kind_ == Kind::All ? threw : !child.is_abandoned();
  if (decides && decided_by_ == kNone) {
    decided_by_ = static_cast<std::size_t>(&child - children_);
    if (pending_count_ > 1) stop_children(ErrorKind::Cancelled);
  }
  if (--pending_count_ != 0) return;
  // Without a value from an abandoned child there is nothing to go on with; it was our own stop that reached it.
  bool lacks_value = kind_ == Kind::Any && decided_by_ == kNone;
  if (kind_ == Kind::All && decided_by_ == kNone) {
    for (std::size_t i = 0; i < child_count_; ++i) lacks_value |= children_[i].is_abandoned();
  }
  if (lacks_value) {
    abandon();
  } else {
    resume();
  }
}

void ChildGroup::stop_children(Error why) noexcept {
  // Coroutines are only marked ready meanwhile: a batch is open in every caller.
  for (std::size_t i = 0; i < child_count_; ++i) {
    if (children_[i].is_active()) children_[i].stop(why);
  }
}

void ChildGroup::on_stop(Error why) noexcept {
  if (kind_ != Kind::Shielded) stop_children(why);
}

void Spawned::start(Loop& loop, std::unique_ptr<Spawned> spawned, Task<void>&& task) noexcept {
  VIOLET_ASSERT(loop.is_own_thread());
  const Loop::Scope scope(loop);
  Spawned* self = spawned.release();
  loop.spawned_.push_back(*self);
  if (loop.is_draining_) self->stop(ErrorKind::ShuttingDown);
  self->root_.start(std::move(task), [self](Outcome<void>&& end) noexcept {
    if (end.has_exception()) {
      try {
        std::rethrow_exception(end.exception());
      } catch (const std::exception& exception) {
        log(LogLevel::Error, std::string("a spawned task threw: ") + exception.what());
      } catch (...) {
        log(LogLevel::Error, "a spawned task threw something that is no std::exception");
      }
    } else if (!end.has_value()) {
      log(LogLevel::Warn, "a spawned task ignored its stop and was ended: " + message(end.error()));
    }
    delete self;
  });
}

}  // namespace detail

void spawn(Loop& loop, Task<void> task) {
  VIOLET_CHECK(task.is_on_heap());  // its memory belongs to a chain that may end first: pass a callable instead
  detail::Spawned::start(loop, std::make_unique<detail::Spawned>(), std::move(task));
}

}  // namespace violet
