#pragma once

// What the command line of the showcase says.

#include <string>
#include <vector>

namespace showcase {

struct Options {
  std::vector<std::string> urls;
  int loops = 0;  // 0: one for each usable processor
};

// Status to exit with at once: 0 after --help, 2 for a wrong command
// line, which has been explained; -1: go on.
int parse(int argc, char** argv, Options& options);

}  // namespace showcase
