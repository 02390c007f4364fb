#pragma once

// Gate: how much one loop reads from disks at once. Jobs beyond file_reads_max wait here, in order, and start when one
// that runs has come back; only what really reads counts. One loop's thread.

#include "violet/event/loop.h"
#include "violet/event/offload.h"
#include "violet/features/files/cache/store.h"
#include "violet/features/files/load/mount.h"

#include <atomic>
#include <cstddef>
#include <memory>

namespace violet::files {

class Front;

// A front as worker threads and other loops may know it: it may be gone.
class Anchor final : public Holder, public std::enable_shared_from_this<Anchor> {
 public:
  explicit Anchor(Front& front, Loop& loop) : front_(&front), loop_(loop.ref()) {}

  // The loop's thread: the front, nullptr when it is gone.
  [[nodiscard]] Front* front() const noexcept { return front_; }
  void detach() noexcept { front_ = nullptr; }
  [[nodiscard]] LoopRef& loop() noexcept { return loop_; }
  // Any thread; many calls before the loop comes to it count as one.
  void on_evicted() noexcept override;

 private:
  Front* front_;
  LoopRef loop_;
  std::atomic<bool> is_told_ = false;
};

// Work on a worker thread for one front.
class ReadJob : public WorkerPool::Job {
 public:
  ReadJob(std::shared_ptr<Anchor> anchor, Mount& mount) noexcept : anchor_(std::move(anchor)), mount_(mount) {}

 protected:
  [[nodiscard]] Mount& mount() const noexcept { return mount_; }
  [[nodiscard]] const std::shared_ptr<Anchor>& anchor() const noexcept { return anchor_; }

 private:
  friend class Gate;
  virtual void read() = 0;
  // On the loop; not called when the front is gone. `has_read` false: there was no thread for it.
  virtual void deliver(Front& front, bool has_read) = 0;

  void run() noexcept override;
  void finish(bool has_run) noexcept override;

  std::shared_ptr<Anchor> anchor_;
  Mount& mount_;
  bool has_failed_ = false;
};

class Gate {
 public:
  Gate(Mount& mount, std::size_t running_max) noexcept : mount_(mount), running_max_(running_max) {}
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate();

  void submit(std::unique_ptr<ReadJob> job);
  [[nodiscard]] std::size_t running_count() const noexcept { return running_count_; }

 private:
  friend class ReadJob;
  void start_next();
  void on_back() noexcept;

  Mount& mount_;
  const std::size_t running_max_;
  std::size_t running_count_ = 0;
  List<WorkerPool::Job, WorkerPool::Job> waiting_;
};

}  // namespace violet::files
