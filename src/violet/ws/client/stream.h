#pragma once

// ClientStream: a connection of our own as the stream of one WebSocket, once the handshake is done. It reads and writes
// a transport as HTTP/1.1's session does for a server, with nothing but bytes to frame.
//
// Takes the transport over; deletes itself when the receiver has heard of the end. The loop's thread.

#include "violet/core/stream.h"
#include "violet/event/loop.h"
#include "violet/net/io/buffers.h"
#include "violet/net/transport.h"

#include <string_view>

namespace violet::ws {

class ClientStream final : public Stream, private net::Transport::Owner {
 public:
  ClientStream(Loop& loop, net::Transport& transport, const Connection& connection) noexcept;
  ClientStream(const ClientStream&) = delete;
  ClientStream& operator=(const ClientStream&) = delete;

  // Begins: `body` sends, `receiver` gets what comes, `early` first. Everything else happens later in the turn.
  void open(Receiver& receiver, Body&& body, std::string_view early);

  void inform(const http::Head&) override {}
  void start(const http::Head&, Body&&) override {}
  void wake() override;
  void credit(std::size_t n) override;
  void reset(Error why) override;
  void set_receiver(Receiver& receiver) override { receiver_ = &receiver; }
  [[nodiscard]] const Connection& connection() const noexcept override { return connection_; }
  [[nodiscard]] Address local_address() const noexcept override;

 private:
  // What the streams of one loop share.
  struct LoopBuffers : net::Buffers {
    explicit LoopBuffers(Loop&) noexcept {}
  };
  ~ClientStream() = default;

  void on_readable() noexcept override;
  void on_writable() noexcept override;
  void on_peer_closed() noexcept override {}
  void on_broken() noexcept override;
  void read() noexcept;
  void take_end() noexcept;
  void pull();
  void flush() noexcept;
  void settle() noexcept;
  void close(Error why) noexcept;
  void later() noexcept { loop_.defer(turn_end_); }
  [[nodiscard]] bool is_open() const noexcept { return transport_ != nullptr; }

  Loop& loop_;
  LoopBuffers& buffers_;
  net::Transport* transport_;
  Connection connection_;
  Receiver* receiver_ = nullptr;
  SourcePtr source_;
  net::Output* output_ = nullptr;
  Slice early_;
  std::size_t owed_bytes_ = 0;
  Error why_;
  bool is_source_waiting_ = false;
  bool is_output_ended_ = false;  // the source has ended, and FIN was sent behind it
  bool is_input_ended_ = false;
  bool is_write_blocked_ = false;
  bool is_in_turn_ = false;
  DeferredTo<&ClientStream::settle> turn_end_{*this};
};

}  // namespace violet::ws
