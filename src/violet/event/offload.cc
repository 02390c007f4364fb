#include "violet/event/offload.h"

#include "violet/base/check.h"
#include "violet/base/log.h"
#include "violet/event/signal.h"

#include <condition_variable>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace violet {

struct WorkerPool::State {
  std::mutex mutex;
  std::condition_variable wake;
  List<Job, Job> queue;
  std::size_t queue_count = 0;
  std::size_t queue_max = 0;
  std::size_t idle_count = 0;  // threads that wait and are not called yet
  unsigned thread_max = 0;
  bool is_ending = false;
  std::vector<std::thread> threads;

  void work() noexcept {
    std::unique_lock lock(mutex);
    for (;;) {
      while (queue.is_empty() && !is_ending) {
        ++idle_count;
        wake.wait(lock);
        --idle_count;
      }
      if (is_ending) return;
      Job& job = *queue.pop_front();
      --queue_count;
      lock.unlock();
      job.run();
      job.finish(true);
      lock.lock();
    }
  }

  void start_thread() {
    const SignalsBlocked blocked;
    try {
      threads.emplace_back([this] { work(); });
    } catch (const std::system_error& error) {
      // Those that run must do; submit() refuses if there is none.
      log(LogLevel::Warn, std::string("no worker thread to be had: ") + error.what());
    }
  }
};

WorkerPool::WorkerPool(unsigned thread_count, std::size_t queue_max) : state_(std::make_unique<State>()) {
  VIOLET_CHECK(thread_count > 0);
  state_->thread_max = thread_count;
  state_->queue_max = queue_max;
  state_->threads.reserve(thread_count);
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->is_ending = true;
  }
  state_->wake.notify_all();
  for (std::thread& thread : state_->threads) thread.join();
  while (Job* job = state_->queue.pop_front()) job->finish(false);
}

bool WorkerPool::submit(Job& job) {
  const std::lock_guard lock(state_->mutex);
  if (state_->queue_count >= state_->queue_max || state_->is_ending) return false;
  if (state_->idle_count <= state_->queue_count && state_->threads.size() < state_->thread_max) state_->start_thread();
  if (state_->threads.empty()) return false;
  state_->queue.push_back(job);
  ++state_->queue_count;
  state_->wake.notify_one();
  return true;
}

bool WorkerPool::withdraw(Job& job) noexcept {
  const std::lock_guard lock(state_->mutex);
  if (!job.is_linked()) return false;
  job.unlink();
  --state_->queue_count;
  return true;
}

namespace detail {

OffloadWaiter::OffloadWaiter(WorkerPool* pool, std::unique_ptr<OffloadJob> job) noexcept
    : pool_(pool), job_(std::move(job)) {}

OffloadWaiter::~OffloadWaiter() { leave(); }

bool OffloadWaiter::await_suspend(std::coroutine_handle<> handle) noexcept {
  if (!suspend(handle)) return false;
  Loop* loop = Loop::current();
  VIOLET_CHECK(loop != nullptr);
  if (pool_ == nullptr) pool_ = &loop->workers();
  job_->waiter_ = this;
  job_->origin_ = loop->ref();
  running_ = job_.release();
  if (!pool_->submit(*running_)) {
    job_.reset(std::exchange(running_, nullptr));
    resume_with(ErrorKind::Busy);
  }
  return true;
}

void OffloadWaiter::leave() noexcept {
  OffloadJob* job = std::exchange(running_, nullptr);
  if (job == nullptr) return;
  job->waiter_ = nullptr;
  if (pool_->withdraw(*job)) delete job;
}

void OffloadWaiter::on_stop(Error why) noexcept {
  leave();
  resume_with(why);
}

void OffloadJob::finish(bool has_run) noexcept {
  has_run_ = has_run;
  // The closure owns the job: whoever destroys it, run or not, destroys the job.
  std::unique_ptr<OffloadJob> self(this);
  const LoopRef origin = std::move(origin_);
  LoopRef(origin).post([job = std::move(self)]() mutable { arrive(std::move(job)); });
}

void OffloadJob::arrive(std::unique_ptr<OffloadJob> job) noexcept {
  OffloadWaiter* waiter = job->waiter_;
  if (waiter == nullptr) return;
  const bool has_run = job->has_run_;
  waiter->running_ = nullptr;
  waiter->job_ = std::move(job);
  if (has_run) {
    waiter->resume();
  } else {
    waiter->resume_with(ErrorKind::ShuttingDown);
  }
}

}  // namespace detail
}  // namespace violet
