#pragma once

// App::State: what an App holds, away from its header.

#include "violet/app/app.h"
#include "violet/app/tell.h"
#include "violet/features/openapi/docs.h"
#include "violet/server/server.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace violet {

struct App::State {
  struct Listen {
    std::string url;
    ListenOptions options;
  };

  // A listener of which all is known but its socket.
  struct Plan {
    std::string url;
    net::ListenOptions options;
    Entrance entrance;
    std::vector<int> sockets = {};  // that listen already; see Server::listen()
  };

  // What is wrong with the routes; afterwards the router may serve.
  std::vector<std::string> freeze();
  bool tell(const Tell& wanted);
  // The three steps of a start: what can be wrong without a socket, then the sockets, then serving. False with errors.
  bool plan(std::vector<Plan>& plans);
  bool open(std::vector<Plan>& plans);
  int serve();
  // run() with worker processes, and the life of one. main() is not unwound in a worker: `at_worker_end` destroys what
  // the program has given.
  int supervise(std::vector<Plan>& plans, Function<void()> at_worker_end);
  int work(std::vector<Plan>& plans, int to_supervisor);
  // How many processes are wanted: by processes(), by the environment, else 0. False with errors.
  bool count_processes();
  void announce();
  void fail_to_listen(const std::string& url, const std::string& why);
  // The server has stopped.
  void drop_server();

  ws::Topics topics;
  ws::Totals totals;
  Router router;
  std::vector<std::unique_ptr<Files>> files;
  std::unique_ptr<Docs> docs;
  ErrorPages pages;
  Limits limits;
  int loops = 0;
  ProcessOptions processes{.count = -1};  // -1: nobody has said
  int line = -1;                          // in a worker process: to its supervisor
  std::string name;
  std::uint64_t drain_ms = 10'000;
  std::uint64_t readiness_ms = 0;
  std::vector<Listen> listens;
  Function<void(const std::vector<std::string>&)> on_listen;
  std::vector<std::string> provide_errors;
  std::vector<std::string> errors;

  std::mutex mutex;  // of the two below: stop() and is_ready() come from any thread
  std::unique_ptr<Server> server;
  std::vector<std::string> urls;
};

}  // namespace violet
