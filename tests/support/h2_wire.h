#pragma once

// H2Wire: an h2::Session in the server's role over a MemoryTransport, with everything it stands on, driven by hand:
// send() and settle() run the loop until nothing moves any more; until() steps it, bounded, for what takes time.
//
//   H2Wire wire;
//   wire.service.handler = [](Exchange& exchange) { exchange.reply(Slice::literal("hello")); };
//   EXPECT_EQ(wire.ask(1, get(1)).body, "hello");

#include "tests/support/h2_frames.h"
#include "tests/support/script.h"
#include "violet/core/site.h"
#include "violet/event/loop.h"
#include "violet/h2/session.h"
#include "violet/net/memory.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace violet::test {

class H2Wire final : h2::Session::Host {
 public:
  // `hello`: what the client says first, after the connection preface.
  explicit H2Wire(const Limits& limits = {}, std::string hello = settings() + settings_ack())
      : hello_(std::move(hello)), site(loop, service, limits), shared(site, buffers) {
    connect();
  }
  H2Wire(const H2Wire&) = delete;
  H2Wire& operator=(const H2Wire&) = delete;
  ~H2Wire();

  // A new connection; an earlier one is aborted.
  void connect();
  // The same without a word from the client.
  void connect_silently();
  void send(std::string_view bytes) {
    wire->feed(bytes);
    settle();
  }
  // What the stream has got when everything has been sent.
  StreamReply ask(std::uint32_t stream, std::string_view bytes) {
    send(bytes);
    return read().stream(stream);
  }
  // What has come back so far.
  FrameReader& read();
  [[nodiscard]] StreamReply& stream(std::uint32_t id) { return read().stream(id); }
  // The code of the last GOAWAY; nothing: none has come.
  [[nodiscard]] std::optional<h2::Code> goaway();

  void settle();
  bool until(const std::function<bool()>& is_true, std::uint64_t most_ms = 5000);
  [[nodiscard]] bool is_gone() const { return session == nullptr; }
  // Has ended its direction, or closed.
  [[nodiscard]] bool has_hung_up() const { return wire->is_closed() || wire->is_shut_down(); }

 private:
  std::string hello_;

 public:
  Loop loop;
  ScriptService service;
  Site site;
  net::Buffers buffers;
  h2::Shared shared;
  Ref<net::MemoryTransport> wire;
  h2::Session* session = nullptr;
  std::unique_ptr<FrameReader> reader;
  std::uint64_t closed_count = 0;

 private:
  void on_session_closed(h2::Session& closed) noexcept override;
};

}  // namespace violet::test
