#pragma once

// Sink: the access log's thread. It gathers the lines of all loops' rings and writes them, many at once. It sleeps
// while there is nothing, and starts with the first ring. Whoever uses it shares it; the last one ends the thread,
// which writes what is left, but waits for nobody who does not read.

#include "violet/features/log/access_log.h"
#include "violet/features/log/ring.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace violet::access {

class Sink {
 public:
  explicit Sink(AccessLogOptions options) : options_(std::move(options)) {}
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  ~Sink();

  [[nodiscard]] const AccessLogOptions& options() const noexcept { return options_; }
  // A ring for one loop. Any thread.
  [[nodiscard]] std::shared_ptr<Ring> add_ring(std::size_t bytes);
  // There is something in a ring. Any thread; costs one load while the thread is awake.
  void call() noexcept {
    if (!is_called_.load(std::memory_order_relaxed)) [[unlikely]]
      wake(false);
  }
  // A ring runs full.
  void hurry() noexcept {
    if (!is_urgent_.load(std::memory_order_relaxed)) [[unlikely]]
      wake(true);
  }
  [[nodiscard]] std::uint64_t dropped_count() const noexcept;

 private:
  void wake(bool is_urgent) noexcept;
  void run() noexcept;
  // False: there was nothing.
  bool drain(std::unique_lock<std::mutex>& lock);
  void tell_drops(std::uint64_t dropped);
  void write(std::string_view lines) noexcept;
  [[nodiscard]] bool write_piece(std::string_view& lines) noexcept;
  void open_file() noexcept;
  void follow_file() noexcept;

  AccessLogOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::shared_ptr<Ring>> rings_;
  std::uint64_t dropped_before_ = 0;  // by rings that are gone
  std::atomic<std::uint64_t> unwritten_ = 0;
  std::atomic<bool> is_called_ = false;
  std::atomic<bool> is_urgent_ = false;
  bool is_ending_ = false;
  std::thread thread_;

  // The thread's own.
  std::string batch_;
  std::uint64_t dropped_told_ = 0;
  int file_ = -1;
  bool has_complained_ = false;
};

}  // namespace violet::access
