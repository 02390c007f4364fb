#include "load/engine/run.h"

#include "load/engine/worker.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>
#include <unistd.h>

namespace violet::load {
namespace {

using Workers = std::vector<std::unique_ptr<Worker>>;
using std::chrono::steady_clock;

// The part of `whole` that falls to the i-th of n, so that all parts make the whole.
std::uint64_t part_of(std::uint64_t whole, int i, int n) {
  const auto at = static_cast<std::uint64_t>(i);
  const auto all = static_cast<std::uint64_t>(n);
  return whole / all + (at < whole % all ? 1 : 0);
}

// A context with these settings reads no file that can be missing.
Ref<tls::ClientContext> make_tls_context(const Options& options, const Plan& plan) {
  if (!plan.is_secure) return {};
  tls::ClientSettings settings;
  settings.protocols = {options.protocol == Protocol::Http2 ? "h2" : "http/1.1"};
  settings.verifies = options.verifies_certificate;
  auto context = tls::ClientContext::make(settings);
  VIOLET_CHECK(context.has_value());
  return *std::move(context);
}

Workers make_workers(const Options& options, const Plan& plan) {
  Workers workers;
  for (int i = 0; i < options.threads; ++i) {
    Worker::Share share;
    share.connections = static_cast<int>(part_of(static_cast<std::uint64_t>(options.connections), i, options.threads));
    share.rate = options.rate / options.threads;
    share.count = part_of(options.count, i, options.threads);
    if (options.count != 0 && share.count == 0) continue;
    share.first_request =
        static_cast<std::uint64_t>(i) * plan.order.size() / static_cast<std::uint64_t>(options.threads);
    workers.push_back(std::make_unique<Worker>(options, plan, share, make_tls_context(options, plan)));
  }
  return workers;
}

template <class Is>
bool all(const Workers& workers, Is is) {
  return std::all_of(workers.begin(), workers.end(), [&](const auto& worker) { return is(*worker); });
}

void wait_until_measuring(const Workers& workers) {
  while (!all(workers, [](const Worker& worker) { return worker.is_measuring() || worker.has_ended(); })) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

struct Totals {
  std::uint64_t answers = 0, errors = 0, bytes = 0, latency_ns = 0;
};

Totals totals_of(const Workers& workers) {
  Totals sum;
  for (const auto& worker : workers) {
    const Tally& tally = worker->tally();
    sum.answers += tally.answers;
    sum.errors += tally.errors;
    sum.bytes += tally.bytes;
    sum.latency_ns += tally.latency_ns;
  }
  return sum;
}

Second difference(double at, const Totals& before, const Totals& now) {
  const std::uint64_t answers = now.answers - before.answers;
  const auto latency = static_cast<double>(now.latency_ns - before.latency_ns);
  return {.at = at,
          .answers = answers,
          .errors = now.errors - before.errors,
          .bytes = now.bytes - before.bytes,
          .mean_ns = answers == 0 ? 0 : latency / static_cast<double>(answers)};
}

// On a terminal a bar stands below the lines and is drawn anew each second.
void print_second(const Options& options, const Second& second, std::uint64_t done) {
  const bool is_terminal = ::isatty(STDERR_FILENO) != 0;
  std::fprintf(stderr, "%s%6.0f s %10llu answers  mean %9.1f us  %8.2f MB  %llu errors\n",
               is_terminal ? "\r\033[K" : "", second.at, static_cast<unsigned long long>(second.answers),
               second.mean_ns / 1000, static_cast<double>(second.bytes) / 1e6,
               static_cast<unsigned long long>(second.errors));
  if (!is_terminal) return;
  const double share =
      options.count != 0 ? static_cast<double>(done) / static_cast<double>(options.count) : second.at / options.seconds;
  constexpr int kWidth = 50;
  const int full = std::clamp(static_cast<int>(share * kWidth), 0, kWidth);
  std::fprintf(stderr, "  [%s%s] %3.0f %%", std::string(static_cast<std::size_t>(full), '#').c_str(),
               std::string(static_cast<std::size_t>(kWidth - full), '.').c_str(), std::min(share, 1.0) * 100);
}

std::vector<Second> watch(const Options& options, const Workers& workers) {
  std::vector<Second> timeline;
  const auto began = steady_clock::now();
  Totals before = totals_of(workers);
  for (int second = 1;; ++second) {
    const auto due = began + std::chrono::seconds(second);
    bool has_ended = false;
    while (steady_clock::now() < due && !has_ended) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      has_ended = all(workers, [](const Worker& worker) { return worker.has_ended(); });
    }
    if (has_ended) break;
    const Totals now = totals_of(workers);
    timeline.push_back(difference(second, before, now));
    before = now;
    if (!options.is_quiet) print_second(options, timeline.back(), now.answers);
  }
  if (!options.is_quiet && ::isatty(STDERR_FILENO) != 0) std::fputs("\r\033[K", stderr);
  return timeline;
}

// A thread that has ended takes its counts of switches along.
std::uint64_t growth(std::uint64_t after, std::uint64_t before) { return after > before ? after - before : 0; }

ProcessUse minus(const ProcessUse& after, const ProcessUse& before) {
  return {.user_us = after.user_us - before.user_us,
          .system_us = after.system_us - before.system_us,
          .resident_bytes = after.resident_bytes,
          .voluntary_switches = growth(after.voluntary_switches, before.voluntary_switches),
          .involuntary_switches = growth(after.involuntary_switches, before.involuntary_switches)};
}

std::optional<ProcessUse> use_or_none(int pid) { return pid != 0 ? use_of(pid) : std::nullopt; }

}  // namespace

Result run(const Options& options, const Plan& plan, int server_pid) {
  Workers workers = make_workers(options, plan);
  for (const auto& worker : workers) worker->start();
  wait_until_measuring(workers);
  const auto server_before = use_or_none(server_pid);
  const ProcessUse own_before = use_of(::getpid()).value_or(ProcessUse());
  Result result;
  result.timeline = watch(options, workers);
  const auto server_after = use_or_none(server_pid);
  if (server_before && server_after) result.server = minus(*server_after, *server_before);
  result.own = minus(use_of(::getpid()).value_or(ProcessUse()), own_before);
  for (const auto& worker : workers) {
    worker->join();
    result.tally.add(worker->tally());
    result.seconds = std::max(result.seconds, worker->seconds());
  }
  return result;
}

}  // namespace violet::load
