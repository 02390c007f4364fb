// violet: the command line of the library. Exit status 0 when it did what was asked, 2 for a wrong command line.
#include "command.h"

#include <uv.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace violet::cli {
namespace {

int print_version(Arguments arguments) {
  if (!arguments.empty()) return wrong("--version does not take", arguments.front());
  std::printf("violet %s, libuv %s\n", VIOLET_VERSION, uv_version_string());
  return 0;
}

int print_help(Arguments arguments);

constexpr Command kCommands[] = {
    {"serve", "[flags] [DIR]", "the files of a folder over HTTP; serve --help shows its flags", serve},
    {"load", "[options] URL", "asks a server as much as it can, and says how that went; load --help", run_load},
    {"openapi", "[flags] PROGRAM", "the OpenAPI document of a program; openapi --help", print_openapi},
    {"routes", "[flags] PROGRAM", "the routes of a program, as a table or as JSON; routes --help", print_routes},
    {"--version", "", "the version of violet and of libuv", print_version},
    {"--print-limits", "[--markdown]", "every limit: default, unit, answer, what it stops", print_limits},
    {"--help", "", "this text", print_help},
};

int print_help(Arguments) {
  std::size_t width = 0;
  for (const Command& command : kCommands) width = std::max(width, command.name.size() + command.arguments.size() + 1);
  std::printf("usage: violet COMMAND\n\n");
  for (const Command& command : kCommands) {
    const std::string shown = std::string(command.name) + " " + std::string(command.arguments);
    std::printf("  %-*s  %s\n", static_cast<int>(width), shown.c_str(), std::string(command.summary).c_str());
  }
  return 0;
}

int run(Arguments arguments) {
  if (arguments.empty()) {
    std::fprintf(stderr, "violet: no command; violet --help shows them\n");
    return 2;
  }
  const std::string_view name = arguments.front();
  for (const Command& command : kCommands) {
    if (name == command.name) return command.run(arguments.subspan(1));
  }
  return wrong("there is no", name);
}

}  // namespace

int wrong(std::string_view what, std::string_view argument) {
  std::fprintf(stderr, "violet: %s %s; violet --help shows the commands\n", std::string(what).c_str(),
               std::string(argument).c_str());
  return 2;
}

}  // namespace violet::cli

int main(int argc, char** argv) {
  return violet::cli::run({argv + (argc > 0 ? 1 : 0), static_cast<std::size_t>(argc > 0 ? argc - 1 : 0)});
}
