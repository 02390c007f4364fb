#pragma once

// H1Wire: an h1::Session over a MemoryTransport, with everything it stands on, driven by hand and without a clock of
// its own: send() and settle() run the loop until nothing moves any more; until() steps it, bounded, for what takes
// time.
//
// A loop may keep one stream and its exchange ready; whatever else is not given back is found when the pools die.
//
//   H1Wire wire;
//   wire.service.handler = [](Exchange& exchange) { exchange.reply(Slice::literal("hello")); };
//   EXPECT_EQ(reply_of(wire.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n")).body, "hello");

#include "tests/support/one_tunnel.h"
#include "tests/support/script.h"
#include "violet/core/site.h"
#include "violet/event/loop.h"
#include "violet/h1/session.h"
#include "violet/net/memory.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace violet::test {

class H1Wire final : h1::Session::Host {
 public:
  // Without `has_tunnels` the session carries what has been upgraded.
  explicit H1Wire(const Limits& limits = {}, bool has_tunnels = true)
      : site(loop, service, limits), shared(site), has_tunnels_(has_tunnels) {
    connect();
  }
  H1Wire(const H1Wire&) = delete;
  H1Wire& operator=(const H1Wire&) = delete;
  ~H1Wire();

  // A new connection; an earlier one is aborted.
  void connect();
  void send(std::string_view bytes) {
    wire->feed(bytes);
    settle();
  }
  // Everything that came back.
  std::string ask(std::string_view bytes) {
    send(bytes);
    return wire->take();
  }
  // Runs the loop until nothing is read, written or closed any more.
  void settle();
  // Steps the loop until `is_true()`; false after `most_ms`.
  bool until(const std::function<bool()>& is_true, std::uint64_t most_ms = 5000);
  [[nodiscard]] bool is_closed() const { return wire->is_closed(); }
  // The session has been given back: its streams have heard of the end.
  [[nodiscard]] bool is_gone() const { return session == nullptr && !tunnel.is_open(); }

  Loop loop;
  ScriptService service;
  Site site;
  h1::Shared shared;
  Ref<net::MemoryTransport> wire;
  h1::Session* session = nullptr;
  OneTunnel tunnel;
  std::uint64_t closed_count = 0;

 private:
  void on_session_closed(h1::Session& closed) noexcept override;
  h1::Tunnel::Host* tunnels() noexcept override { return has_tunnels_ ? &tunnel : nullptr; }
  void abort(ErrorKind why);

  bool has_tunnels_;
};

}  // namespace violet::test
