#pragma once

// WebSocketClient: connects to a server, again and again if that is wanted.
//
//   WebSocketClient client(loop, "wss://chat.example/room", {.socket = {.protocols = {"chat"}}});
//   for (;;) {
//     auto socket = co_await client.connect();            // waits between attempts as the policy says
//     if (!socket) co_return;                             // stopped, given up, or the task is to end
//     while (auto message = co_await socket->read()) { … }
//   }
//
// The WebSocket is the same as a server's (ws/socket.h). When its last handle goes it is closed with 1000. The client
// and its tasks belong to one loop's thread, and the client outlives its attempts, not its sockets.

#include "violet/event/task.h"
#include "violet/tls/client_context.h"
#include "violet/ws/client/reconnect.h"
#include "violet/ws/client/url.h"
#include "violet/ws/socket.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace violet {

struct ClientOptions {
  ws::Options socket;                 // subprotocols to offer, more fields for the request, compression, backlog, times
  std::string origin;                 // the Origin field; "" for none
  tls::ClientSettings tls;            // for wss
  std::uint64_t connect_ms = 10'000;  // for one attempt: looking up, connecting, TLS and the handshake together
  ws::ReconnectOptions reconnect;
};

class WebSocketClient {
 public:
  WebSocketClient(Loop& loop, std::string_view url, ClientOptions options = {});
  WebSocketClient(const WebSocketClient&) = delete;
  WebSocketClient& operator=(const WebSocketClient&) = delete;
  ~WebSocketClient();

  // Attempts until one goes well. Fails when the policy gives up, with the last attempt's reason, or the chain is
  // stopped. A URL that cannot be used fails at once.
  Task<Result<WebSocket>> connect();
  // One attempt. Address: the URL, or no such name. System: nobody is there. Timeout: connect_ms. Refused: the server
  // answered otherwise, detail: its status. Protocol: its handshake is wrong.
  Task<Result<WebSocket>> connect_once();
  // connect() fails instead of trying again.
  void stop() noexcept { reconnect_.stop(); }

 private:
  Task<Result<WebSocket>> attempt();
  [[nodiscard]] std::string request(std::string_view key) const;

  Loop& loop_;
  Result<ws::Url> url_;
  ClientOptions options_;
  ws::Reconnect reconnect_;
  Ref<tls::ClientContext> tls_;
};

}  // namespace violet
