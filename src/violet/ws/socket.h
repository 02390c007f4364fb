#pragma once

// WebSocket: what a handler holds of one socket. Copies are handles of the same socket; all of them belong to its
// loop's thread (handle() gives one for other threads).
//
//   app.websocket("/echo", [](WebSocket socket) -> Task<> {
//     while (auto message = co_await socket.read()) {
//       if (auto sent = co_await socket.send(*message); !sent) co_return;
//     }
//   });
//
// read() fails with ErrorKind::Closed when the socket has ended: close_code() and close_reason() say how. A handler
// that returns closes its socket with 1000.
//
// send() queues its message at once, in the order of the calls, and copies or counts what it was given. Who awaits it
// waits for room when the policy is Backlog::Wait and too much is queued; who does not loses the message then.

#include "violet/event/task.h"
#include "violet/ws/session.h"

#include <cstdint>
#include <string_view>

namespace violet {
namespace ws {

// Waits for what comes; one at a time for each socket.
class Reader : public Waiter {
 public:
  bool await_ready() {
    const bool is_readable = session_.is_readable();
    has_message_ = is_readable && (wants_part_ ? session_.next_part(message_, is_last_) : session_.next(message_));
    return has_message_ || !session_.is_readable() || session_.is_over();
  }
  bool await_suspend(std::coroutine_handle<> handle) noexcept;

 protected:
  Reader(Session& session, bool wants_part) noexcept : session_(session), wants_part_(wants_part) {}
  ~Reader() override {
    if (session_.reader_ == this) session_.reader_ = nullptr;
  }
  [[nodiscard]] bool has_message() const noexcept { return has_message_; }
  [[nodiscard]] Error why() const noexcept { return error() ? error() : session_.end_error(); }

 private:
  friend class Session;
  friend class Read;
  friend class ReadPart;
  void on_stop(Error why) noexcept override;

  Session& session_;
  Message message_;
  bool has_message_ = false;
  bool wants_part_;
  bool is_last_ = false;
};

class [[nodiscard("co_await it")]] Read final : public Reader {
 public:
  explicit Read(Session& session) noexcept : Reader(session, false) {}
  Result<Message> await_resume() {
    if (has_message()) [[likely]]
      return std::move(message_);
    return fail(why());
  }
};

class [[nodiscard("co_await it")]] ReadPart final : public Reader {
 public:
  explicit ReadPart(Session& session) noexcept : Reader(session, true) {}
  Result<Part> await_resume() {
    if (!has_message()) return fail(why());
    return Part{std::move(message_), is_last_};
  }
};

class Send final : public Waiter, public ListNode<Send> {
 public:
  enum class How : std::uint8_t { Whole, Part, LastPart };
  Send(Session& session, Kind kind, const Slice& payload, How how = How::Whole)
      : session_(&session), kind_(kind), how_(how) {
    try_to_send(payload);
    if (sent_ == Session::Sent::Full) [[unlikely]]
      payload_ = payload;
  }
  // Nobody waited for it: it is lost, and counted.
  ~Send() override {
    if (sent_ == Session::Sent::Full) [[unlikely]]
      ++session_->shared().counters.dropped_newest;
  }
  bool await_ready() const noexcept { return sent_ != Session::Sent::Full; }
  bool await_suspend(std::coroutine_handle<> handle);
  Result<void> await_resume() const noexcept {
    if (sent_ == Session::Sent::Yes) [[likely]]
      return {};
    return fail(why());
  }
  // What became of it, without waiting.
  [[nodiscard]] bool is_sent() const noexcept { return sent_ == Session::Sent::Yes; }

 private:
  friend class Session;
  // There is room, or the socket has ended.
  void go_on() noexcept;
  void on_stop(Error why) noexcept override;
  void try_to_send(const Slice& payload) {
    sent_ = how_ == How::Whole ? session_->send(kind_, payload)
                               : session_->send_part(kind_, payload, how_ == How::LastPart);
  }
  [[nodiscard]] Error why() const noexcept {
    if (error()) return error();
    return sent_ == Session::Sent::Closed ? session_->end_error() : Error(ErrorKind::Busy);
  }

  Session* session_;
  Slice payload_;
  Session::Sent sent_ = Session::Sent::Closed;
  Kind kind_;
  How how_;
};

}  // namespace ws

class WebSocket {
 public:
  explicit WebSocket(ws::Session& session) noexcept : session_(&session) {}

  // The next message. One coroutine at a time.
  ws::Read read() noexcept { return ws::Read(*session_); }

  ws::Send send(const ws::Message& message) { return {*session_, message.kind(), message.slice()}; }
  // REQUIRES: UTF-8; the peer closes the socket otherwise.
  ws::Send send(std::string_view text) { return {*session_, ws::Kind::Text, Slice::borrowed(text)}; }
  ws::Send send(const char* text) { return send(std::string_view(text)); }
  ws::Send send(ws::Kind kind, const Slice& payload) { return {*session_, kind, payload}; }
  ws::Send send_binary(std::string_view bytes) { return {*session_, ws::Kind::Binary, Slice::borrowed(bytes)}; }
  // A message in parts, each in a frame of its own, so that nobody has to hold it whole: `how` is Part, and LastPart at
  // the end. Parts always wait for room. Other messages fail with ErrorKind::Busy meanwhile; published ones follow it.
  ws::Send send_part(ws::Kind kind, std::string_view piece, ws::Send::How how = ws::Send::How::Part) {
    return {*session_, kind, Slice::borrowed(piece), how};
  }
  // The next bytes of a message as they come, however long it is; message_bytes_max does not count for it. A read()
  // before the last part gives the rest.
  ws::ReadPart read_part() noexcept { return ws::ReadPart(*session_); }

  // What is published under `topic` reaches this socket; see topic/topics.h. False when it did already, the socket is
  // not open, or the route belongs to no App.
  bool subscribe(std::string_view topic);
  bool unsubscribe(std::string_view topic);
  // For other threads.
  [[nodiscard]] SocketHandle handle() const { return session_->handle(); }

  // At most 125 bytes of payload. Peers answer; nobody is told.
  void ping(std::string_view payload = {}) { static_cast<void>(session_->send_ping(payload)); }

  // Says goodbye: no more is sent, and what still comes is dropped.
  void close(std::uint16_t code = ws::kNormal, std::string_view reason = {}) { session_->close(code, reason); }
  // Drops what comes, for those who only send. Without it unread messages hold up everything behind them, also the
  // peer's goodbye.
  void ignore_messages() { session_->ignore_messages(); }

  // Messages can be sent.
  [[nodiscard]] bool is_open() const noexcept { return session_->is_open(); }
  [[nodiscard]] std::uint16_t close_code() const noexcept { return session_->close_code(); }
  [[nodiscard]] std::string_view close_reason() const noexcept { return session_->close_reason(); }
  // The subprotocol agreed upon, "" for none.
  [[nodiscard]] std::string_view protocol() const noexcept { return session_->protocol(); }
  [[nodiscard]] std::size_t backlog_bytes() const noexcept { return session_->backlog_bytes(); }
  [[nodiscard]] Address peer() const noexcept {
    return session_->stream() != nullptr ? session_->stream()->connection().peer : Address{};
  }

  [[nodiscard]] ws::Session& session() const noexcept { return *session_; }

 private:
  Ref<ws::Session> session_;
};

}  // namespace violet
