#include "violet/app/state.h"
#include "violet/base/ascii.h"
#include "violet/base/log.h"
#include "violet/event/process/supervisor.h"
#include "violet/net/cpu.h"
#include "violet/web/route/listing.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

namespace violet {
namespace {

constexpr int kProcessesMax = 1024;
// What a worker may need beyond its drain: clean-up of handlers whose clients have gone, and its own end.
constexpr std::uint64_t kEndMs = 8'000;

// The listening sockets of all workers, held by the process that forks them: what waits in one is served by the worker
// that replaces a dead one. Of a TCP address there is one for each loop of each worker, among which the kernel spreads
// connections; a Unix socket is one for all.
class Sockets {
 public:
  Sockets(int processes, int loops) noexcept
      : processes_(static_cast<std::size_t>(processes)), loops_(static_cast<std::size_t>(loops)) {}
  Sockets(const Sockets&) = delete;
  Sockets& operator=(const Sockets&) = delete;
  ~Sockets() { close(); }

  Result<net::Endpoint> open(const std::string& url, net::ListenOptions options) {
    VIOLET_TRY(net::Endpoint endpoint, net::Endpoint::parse(url));
    const bool is_unix = endpoint.address.family == Address::Family::Unix;
    if (is_unix) paths_.push_back(endpoint.path);
    std::vector<int>& sockets = listeners_.emplace_back();
    const std::size_t count = is_unix ? 1 : processes_ * loops_;
    options.reuse_port = count > 1;
    while (sockets.size() < count) {
      options.is_first = sockets.empty();
      VIOLET_TRY(const int socket, net::open_listening(endpoint, options));
      sockets.push_back(socket);
    }
    return endpoint;
  }

  // In a worker: gives its own away and closes the others'.
  std::vector<int> take(std::size_t listener, std::size_t process) {
    std::vector<int> mine;
    std::vector<int> all = std::exchange(listeners_[listener], {});
    if (all.size() == 1) return all;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i / loops_ == process) {
        mine.push_back(all[i]);
      } else {
        ::close(all[i]);
      }
    }
    return mine;
  }
  // The files stay: they are the supervisor's.
  void forget_paths() noexcept { paths_.clear(); }

  void close() noexcept {
    for (const std::vector<int>& sockets : listeners_) {
      for (const int socket : sockets) ::close(socket);
    }
    listeners_.clear();
    for (const std::string& path : paths_) ::unlink(path.c_str());
    paths_.clear();
  }

 private:
  std::size_t processes_;
  std::size_t loops_;
  std::vector<std::vector<int>> listeners_;
  std::vector<std::string> paths_;
};

// One set of keys to begin with, so that a client's ticket is good at every worker.
void make_ticket_keys(const Entrance& entrance) {
  tls::TicketKeys::Key key;
  static_cast<void>(entrance.credentials->tickets().current(key, static_cast<std::uint64_t>(std::time(nullptr))));
}

// What works with several processes, but not as it does with one: each once.
void warn_of_processes(const Router& router) {
  std::vector<std::string_view> said;
  for (const web::RouteInfo& route : router.routes()) {
    for (const web::RouteInfo::Hook& hook : route.hooks) {
      if (hook.process_note.empty() || std::find(said.begin(), said.end(), hook.process_note) != said.end()) continue;
      said.push_back(hook.process_note);
      log(LogLevel::Warn, hook.process_note);
    }
  }
}

}  // namespace

bool App::State::count_processes() {
  const char* const text = std::getenv("VIOLET_PROCESSES");
  if (processes.count < 0 && text != nullptr) {
    const auto count = ascii::to_number<int>(text);
    processes.count = count && *count >= 0 ? *count : kProcessesMax + 1;
  }
  processes.count = std::max(processes.count, 0);
  if (processes.count > kProcessesMax) {
    errors.push_back("processes: between 0 and " + std::to_string(kProcessesMax) + ", in VIOLET_PROCESSES as well");
  } else if (processes.count > 0 && Supervisor::thread_count() > 1) {
    errors.emplace_back(
        "processes: this process has started threads already, which its workers would not have; start them later, or "
        "serve without processes");
  }
  return errors.empty();
}

int App::State::supervise(std::vector<Plan>& plans, Function<void()> at_worker_end) {
  static_cast<void>(net::usable_descriptors());  // as many sockets as may be
  if (processes.count > 1) warn_of_processes(router);
  if (loops == 0) loops = std::max(1, net::usable_processors() / processes.count);
  Sockets sockets(processes.count, loops);
  bool is_secure = false;
  for (Plan& plan : plans) {
    if (auto endpoint = sockets.open(plan.url, plan.options)) {
      plan.url = endpoint->to_string();
      urls.push_back(plan.url);
    } else {
      fail_to_listen(plan.url, message(endpoint.error()));
    }
    if (plan.entrance.credentials == nullptr) continue;
    is_secure = true;
    make_ticket_keys(plan.entrance);
  }
  for (const std::string& error : errors) log(LogLevel::Error, error);
  if (!errors.empty()) return Supervisor::kNotStarted;
  Supervisor supervisor({.options = processes,
                         .drain_ms = readiness_ms + drain_ms + kEndMs,
                         .readiness_ms = readiness_ms,
                         .reloads = is_secure,
                         .work =
                             [&](int index, int to_supervisor) {
                               for (std::size_t i = 0; i < plans.size(); ++i) {
                                 plans[i].sockets = sockets.take(i, static_cast<std::size_t>(index));
                               }
                               sockets.forget_paths();
                               const int status = work(plans, to_supervisor);
                               at_worker_end();
                               return status;
                             },
                         .on_ready = [&] { announce(); },
                         .on_close = [&] { sockets.close(); }});
  return supervisor.run();
}

// The life of a worker.
int App::State::work(std::vector<Plan>& plans, int to_supervisor) {
  line = to_supervisor;
  int status = Supervisor::kNotStarted;
  if (open(plans)) {
    status = serve();
  } else {
    for (const std::string& error : errors) log(LogLevel::Error, error);
  }
  return status;
}

}  // namespace violet
