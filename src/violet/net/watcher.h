#pragma once

// Watcher: readiness of one descriptor on a loop, over uv_poll_t. Level-triggered: what is not read is told again.
//
// uv_poll_t is used rather than uv_tcp_t because a connection must stay small when idle (160 bytes against 248), reads
// and writes must go straight between the socket and our blocks, and TLS wants the descriptor itself.
//
// The object must outlive its close: close() stops at once and calls `on_closed` from the loop later; only then may the
// memory go.

#include "violet/event/loop.h"

#include <uv.h>

#include <cstdint>

namespace violet::net {

class Watcher {
 public:
  enum Events : int { kNone = 0, kRead = UV_READABLE, kWrite = UV_WRITABLE, kHangup = UV_DISCONNECT };
  // `error` is a negative libuv code or 0.
  using OnEvents = void (*)(Watcher& watcher, int error, int events) noexcept;
  using OnClosed = void (*)(Watcher& watcher) noexcept;
  // One constant for all watchers of a kind: a connection holds a pointer to it instead of one to each function.
  struct Calls {
    OnEvents on_events;
    OnClosed on_closed;
  };

  Watcher() noexcept = default;
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  ~Watcher() = default;

  // Takes a non-blocking descriptor but does not own it.
  [[nodiscard]] int open(Loop& loop, int descriptor, const Calls& calls) noexcept;
  // What to be told about; kNone stops.
  void watch(int events) noexcept;
  [[nodiscard]] int watched() const noexcept { return events_; }
  [[nodiscard]] bool is_open() const noexcept { return is_open_; }
  void close() noexcept;

 private:
  static Watcher& of(uv_poll_t* poll) noexcept { return *static_cast<Watcher*>(poll->data); }

  uv_poll_t poll_;
  const Calls* calls_ = nullptr;
  int events_ = kNone;
  bool is_open_ = false;
};

}  // namespace violet::net
