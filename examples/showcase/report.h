#pragma once

// What the page asks for all the time, as JSON, and the error page for
// browsers.

#include <violet/violet.h>

#include <atomic>
#include <cstdint>
#include <string>

namespace showcase {

// What the features count; shared by all loops.
struct Board {
  std::atomic<std::int64_t> waiting = 0;  // handlers of /slow
  std::atomic<std::uint64_t> left =
      0;  // their clients did not wait for the answer
  std::atomic<std::uint64_t> overdue = 0;  // their time was over
  std::atomic<std::uint64_t> upload_bytes = 0;
};

// One waiting handler, however it ends.
class Waiting {
 public:
  explicit Waiting(Board& board) noexcept : board_(board) {
    ++board_.waiting;
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() { --board_.waiting; }

 private:
  Board& board_;
};

std::string limits_json(const violet::Limits& limits);
std::string live_json(const violet::Counters& counters,
                      const Board& board);
std::string error_html(const violet::ErrorInfo& error);

}  // namespace showcase
