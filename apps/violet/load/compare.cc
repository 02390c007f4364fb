#include "load/compare.h"

#include "load/result/process.h"
#include "load/result/report.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace violet::load {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
constexpr auto kPatience = std::chrono::seconds(20);

// A command in a session of its own: gone, with all that it started, when this is destroyed.
class Server {
 public:
  explicit Server(const std::string& command) : pid_(::fork()) {
    if (pid_ != 0) return;
    ::setsid();
    // What it prints is not ours; what it complains about is worth seeing.
    if (const int nowhere = ::open("/dev/null", O_WRONLY); nowhere >= 0) ::dup2(nowhere, STDOUT_FILENO);
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() {
    if (pid_ <= 0) return;
    for (const int signal : {SIGTERM, SIGKILL}) {
      ::kill(-pid_, signal);
      if (waits(kPatience / 2)) return;
    }
  }

  [[nodiscard]] int pid() const noexcept { return pid_; }
  // It, and nobody else, listens on the port.
  [[nodiscard]] bool is_up(std::uint16_t port) const {
    const auto end = steady_clock::now() + kPatience;
    while (steady_clock::now() < end && !has_ended()) {
      if (listens(tree_of(pid_), port)) return true;
      std::this_thread::sleep_for(milliseconds(10));
    }
    return false;
  }

 private:
  [[nodiscard]] bool has_ended() const { return ::waitpid(pid_, nullptr, WNOHANG) == pid_; }
  [[nodiscard]] bool waits(steady_clock::duration most) const {
    const auto end = steady_clock::now() + most;
    while (steady_clock::now() < end) {
      const int found = ::waitpid(pid_, nullptr, WNOHANG);
      if (found == pid_ || (found < 0 && errno == ECHILD)) return true;
      std::this_thread::sleep_for(milliseconds(5));
    }
    return false;
  }

  pid_t pid_;
};

bool waits_until_free(std::uint16_t port) {
  const auto end = steady_clock::now() + kPatience;
  while (is_taken(port)) {
    if (steady_clock::now() > end) return false;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return true;
}

// One reading; nullopt with a message when it could not be taken.
std::optional<Result> read_once(const Options& options, const Plan& plan, const std::string& command) {
  const std::uint16_t port = plan.address.port;
  if (!waits_until_free(port)) {
    std::fprintf(stderr, "violet load: somebody else listens on port %u\n", port);
    return std::nullopt;
  }
  const Server server(command);
  if (!server.is_up(port)) {
    std::fprintf(stderr, "violet load: it does not listen on port %u: %s\n", port, command.c_str());
    return std::nullopt;
  }
  return run(options, plan, server.pid());
}

struct Quantity {
  const char* name;
  double (*of)(const Result& result);
};

constexpr Quantity kQuantities[] = {
    {"answers a second", [](const Result& result) { return result.rate(); }},
    {"CPU us an answer",
     [](const Result& result) {
       return result.server ? result.per_answer(result.server->user_us + result.server->system_us) : 0;
     }},
    {"  user", [](const Result& result) { return result.server ? result.per_answer(result.server->user_us) : 0; }},
    {"  system", [](const Result& result) { return result.server ? result.per_answer(result.server->system_us) : 0; }},
    {"latency p50, us",
     [](const Result& result) { return static_cast<double>(result.tally.latency.quantile(0.5)) / 1000; }},
    {"latency p99, us",
     [](const Result& result) { return static_cast<double>(result.tally.latency.quantile(0.99)) / 1000; }},
};

void print_table(const std::vector<Result>& a, const std::vector<Result>& b) {
  std::printf("%-20s %12s %12s %12s %8s %12s %12s\n", "", "A", "B", "B - A", "%", "spread of A", "spread of B");
  for (const auto& [name, of] : kQuantities) {
    std::vector<double> left, right;
    for (const Result& result : a) left.push_back(of(result));
    for (const Result& result : b) right.push_back(of(result));
    const Verdict verdict = judge(left, right);
    const double percent = verdict.a != 0 ? 100 * verdict.difference / verdict.a : 0;
    std::printf("%-20s %12.3f %12.3f %+12.3f %+7.2f%% %12.3f %12.3f  %s\n", name, verdict.a, verdict.b,
                verdict.difference, percent, verdict.spread_a, verdict.spread_b,
                verdict.is_effect() ? "differs" : "within the spread");
  }
}

}  // namespace

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

bool Verdict::is_effect() const noexcept { return std::fabs(difference) > std::max(spread_a, spread_b); }

Verdict judge(const std::vector<double>& a, const std::vector<double>& b) {
  const auto spread = [](const std::vector<double>& values) {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    return *most - *least;
  };
  std::vector<double> differences;
  for (std::size_t i = 0; i < a.size(); ++i) differences.push_back(b[i] - a[i]);
  return {
      .a = median(a), .b = median(b), .difference = median(differences), .spread_a = spread(a), .spread_b = spread(b)};
}

int compare(const Options& options, const Plan& plan) {
  Options quiet = options;
  quiet.is_quiet = true;
  std::vector<Result> readings[2];
  std::uint64_t failures = 0;
  for (int half = 0; half < 2 * options.rounds; ++half) {
    for (int turn = 0; turn < 2; ++turn) {
      const auto arm = static_cast<std::size_t>((half + turn) % 2);
      const auto result = read_once(quiet, plan, options.ab[arm]);
      if (!result) return 1;
      failures += result->tally.failure_count();
      std::fprintf(stderr, "%c  %.0f answers a second, %llu failures\n", arm == 0 ? 'A' : 'B', result->rate(),
                   static_cast<unsigned long long>(result->tally.failure_count()));
      readings[arm].push_back(*result);
    }
  }
  std::printf("A: %s\nB: %s\n%s, %d rounds of A B B A\n", options.ab[0].c_str(), options.ab[1].c_str(),
              describe(options).c_str(), options.rounds);
  print_table(readings[0], readings[1]);
  return failures == 0 ? 0 : 1;
}

}  // namespace violet::load
