#pragma once

// Ring: lines on their way from one loop to the log's thread. One thread appends, another takes; neither waits for the
// other, and a line that finds no room is counted and gone.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace violet::access {

class Ring {
 public:
  explicit Ring(std::size_t bytes);

  // The loop's thread. False: there was no room.
  bool append(std::string_view line) noexcept;
  // More than half is used: it should be emptied soon. The loop's thread.
  [[nodiscard]] bool is_half_full() const noexcept {
    return head_.load(std::memory_order_relaxed) - seen_tail_ > size_ / 2;
  }

  // The log's thread: appends all lines to `out`.
  void take(std::string& out);
  [[nodiscard]] std::uint64_t dropped_count() const noexcept { return dropped_.load(std::memory_order_relaxed); }

  // The loop is gone; what lies here is still to be taken.
  void close() noexcept { is_closed_.store(true, std::memory_order_release); }
  [[nodiscard]] bool is_closed() const noexcept { return is_closed_.load(std::memory_order_acquire); }

 private:
  const std::size_t size_;
  const std::unique_ptr<char[]> bytes_;
  // Both only grow; the place in bytes_ is the rest by size_.
  alignas(64) std::atomic<std::size_t> head_ = 0;  // behind the last byte appended
  std::size_t seen_tail_ = 0;                      // tail_, as the loop saw it last
  std::atomic<std::uint64_t> dropped_ = 0;
  alignas(64) std::atomic<std::size_t> tail_ = 0;  // the next byte to be taken
  std::atomic<bool> is_closed_ = false;
};

}  // namespace violet::access
