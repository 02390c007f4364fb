#include "command.h"
#include <violet/core/limits.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace violet::cli {
namespace {

void print_table() {
  int width = 0;
  for (const LimitRow& row : limit_table()) width = std::max(width, static_cast<int>(row.name.size()));
  for (const LimitRow& row : limit_table()) {
    const std::string status = row.status != 0 ? std::to_string(row.status) : "-";
    std::printf("%-*s %10llu %-11s  %-3s  %s\n", width, std::string(row.name).c_str(),
                static_cast<unsigned long long>(row.value), std::string(row.unit).c_str(), status.c_str(),
                std::string(row.stops).c_str());
  }
}

}  // namespace

int print_limits(Arguments arguments) {
  bool is_markdown = false;
  for (const char* argument : arguments) {
    if (std::string_view(argument) != "--markdown") return wrong("--print-limits does not take", argument);
    is_markdown = true;
  }
  if (is_markdown) {
    std::fputs(limits_markdown().c_str(), stdout);
  } else {
    print_table();
  }
  return 0;
}

}  // namespace violet::cli
