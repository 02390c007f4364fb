#pragma once

// Supervisor: a process that serves nothing and keeps others serving. It forks the workers, replaces those that die,
// and ends them together.
//
//   Supervisor supervisor({.options = {.count = 4}, .work = [&](int index, int line) { return serve(index, line); }});
//   return supervisor.run();
//
//   starting --all workers are ready: on_ready()--> watching --SIGTERM, SIGINT, Word::Stop--> draining --> run()
//   returns
//      \--one ends before it was ready-------------------\--one dies too often----------------/
//
// While it is watching, a worker that ends is forked anew from what this process was before run(): at once when it had
// lived for stable_ms, else after a pause; see ProcessOptions. One that says it is leaving (Word::Leaving) counts as
// ended from then on: what replaces it serves beside it until it has drained. While draining, a second signal cuts the
// drain short, and what is left after drain_ms is killed. Workers get SIGTERM when this process dies, however it dies,
// and the end of their line, which is an order to drain (link.h).
//
// One thread, which must be the only one of the process: a fork takes no others along. It runs no loop.

#include "violet/base/function.h"
#include "violet/base/log.h"
#include "violet/event/process/link.h"
#include "violet/event/process/options.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace violet {

class Supervisor {
 public:
  static constexpr int kNotStarted = 1;  // a worker ended before it was ready, or one had to be killed in the end
  static constexpr int kGaveUp = 3;      // a worker died too often

  struct Plan {
    ProcessOptions options;
    std::uint64_t drain_ms = 0;      // from the order to end to the killing of what is left
    std::uint64_t readiness_ms = 0;  // from there to on_close()
    bool reloads = false;            // SIGHUP orders a reload; otherwise it is logged, and nothing else
    // The life of a worker, in its process; what it returns is the exit status. `line` is for a WorkerLink.
    Function<int(int index, int line)> work;
    Function<void()> on_ready = {};
    Function<void()> on_close = {};  // nothing new may come any more; called when all has ended at the latest
  };

  explicit Supervisor(Plan plan);
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;
  ~Supervisor();

  // The exit status: 0, kNotStarted or kGaveUp.
  int run();

  // Threads of this process; more than one cannot be forked.
  [[nodiscard]] static int thread_count() noexcept;

 private:
  struct Worker {
    std::size_t index = 0;
    pid_t pid = 0;  // 0: none runs
    int line = -1;
    bool is_ready = false;
    bool is_leaving = false;
    int failure_count = 0;  // in a row
    std::uint64_t started_ms = 0;
    std::uint64_t due_ms = 0;  // of the next start, while none runs
  };

  void start(std::size_t index);
  [[noreturn]] void live(std::size_t index, int line, pid_t parent);
  void turn();
  void read_signals();
  void on_signal(int number);
  void read_line(Worker& worker);
  void let_go();
  void reap();
  bool is_reaped(Worker& worker, int& status);
  void on_end(std::size_t index, int status);
  void on_end_of_drain(const Worker& worker, int status);
  void replace(Worker& worker, const std::string& why, LogLevel level);
  void start_due();
  void begin_drain(int status);
  void order(WorkerLink::Order order) noexcept;
  void close_sources();
  void end_late();
  [[nodiscard]] int timeout_ms() const;
  [[nodiscard]] bool is_empty() const noexcept;
  template <class Visit>
  void each(Visit visit) {
    for (Worker& worker : workers_) visit(worker);
    for (Worker& worker : leaving_) visit(worker);
  }

  Plan plan_;
  std::vector<Worker> workers_;
  std::vector<Worker> leaving_;  // drain by themselves; others have their places
  int signals_ = -1;
  bool is_serving_ = false;  // all have been ready
  bool is_draining_ = false;
  bool is_closed_ = false;
  bool is_killed_ = false;
  std::uint64_t close_ms_ = 0;
  std::uint64_t kill_ms_ = 0;
  int status_ = 0;
};

}  // namespace violet
