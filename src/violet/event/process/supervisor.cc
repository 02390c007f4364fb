#include "violet/event/process/supervisor.h"

#include "violet/base/check.h"
#include "violet/base/log.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <poll.h>
#include <string>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

// ThreadSanitizer has a thread of its own, and forks without it.
#if defined(__SANITIZE_THREAD__)
#define VIOLET_SANITIZER_HAS_THREAD true
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define VIOLET_SANITIZER_HAS_THREAD true
#endif
#endif
#ifndef VIOLET_SANITIZER_HAS_THREAD
#define VIOLET_SANITIZER_HAS_THREAD false
#endif

namespace violet {
namespace {

constexpr bool kSanitizerHasThread = VIOLET_SANITIZER_HAS_THREAD;

std::uint64_t clock_ms() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000 + static_cast<std::uint64_t>(now.tv_nsec) / 1'000'000;
}

sigset_t watched_signals() noexcept {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) sigaddset(&set, number);
  return set;
}

std::string how_it_ended(int status) {
  if (WIFEXITED(status)) return "ended with status " + std::to_string(WEXITSTATUS(status));
  const int number = WTERMSIG(status);
  return "was ended by signal " + std::to_string(number) + " (" + ::strsignal(number) + ")";
}

std::string named(std::size_t index, pid_t pid) {
  return "worker " + std::to_string(index) + " (process " + std::to_string(pid) + ")";
}

}  // namespace

Supervisor::Supervisor(Plan plan) : plan_(std::move(plan)), workers_(static_cast<std::size_t>(plan_.options.count)) {
  for (std::size_t i = 0; i < workers_.size(); ++i) workers_[i].index = i;
}

Supervisor::~Supervisor() { VIOLET_ASSERT(is_empty() && signals_ < 0); }

int Supervisor::thread_count() noexcept {
  if (kSanitizerHasThread) return 1;
  std::error_code error;
  int count = 0;
  for (std::filesystem::directory_iterator task("/proc/self/task", error), end; !error && task != end;
       task.increment(error)) {
    ++count;
  }
  return std::max(count, 1);
}

int Supervisor::run() {
  // Whoever started us may have had its children forgotten; ours are waited for.
  struct sigaction children{}, before{};
  children.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &children, &before);
  const sigset_t watched = watched_signals();
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, &watched, &mask);
  signals_ = ::signalfd(-1, &watched, SFD_NONBLOCK | SFD_CLOEXEC);
  VIOLET_CHECK(signals_ >= 0);
  for (std::size_t i = 0; i < workers_.size() && !is_draining_; ++i) start(i);
  while (!is_empty() || !is_draining_) turn();
  close_sources();
  ::close(std::exchange(signals_, -1));
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  ::sigaction(SIGCHLD, &before, nullptr);
  return status_;
}

void Supervisor::start(std::size_t index) {
  Worker& worker = workers_[index];
  worker.started_ms = clock_ms();
  worker.is_ready = false;
  int ends[2];
  const pid_t parent = ::getpid();
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
    on_end(index, W_EXITCODE(1, 0));
    return;
  }
  std::fflush(nullptr);  // what is buffered would be written by each of them
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(ends[0]);
    live(index, ends[1], parent);
  }
  const int error = errno;
  ::close(ends[1]);
  if (pid < 0) {
    ::close(ends[0]);
    log(LogLevel::Error, "worker " + std::to_string(index) + " cannot be forked: " + std::strerror(error));
    on_end(index, W_EXITCODE(1, 0));
    return;
  }
  worker.pid = pid;
  worker.line = ends[0];
  if (is_serving_) log(LogLevel::Info, named(index, pid) + " was started");
}

// In the new process.
void Supervisor::live(std::size_t index, int line, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(0);  // it died before that could hold
  // The ends of others' lines: as long as one is open anywhere, its worker does not see that we are gone.
  each([](const Worker& worker) {
    if (worker.line >= 0) ::close(worker.line);
  });
  ::close(signals_);
  ::signal(SIGHUP, SIG_IGN);  // until the work watches it: a reload finds everything new anyway
  const sigset_t watched = watched_signals();
  pthread_sigmask(SIG_UNBLOCK, &watched, nullptr);
  const int status = plan_.work(static_cast<int>(index), line);
  std::fflush(nullptr);
  // What main() has registered for its end is the business of the process that was started.
  ::_exit(status);
}

void Supervisor::turn() {
  std::vector<pollfd> ready{{.fd = signals_, .events = POLLIN, .revents = 0}};
  each([&](const Worker& worker) { ready.push_back({.fd = worker.line, .events = POLLIN, .revents = 0}); });
  if (::poll(ready.data(), ready.size(), timeout_ms()) > 0) {
    // Signals first: a worker that leaves because all are to end is not replaced.
    if (ready.front().revents != 0) read_signals();
    each([&, i = std::size_t{1}](Worker& worker) mutable {
      if (ready[i++].revents != 0) read_line(worker);
    });
  }
  let_go();
  reap();
  start_due();
  end_late();
}

void Supervisor::read_signals() {
  signalfd_siginfo info;
  while (::read(signals_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    on_signal(static_cast<int>(info.ssi_signo));
  }
}

void Supervisor::on_signal(int number) {
  if (number == SIGHUP) {
    if (!plan_.reloads) log(LogLevel::Info, "SIGHUP: there are no certificates to read again");
    if (plan_.reloads) order(WorkerLink::Order::Reload);
  } else if (number == SIGTERM || number == SIGINT) {
    if (is_draining_) {
      order(WorkerLink::Order::Cut);
      close_sources();
    } else {
      begin_drain(0);
    }
  }
}

void Supervisor::read_line(Worker& worker) {
  char word;
  ssize_t got;
  while ((got = ::read(worker.line, &word, 1)) == 1) {
    if (word == static_cast<char>(WorkerLink::Word::Ready)) worker.is_ready = true;
    if (word == static_cast<char>(WorkerLink::Word::Leaving)) worker.is_leaving = true;
    if (word == static_cast<char>(WorkerLink::Word::Stop) && !is_draining_) begin_drain(0);
  }
  // Its end comes before that of the process.
  if (got == 0 || (errno != EAGAIN && errno != EINTR)) ::close(std::exchange(worker.line, -1));
  const auto is_ready = [](const Worker& one) { return one.is_ready; };
  if (is_serving_ || is_draining_ || !std::all_of(workers_.begin(), workers_.end(), is_ready)) return;
  is_serving_ = true;
  if (plan_.on_ready) plan_.on_ready();
}

// Frees the places of those that leave: what comes to their sockets would wait until they have drained.
void Supervisor::let_go() {
  if (!is_serving_ || is_draining_) return;
  for (Worker& worker : workers_) {
    if (!worker.is_leaving || worker.pid == 0) continue;
    leaving_.push_back(worker);
    worker.is_leaving = false;
    worker.line = -1;
    replace(worker, named(worker.index, std::exchange(worker.pid, 0)) + " drains by itself", LogLevel::Info);
  }
}

void Supervisor::reap() {
  int status = 0;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    if (is_reaped(workers_[i], status)) on_end(i, status);
  }
  std::erase_if(leaving_, [&](Worker& worker) {
    if (!is_reaped(worker, status)) return false;
    on_end_of_drain(worker, status);
    return true;
  });
}

// By their ids: other children of this process are none of our business.
bool Supervisor::is_reaped(Worker& worker, int& status) {
  if (worker.pid == 0 || ::waitpid(worker.pid, &status, WNOHANG) != worker.pid) return false;
  if (worker.line >= 0) read_line(worker);  // its last words
  if (worker.line >= 0) ::close(std::exchange(worker.line, -1));
  return true;
}

void Supervisor::on_end_of_drain(const Worker& worker, int status) {
  const bool is_good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  log(is_good ? LogLevel::Info : LogLevel::Error, named(worker.index, worker.pid) + " " + how_it_ended(status));
  if (!is_good && is_draining_ && status_ == 0) status_ = kNotStarted;
}

void Supervisor::on_end(std::size_t index, int status) {
  Worker& worker = workers_[index];
  worker.is_leaving = false;
  const std::string name = named(index, std::exchange(worker.pid, 0));
  if (is_draining_) {
    if (WIFSIGNALED(status) || WEXITSTATUS(status) != 0) {
      log(LogLevel::Error, name + " " + how_it_ended(status));
      if (status_ == 0) status_ = kNotStarted;
    }
    return;
  }
  if (!is_serving_) {
    log(LogLevel::Error, name + " " + how_it_ended(status) + " before it served");
    begin_drain(kNotStarted);
    return;
  }
  const bool is_good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  replace(worker, name + " " + how_it_ended(status), is_good ? LogLevel::Info : LogLevel::Error);
}

void Supervisor::replace(Worker& worker, const std::string& why, LogLevel level) {
  const ProcessOptions& options = plan_.options;
  const std::uint64_t now = clock_ms();
  worker.failure_count = now - worker.started_ms >= options.stable_ms ? 0 : worker.failure_count + 1;
  if (worker.failure_count >= options.failures_max) {
    log(LogLevel::Error, why + ", as " + std::to_string(worker.failure_count) + " in a row did, each within " +
                             std::to_string(options.stable_ms) + " ms of its start: giving up");
    begin_drain(kGaveUp);
    return;
  }
  const int doublings = std::clamp(worker.failure_count - 2, 0, 20);
  const std::uint64_t pause =
      worker.failure_count < 2 ? 0 : std::min(options.backoff_ms << doublings, options.backoff_ms_max);
  worker.due_ms = now + pause;
  log(level, why + "; another one takes its place" + (pause == 0 ? "" : " in " + std::to_string(pause) + " ms"));
}

void Supervisor::start_due() {
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    if (!is_draining_ && workers_[i].pid == 0 && workers_[i].due_ms <= clock_ms()) start(i);
  }
}

void Supervisor::begin_drain(int status) {
  is_draining_ = true;
  status_ = status;
  close_ms_ = clock_ms() + plan_.readiness_ms;
  kill_ms_ = clock_ms() + plan_.drain_ms;
  order(WorkerLink::Order::Drain);
}

void Supervisor::order(WorkerLink::Order order) noexcept {
  const char byte = static_cast<char>(order);
  each([byte](const Worker& worker) {
    if (worker.line >= 0) static_cast<void>(::send(worker.line, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT));
  });
}

void Supervisor::close_sources() {
  if (std::exchange(is_closed_, true)) return;
  if (plan_.on_close) plan_.on_close();
}

void Supervisor::end_late() {
  if (is_draining_ && clock_ms() >= close_ms_) close_sources();
  if (!is_draining_ || is_killed_ || clock_ms() < kill_ms_) return;
  is_killed_ = true;
  each([](const Worker& worker) {
    if (worker.pid == 0) return;
    log(LogLevel::Error, named(worker.index, worker.pid) + " has not ended in time and is killed");
    ::kill(worker.pid, SIGKILL);
  });
}

// Until the next thing that is due; -1: nothing is.
int Supervisor::timeout_ms() const {
  std::uint64_t due = is_draining_ && !is_killed_ ? kill_ms_ : UINT64_MAX;
  if (is_draining_ && !is_closed_) due = std::min(due, close_ms_);
  for (const Worker& worker : workers_) {
    if (!is_draining_ && worker.pid == 0) due = std::min(due, worker.due_ms);
  }
  if (due == UINT64_MAX) return -1;
  const std::uint64_t now = clock_ms();
  return due <= now ? 0 : static_cast<int>(std::min<std::uint64_t>(due - now, 60'000));
}

bool Supervisor::is_empty() const noexcept {
  return leaving_.empty() &&
         std::all_of(workers_.begin(), workers_.end(), [](const Worker& worker) { return worker.pid == 0; });
}

}  // namespace violet
