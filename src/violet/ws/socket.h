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

class [[nodiscard("co_await it")]] Read final : public Waiter {
 public:
  explicit Read(Session& session) noexcept : session_(session) {}
  ~Read() override {
    if (session_.reader_ == this) session_.reader_ = nullptr;
  }
  bool await_ready() {
    has_message_ = session_.is_readable() && session_.next(message_);
    return has_message_ || !session_.is_readable() || session_.is_over();
  }
  bool await_suspend(std::coroutine_handle<> handle) noexcept;
  Result<Message> await_resume() {
    if (has_message_) [[likely]]
      return std::move(message_);
    return fail(error() ? error() : session_.end_error());
  }

 private:
  friend class Session;
  void on_stop(Error why) noexcept override;

  Session& session_;
  Message message_;
  bool has_message_ = false;
};

class Send final : public Waiter, public ListNode<Send> {
 public:
  Send(Session& session, Kind kind, Slice payload)
      : session_(&session), sent_(session.send(kind, payload)), kind_(kind) {
    if (sent_ == Session::Sent::Full) [[unlikely]]
      payload_ = std::move(payload);
  }
  ~Send() override = default;
  bool await_ready() const noexcept { return sent_ != Session::Sent::Full; }
  bool await_suspend(std::coroutine_handle<> handle);
  Result<void> await_resume() const noexcept {
    if (sent_ == Session::Sent::Yes) [[likely]]
      return {};
    return fail(error() ? error() : session_->end_error());
  }
  // What became of it, without waiting.
  [[nodiscard]] bool is_sent() const noexcept { return sent_ == Session::Sent::Yes; }

 private:
  friend class Session;
  // There is room, or the socket has ended.
  void go_on() noexcept;
  void on_stop(Error why) noexcept override;

  Session* session_;
  Slice payload_;
  Session::Sent sent_;
  Kind kind_;
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
  ws::Send send(ws::Kind kind, Slice payload) { return {*session_, kind, std::move(payload)}; }
  ws::Send send_binary(std::string_view bytes) { return {*session_, ws::Kind::Binary, Slice::borrowed(bytes)}; }
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
  [[nodiscard]] std::size_t backlog_bytes() const noexcept { return session_->backlog_bytes(); }
  [[nodiscard]] Address peer() const noexcept {
    return session_->stream() != nullptr ? session_->stream()->connection().peer : Address{};
  }

  [[nodiscard]] ws::Session& session() const noexcept { return *session_; }

 private:
  Ref<ws::Session> session_;
};

}  // namespace violet
