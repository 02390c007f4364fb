#pragma once

// Server: listeners and loops around one Service. A value: several can live in one process, and one can be started
// again after it has stopped.
//
//   Server server(router, {.loops = 2});
//   if (auto endpoint = server.listen("http://127.0.0.1:0"); !endpoint) …
//   return server.run();                     // until SIGTERM or SIGINT, then drains
//
// One thread and one loop per worker, sharing nothing but the service, which must be safe to call from all of them.
//
//   (new) --start()--> serving --stop(deadline)--> draining --last connection gone, or deadline--> stopped --start()-->
//   …
//
// Draining: is_ready() is false at once; listeners close (after readiness_delay); idle connections close; busy ones
// answer what they have and close; at the deadline the rest is cut.

#include "violet/base/error.h"
#include "violet/base/function.h"
#include "violet/core/limits.h"
#include "violet/core/service.h"
#include "violet/event/process/link.h"
#include "violet/net/listener.h"
#include "violet/tls/certificate/credentials.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace violet {

class ErrorPage;
struct Counters;

struct ServerOptions {
  Limits limits;
  int loops = 0;                                 // 0: one for each usable processor (affinity mask and cgroup)
  ErrorPage* error_page = nullptr;               // used by all loops at once
  std::string server_name;                       // the Server field; "" for none
  std::chrono::milliseconds readiness_delay{0};  // between is_ready() == false and the closing of the listeners
  std::chrono::milliseconds drain{10'000};       // the deadline that a signal gives
  int supervisor = -1;  // run() in a worker process: the line to its supervisor, see event/process/link.h
};

// What a listener's connections pass before their first request.
struct Entrance {
  std::shared_ptr<tls::Credentials> credentials;  // TLS; nullptr: none
  bool expects_proxy = false;                     // a PROXY header comes first and says who the client is
  // Without TLS: "http/1.1" or "h2" where the listener speaks that alone; "": the client's first bytes choose. With TLS
  // the credentials say what there is to agree on.
  std::string protocol = {};
};

class Server {
 public:
  Server(Service& service, ServerOptions options);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();  // stops at once

  // Binds and listens now, accepts from start() on. Returns the endpoint with its port.
  // System: the address is in use, not ours, not allowed. Address: not a URL. Unsupported: https without credentials,
  // or http with them.
  // With `sockets` nothing is bound: they listen there already, one for each loop (of a Unix socket one for all), and
  // are the server's from now on.
  Result<net::Endpoint> listen(std::string_view url, const net::ListenOptions& options = {}, Entrance entrance = {},
                               std::vector<int> sockets = {});

  // Starts the loops on threads of their own. Invalid: nothing to listen on. Conflict: it runs already.
  Result<void> start();
  // start(), then on_serving(), then waits for the end, which SIGTERM, SIGINT, a supervisor's order or stop() bring; a
  // second signal cuts the drain short. Returns the exit status: 0, or 1 when it could not start.
  int run(Function<void()> on_serving = {});
  // Any thread, also a signal's or a handler's. Returns at once.
  void stop(std::chrono::milliseconds deadline);
  // Reads the certificates of all listeners again; new connections get what is new. What cannot be used is logged, and
  // the old one stays: false. Any thread.
  bool reload_certificates();
  // Returns when the server has stopped. Not for a loop's thread.
  void wait();

  [[nodiscard]] bool is_ready() const noexcept { return is_ready_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t connection_count() const noexcept {
    return connection_count_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] int loop_count() const noexcept { return loop_count_; }
  [[nodiscard]] const std::vector<net::Endpoint>& endpoints() const noexcept { return endpoints_; }
  // Sums over all loops, and of all times that it was started. Any thread; exact once the server has stopped.
  [[nodiscard]] Counters counters() const;

 private:
  friend class Worker;
  struct Listening {
    net::Endpoint endpoint;
    net::ListenOptions options;
    Entrance entrance;
    std::vector<int> sockets = {};  // that are there already; taken by the first start
    std::string reload_error = {};  // that was logged last
  };
  Result<net::Endpoint> open(Listening& listening);
  Result<void> open_all();
  void make_workers();
  void watch_certificates();
  [[nodiscard]] bool has_credentials() const noexcept;
  bool reload(bool logs_errors);
  void on_order(WorkerLink::Order order);
  void on_stop_signal(int before);  // the count of those before it
  void on_hangup();
  void drop_workers();
  void on_worker_end() noexcept;

  Service& service_;
  ServerOptions options_;
  int loop_count_;
  std::uint64_t connections_max_;
  std::vector<Listening> listening_;
  std::vector<net::Endpoint> endpoints_;
  std::mutex reload_mutex_;           // one at a time, from whatever thread
  mutable std::mutex workers_mutex_;  // stop() comes from any thread
  std::vector<std::unique_ptr<class Worker>> workers_;
  std::unique_ptr<Counters> ended_counters_;
  std::atomic<std::uint64_t> connection_count_ = 0;
  std::atomic<std::uint64_t> next_connection_id_ = 1;
  std::atomic<int> running_count_ = 0;
  std::atomic<bool> is_ready_ = false;
  bool is_started_ = false;
  std::atomic<class Loop*> control_ = nullptr;  // of run()
};

}  // namespace violet
