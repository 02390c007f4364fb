#pragma once

// Compare mode: two commands, each started to serve the same URL, in turn: A B B A, as often as there are rounds. What
// is compared are differences within a half round, because a machine's mood changes within minutes; an effect is one
// only where it exceeds the spread of both arms.

#include "load/options.h"
#include "load/plan.h"

#include <string>
#include <vector>

namespace violet::load {

// Readings of one quantity: pairs taken right after each other.
struct Verdict {
  double a = 0;  // medians
  double b = 0;
  double difference = 0;  // median of the paired differences, b - a
  double spread_a = 0;    // largest less smallest
  double spread_b = 0;
  [[nodiscard]] bool is_effect() const noexcept;
};
// REQUIRES: as many of both, at least one.
Verdict judge(const std::vector<double>& a, const std::vector<double>& b);

double median(std::vector<double> values);

// Runs it all and prints the table; the exit status.
int compare(const Options& options, const Plan& plan);

}  // namespace violet::load
