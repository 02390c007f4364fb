#pragma once

// SocketWire: WebSocket as a Wire: a request is a message, and the next message that comes is its answer. Frames,
// masks, pings and goodbyes are the client's of violet; what a turn asks leaves in one write.
//
//   asking for the switch --(finish(), agreed)--> open --(drain())--> closing --(on_closed())--> gone
//                         --(finish(), refused, or abort())--> gone

#include "load/engine/wire.h"
#include <violet/event/task.h>
#include <violet/ws/client/handshake.h>
#include <violet/ws/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace violet::load {

class SocketWire final : public Wire, private Stream {
 public:
  SocketWire(WireShared& shared, Owner& owner, net::Transport& transport);
  ~SocketWire() override;

  Stream* open(Receiver& receiver) override;
  void send(Stream& stream, const Prepared& prepared) override;
  [[nodiscard]] bool is_leaving() const noexcept override { return !socket_ || !socket_->is_open(); }
  [[nodiscard]] bool is_ready() const noexcept override { return socket_.has_value(); }
  void drain() noexcept override;
  void abort(Error why) noexcept override;

 private:
  class Peer;  // what the session knows of us

  Task<Result<ws::Agreement>> agree();
  void finish(Outcome<Result<ws::Agreement>>&& outcome) noexcept;
  void on_message(const ws::Message& message);
  void on_closed(Error why) noexcept;
  [[nodiscard]] Receiver* next_receiver() noexcept;

  // The stream of every message: nothing has to be credited, as the session does.
  void inform(const http::Head&) override {}
  void start(const http::Head&, Body&&) override {}
  void wake() override {}
  void credit(std::size_t) override {}
  void reset(Error) override {}
  void set_receiver(Receiver&) override {}
  [[nodiscard]] const violet::Connection& connection() const noexcept override { return connection_; }
  [[nodiscard]] Address local_address() const noexcept override { return {}; }

  WireShared& shared_;
  Owner& owner_;
  net::Transport* transport_;  // until the socket has it
  violet::Connection connection_;
  std::string early_;
  TaskRoot root_;
  std::optional<Error> aborted_;
  std::optional<WebSocket> socket_;
  Peer* peer_ = nullptr;
  // Those who wait for an answer, oldest first: a ring.
  std::vector<Receiver*> waiting_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

}  // namespace violet::load
