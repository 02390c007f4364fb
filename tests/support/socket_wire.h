#pragma once

// SocketWire: a server with WebSocket routes over an h1::Session in memory, and the client's frames at the other end.
//
//   SocketWire wire;
//   websocket(wire.router, "/ws", [](WebSocket socket) -> Task<> { … });
//   wire.open("/ws");
//   wire.send(frame(kText, "hello"));
//   EXPECT_EQ(wire.frames(), frames_of({{kText, "hello"}}));

#include "tests/support/one_tunnel.h"
#include "violet/core/site.h"
#include "violet/event/loop.h"
#include "violet/features/websocket/websocket.h"
#include "violet/h1/session.h"
#include "violet/net/memory.h"
#include "violet/web/router.h"
#include "violet/ws/codec/frame.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace violet::test {

// A frame as it was read: its first byte and its payload.
struct SeenFrame {
  std::uint8_t first = 0;
  std::string payload;
  friend bool operator==(const SeenFrame&, const SeenFrame&) = default;
  friend std::ostream& operator<<(std::ostream& out, const SeenFrame& seen);
};

// A frame of a client, masked; `first` without FIN is sent as it is.
std::string masked(std::uint8_t first, std::string_view payload, ws::MaskKey key = 0x9a3c11f7);
// A frame of a server.
std::string unmasked(std::uint8_t first, std::string_view payload);
// The payload of a Close.
std::string close_payload(std::uint16_t code, std::string_view reason = {});

inline constexpr std::uint8_t kTextFrame = ws::kFin | ws::kText;
inline constexpr std::uint8_t kBinaryFrame = ws::kFin | ws::kBinary;
inline constexpr std::uint8_t kCloseFrame = ws::kFin | ws::kClose;
inline constexpr std::uint8_t kPingFrame = ws::kFin | ws::kPing;
inline constexpr std::uint8_t kPongFrame = ws::kFin | ws::kPong;

// Takes all whole frames off `bytes`; what is not well-formed for a server's frame is a test failure.
std::vector<SeenFrame> read_frames(std::string& bytes);
// The code of a Close frame; 1005 when it has none.
int close_code_of(const SeenFrame& frame);

class SocketWire final : h1::Session::Host {
 public:
  explicit SocketWire(const Limits& limits = {}) : limits_(limits) {}
  SocketWire(const SocketWire&) = delete;
  SocketWire& operator=(const SocketWire&) = delete;
  ~SocketWire();

  static std::string request(std::string_view path, std::string_view more_fields = {});
  // A new connection; nothing is sent.
  void connect();
  // Connects and opens a WebSocket; the status of the answer.
  int open(std::string_view path, std::string_view more_fields = {});
  // The same over the connection there is.
  int ask(std::string_view head);

  void send(std::string_view bytes) {
    wire->feed(bytes);
    settle();
  }
  // Everything that came since the last call, as frames.
  std::vector<SeenFrame> frames();
  // Sends and returns what comes back.
  std::vector<SeenFrame> exchange(std::string_view bytes) {
    send(bytes);
    return frames();
  }
  void settle();
  bool until(const std::function<bool()>& is_true, std::uint64_t most_ms = 5000);
  // The server has ended its direction or everything.
  [[nodiscard]] bool is_closed() const { return wire->is_closed() || wire->is_shut_down(); }

  Loop loop;
  Router router;
  Ref<net::MemoryTransport> wire;
  std::string head;  // of the answer to the last handshake
  std::size_t read_max = ~std::size_t{0};

  Site& site();
  h1::Shared& shared();

 private:
  void on_session_closed(h1::Session& session) noexcept override;
  h1::Tunnel::Host* tunnels() noexcept override { return &tunnel_; }
  [[nodiscard]] bool is_gone() const { return session_ == nullptr && !tunnel_.is_open(); }
  void abort();

  Limits limits_;
  std::optional<Site> site_;
  std::optional<h1::Shared> shared_;
  h1::Session* session_ = nullptr;
  OneTunnel tunnel_;
  std::string received_;
};

}  // namespace violet::test
