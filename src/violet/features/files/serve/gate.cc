#include "violet/features/files/serve/gate.h"

#include "violet/base/log.h"
#include "violet/features/files/serve/front.h"

#include <exception>
#include <string>

namespace violet::files {

void Anchor::on_evicted() noexcept {
  if (is_told_.exchange(true, std::memory_order_acq_rel)) return;
  LoopRef(loop_).post([self = shared_from_this()] {
    self->is_told_.store(false, std::memory_order_release);
    if (self->front_ != nullptr) self->front_->drop_evicted();
  });
}

void ReadJob::run() noexcept {
  mount_.counts.reading.fetch_add(1, std::memory_order_relaxed);
  try {
    read();
  } catch (const std::exception& e) {
    log(LogLevel::Error, std::string("a file could not be read: ") + e.what());
    has_failed_ = true;
  }
  mount_.counts.reading.fetch_sub(1, std::memory_order_relaxed);
}

void ReadJob::finish(bool has_run) noexcept {
  // Whoever destroys the closure, run or not, destroys the job.
  std::unique_ptr<ReadJob> self(this);
  LoopRef loop = anchor_->loop();
  loop.post([job = std::move(self), has_run]() mutable {
    Front* front = job->anchor_->front();
    if (front == nullptr) return;
    front->gate().on_back();
    job->deliver(*front, has_run && !job->has_failed_);
  });
}

Gate::~Gate() {
  while (WorkerPool::Job* job = waiting_.pop_front()) delete job;
}

void Gate::submit(std::unique_ptr<ReadJob> job) {
  waiting_.push_back(*job.release());
  start_next();
}

void Gate::start_next() {
  while (running_count_ < running_max_) {
    WorkerPool::Job* job = waiting_.pop_front();
    if (job == nullptr) return;
    ++running_count_;
    // Refused: no thread can be had. The job comes back like one that has run.
    if (!mount_.workers.submit(*job)) static_cast<ReadJob*>(job)->finish(false);
  }
}

void Gate::on_back() noexcept {
  --running_count_;
  start_next();
}

}  // namespace violet::files
