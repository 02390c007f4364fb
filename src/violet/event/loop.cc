#include "violet/event/loop.h"

#include "violet/base/check.h"
#include "violet/base/log.h"
#include "violet/event/offload.h"
#include "violet/event/wait.h"

#include <ctime>
#include <mutex>
#include <string>
#include <vector>

namespace violet {
namespace detail {

// What other threads see of a loop. Lives as long as the loop or a LoopRef.
class Mailbox {
 public:
  explicit Mailbox(uv_async_t* async) noexcept : async_(async) {}

  void retain() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  bool post(Function<void()>& fn) {
    const std::lock_guard lock(mutex_);
    if (async_ == nullptr) return false;
    queue_.push_back(std::move(fn));
    if (queue_.size() == 1) uv_async_send(async_);
    return true;
  }
  void take(std::vector<Function<void()>>& batch) {
    const std::lock_guard lock(mutex_);
    batch.swap(queue_);
  }
  void close() noexcept {
    const std::lock_guard lock(mutex_);
    async_ = nullptr;
  }

  std::vector<Function<void()>> taken;  // the loop's thread only

 private:
  std::atomic<int> count_ = 1;
  std::mutex mutex_;
  uv_async_t* async_;  // nullptr: the loop is gone
  std::vector<Function<void()>> queue_;
};

}  // namespace detail

LoopRef::LoopRef(const LoopRef& other) noexcept : mailbox_(other.mailbox_) {
  if (mailbox_ != nullptr) mailbox_->retain();
}
LoopRef::~LoopRef() {
  if (mailbox_ != nullptr) mailbox_->release();
}
bool LoopRef::post(Function<void()> fn) { return mailbox_ != nullptr && mailbox_->post(fn); }

namespace {

template <class Handle>
uv_handle_t* as_handle(Handle* handle) noexcept {
  return reinterpret_cast<uv_handle_t*>(handle);
}
Loop& loop_of(const uv_loop_t* loop) noexcept { return *static_cast<Loop*>(loop->data); }

}  // namespace

Loop::Loop() {
  VIOLET_CHECK(uv_loop_init(&uv_) == 0);
  uv_.data = this;
  timers_.advance(now_ms());
  VIOLET_CHECK(uv_async_init(&uv_, &async_, [](uv_async_t* async) {
                 Loop& loop = loop_of(async->loop);
                 if (loop.is_stopping()) uv_stop(&loop.uv_);
                 loop.run_posted();
               }) == 0);
  uv_prepare_init(&uv_, &prepare_);
  uv_prepare_start(&prepare_, [](uv_prepare_t* prepare) {
    Loop& loop = loop_of(prepare->loop);
    loop.run_deferred();
    loop.set_wake_up();
  });
  uv_check_init(&uv_, &check_);
  uv_check_start(&check_, [](uv_check_t* check) { loop_of(check->loop).run_deferred(); });
  uv_timer_init(&uv_, &wake_up_);
  uv_timer_init(&uv_, &step_end_);
  uv_unref(as_handle(&prepare_));
  uv_unref(as_handle(&check_));
  mailbox_ = new detail::Mailbox(&async_);
}

Loop::~Loop() {
  VIOLET_CHECK(!is_running());
  const Scope scope(*this);
  is_draining_ = true;
  destroy_spawned();
  delete own_workers_;  // waits for what its threads run; their results land in the mailbox
  mailbox_->close();
  std::vector<Function<void()>> unposted;
  mailbox_->take(unposted);
  unposted.clear();
  destroy_locals();
  mailbox_->release();
  uv_close(as_handle(&async_), nullptr);
  uv_close(as_handle(&prepare_), nullptr);
  uv_close(as_handle(&check_), nullptr);
  uv_close(as_handle(&wake_up_), nullptr);
  uv_close(as_handle(&step_end_), nullptr);
  while (uv_run(&uv_, UV_RUN_NOWAIT) != 0 && uv_loop_alive(&uv_) != 0) {
    bool is_closing = false;
    uv_walk(
        &uv_, [](uv_handle_t* handle, void* closing) { *static_cast<bool*>(closing) |= uv_is_closing(handle) != 0; },
        &is_closing);
    if (is_closing) continue;
    if (uv_.active_reqs.count == 0) break;
    uv_run(&uv_, UV_RUN_ONCE);  // libuv's own threads are at work for somebody
  }
  if (uv_loop_close(&uv_) != 0) {
    uv_walk(
        &uv_,
        [](uv_handle_t* handle, void*) {
          log(LogLevel::Error, std::string("loop destroyed with an open handle: ") + uv_handle_type_name(handle->type));
        },
        nullptr);
    VIOLET_CHECK(!"a handle outlives its loop");
  }
}

void Loop::run() {
  VIOLET_CHECK(!is_running());
  const Scope scope(*this);
  thread_ = &current_;
  while (!stop_requested_.load(std::memory_order_acquire)) uv_run(&uv_, UV_RUN_DEFAULT);
  drain_spawned();
  thread_ = nullptr;
  stop_requested_.store(false, std::memory_order_release);
}

void Loop::stop() noexcept {
  stop_requested_.store(true, std::memory_order_release);
  uv_async_send(&async_);
}

bool Loop::step(int timeout_ms) {
  VIOLET_CHECK(!is_running());
  const Scope scope(*this);
  thread_ = &current_;
  run_deferred();
  if (timeout_ms > 0) {
    uv_update_time(&uv_);
    uv_timer_start(&step_end_, [](uv_timer_t*) {}, static_cast<std::uint64_t>(timeout_ms), 0);
  }
  uv_run(&uv_, timeout_ms > 0 ? UV_RUN_ONCE : UV_RUN_NOWAIT);
  uv_timer_stop(&step_end_);
  run_deferred();
  thread_ = nullptr;
  return !is_stopping();
}

void Loop::post(Function<void()> fn) { mailbox_->post(fn); }

LoopRef Loop::ref() noexcept {
  LoopRef ref;
  mailbox_->retain();
  ref.mailbox_ = mailbox_;
  return ref;
}

void Loop::run_posted() noexcept {
  // The buffer is taken out while it is walked, and put back: a steady flow of posts allocates nothing.
  std::vector<Function<void()>> batch = std::move(mailbox_->taken);
  mailbox_->take(batch);
  for (Function<void()>& fn : batch) {
    try {
      fn();
    } catch (const std::exception& exception) {
      log(LogLevel::Error, std::string("a posted function threw: ") + exception.what());
    } catch (...) {
      log(LogLevel::Error, "a posted function threw something that is no std::exception");
    }
    fn.reset();
  }
  constexpr std::size_t kKeptMax = 1024;
  batch.clear();
  if (batch.capacity() <= kKeptMax) mailbox_->taken = std::move(batch);
}

void Loop::run_deferred() noexcept {
  // Work that defers itself again and again must not keep the loop from its events.
  constexpr int kPassesMax = 64;
  for (int pass = 0; !deferred_.is_empty(); ++pass) {
    if (pass == kPassesMax) {
      uv_async_send(&async_);
      return;
    }
    List<Deferred, Deferred> batch;
    batch.splice_back(deferred_);
    while (Deferred* work = batch.pop_front()) work->callback_(*work);
  }
}

void Loop::set_wake_up() noexcept {
  const std::uint64_t due = timers_.wake_at_ms();
  if (due == armed_for_ms_) return;
  armed_for_ms_ = due;
  if (due == TimerWheel::kNever) {
    uv_timer_stop(&wake_up_);
    return;
  }
  const std::uint64_t now = now_ms();
  uv_timer_start(
      &wake_up_,
      [](uv_timer_t* timer) {
        Loop& loop = loop_of(timer->loop);
        loop.armed_for_ms_ = TimerWheel::kNever;
        loop.timers_.advance(clock_us() / 1000);
      },
      due > now ? due - now : 0, 0);
}

void Loop::destroy_locals() noexcept {
  while (Local* local = locals_) {
    locals_ = local->next;
    local->destroy(local->object);
    delete local;
  }
}

WorkerPool& Loop::workers() {
  if (workers_ == nullptr) workers_ = own_workers_ = new WorkerPool;
  return *workers_;
}

void Loop::drain_spawned() {
  if (spawned_.is_empty()) return;
  is_draining_ = true;
  {
    ResumeBatch batch;
    for (auto* task = spawned_.front(); task != nullptr; task = spawned_.next(*task)) {
      task->stop(ErrorKind::ShuttingDown);
    }
  }
  uv_update_time(&uv_);
  const std::uint64_t end_ms = now_ms() + drain_ms_;
  uv_timer_start(&step_end_, [](uv_timer_t*) {}, drain_ms_, 0);
  while (!spawned_.is_empty() && now_ms() < end_ms) uv_run(&uv_, UV_RUN_ONCE);
  uv_timer_stop(&step_end_);
  destroy_spawned();
  is_draining_ = false;
}

void Loop::destroy_spawned() noexcept {
  while (detail::Spawned* task = spawned_.front()) {
    log(LogLevel::Warn, "a spawned task did not end in time and was destroyed");
    delete task;
  }
}

void Loop::read_wall(std::uint64_t now_ms) noexcept {
  wall_read_at_ms_ = now_ms;
  wall_seconds_ = static_cast<std::int64_t>(std::time(nullptr));
}

}  // namespace violet
