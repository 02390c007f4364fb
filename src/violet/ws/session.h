#pragma once

// ws::Session: one WebSocket in either role (RFC 6455), as receiver and source of a stream: it does not know on which
// wire. Users see it through WebSocket (socket.h).
//
// Counted: the stream holds two counts, as receiver until on_close() and as source until dispose(); handles and
// waiting tasks hold one each. One thread, the loop's. Files: session.h the class, session_read.cc what comes,
// session_write.cc what goes and how it ends.
//
//   Open --(close(), on_drain(), a message that must not be: fail())--> Closing: our Close is sent
//   Open --(peer's Close: take_close())--> Ending: it is answered
//   Closing --(peer's Close)--> Ending: the source ends
//   Closing --(close_ms: on_timer())--> reset
//   any --(on_close())--> Over
//
// Reading is lazy: bytes stay where they are until somebody reads, so that a handler that is busy holds its peer back.
// Only control frames at the front are answered meanwhile. A message in one piece is unmasked where it lies and never
// copied.

#include "violet/core/site.h"
#include "violet/core/stream.h"
#include "violet/event/timer.h"
#include "violet/memory/ref.h"
#include "violet/ws/message.h"
#include "violet/ws/pool/shared.h"
#include "violet/ws/remote.h"
#include "violet/ws/settings.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace violet::ws {

class PublishedHere;
class Reader;
class Sender;
class Session;
struct Subscription;

// What stands behind a socket: a task or an object with callbacks. It belongs to its session.
class Application {
 public:
  // Messages are given to on_message() as they come; otherwise somebody reads them.
  bool takes_messages = false;

  virtual void on_message(Session&, Message&&) {}
  // The stream is gone. Called once.
  virtual void on_close(Session&) noexcept {}
  virtual void dispose() noexcept = 0;

 protected:
  ~Application() = default;
};

enum class Role : std::uint8_t { Server, Client };

// What few sockets need, or need only at their end.
struct Extras {
  std::string reason;
  std::string protocol;  // the subprotocol agreed upon
  Contexts contexts;     // windows that live on from message to message
  Ref<Remote> remote;
  Subscription* subscriptions = nullptr;
  Chain held;  // frames that wait for the end of a message that goes out in parts
};

class Session final : public Receiver, public Source, public DrainHook {
 public:
  // `settings` outlives it. Holds the stream's two counts: give it to a stream as receiver and, through body(), as
  // source, or call forget().
  static Session& make(Loop& loop, const Settings& settings, Role role);
  [[nodiscard]] Body body() noexcept { return Body(SourcePtr(this)); }
  // It is the receiver of `stream` now.
  void open(Stream& stream, Application* application) noexcept;
  // There never was a stream; the source's count goes with the body.
  void forget() noexcept { release(); }
  // What the handshake agreed upon; before any frame.
  void set_deflate(DeflateParams params) noexcept {
    deflate_ = params;
    is_usual_ = is_server_ && !params.is_on && settings_.backlog != Backlog::DropOldest;
  }
  [[nodiscard]] Application* application() const noexcept { return application_; }

  // --- reading
  // The usual message: short, in one frame, all of it there, with nothing under way. Its size when that is what comes
  // next, unmasked and checked where it lies: take_usual() has to follow at once. Otherwise kNotUsual, and next()
  // knows.
  int find_usual();
  // REQUIRES: `size` is what find_usual() has just found.
  [[nodiscard, gnu::always_inline]] Result<Message> take_usual(int size) {
    Result<Message> message(std::in_place, usual_kind(), input_, kUsualHeadBytes, static_cast<std::size_t>(size));
    drop_usual(size);
    return message;
  }
  [[nodiscard, gnu::always_inline]] Message take_usual_message(int size) {
    Message message(usual_kind(), input_, kUsualHeadBytes, static_cast<std::size_t>(size));
    drop_usual(size);
    return message;
  }
  void take_usual(int size, Message& out) {
    std::destroy_at(&out);
    std::construct_at(&out, usual_kind(), input_, kUsualHeadBytes, static_cast<std::size_t>(size));
    drop_usual(size);
  }
  static constexpr int kNotUsual = -1;
  // The next whole message; false when there is none yet, or the socket has ended.
  bool next(Message& out) { return advance(&out, nullptr); }
  // The next bytes of a message, as they come.
  bool next_part(Message& out, bool& is_last) { return advance(&out, &is_last); }
  // Messages are dropped as they come, for those who only send.
  void ignore_messages();
  [[nodiscard]] bool is_readable() const noexcept { return !is_deaf_ && !is_close_sent_; }

  // --- writing
  // Full: it has to wait, nothing was queued. Busy: a message is being sent in parts.
  enum class Sent : std::uint8_t { Yes, Full, Busy, Closed };
  // Queues a message.
  Sent send(Kind kind, const Slice& payload) {
    const auto first = static_cast<std::uint8_t>(kFin | static_cast<std::uint8_t>(kind));
    if (is_quick_to_send() && outbox_ != nullptr && outbox_->add_tiny(first, payload.text())) [[likely]]
      return Sent::Yes;
    return send_slowly(kind, payload);
  }
  // Queues a part of a message, which goes as it is, in a frame of its own.
  Sent send_part(Kind kind, const Slice& payload, bool is_last);
  // For those who cannot wait: what finds no room is dropped and counted.
  void send_or_drop(Kind kind, const Slice& payload);
  void send_published(PublishedHere& published);
  // Closed: it cannot be sent any more.
  Sent send_ping(std::string_view payload);
  // Bytes that wait here; what the wire has taken is not among them.
  [[nodiscard]] std::size_t backlog_bytes() const noexcept { return outbox_ != nullptr ? outbox_->size() : 0; }
  [[nodiscard]] bool is_full() const noexcept { return backlog_bytes() >= settings_.backlog_bytes_max; }

  // --- ending
  // Says Close and waits for the peer's, at most close_ms. Only the first call counts. A code that must not be on the
  // wire becomes 1000; a reason is cut to what a frame holds.
  void close(std::uint16_t code, std::string_view reason);
  // Ends it at once, without a Close.
  void abort(Error why) noexcept;
  // Messages can be sent.
  [[nodiscard]] bool is_open() const noexcept { return stream_ != nullptr && !is_close_sent_; }
  // Both directions have ended, or never will.
  [[nodiscard]] bool is_over() const noexcept { return is_over_; }
  // The peer's code, or ours where it broke the rules; kAbnormal when the connection went away; 0 before.
  [[nodiscard]] std::uint16_t close_code() const noexcept { return close_code_; }
  [[nodiscard]] std::string_view close_reason() const noexcept {
    return extras_ != nullptr ? std::string_view(extras_->reason) : std::string_view{};
  }
  [[nodiscard]] Error end_error() const noexcept { return Error(ErrorKind::Closed, close_code_); }

  [[nodiscard]] std::string_view protocol() const noexcept {
    return extras_ != nullptr ? std::string_view(extras_->protocol) : std::string_view{};
  }
  // For other threads.
  [[nodiscard]] SocketHandle handle();
  Extras& extras() {
    if (extras_ == nullptr) extras_ = std::make_unique<Extras>();
    return *extras_;
  }
  [[nodiscard]] Shared& shared() noexcept { return shared_; }
  [[nodiscard]] Loop& loop() noexcept { return shared_.loop; }
  [[nodiscard]] const Settings& settings() const noexcept { return settings_; }
  [[nodiscard]] Stream* stream() const noexcept { return stream_; }

  void retain() noexcept { ++count_; }
  void release() noexcept {
    if (--count_ == 0) {
      destroy();
    } else if (!is_server_ && count_ == 2) {
      // Nobody but the stream knows a client's socket any more.
      close(kNormal, {});
    }
  }

  // --- from the wire
  void on_head(http::Head&, bool) override {}
  void on_data(Slice data) override;
  void on_end(const http::Fields* trailers) override;
  void on_close(Error why) noexcept override;
  Pull pull(Chain& out, std::size_t max) override;
  void dispose() noexcept override { release(); }
  void on_drain() noexcept override;
  // From Shared: what was full has room again.
  void on_drained() noexcept;

 private:
  static constexpr std::size_t kUsualHeadBytes = 6;  // two, and the mask
  friend class Reader;
  friend class Sender;
  Session(Shared& shared, const Settings& settings, Role role) noexcept;
  ~Session() override;
  void destroy() noexcept;

  // --- session_read.cc
  void deliver();
  void push_messages();
  bool advance(Message* out, bool* is_last);
  void drop_messages();
  int find_longer(char* payload, std::size_t size, MaskKey key);
  int find_text(const char* payload, std::size_t size);
  bool take_whole(const FrameHead& head, Message& out);
  enum class Step : std::uint8_t { Head, More, Failed };
  Step next_head(FrameHead& head);
  Step fill_stash(FrameHead& head);
  void keep_in_stash();
  bool begin_frame(const FrameHead& head, bool is_in_parts);
  bool take_payload(Message* out);
  bool take_part(Message& out, bool& is_last);
  bool end_parts(Message& out);
  Message gathered();
  bool gather(char* bytes, std::size_t size, Inflater::Caps caps);
  bool check_text(std::size_t before);
  bool check(Inflater::Verdict verdict);
  bool finish_message(Message& out);
  bool refill();
  void give_credit() noexcept;
  [[nodiscard]] Kind usual_kind() const noexcept { return static_cast<Kind>(input_.data()[0] & 0x0f); }
  void drop_usual(int size) noexcept {
    input_.drop_front(kUsualHeadBytes + static_cast<std::size_t>(size));
    ++taken_count_;
    if (input_.is_empty()) [[unlikely]]
      give_credit();
  }
  void begin_input(Slice data) noexcept {
    owed_bytes_ += static_cast<std::uint32_t>(data.size());
    input_ = std::move(data);
  }
  void consume(std::size_t n) noexcept { input_.drop_front(n); }
  void take_control(const FrameHead& head, std::string_view payload);
  void take_close(std::string_view payload);
  void drop_input() noexcept;
  void drop_assembly() noexcept;
  void drop_stash() noexcept;
  [[nodiscard]] FrameRules rules() const noexcept {
    return {.is_server = is_server_ != 0, .has_deflate = deflate_.is_on};
  }
  Inflater& inflater();
  [[nodiscard]] Inflater::Caps caps() const noexcept {
    return {.bytes_max = settings_.message_bytes_max, .ratio_max = settings_.inflate_ratio_max};
  }
  // Nobody gets what comes any more, only the peer's Close is awaited.
  [[nodiscard]] bool reads_away() const noexcept { return is_close_sent_; }

  // --- session_write.cc
  Sent send_slowly(Kind kind, const Slice& payload);
  void add(std::uint8_t first, const Slice& payload);
  void add_message(Kind kind, const Slice& payload);
  void add_control(std::uint8_t opcode, std::string_view payload);
  void add_whole(const Slice& frame);
  bool make_way();
  void send_close(std::uint16_t code, std::string_view reason);
  void fail(std::uint16_t code);
  void end() noexcept;
  void note_end(std::uint16_t code, std::string_view reason);
  void leave() noexcept;
  void wake() noexcept;
  void wake_waiting() noexcept;
  void arm(std::uint64_t delay_ms) noexcept;
  void on_timer() noexcept;
  void beat() noexcept;

  // Both are one comparison.
  [[nodiscard]] bool is_quick_to_read() const noexcept {
    return is_usual_ && !is_deaf_ && !is_close_sent_ && kind_ == 0;
  }
  [[nodiscard]] bool is_quick_to_send() const noexcept {
    return is_usual_ && !is_close_sent_ && !is_over_ && !is_source_waiting_ && !is_in_parts_;
  }

  Stream* stream_ = nullptr;
  Shared& shared_;
  const Settings& settings_;
  Application* application_ = nullptr;
  std::uint32_t count_ = 2;

  // In one word, which the quick paths ask once.
  std::uint32_t is_server_ : 1;
  std::uint32_t is_usual_ : 1;         // a server that neither compresses nor drops what it has queued
  std::uint32_t is_deaf_ : 1 = false;  // nothing that comes is looked at any more
  std::uint32_t is_close_sent_ : 1 = false;
  std::uint32_t kind_ : 4 = 0;           // of the message under way, 0 between messages
  std::uint32_t is_ending_ : 1 = false;  // the source ends when everything has left
  std::uint32_t is_over_ : 1 = false;    // on_close() was called
  std::uint32_t is_source_waiting_ : 1 = false;
  std::uint32_t is_drain_awaited_ : 1 = false;  // somebody waits for room
  std::uint32_t is_ping_out_ : 1 = false;       // and is to be answered
  std::uint32_t is_ignoring_ : 1 = false;
  std::uint32_t is_in_payload_ : 1 = false;  // only while kind_ is not 0
  std::uint32_t is_final_ : 1 = false;       // the frame whose payload comes is its message's last
  std::uint32_t is_delivering_ : 1 = false;
  std::uint32_t is_deflated_ : 1 = false;   // the message under way
  std::uint32_t is_peer_done_ : 1 = false;  // its direction has ended, and there is still something to read
  std::uint32_t is_in_parts_ : 1 = false;   // a message is being sent in parts
  bool is_alive_ = false;                   // something came since the timer was armed
  DeflateParams deflate_;
  std::uint16_t close_code_ = 0;

  std::uint32_t owed_bytes_ = 0;   // of what is or was in input_, and not yet credited
  std::uint32_t taken_count_ = 0;  // messages, and not yet counted
  MaskKey key_ = 0;                // of the payload's next byte
  std::uint64_t left_ = 0;         // of the payload
  Slice input_;                    // what came and was not used yet
  std::unique_ptr<Chain> more_;    // and behind it
  Stash* stash_ = nullptr;
  Assembly* assembly_ = nullptr;
  Outbox* outbox_ = nullptr;
  Reader* reader_ = nullptr;
  List<Sender, Sender> senders_;
  std::unique_ptr<Extras> extras_;
  TimerTo<&Session::on_timer> timer_{*this};
};

}  // namespace violet::ws
