#pragma once

// h2::Session: HTTP/2 on one connection, in the server's or the client's role (RFC 9113). Reads frames in place, hands
// messages up and writes what its streams have to say, all of a turn with one write.
//
// Owned by its Host until on_session_closed(). Everything happens on the loop's thread. Files: session.h the class,
// session_read.cc bytes to frames, session_frames.cc what each frame means, session_streams.cc from head to end of a
// stream, session_write.cc from streams to bytes, session_close.cc how it ends; guard.h, streams.h and message/ the
// parts without I/O.
//
//   input:  Preface --(24 bytes)--> Head --(nine bytes)--> Payload, Pad, Data or Skip --(frame's end)--> Head
//           any --(connection error, end of stream)--> Closed: what comes is read away
//
//   life:   open --(drain: GOAWAY, any stream)--> Announced --(PING answered)--> Final: GOAWAY, the last stream
//           Final --(last stream done)--> FIN, lingering --> closed
//           any --(fail: GOAWAY with its code)--> FIN, lingering --> closed
//
// What a session costs while idle is asserted in tests: it holds no block, no exchange, no output.

#include "violet/base/list.h"
#include "violet/core/site.h"
#include "violet/event/loop.h"
#include "violet/h2/frame.h"
#include "violet/h2/guard.h"
#include "violet/h2/message/read.h"
#include "violet/h2/message/write.h"
#include "violet/h2/streams.h"
#include "violet/hpack/decoder.h"
#include "violet/hpack/encoder.h"
#include "violet/memory/pool.h"
#include "violet/net/io/buffers.h"
#include "violet/net/io/input.h"
#include "violet/net/transport.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace violet::h2 {

enum class Role : std::uint8_t { Server, Client };

// What the sessions of one loop share. The buffers are those of the loop's other protocols.
struct Shared {
  // Of servers.
  Shared(Site& with, net::Buffers& through) noexcept
      : loop(with.loop), limits(with.limits), buffers(through), site(&with) {}
  // Of clients.
  Shared(Loop& on, const Limits& within, net::Buffers& through) noexcept : loop(on), limits(within), buffers(through) {}
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() {
    if (spare_stream_ == nullptr) return;
    spare_stream_->exchange_->on_close({});
    streams.give(spare_stream_);
  }

  // One stream with an exchange, ready for the next request of whatever session.
  [[nodiscard]] bool wants_spare_stream() const noexcept { return kPoolsKeep && spare_stream_ == nullptr; }
  [[nodiscard]] bool has_spare_stream() const noexcept { return spare_stream_ != nullptr; }
  void give_spare_stream(Stream& stream) noexcept { spare_stream_ = &stream; }
  [[nodiscard]] Stream* take_spare_stream() noexcept { return std::exchange(spare_stream_, nullptr); }

  // Gives what a burst has left in the pools back to the heap.
  void trim() noexcept { streams.trim(4); }

  Loop& loop;
  const Limits& limits;
  net::Buffers& buffers;
  Site* site = nullptr;
  Pool<Stream> streams{1024};
  Arena scratch;  // for what is decoded and used within one call

 private:
  Stream* spare_stream_ = nullptr;
};

class Session final : public net::Transport::Owner, public ListNode<Session> {
 public:
  class Host {
   public:
    // The session has let go of its transport and its streams; delete it.
    virtual void on_session_closed(Session& session) noexcept = 0;

   protected:
    ~Host() = default;
  };

  // A view on received bytes and what keeps them. kScanPadding bytes behind them can be read.
  using Bytes = net::Bytes;

  // Takes the transport over.
  Session(Shared& shared, Host& host, net::Transport& transport, const Connection& connection,
          Role role = Role::Server) noexcept;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  void open() noexcept;
  // The same for a connection that began as HTTP/1.1: what was read before, from the preface on.
  void open(Bytes received) noexcept;
  // The same for a request that has asked by Upgrade: h2c; `settings` is what decode_settings() gave, `received` what
  // followed the request.
  void open(const http::Head& request, std::string_view settings, Bytes received) noexcept;

  // No more requests. An idle connection closes at once; a busy one lets streams that are on their way in, ends them
  // all, and closes (RFC 9113 §6.8).
  void drain() noexcept;
  // Closes now; every stream hears why.
  void abort(Error why) noexcept;
  [[nodiscard]] std::size_t stream_count() const noexcept { return streams_.count(); }

  // --- of a client
  // A stream for one more request: start() it before anything else. nullptr while the server allows no more, and for
  // ever once it or we are leaving: see is_leaving().
  [[nodiscard]] Stream* request(Receiver& receiver);
  [[nodiscard]] bool is_leaving() const noexcept { return is_closed_ || is_failing_ || is_leaving_; }
  // The server takes extended CONNECT (RFC 8441 §3).
  [[nodiscard]] bool can_extend() const noexcept { return peer_.enables_connect; }

  void on_readable() noexcept override;
  void on_writable() noexcept override;
  void on_peer_closed() noexcept override;
  void on_broken() noexcept override;

 private:
  friend class Stream;
  enum class Input : std::uint8_t { Preface, Head, Payload, Pad, Data, Skip, Closed };
  enum class Drain : std::uint8_t { None, Announced, Final };

  // --- session_read.cc
  void receive(Bytes bytes) noexcept;
  void process(Bytes& bytes);
  void process_preface(Bytes& bytes);
  void process_frame_head(Bytes& bytes);
  void process_payload(Bytes& bytes);
  bool charge_empty_data();
  void process_pad(Bytes& bytes);
  void process_data(Bytes& bytes);
  void process_skip(Bytes& bytes) noexcept;
  void begin_frame();
  void begin_payload(std::uint32_t least, std::uint32_t most, bool is_of_stream);
  void begin_data();
  void end_data();
  void on_frame(std::string_view payload);

  // --- session_frames.cc
  void on_headers(std::string_view payload);
  void on_continuation(std::string_view payload);
  void on_block(std::uint32_t id, bool ends_stream, bool depends_on_itself, std::string_view block);
  void on_priority(std::string_view payload);
  void on_priority_update(std::string_view payload);
  void keep_priority(std::uint32_t id, Priority priority);
  void on_reset(std::string_view payload);
  void on_settings(std::string_view payload);
  bool apply_settings(std::string_view payload);
  bool apply_setting(Setting setting, std::uint32_t value);
  bool apply_window(std::uint32_t window);
  void on_settings_ack() noexcept;
  void on_ping(std::string_view payload);
  void on_goaway(std::string_view payload);
  void on_window_update(std::string_view payload);
  void on_late_frame(std::uint32_t id, bool is_error);

  // --- session_streams.cc
  Stream& open_stream(std::uint32_t id);
  void begin_stream(Stream& stream, std::uint32_t id) noexcept;
  void on_request(std::uint32_t id, bool ends_stream, bool depends_on_itself, std::string_view block);
  void on_late_head(std::uint32_t id, std::string_view block);
  Reading read_head(Stream& stream, bool ends_stream, std::string_view block, hpack::Section& section,
                    http::Head& head);
  void on_waiting_request(std::uint32_t id, bool ends_stream, bool depends_on_itself, std::string_view block);
  void admit(Stream& stream);
  [[nodiscard]] bool has_room_for_request();
  void accept(Stream& stream, bool ends_stream, bool has_priority, bool has_expect);
  void accept_upgraded(const http::Head& request);
  void refuse_head(Stream& stream, bool ends_stream, Error why);
  void refuse_stream(std::uint32_t id, std::string_view block);
  void on_response(Stream& stream, bool ends_stream, std::string_view block);
  void on_trailers(Stream& stream, std::string_view block);
  bool skip_block(std::string_view block);
  void deliver(Stream& stream, Slice data);
  void end_body(Stream& stream, const http::Fields* trailers);
  void refuse_body(Stream& stream, Error why);
  void decide_all();
  void decide(Stream& stream);
  void release_held(Stream& stream, Stream::Held& held);
  void retire(Stream& stream, Error why = {}) noexcept;
  // The peer's fault, of this stream alone.
  void stream_error(Stream& stream, Code code);
  // Our side gives the stream up; its receiver hears later.
  void doom(Stream& stream, Error why, Code code);
  void condemn(Stream& stream, Error why) noexcept;
  void bury() noexcept;
  void return_to_peer(Stream& stream, std::uint32_t bytes);
  void return_to_peer(std::uint32_t bytes);
  void time_reading(Stream& stream) noexcept;
  [[nodiscard]] std::int32_t receive_window() const noexcept;

  // --- session_write.cc
  void start(Stream& stream, const http::Head& head, Body& body);
  void start_request(Stream& stream, const http::Head& head, Body& body);
  bool answer_plain(Stream& stream, const http::Head& head, Body& body);
  void begin_body(Stream& stream, bool has_none, Body& body);
  void make_ready(Stream& stream) noexcept;
  void pump();
  void send_from(Stream& stream);
  void send_data(Stream& stream, std::size_t size, std::uint8_t flags);
  bool pull(Stream& stream, std::size_t room);
  void finish(Stream& stream);
  void cut_body(Stream& stream);
  [[nodiscard]] net::Output& output();
  [[nodiscard]] HeadWriter writer() { return {output(), encoder_}; }
  void flush() noexcept;
  void later() noexcept;
  void settle() noexcept;
  [[nodiscard]] bool wants_to_read() const noexcept;

  // --- session_close.cc
  void greet();
  void on_turn_end() noexcept;
  void fail(Code code, LimitId limit = LimitId::None) noexcept;
  void end_gently() noexcept;
  void advance_drain() noexcept;
  void on_end_of_stream() noexcept;
  bool charge_death() noexcept;
  bool charge_control(std::uint64_t count = 1) noexcept;
  void arm() noexcept;
  void on_timer() noexcept;
  void note_time() noexcept;
  void time_out_head() noexcept;
  void time_out_idle() noexcept;
  void look_at_streams() noexcept;
  void look_at(Stream& stream) noexcept;

  [[nodiscard]] bool is_server() const noexcept { return role_ == Role::Server; }
  [[nodiscard]] const Limits& limits() const noexcept { return shared_.limits; }
  [[nodiscard]] std::uint64_t now() const noexcept { return shared_.loop.now_ms(); }

  // What the peer has told us (RFC 9113 §6.5.2).
  struct Peer {
    std::uint32_t window = kWindowDefault;
    std::uint32_t streams_max = 0xffff'ffff;
    bool enables_connect = false;
  };

  Shared& shared_;
  Host& host_;
  net::Transport* transport_;
  Connection connection_;
  Role role_;

  Input input_;
  Drain drain_ = Drain::None;
  bool is_in_turn_ = false;         // inside receive() or settle(): what streams do waits for its end
  bool has_settings_ = false;       // the peer's first frame has come
  bool is_settings_known_ = false;  // the peer has acknowledged ours
  bool is_leaving_ = false;         // no new streams of ours; closes after the last one
  bool is_client_leaving_ = false;  // it has sent GOAWAY
  bool is_failing_ = false;         // GOAWAY with an error is on its way
  bool is_lingering_ = false;
  bool is_closed_ = false;  // abort() was called, streams will hear
  bool is_write_blocked_ = false;
  bool has_decided_ = false;  // a CONNECT was answered
  bool wants_turn_ = false;   // streams have more than one turn may send
  bool is_peer_done_ = false;
  bool uses_priorities_ = false;  // the peer has sent a priority: absent ones have the defaults of RFC 9218
  bool is_drain_seen_ = false;    // the peer has answered the PING behind the first GOAWAY
  Error why_;

  std::uint8_t preface_used_ = 0;
  std::uint8_t head_used_ = 0;
  char head_bytes_[kFrameHeadBytes];
  FrameHead frame_;
  std::uint32_t left_ = 0;          // bytes of the frame's payload, or of its data
  std::uint32_t padding_left_ = 0;  // of a DATA frame
  Stream* receiving_ = nullptr;     // whose DATA is being read
  Ref<HeapBuffer> partial_;         // a payload that did not come in one piece
  std::uint32_t partial_used_ = 0;

  std::string block_;               // of HEADERS whose CONTINUATION is awaited
  std::uint32_t block_stream_ = 0;  // 0: none is
  std::uint32_t continuation_count_ = 0;
  bool block_ends_stream_ = false;
  bool block_depends_on_itself_ = false;

  Peer peer_;
  std::int64_t send_window_ = kWindowDefault;
  std::int64_t receive_window_ = kWindowDefault;
  std::uint32_t returned_bytes_ = 0;  // received, and the peer's window not opened again yet
  std::uint32_t last_peer_id_ = 0;    // of the peer's streams
  std::uint32_t next_id_ = 1;         // of ours
  std::uint32_t turn_id_ = 0;         // the peer's newest stream when this turn began

  hpack::Decoder decoder_;
  hpack::Encoder encoder_;
  ClosedStreams closed_;
  struct EarlyPriority {
    std::uint32_t id;
    Priority priority;
  };
  std::unique_ptr<std::vector<EarlyPriority>> early_priorities_;  // of streams that are still to come
  StreamTable streams_;
  Scheduler scheduler_;
  List<Stream, Stream> over_;       // to be retired at the next safe moment
  List<Stream, Stream> waiting_;    // requests that wait for room, oldest first
  std::uint64_t unsent_bytes_ = 0;  // of bodies, held by streams until they may send
  net::Output* output_ = nullptr;

  Budget deaths_;
  Budget control_;
  Pace idle_;                             // nothing is under way; lingering, too
  Pace head_;                             // a frame or a block has begun to arrive
  Pace writing_;                          // the transport takes no more
  Pace leaving_;                          // between the two GOAWAYs
  Patience window_;                       // the connection's window is closed, with bytes to send
  std::uint64_t look_ms_ = Pace::kNever;  // when a stream's time may be over
  TimerTo<&Session::on_timer> timer_{*this};
  DeferredTo<&Session::on_turn_end> turn_end_{*this};
};

}  // namespace violet::h2
