#pragma once

// SocketHandle: a socket as other threads may hold it. It may outlive the socket and its loop; everything is for any
// thread.

#include "violet/base/error.h"
#include "violet/event/loop.h"
#include "violet/memory/ref.h"
#include "violet/ws/message.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace violet {
namespace ws {

class Session;

// What a socket and its handles share.
class Remote {
 public:
  Remote(Session& session, LoopRef loop) noexcept : loop_(std::move(loop)), session_(&session) {}
  Remote(const Remote&) = delete;
  Remote& operator=(const Remote&) = delete;

  [[nodiscard]] bool is_open() const noexcept { return is_open_.load(std::memory_order_relaxed); }
  [[nodiscard]] LoopRef loop() const noexcept { return loop_; }
  // On the socket's loop: nullptr when it is gone.
  [[nodiscard]] Session* session() const noexcept { return session_; }
  // From the session.
  void note_closing() noexcept { is_open_.store(false, std::memory_order_relaxed); }
  void detach() noexcept {
    note_closing();
    session_ = nullptr;
  }

  void retain() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  ~Remote() = default;
  std::atomic<std::uint32_t> count_ = 1;
  std::atomic<bool> is_open_ = true;
  LoopRef loop_;
  Session* session_;
};

}  // namespace ws

class SocketHandle {
 public:
  SocketHandle() noexcept = default;
  explicit SocketHandle(Ref<ws::Remote> remote) noexcept : remote_(std::move(remote)) {}

  // Copies the message and queues it on the socket's loop. Closed: the socket is gone. What finds no room there is
  // dropped and counted, as the socket's policy says.
  Result<void> send(ws::Kind kind, std::string_view payload) const;
  Result<void> send(std::string_view text) const { return send(ws::Kind::Text, text); }
  Result<void> send_binary(std::string_view bytes) const { return send(ws::Kind::Binary, bytes); }
  Result<void> close(std::uint16_t code = ws::kNormal, std::string_view reason = {}) const;
  [[nodiscard]] bool is_open() const noexcept { return remote_ && remote_->is_open(); }

 private:
  Ref<ws::Remote> remote_;
};

}  // namespace violet
