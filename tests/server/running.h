#pragma once

// A server on loopback with a service of paths, for tests over the real network.

#include "tests/support/client.h"
#include "tests/support/script.h"
#include "violet/core/site.h"
#include "violet/event/loop.h"
#include "violet/server/server.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace violet::test {

// Safe to call from many loops: it has no state but counters and the server it may stop.
//   /          "hello"        /echo      the body        /large/{n}   n bytes of pattern()
//   /huge      50 MB at no cost
//   /never     no answer      /stop      stops the server and answers
class PathService final : public Service {
 public:
  void serve(Exchange& exchange) override {
    const std::string_view path = exchange.request().path;
    call_count.fetch_add(1);
    if (path == "/echo") {
      Echo::serve(exchange);
    } else if (path == "/never") {
      auto* gone = exchange.arena().make<Gone>(*this);
      exchange.add_cancel_hook(*gone);
      gone->exchange = exchange.hold().detach();  // given back when the client leaves
    } else if (path == "/stop") {
      server->stop(std::chrono::milliseconds(1000));
      exchange.reply(Slice::literal("stopping"));
    } else if (path == "/huge") {
      exchange.reply(huge());
    } else if (path.starts_with("/large/")) {
      exchange.reply(Slice::of(pattern(static_cast<std::size_t>(std::atoll(std::string(path.substr(7)).c_str())))));
    } else {
      exchange.reply(Slice::literal("hello"));
    }
  }

  static Slice huge() {
    static const Slice kHuge = Slice::shared(std::string(50'000'000, 'h'));
    return kHuge;
  }

  Server* server = nullptr;
  std::atomic<int> call_count = 0;
  std::atomic<int> gone_count = 0;

 private:
  struct Gone final : CancelHook {
    explicit Gone(PathService& of) : service(of) {}
    void on_cancel(Error) noexcept override {
      service.gone_count.fetch_add(1);
      exchange->release();
    }
    PathService& service;
    Exchange* exchange = nullptr;
  };
};

struct Running {
  explicit Running(ServerOptions options = {}, const char* url = "http://127.0.0.1:0")
      : server(service, std::move(options)) {
    service.server = &server;
    const auto opened = server.listen(url);
    if (opened) endpoint = *opened;
    is_started = opened && server.start().has_value();
  }
  PathService service;
  Server server;
  net::Endpoint endpoint;
  bool is_started = false;
};

inline const std::string kGet = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
inline std::string get(const std::string& path) { return "GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n"; }

}  // namespace violet::test
