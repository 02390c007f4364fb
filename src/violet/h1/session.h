#pragma once

// h1::Session: HTTP/1.1 in the server's role on one connection (RFC 9112). Reads, parses and hands requests up; writes
// answers in the order of the requests, with one write for everything that one read turn has produced.
//
// Owned by its Host until on_session_closed(). Everything happens on the loop's thread. Files: session.h the class,
// session_read.cc from the transport up, session_write.cc from the streams down, session_http2.cc the way to HTTP/2,
// tunnel/session_tunnel.cc that to a tunnel, parser.h, writer.h, guard.h the parts without I/O.
//
//   input:  Head --(parse_head Done, no body)--> Head
//           Head --(Done, length)--> Length --(last byte)--> Head
//           Head --(Done, chunked)--> ChunkLine <--> ChunkData/ChunkEnd; ChunkLine --(size 0)--> Trailers --> Head
//           Head --(Upgrade or CONNECT)--> Undecided --(start 101 or 2xx)--> Raw, --(start other)--> Head
//           Raw  --(end of stream: on_end)--> Closed
//           Raw  --(alone on its connection: open_tunnel)--> a Tunnel goes on with it
//           Head --(HTTP/2's preface, Upgrade: h2c)--> handed over to the host
//           any  --(malformed, close announced, end of stream)--> Closed: what comes is read away
//
// What a session costs while idle is asserted in tests: it holds no block, no exchange, no output.

#include "violet/base/list.h"
#include "violet/core/pace.h"
#include "violet/core/site.h"
#include "violet/event/loop.h"
#include "violet/event/timer.h"
#include "violet/h1/parser.h"
#include "violet/h1/stream.h"
#include "violet/h1/tunnel/tunnel.h"
#include "violet/memory/pool.h"
#include "violet/net/io/buffers.h"
#include "violet/net/io/input.h"
#include "violet/net/transport.h"

#include <cstdint>

namespace violet::h1 {

// What the sessions of one loop share.
struct Shared : net::Buffers {
  explicit Shared(Site& with) noexcept : site(with) {}
  ~Shared() {
    if (spare_stream_ != nullptr) {
      spare_stream_->exchange_->on_close({});
      streams.give(spare_stream_);
    }
  }

  // One stream with an exchange, ready for the next request of whatever session.
  [[nodiscard]] bool wants_spare_stream() const noexcept { return kPoolsKeep && spare_stream_ == nullptr; }
  [[nodiscard]] bool has_spare_stream() const noexcept { return spare_stream_ != nullptr; }
  void give_spare_stream(Stream& stream) noexcept { spare_stream_ = &stream; }
  [[nodiscard]] Stream* take_spare_stream() noexcept { return std::exchange(spare_stream_, nullptr); }

  // Gives what a burst has left in the pools back to the heap.
  void trim() noexcept {
    constexpr std::size_t kKept = 4;
    Buffers::trim(kKept);
    streams.trim(kKept);
    site.exchanges.trim(kKept);
  }

  Site& site;
  Pool<Stream> streams{1024};
  SectionMemo sections;

 private:
  Stream* spare_stream_ = nullptr;
};

// A client that wants to go on in HTTP/2: it has begun with that protocol's preface (RFC 9113 §3.3), or asked for it by
// Upgrade (RFC 7540 §3.2).
struct Http2Wish {
  net::Transport& transport;
  const Connection& connection;
  // What has come: from the preface on, or what followed the request. kScanPadding bytes behind it can be read.
  std::string_view received;
  Buffer& owner;                   // of the received bytes
  const http::Head* request;       // by Upgrade: to be answered in HTTP/2; nullptr: none
  std::string_view settings = {};  // its HTTP2-Settings
};

class Session final : public net::Transport::Owner, public ListNode<Session> {
 public:
  class Host {
   public:
    // The session has let go of its transport and its streams; delete it.
    virtual void on_session_closed(Session& session) noexcept = 0;
    // The client wants HTTP/2. True: the transport is the host's now, and the session is closed in a moment like any
    // other. False, as for a host that speaks HTTP/1.1 alone: it goes on as if it had not been asked.
    virtual bool on_http2(Session& session, const Http2Wish& wish) noexcept {
      static_cast<void>(session);
      static_cast<void>(wish);
      return false;
    }
    // Whose the tunnels are. As for a host that has none, the session itself carries their bytes.
    virtual Tunnel::Host* tunnels() noexcept { return nullptr; }

   protected:
    ~Host() = default;
  };

  // Takes the transport over.
  Session(Shared& shared, Host& host, net::Transport& transport, const Connection& connection) noexcept;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  void open() noexcept;
  // No more requests: an idle connection closes at once, a busy one after the answers under way.
  void drain() noexcept;
  // Closes now; every stream hears why.
  void abort(Error why) noexcept;
  [[nodiscard]] std::size_t stream_count() const noexcept { return stream_count_; }
  // The connection goes on in HTTP/2, or as a tunnel, and without this session.
  [[nodiscard]] bool was_handed_over() const noexcept { return was_handed_over_; }

  void on_readable() noexcept override;
  void on_writable() noexcept override;
  void on_peer_closed() noexcept override;
  void on_broken() noexcept override;

 private:
  friend class Stream;
  enum class Input : std::uint8_t { Head, Length, ChunkLine, ChunkData, ChunkEnd, Trailers, Undecided, Raw, Closed };
  // What is waited for, and so which time runs: New, Idle and Head for a request; Body for the rest of one; Unused for
  // a handler that has answered to use what was read of one; HalfClosed for the peer's end of a tunnel; Busy for none
  // of these; Lingering for the peer's end of the connection.
  enum class Phase : std::uint8_t { New, Idle, Head, Body, Unused, HalfClosed, Busy, Lingering };

  // A view on received bytes and what keeps them.
  using Bytes = net::Bytes;

  // --- session_read.cc
  void read_into_block() noexcept;
  void read_into_partial() noexcept;
  [[nodiscard]] bool took(ssize_t n) noexcept;
  void received(Bytes bytes) noexcept;
  void process(Bytes& bytes);
  bool process_head(Bytes& bytes);
  void accept(Stream& stream);
  bool process_body(Bytes& bytes);
  bool process_chunk_line(Bytes& bytes);
  bool process_chunk_end(Bytes& bytes);
  bool process_trailers(Bytes& bytes);
  void end_body(const http::Fields* trailers);
  void refuse_head(Stream& stream, Error why);
  void refuse_body(Error why);
  void resume_input();
  void keep_rest(const Bytes& bytes);
  void on_end_of_stream() noexcept;
  void end_tunnel_input(Stream& tunnel) noexcept;
  [[nodiscard]] bool can_body_complete() const noexcept;
  [[nodiscard]] bool has_room_for_request() const noexcept;
  [[nodiscard]] bool has_partial_head() const noexcept;
  [[nodiscard]] bool wants_to_read() const noexcept;

  // --- session_http2.cc
  static bool begins_http2(const char* begin, const char* end) noexcept;
  [[nodiscard]] bool has_partial_preface() const noexcept;
  bool process_preface(Bytes& bytes);
  bool hand_over(Bytes& bytes, const Stream* upgraded = nullptr) noexcept;

  // --- session_write.cc
  Stream& open_stream();
  void drop_stream(Stream& stream) noexcept;
  bool answer_plain(Stream& stream, const http::Head& head, Body& body);
  void begin_answer(Stream& stream, const http::Head& head, Body& body);
  [[nodiscard]] AnswerFraming frame_answer(const Stream& stream, const http::Head& head, const Body& body) noexcept;
  void turn_raw(Stream& stream);
  violet::Stream& make_tunnel(Stream& stream);
  void open_tunnel(Stream& stream) noexcept;
  void pump(Stream& stream);
  void pull(Stream& stream);
  void send_chain(Stream& stream, Chain& chain);
  void end_answer(Stream& stream);
  void cut_body(Stream& stream);
  void take_early(Stream& stream);
  void advance();
  void retire(Stream& stream, Error why = {}) noexcept;
  void reset(Stream& stream, Error why);
  Output& output();
  Output& output_of(Stream& stream);
  void flush() noexcept;
  void settle() noexcept;
  void answer_now() noexcept;
  void later() noexcept;
  void on_turn_end() noexcept;
  void close_gently() noexcept;
  void fail(Error why) noexcept;
  [[nodiscard]] bool would_close_look_whole() const noexcept;

  // --- time, in session_read.cc
  [[nodiscard]] Phase next_phase() const noexcept;
  void enter(Phase phase) noexcept;
  void arm() noexcept;
  void on_timer() noexcept;
  void time_out_read() noexcept;
  void note_credit(std::size_t n) noexcept;

  [[nodiscard]] const Limits& limits() const noexcept { return shared_.site.limits; }
  [[nodiscard]] std::uint64_t now() const noexcept { return shared_.site.loop.now_ms(); }
  [[nodiscard]] Stream* first() const noexcept { return streams_.front(); }
  // Its first stream is a tunnel that opens at the end of the turn.
  [[nodiscard]] bool has_tunnel() const noexcept { return !streams_.is_empty() && first()->tunnel_ != nullptr; }
  void let_go() noexcept;

  Shared& shared_;
  Host& host_;
  net::Transport* transport_;
  Connection connection_;

  Input input_ = Input::Head;
  Phase phase_ = Phase::New;
  bool is_first_ = true;     // no request has come yet: it may become HTTP/2
  bool is_in_turn_ = false;  // inside received(): answers wait for its end
  bool is_paused_ = false;   // bytes are kept back until there is room for more requests
  bool is_closing_ = false;  // no further request is taken; closes after the last answer
  bool is_closed_ = false;   // abort() was called, streams will hear
  bool was_handed_over_ = false;
  bool is_write_blocked_ = false;
  bool wants_linger_ = false;   // the client may still be sending: close so that it can read the answer first
  bool wants_turn_ = false;     // a source has more than one turn may send
  bool is_peer_done_ = false;   // end of stream was read
  bool ends_output_ = false;    // our direction of a tunnel has ended: FIN follows what is queued
  bool ends_unframed_ = false;  // an answer is under way whose end is the connection's end (HTTP/1.0)
  Error why_;

  SectionMemo::Hint section_hint_;
  std::uint16_t stream_count_ = 0;
  net::KeptBytes partial_;       // received and not used yet: part of a head, or paused requests
  std::uint64_t body_left_ = 0;  // of a length body, or of a chunk
  Stream* receiving_ = nullptr;
  Output* output_ = nullptr;
  List<Stream, Stream> streams_;

  Pace reading_;
  Pace writing_;
  TimerTo<&Session::on_timer> timer_{*this};
  DeferredTo<&Session::on_turn_end> turn_end_{*this};
};

}  // namespace violet::h1
