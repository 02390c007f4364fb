#include "violet/net/cpu.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <sched.h>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

namespace violet::net {
namespace {

// The first line of a file, "" when it cannot be read.
std::string first_line(const std::string& path) {
  char line[512] = "";
  if (std::FILE* file = std::fopen(path.c_str(), "re"); file != nullptr) {
    if (std::fgets(line, sizeof line, file) == nullptr) line[0] = 0;
    std::fclose(file);
  }
  return line;
}

// Quota in processors, 0 for none. Every group above ours may have a tighter one.
double cgroup_quota() {
  std::string group;
  if (std::FILE* file = std::fopen("/proc/self/cgroup", "re"); file != nullptr) {
    char line[512];
    while (std::fgets(line, sizeof line, file) != nullptr) {
      if (std::strncmp(line, "0::", 3) == 0) group.assign(line + 3, std::strcspn(line + 3, "\n"));
    }
    std::fclose(file);
  }
  double quota = 0;
  for (;;) {
    const std::string text = first_line("/sys/fs/cgroup" + group + "/cpu.max");
    double used = 0;
    double period = 0;
    if (std::sscanf(text.c_str(), "%lf %lf", &used, &period) == 2 && period > 0 && used > 0) {
      const double here = used / period;
      if (quota == 0 || here < quota) quota = here;
    }
    const std::size_t slash = group.rfind('/');
    if (group.empty() || slash == std::string::npos) break;
    group.resize(slash);
  }
  if (quota == 0) {
    const double used = std::atof(first_line("/sys/fs/cgroup/cpu/cpu.cfs_quota_us").c_str());
    const double period = std::atof(first_line("/sys/fs/cgroup/cpu/cpu.cfs_period_us").c_str());
    if (used > 0 && period > 0) quota = used / period;
  }
  return quota;
}

}  // namespace

int usable_processors() noexcept {
  int count = 0;
  // A mask larger than cpu_set_t is asked for in growing sizes.
  for (int size = 1024; size <= 65536 && count == 0; size *= 4) {
    cpu_set_t* set = CPU_ALLOC(static_cast<std::size_t>(size));
    if (set == nullptr) break;
    if (::sched_getaffinity(0, CPU_ALLOC_SIZE(size), set) == 0) count = CPU_COUNT_S(CPU_ALLOC_SIZE(size), set);
    CPU_FREE(set);
  }
  if (count == 0) count = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  if (const double quota = cgroup_quota(); quota > 0 && std::ceil(quota) < count)
    count = static_cast<int>(std::ceil(quota));
  return count < 1 ? 1 : count;
}

unsigned long usable_descriptors() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  if (limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) ::getrlimit(RLIMIT_NOFILE, &limit);
  }
  return limit.rlim_cur == RLIM_INFINITY ? 1048576 : static_cast<unsigned long>(limit.rlim_cur);
}

}  // namespace violet::net
