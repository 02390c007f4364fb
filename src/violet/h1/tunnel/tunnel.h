#pragma once

// h1::Tunnel: a connection that carries plain bytes after a 101, or a 2xx to CONNECT. It is stream and owner of the
// transport in one and takes the place of the session and its stream, which weigh more than twice as much: a WebSocket
// is idle most of its life.
//
// Made by Session::make_tunnel() while the switch is answered. The session opens it at the end of its turn with the
// transport and what it holds of both directions; from then on it belongs to its Host until on_tunnel_closed(). One
// thread, the loop's.
//
//   Made --(open)--> Open --(input: end of stream), (output: the source's end)--> Done --(all written)--> Closed
//   Open --(abort, reset, a limit of time)--> Closed

#include "violet/base/list.h"
#include "violet/core/limits.h"
#include "violet/core/pace.h"
#include "violet/core/stream.h"
#include "violet/event/loop.h"
#include "violet/event/timer.h"
#include "violet/net/io/input.h"
#include "violet/net/io/output.h"
#include "violet/net/transport.h"

#include <cstdint>

namespace violet::h1 {

struct Shared;

class Tunnel final : public violet::Stream,
                     public net::Transport::Owner,
                     public ListNode<Tunnel>,
                     private Timer,
                     private Deferred {
 public:
  class Host {
   public:
    virtual void on_tunnel_opened(Tunnel& tunnel) noexcept = 0;
    // It has let go of its transport and everybody has heard; delete it.
    virtual void on_tunnel_closed(Tunnel& tunnel) noexcept = 0;

   protected:
    ~Host() = default;
  };

  // What the session has of the connection.
  struct Held {
    net::Output* output;  // nullptr: nothing waits
    bool is_write_blocked;
    Pace writing;
    const net::Bytes* received;  // behind the request; nullptr: none
  };

  // `source` gives our direction; it has been asked already when it is waiting.
  Tunnel(Shared& shared, Host& host, net::Transport& transport, const Connection& connection, Receiver& receiver,
         SourcePtr source, bool is_source_waiting) noexcept;
  ~Tunnel();

  void open(const Held& held) noexcept;
  // The connection has ended before it was opened: hears why, and deletes itself.
  void drop(Error why) noexcept;
  // Closes now; the receiver hears why at the end of the turn.
  void abort(Error why) noexcept;

  void inform(const http::Head&) override {}
  void start(const http::Head&, Body&&) override {}
  void wake() override;
  void credit(std::size_t n) override;
  void reset(Error why) override;
  void set_receiver(Receiver& receiver) override { receiver_ = &receiver; }
  [[nodiscard]] const Connection& connection() const noexcept override { return connection_; }
  [[nodiscard]] Address local_address() const noexcept override {
    return transport_ != nullptr ? transport_->local() : Address{};
  }

  void on_readable() noexcept override;
  void on_writable() noexcept override;
  // There may be bytes before it; the end is found where they are read.
  void on_peer_closed() noexcept override {}
  void on_broken() noexcept override { abort(Error(ErrorKind::Closed)); }

 private:
  // Whose time runs after our direction has ended: the application's to use what came, or the peer's to end, too.
  enum class Phase : std::uint8_t { Busy, Unused, HalfClosed };

  void received(const net::Bytes& bytes);
  void end_input() noexcept;
  void pump();
  void flush() noexcept;
  void settle() noexcept;
  void finish() noexcept;
  void tell_end(Error why) noexcept;
  void later() noexcept;
  void enter(Phase phase) noexcept;
  void arm() noexcept;
  void on_timer() noexcept;
  void on_turn_end() noexcept;
  [[nodiscard]] bool wants_to_read() const noexcept;
  [[nodiscard]] Phase next_phase() const noexcept;
  [[nodiscard]] std::uint64_t now() const noexcept;
  [[nodiscard]] const Limits& limits() const noexcept;

  Shared& shared_;
  Host& host_;
  net::Transport* transport_;
  Receiver* receiver_;  // nullptr once it has heard of the end
  SourcePtr source_;
  net::Output* output_ = nullptr;
  Connection connection_;
  Pace reading_;
  Pace writing_;
  Error why_;
  std::uint32_t owed_bytes_ = 0;  // handed up and not credited yet
  Phase phase_ = Phase::Busy;
  bool is_source_waiting_ : 1;
  bool is_open_ : 1 = false;  // the transport is ours
  bool is_in_turn_ : 1 = false;
  bool is_write_blocked_ : 1 = false;
  bool wants_turn_ : 1 = false;       // the source has more than one turn may send
  bool is_input_ended_ : 1 = false;   // the peer's direction
  bool is_output_ended_ : 1 = false;  // ours: FIN follows what is queued
  bool is_shut_down_ : 1 = false;
  bool is_closed_ : 1 = false;
};

}  // namespace violet::h1
