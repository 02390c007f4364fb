#pragma once

// App::State: what an App holds, away from its header.

#include "violet/app/app.h"
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

  // What is wrong with the routes; afterwards the router may serve.
  std::vector<std::string> freeze();
  // The server has stopped.
  void drop_server();

  ws::Topics topics;
  Router router;
  std::vector<std::unique_ptr<Files>> files;
  ErrorPages pages;
  Limits limits;
  int loops = 0;
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
