#pragma once

// Command: one thing that the violet program does, named by its first argument. main.cc has the table of them.

#include <span>
#include <string_view>

namespace violet::cli {

using Arguments = std::span<char* const>;  // without the program and the command itself

struct Command {
  std::string_view name;
  std::string_view arguments;  // as --help shows them
  std::string_view summary;
  int (*run)(Arguments arguments);  // the exit status
};

// Says what is wrong with the command line; returns 2.
int wrong(std::string_view what, std::string_view argument);

int print_limits(Arguments arguments);
int print_openapi(Arguments arguments);
int print_routes(Arguments arguments);
int run_load(Arguments arguments);
int serve(Arguments arguments);

}  // namespace violet::cli
