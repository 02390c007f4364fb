#include "load/result/process.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <unistd.h>

namespace violet::load {
namespace {

namespace fs = std::filesystem;

// The fields of /proc/PID/stat behind the command's name, which may hold anything.
std::optional<std::vector<std::string>> stat_of(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  std::istringstream words(line.substr(std::min(line.rfind(')') + 1, line.size())));
  std::vector<std::string> fields;
  for (std::string word; words >> word;) fields.push_back(word);
  return fields.size() > 21 ? std::optional(std::move(fields)) : std::nullopt;
}

// Of all its threads: the process's own numbers are those of its first one.
void add_switches(int pid, ProcessUse& use) {
  std::error_code error;
  for (const auto& task : fs::directory_iterator("/proc/" + std::to_string(pid) + "/task", error)) {
    std::ifstream file(task.path() / "status");
    for (std::string name; file >> name;) {
      std::uint64_t value = 0;
      if (name == "voluntary_ctxt_switches:" && file >> value) use.voluntary_switches += value;
      if (name == "nonvoluntary_ctxt_switches:" && file >> value) use.involuntary_switches += value;
    }
  }
}

// Inodes of the sockets that listen on `port`.
std::set<std::string> listeners_on(std::uint16_t port) {
  std::set<std::string> inodes;
  char wanted[8];
  std::snprintf(wanted, sizeof wanted, ":%04X", port);
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream file(table);
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string slot, local, remote, state, queues, timer, retransmits, uid, timeout, inode;
      words >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> uid >> timeout >> inode;
      if (state == "0A" && local.ends_with(wanted)) inodes.insert("socket:[" + inode + "]");
    }
  }
  return inodes;
}

}  // namespace

std::vector<int> tree_of(int pid) {
  std::vector<int> found{pid};
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::error_code error;
    for (const auto& task : fs::directory_iterator("/proc/" + std::to_string(found[i]) + "/task", error)) {
      std::ifstream file(task.path() / "children");
      for (int child = 0; file >> child;) found.push_back(child);
    }
  }
  return found;
}

std::optional<ProcessUse> use_of(int pid) {
  if (!stat_of(pid)) return std::nullopt;
  const double tick_us = 1e6 / static_cast<double>(::sysconf(_SC_CLK_TCK));
  const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  ProcessUse use;
  for (const int one : tree_of(pid)) {
    const auto fields = stat_of(one);
    if (!fields) continue;
    use.user_us += std::stod((*fields)[11]) * tick_us;
    use.system_us += std::stod((*fields)[12]) * tick_us;
    use.resident_bytes += std::stoull((*fields)[21]) * page_bytes;
    add_switches(one, use);
  }
  return use;
}

bool listens(const std::vector<int>& pids, std::uint16_t port) {
  const std::set<std::string> inodes = listeners_on(port);
  for (const int pid : pids) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(pid) + "/fd", error)) {
      if (inodes.contains(fs::read_symlink(entry.path(), error).string())) return true;
    }
  }
  return false;
}

bool is_taken(std::uint16_t port) { return !listeners_on(port).empty(); }

}  // namespace violet::load
