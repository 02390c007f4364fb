#pragma once

// ProcessOptions: how many worker processes there are, and when one that keeps dying is given up; see supervisor.h.

#include <cstdint>

namespace violet {

struct ProcessOptions {
  int count = 0;  // 0: none; the process that was started serves by itself
  // A worker that dies sooner than this after its start has failed at once. The first such death is made good at once,
  // the next ones after a pause that doubles; too many in a row end everything.
  std::uint64_t stable_ms = 10'000;
  int failures_max = 5;
  std::uint64_t backoff_ms = 100;
  std::uint64_t backoff_ms_max = 5'000;
};

}  // namespace violet
