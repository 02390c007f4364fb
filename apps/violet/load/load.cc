// violet load: asks a server as much as it can, or as often as it is told, and says how that went.

#include "load/compare.h"
#include "load/engine/run.h"
#include "load/options.h"
#include "load/plan.h"
#include "load/result/report.h"
#include <violet/base/log.h>

#include <csignal>
#include <cstdio>
#include <string>
#include <sys/resource.h>

namespace violet::cli {
namespace {

bool write_file(const std::string& path, const std::string& text) {
  if (path == "-") return std::fputs(text.c_str(), stdout) >= 0;
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return false;
  const bool is_written = std::fputs(text.c_str(), file) >= 0;
  return std::fclose(file) == 0 && is_written;
}

// As many connections as the system allows.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

int write_results(const load::Options& options, const load::Result& result) {
  if (options.json != "-") std::fputs(load::summary(options, result).c_str(), stdout);
  int status = 0;
  for (const auto& [path, text] :
       {std::pair(options.json, load::as_json(options, result)), std::pair(options.csv, load::as_csv(result))}) {
    if (path.empty() || write_file(path, text)) continue;
    std::fprintf(stderr, "violet load: cannot write %s\n", path.c_str());
    status = 1;
  }
  return status;
}

}  // namespace

int run_load(Arguments arguments) {
  load::Options options;
  if (const int status = load::parse(arguments, options); status >= 0) return status;
  const auto plan = load::make_plan(options);
  if (!plan) {
    std::fprintf(stderr, "violet load: %s\n", plan.error().c_str());
    return 2;
  }
  ::signal(SIGPIPE, SIG_IGN);
  raise_descriptor_limit();
  if (!options.ab.empty()) return load::compare(options, *plan);
  const load::Result result = load::run(options, *plan, options.server_pid);
  const int status = write_results(options, result);
  return result.tally.failure_count() == 0 ? status : 1;
}

}  // namespace violet::cli
