#include "violet/server/server.h"

#include "violet/base/log.h"
#include "violet/event/loop.h"
#include "violet/event/signal.h"
#include "violet/net/cpu.h"
#include "violet/server/worker.h"

#include <algorithm>
#include <csignal>
#include <optional>
#include <unistd.h>
#include <utility>

namespace violet {

using namespace std::chrono_literals;

namespace {

// Descriptors kept back for files, databases and the loops themselves.
constexpr std::uint64_t kReservedDescriptors = 64;
constexpr std::uint64_t kDescriptorsPerLoop = 16;
constexpr std::chrono::seconds kOrphanGrace{10};  // beyond the drain

void add(Counters& sum, const Counters& one) {
  sum.connections_opened += one.connections_opened;
  sum.connections_closed += one.connections_closed;
  sum.requests += one.requests;
  sum.refused += one.refused;
  sum.handler_errors += one.handler_errors;
  sum.protocol_errors += one.protocol_errors;
  sum.timeouts += one.timeouts;
  sum.accept_pauses += one.accept_pauses;
  sum.handshakes += one.handshakes;
  sum.handshake_errors += one.handshake_errors;
}

}  // namespace

Server::Server(Service& service, ServerOptions options)
    : service_(service),
      options_(std::move(options)),
      loop_count_(options_.loops > 0 ? options_.loops : net::usable_processors()),
      connections_max_(options_.limits.connections_max),
      ended_counters_(std::make_unique<Counters>()) {
  if (connections_max_ == 0) {
    const std::uint64_t reserve = kReservedDescriptors + kDescriptorsPerLoop * static_cast<std::uint64_t>(loop_count_);
    const std::uint64_t usable = net::usable_descriptors();
    connections_max_ = usable > 2 * reserve ? usable - reserve : usable / 2;
  }
  // Writing to a connection that is gone must be an error, not the end of the process; sendfile has no flag for that.
  struct sigaction current{};
  if (::sigaction(SIGPIPE, nullptr, &current) == 0 && current.sa_handler == SIG_DFL) ::signal(SIGPIPE, SIG_IGN);
}

Server::~Server() {
  stop(std::chrono::milliseconds(0));
  wait();
}

void Server::make_workers() {
  const std::lock_guard lock(workers_mutex_);
  if (!workers_.empty()) return;
  for (int i = 0; i < loop_count_; ++i) workers_.push_back(std::make_unique<Worker>(*this));
}

Result<net::Endpoint> Server::listen(std::string_view url, const net::ListenOptions& options, Entrance entrance,
                                     std::vector<int> sockets) {
  if (running_count_.load() > 0) return fail(ErrorKind::Conflict);
  VIOLET_TRY(net::Endpoint endpoint, net::Endpoint::parse(url));
  // Never plaintext where TLS is asked for, nor the other way round.
  if ((endpoint.scheme == "https") != (entrance.credentials != nullptr)) return fail(ErrorKind::Unsupported);
  make_workers();
  Listening listening{std::move(endpoint), options, std::move(entrance), std::move(sockets)};
  Result<net::Endpoint> opened = open(listening);
  if (!opened) {
    // No half-open address: what was opened on other loops goes again.
    drop_workers();
    VIOLET_TRY_VOID(open_all());
    return opened;
  }
  listening_.push_back(std::move(listening));
  endpoints_.push_back(*opened);
  return opened;
}

// Opens one address on every loop; the first one finds the port.
Result<net::Endpoint> Server::open(Listening& listening) {
  net::ListenOptions options = listening.options;
  options.reuse_port = loop_count_ > 1;
  const std::vector<int> sockets = std::exchange(listening.sockets, {});
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const Worker* first = i == 0 ? nullptr : workers_.front().get();
    options.is_first = first == nullptr;
    const int socket = i < sockets.size() ? sockets[i] : -1;
    VIOLET_TRY(listening.endpoint, workers_[i]->listen(listening.endpoint, options, listening.entrance, first, socket));
  }
  return listening.endpoint;
}

// Opens everything that was listened on, on new workers; all of it or nothing.
Result<void> Server::open_all() {
  make_workers();
  for (Listening& listening : listening_) {
    if (const auto opened = open(listening); !opened) {
      drop_workers();
      return fail(opened.error());
    }
  }
  return {};
}

void Server::drop_workers() {
  const std::lock_guard lock(workers_mutex_);
  workers_.clear();
}

Result<void> Server::start() {
  if (running_count_.load() > 0) return fail(ErrorKind::Conflict);
  if (listening_.empty()) return fail(ErrorKind::Invalid);
  wait();
  if (workers_.empty()) VIOLET_TRY_VOID(open_all());
  is_started_ = true;
  const std::lock_guard lock(workers_mutex_);  // a stop comes before all of this, or after it
  running_count_.store(loop_count_);
  is_ready_.store(true);
  watch_certificates();
  for (const auto& worker : workers_) worker->start();
  return {};
}

int Server::run(Function<void()> on_serving) {
  Loop control;
  control_ = &control;
  SignalWatcher terminate(control, SIGTERM, [this, count = 0](int) mutable { on_stop_signal(count++); });
  SignalWatcher interrupt(control, SIGINT, [this, count = 0](int) mutable { on_stop_signal(count++); });
  SignalWatcher hangup(control, SIGHUP, [this](int) { on_hangup(); });
  std::optional<WorkerLink> link;
  if (options_.supervisor >= 0) {
    link.emplace(control, options_.supervisor, [this](WorkerLink::Order order) { on_order(order); });
  }
  if (const Result<void> started = start(); !started) {
    control_ = nullptr;
    log(LogLevel::Error, "cannot start: " + message(started.error()));
    return 1;
  }
  // Not earlier: whoever hears of it may send a signal at once.
  if (on_serving) on_serving();
  if (link) WorkerLink::say(options_.supervisor, WorkerLink::Word::Ready);
  control.run();
  wait();
  control_ = nullptr;
  return 0;
}

void Server::on_stop_signal(int before) {
  if (before == 0 && options_.supervisor >= 0) WorkerLink::say(options_.supervisor, WorkerLink::Word::Leaving);
  stop(before == 0 ? options_.drain : std::chrono::milliseconds(0));
}

// Whatever tells all services to reload must not end one that has nothing to.
void Server::on_hangup() {
  if (has_credentials()) {
    reload_certificates();
  } else {
    log(LogLevel::Info, "SIGHUP: there are no certificates to read again");
  }
}

void Server::on_order(WorkerLink::Order order) {
  switch (order) {
    case WorkerLink::Order::Drain: stop(options_.drain); break;
    case WorkerLink::Order::Cut: stop(std::chrono::milliseconds(0)); break;
    case WorkerLink::Order::Reload: reload_certificates(); break;
    case WorkerLink::Order::Orphaned:
      // A handler that never gives its thread back would keep this process for ever: SIGALRM ends it.
      ::alarm(static_cast<unsigned>((options_.drain + options_.readiness_delay + kOrphanGrace) / 1s));
      stop(options_.drain);
      break;
  }
}

void Server::stop(std::chrono::milliseconds deadline) {
  const auto delay = deadline.count() == 0 ? std::chrono::milliseconds(0) : options_.readiness_delay;
  const std::lock_guard lock(workers_mutex_);
  is_ready_.store(false);
  if (running_count_.load() == 0) return;
  for (const auto& worker : workers_) worker->drain(delay, deadline);
}

bool Server::has_credentials() const noexcept {
  return std::any_of(listening_.begin(), listening_.end(),
                     [](const Listening& listening) { return listening.entrance.credentials != nullptr; });
}

bool Server::reload_certificates() {
  for (Listening& listening : listening_) {
    const std::lock_guard lock(reload_mutex_);
    listening.reload_error.clear();  // whoever asks for it wants to read what is wrong
  }
  return reload(true);
}

bool Server::reload(bool logs_errors) {
  const std::lock_guard lock(reload_mutex_);
  bool is_good = true;
  for (Listening& listening : listening_) {
    if (listening.entrance.credentials == nullptr) continue;
    const std::string url = listening.endpoint.to_string();
    const auto reloaded = listening.entrance.credentials->reload();
    if (!reloaded) {
      is_good = false;
      // Other files in the same folder may change all the time.
      if (!logs_errors || listening.reload_error == reloaded.error()) continue;
      listening.reload_error = reloaded.error();
      log(LogLevel::Error, url + " keeps its certificates, the new ones cannot be used: " + reloaded.error());
    } else if (*reloaded) {
      listening.reload_error.clear();
      log(LogLevel::Info, url + " serves new certificates from now on");
    }
  }
  return is_good;
}

// The first loop does it for all.
void Server::watch_certificates() {
  std::vector<std::string> files;
  for (const Listening& listening : listening_) {
    if (listening.entrance.credentials == nullptr) continue;
    for (std::string& file : listening.entrance.credentials->files()) files.push_back(std::move(file));
  }
  if (!files.empty()) workers_.front()->watch(files, [this](bool is_final) { return reload(is_final); });
}

void Server::on_worker_end() noexcept {
  // run() joins this thread before its loop goes.
  Loop* control = control_.load();
  if (running_count_.fetch_sub(1) == 1 && control != nullptr) control->stop();
}

void Server::wait() {
  if (workers_.empty()) return;
  for (const auto& worker : workers_) worker->join();
  // Never started ones keep their listeners for start().
  if (!is_started_) return;
  is_started_ = false;
  const std::lock_guard lock(workers_mutex_);
  for (const auto& worker : workers_) add(*ended_counters_, worker->counters());
  workers_.clear();
}

Counters Server::counters() const {
  const std::lock_guard lock(workers_mutex_);
  Counters sum = *ended_counters_;
  for (const auto& worker : workers_) add(sum, worker->counters());
  return sum;
}

}  // namespace violet
