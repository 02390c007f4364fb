#pragma once

// What a process has used so far, as /proc tells it; with all that it has started.

#include <cstdint>
#include <optional>
#include <vector>

namespace violet::load {

struct ProcessUse {
  double user_us = 0;
  double system_us = 0;
  std::uint64_t resident_bytes = 0;
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;
};

// nullopt: there is no such process, or no /proc.
std::optional<ProcessUse> use_of(int pid);
// The process and its descendants.
std::vector<int> tree_of(int pid);
// Whether one of them listens on that TCP port.
bool listens(const std::vector<int>& pids, std::uint16_t port);
// Whether anybody does.
bool is_taken(std::uint16_t port);

}  // namespace violet::load
