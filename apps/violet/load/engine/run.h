#pragma once

// One run of the load: all threads, the lines while it runs, and what came of it.

#include "load/options.h"
#include "load/plan.h"
#include "load/result/process.h"
#include "load/result/tally.h"

#include <optional>
#include <string>
#include <vector>

namespace violet::load {

// What one second of a run looked like.
struct Second {
  double at = 0;  // since measuring began
  std::uint64_t answers = 0;
  std::uint64_t errors = 0;
  std::uint64_t bytes = 0;
  double mean_ns = 0;
};

struct Result {
  Tally tally;
  double seconds = 0;
  std::vector<Second> timeline;
  std::optional<ProcessUse> server;  // used while it was measured; resident_bytes at its end
  ProcessUse own;                    // of the load itself

  [[nodiscard]] double rate() const noexcept { return seconds > 0 ? static_cast<double>(tally.answers) / seconds : 0; }
  // Microseconds of CPU for each answer.
  [[nodiscard]] double per_answer(double us) const noexcept {
    return tally.answers == 0 ? 0 : us / static_cast<double>(tally.answers);
  }
};

// `server_pid` 0: no process is read.
Result run(const Options& options, const Plan& plan, int server_pid);

}  // namespace violet::load
