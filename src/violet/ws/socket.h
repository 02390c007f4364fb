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

#include <coroutine>
#include <cstdint>
#include <optional>
#include <string_view>

namespace violet {
namespace ws {

// Waits for what comes; one at a time for each socket.
class Reader final : public Waiter {
 public:
  Reader(Session& session, bool wants_part) noexcept : session_(session), wants_part_(wants_part) {}
  ~Reader() override {
    if (session_.reader_ == this) session_.reader_ = nullptr;
  }
  bool await_ready() {
    has_message_ =
        session_.is_readable() && (wants_part_ ? session_.next_part(message_, is_last_) : session_.next(message_));
    return has_message_ || !session_.is_readable() || session_.is_over();
  }
  bool await_suspend(std::coroutine_handle<> handle) noexcept;
  Result<Message> take() noexcept {
    if (has_message_) return std::move(message_);
    return fail(error() ? error() : session_.end_error());
  }
  [[nodiscard]] bool is_last() const noexcept { return is_last_; }

 private:
  friend class Session;
  // Something has come: true when it has what it waits for.
  bool fetch();
  void on_stop(Error why) noexcept override;

  Session& session_;
  Message message_;
  bool has_message_ = false;
  bool wants_part_;
  bool is_last_ = false;
};

// What has to wait is made only when it is needed: most messages are there, and most find room.
class [[nodiscard("co_await it")]] Read {
 public:
  explicit Read(Session& session) noexcept : session_(session) {}
  Read(const Read&) = delete;
  Read& operator=(const Read&) = delete;
  bool await_ready() {
    size_ = session_.find_usual();
    return size_ != Session::kNotUsual || reader_.emplace(session_, false).await_ready();
  }
  bool await_suspend(std::coroutine_handle<> handle) noexcept {
    return reader_->await_suspend(handle);  // NOLINT(bugprone-unchecked-optional-access)
  }
  Result<Message> await_resume() {
    if (size_ == Session::kNotUsual) [[unlikely]]
      return reader_->take();  // NOLINT(bugprone-unchecked-optional-access)
    return session_.take_usual(size_);
  }

 private:
  Session& session_;
  int size_ = Session::kNotUsual;
  std::optional<Reader> reader_;
};

class [[nodiscard("co_await it")]] ReadPart {
 public:
  explicit ReadPart(Session& session) noexcept : reader_(session, true) {}
  bool await_ready() { return reader_.await_ready(); }
  bool await_suspend(std::coroutine_handle<> handle) noexcept { return reader_.await_suspend(handle); }
  Result<Part> await_resume() {
    Result<Message> message = reader_.take();
    if (!message) return fail(message.error());
    return Part{std::move(*message), reader_.is_last()};
  }

 private:
  Reader reader_;
};

enum class SendAs : std::uint8_t { Whole, Part, LastPart };

// A message that waits for room.
class Sender final : public Waiter, public ListNode<Sender> {
 public:
  Sender(Session& session, Kind kind, SendAs how, const Slice& payload) noexcept
      : session_(session), payload_(payload), kind_(kind), how_(how) {}
  // Nobody waited for it: it is lost, and counted.
  ~Sender() override {
    if (sent_ == Session::Sent::Full) ++session_.shared().counters.dropped_newest;
  }
  bool await_suspend(std::coroutine_handle<> handle);
  [[nodiscard]] Session::Sent sent() const noexcept { return sent_; }
  using Waiter::error;

 private:
  friend class Session;
  // There is room, or the socket has ended.
  void go_on() noexcept;
  void on_stop(Error why) noexcept override;

  Session& session_;
  Slice payload_;
  Session::Sent sent_ = Session::Sent::Full;
  Kind kind_;
  SendAs how_;
};

class Send {
 public:
  using How = SendAs;
  Send(Session& session, Kind kind, const Slice& payload, How how = How::Whole)
      : session_(session),
        sent_(how == How::Whole ? session.send(kind, payload)
                                : session.send_part(kind, payload, how == How::LastPart)) {
    if (sent_ == Session::Sent::Full) [[unlikely]]
      sender_.emplace(session, kind, how, payload);
  }
  Send(const Send&) = delete;
  Send& operator=(const Send&) = delete;
  bool await_ready() const noexcept { return sent_ != Session::Sent::Full; }
  bool await_suspend(std::coroutine_handle<> handle) {
    return sender_->await_suspend(handle);  // NOLINT(bugprone-unchecked-optional-access)
  }
  Result<void> await_resume() const noexcept {
    if (sent_ == Session::Sent::Yes) [[likely]]
      return {};
    return answer();
  }
  // What became of it, without waiting.
  [[nodiscard]] bool is_sent() const noexcept { return sent_ == Session::Sent::Yes; }

 private:
  [[nodiscard]] Result<void> answer() const noexcept;

  Session& session_;
  Session::Sent sent_;
  std::optional<Sender> sender_;
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
