#pragma once

// h1::client::Session: HTTP/1.1 in the client's role on one connection (RFC 9112). Sends requests, one behind the other
// where the caller pipelines, and hands up each answer to the stream whose turn it is.
//
//   auto* session = new h1::client::Session(shared, host, *transport, connection);
//   session->open();
//   h1::client::Stream* stream = session->open_stream(receiver);      // nullptr: no room, closing
//   stream->start(request, Body());
//
// Owned by its Host until on_session_closed(). Everything happens on the loop's thread. It has no clock but that of
// Expect: how long an answer may take is known to whoever asked. Files: session.h the class, session_read.cc from the
// transport up, session_write.cc from the streams down, response.h and request_writer.h the parts without I/O.
//
//   input:  Head --(1xx)--> Head
//           Head --(Done, no body)--> Head        Head --(length)--> Length --(last byte)--> Head
//           Head --(chunked)--> ChunkLine <--> ChunkData/ChunkEnd; ChunkLine --(size 0)--> Trailers --> Head
//           Head --(neither)--> UntilClose        Head --(101, 2xx to CONNECT)--> Raw
//           any  --(malformed, unasked for, last answer)--> Closed
//
// Bytes that nobody has asked for end the connection: they must never become the answer to a later request.

#include "violet/base/list.h"
#include "violet/core/limits.h"
#include "violet/event/loop.h"
#include "violet/event/timer.h"
#include "violet/h1/client/stream.h"
#include "violet/h1/guard.h"
#include "violet/memory/buffer.h"
#include "violet/memory/pool.h"
#include "violet/memory/ref.h"
#include "violet/net/io/buffers.h"
#include "violet/net/io/input.h"
#include "violet/net/transport.h"

#include <cstdint>

namespace violet::h1::client {

// What the client sessions of one loop share.
struct Shared {
  Shared(Loop& on, const Limits& with, net::Buffers& lent) noexcept : loop(on), limits(with), buffers(lent) {}

  Loop& loop;
  Limits limits;
  net::Buffers& buffers;
  Pool<Stream> streams{1024};
};

class Session final : public net::Transport::Owner {
 public:
  class Host {
   public:
    // The session has let go of its transport and its streams; delete it.
    virtual void on_session_closed(Session& session, Error why) noexcept = 0;

   protected:
    ~Host() = default;
  };

  // Takes the transport over.
  Session(Shared& shared, Host& host, net::Transport& transport, const Connection& connection) noexcept;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  void open() noexcept;
  // A stream for the next request, which it has to start before another is opened. nullptr while the one before is
  // still being sent, and when the connection takes no more.
  [[nodiscard]] Stream* open_stream(Receiver& receiver);
  [[nodiscard]] bool can_open() const noexcept;
  // No more requests: closes after the answers under way.
  void drain() noexcept;
  // Closes now; every stream hears why.
  void abort(Error why) noexcept;
  [[nodiscard]] std::size_t stream_count() const noexcept { return stream_count_; }
  [[nodiscard]] bool is_closing() const noexcept { return is_closing_ || is_closed_; }

  void on_readable() noexcept override;
  void on_writable() noexcept override;
  void on_peer_closed() noexcept override;
  void on_broken() noexcept override;

 private:
  friend class Stream;
  enum class Input : std::uint8_t { Head, Length, ChunkLine, ChunkData, ChunkEnd, Trailers, UntilClose, Raw, Closed };

  // A view on received bytes and what keeps them.
  using Bytes = net::Bytes;

  // --- session_read.cc
  void read_into_block() noexcept;
  void read_into_partial() noexcept;
  [[nodiscard]] bool took(ssize_t n) noexcept;
  void received(Bytes bytes) noexcept;
  void process(Bytes& bytes);
  bool process_head(Bytes& bytes);
  bool take_informational(Stream& stream);
  bool take_final(Stream& stream);
  bool process_body(Bytes& bytes);
  bool process_chunk_line(Bytes& bytes);
  bool process_chunk_end(Bytes& bytes);
  bool process_trailers(Bytes& bytes);
  void end_body(const http::Fields* trailers);
  void end_with_connection(Stream& stream);
  void keep_rest(const Bytes& bytes);
  void on_end_of_stream() noexcept;
  [[nodiscard]] bool wants_to_read() const noexcept;

  // --- session_write.cc
  void begin_request(Stream& stream, const http::Head& head, Body& body);
  void begin_prepared(Stream& stream, std::string_view bytes);
  [[nodiscard]] static RequestFraming frame_request(const http::Head& head, const Body& body) noexcept;
  void go_on_sending(Stream& stream);
  void pump(Stream& stream);
  void pull(Stream& stream);
  void send_chain(Stream& stream, Chain& chain);
  void end_request(Stream& stream);
  void retire(Stream& stream, Error why) noexcept;
  net::Output& output();
  void flush() noexcept;
  void settle() noexcept;
  void later() noexcept;
  void on_turn_end() noexcept;
  void on_expect_timer() noexcept;
  void protocol_error() noexcept { abort(Error(ErrorKind::Protocol)); }

  [[nodiscard]] const Limits& limits() const noexcept { return shared_.limits; }
  // The one whose answer comes next.
  [[nodiscard]] Stream* first() const noexcept { return streams_.front(); }
  // The one that is being sent, or has not been started; nullptr when all have been sent.
  [[nodiscard]] Stream* sending() const noexcept {
    Stream* last = streams_.back();
    return last != nullptr && !last->is_sent_ ? last : nullptr;
  }

  Shared& shared_;
  Host& host_;
  net::Transport* transport_;
  Connection connection_;

  Input input_ = Input::Head;
  bool is_in_turn_ = false;  // inside received(): what is sent waits for its end
  bool is_closing_ = false;  // no further request is sent; closes after the last answer
  bool is_closed_ = false;   // abort() was called, streams will hear
  bool is_write_blocked_ = false;
  bool wants_turn_ = false;  // a source has more than one turn may send
  bool wants_shutdown_ = false;
  Error why_;

  std::uint32_t stream_count_ = 0;
  net::KeptBytes partial_;       // received and not used yet
  std::uint64_t body_left_ = 0;  // of a length body, or of a chunk
  ChunkBudget chunk_budget_;
  net::Output* output_ = nullptr;
  List<Stream, Stream> streams_;

  TimerTo<&Session::on_expect_timer> expect_timer_{*this};
  DeferredTo<&Session::on_turn_end> turn_end_{*this};
};

}  // namespace violet::h1::client
