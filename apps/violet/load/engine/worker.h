#pragma once

// Worker: one thread with its loop, its connections and its share of the load. All of it is its own thread's; the main
// thread reads tally()'s counters meanwhile and joins.
//
// Closed loop: every slot of every connection asks again when it was answered. Open loop: request n is due at
// start + n / rate, whatever happened to those before it; it goes out on the first free slot, and its latency counts
// from when it was due. A server that stalls is so charged for everybody that it kept waiting.

#include "load/engine/connection.h"
#include "load/engine/wire.h"
#include "load/options.h"
#include "load/plan.h"
#include "load/result/tally.h"
#include <violet/event/loop.h>
#include <violet/event/timer.h>
#include <violet/memory/ref.h>
#include <violet/tls/client_context.h>
#include <violet/tls/transport.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace violet::load {

class Worker {
 public:
  // `share`: of the connections, the rate and the count.
  struct Share {
    int connections = 1;
    double rate = 0;
    std::uint64_t count = 0;
    std::uint64_t first_request = 0;  // where in the plan's order it begins
  };
  // `tls_context`: for a plan that is secure, this worker's alone.
  Worker(const Options& options, const Plan& plan, const Share& share, Ref<tls::ClientContext> tls_context);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  void start();
  void join();
  [[nodiscard]] const Tally& tally() const noexcept { return tally_; }
  // Measured seconds: from the end of the warm-up to the last answer that counts. After join().
  [[nodiscard]] double seconds() const noexcept { return static_cast<double>(ended_ns_ - began_ns_) / 1e9; }
  [[nodiscard]] bool is_measuring() const noexcept { return is_measuring_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool has_ended() const noexcept { return has_ended_.load(std::memory_order_relaxed); }

  // --- for its connections
  // There is a request to send now; it is due, where requests have their times.
  [[nodiscard]] bool has_request(std::uint64_t now_ns) const noexcept;
  // Its index, and the time from which its latency counts. REQUIRES: has_request(now_ns).
  std::uint32_t take_request(std::uint64_t now_ns, std::uint64_t& since_ns) noexcept;
  [[nodiscard]] const Prepared& prepared(std::uint32_t index) const noexcept { return *prepared_[index]; }
  // What every answer to that request has to hold; nullptr before the first one, or when nothing is checked.
  [[nodiscard]] const std::string* expected(std::uint32_t index) const noexcept;
  [[nodiscard]] bool learns(std::uint32_t index) const noexcept { return options_.verifies && !expected(index); }
  void learn(std::uint32_t index, std::string body);
  // `status` 0: a message, which has none.
  void on_answer(int status, std::uint64_t latency_ns, std::uint64_t bytes, bool is_right) noexcept;
  void on_failure(std::uint64_t Tally::* kind) noexcept;
  // A request will get no answer.
  void on_lost() noexcept;
  [[nodiscard]] bool is_over() const noexcept { return is_over_; }
  [[nodiscard]] const Options& options() const noexcept { return options_; }
  [[nodiscard]] const Plan& plan() const noexcept { return plan_; }
  [[nodiscard]] WireShared& wires() noexcept { return wires_; }
  [[nodiscard]] tls::Shared& tls() noexcept { return tls_; }
  [[nodiscard]] tls::ClientContext& tls_context() noexcept { return *tls_context_; }
  [[nodiscard]] Loop& loop() noexcept { return loop_; }
  [[nodiscard]] Tally& counts() noexcept { return tally_; }
  static std::uint64_t now_ns() noexcept { return uv_hrtime(); }

 private:
  void run();
  void run_open_loop();
  void begin_measuring() noexcept;
  void end() noexcept;
  void on_look() noexcept;
  [[nodiscard]] Limits client_limits() const;
  [[nodiscard]] std::uint64_t due_ns(std::uint64_t n) const noexcept;
  void on_finished() noexcept;

  const Options& options_;
  const Plan& plan_;
  Share share_;
  Loop loop_;
  WireShared wires_;
  tls::Shared tls_;
  Ref<tls::ClientContext> tls_context_;  // where the plan is secure
  std::vector<std::unique_ptr<Prepared>> prepared_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<std::unique_ptr<std::string>> expected_;
  Tally tally_;
  std::uint64_t taken_ = 0;     // requests since the start
  std::uint64_t counted_ = 0;   // of them since measuring began
  std::uint64_t finished_ = 0;  // of those, answered or lost
  std::uint64_t start_ns_ = 0;  // of the schedule
  std::uint64_t began_ns_ = 0;  // of measuring
  std::uint64_t ended_ns_ = 0;
  bool is_over_ = false;
  std::atomic<bool> is_measuring_ = false;
  std::atomic<bool> has_ended_ = false;
  TimerTo<&Worker::begin_measuring> measure_timer_{*this};
  TimerTo<&Worker::end> end_timer_{*this};
  TimerTo<&Worker::on_look> look_timer_{*this};
  std::thread thread_;
};

}  // namespace violet::load
