#pragma once

// Rig: something of ours that echoes, with the test as the raw peer at its other end: our server over HTTP/1.1, our
// server over HTTP/2, or our client.
//
//   const auto rig = make_rig(Wire::Http2);
//   rig->send(masked(kTextFrame, "hello"));
//   EXPECT_EQ(rig->frames(), (Frames{{kTextFrame, "hello"}}));

#include "tests/support/socket_wire.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace violet::test {

using Frames = std::vector<SeenFrame>;

enum class Wire { Http1, Http2, Client };
inline constexpr Wire kWires[] = {Wire::Http1, Wire::Http2, Wire::Client};
std::string_view name_of(Wire wire);

class Rig {
 public:
  Rig() = default;
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;
  virtual ~Rig() = default;

  // Frames as a client sends them, or pieces of such; our client gets them as a server sends them.
  void send(std::string_view frames) { send_pieces({frames}); }
  // Each piece is read by itself. A mask may not be cut out of what our client gets, so it gets the same number of
  // pieces, cut at the same shares.
  virtual void send_pieces(const std::vector<std::string_view>& pieces) = 0;
  // Everything that came since the last call, unmasked.
  virtual Frames frames() = 0;
  // It has ended its direction.
  [[nodiscard]] virtual bool is_closed() = 0;
};

// `fields` go into a handshake that has to succeed: lines with CRLF. Our client behaves as if it had offered the
// extensions among them, and been answered as our server does.
std::unique_ptr<Rig> make_rig(Wire wire, const WebSocketOptions& options = {}, std::string_view fields = {});

}  // namespace violet::test
