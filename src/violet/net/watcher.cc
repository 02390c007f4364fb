#include "violet/net/watcher.h"

namespace violet::net {

int Watcher::open(Loop& loop, int descriptor, OnEvents on_events) noexcept {
  VIOLET_ASSERT(!is_open_);
  const int error = uv_poll_init(loop.uv(), &poll_, descriptor);
  if (error != 0) return error;
  poll_.data = this;
  on_events_ = on_events;
  is_open_ = true;
  return 0;
}

void Watcher::watch(int events) noexcept {
  VIOLET_ASSERT(is_open_);
  if (events == events_) return;
  events_ = events;
  if (events == kNone) {
    uv_poll_stop(&poll_);
    return;
  }
  uv_poll_start(&poll_, events, [](uv_poll_t* poll, int error, int ready) {
    Watcher& watcher = of(poll);
    watcher.on_events_(watcher, error, ready);
  });
}

void Watcher::close(OnClosed on_closed) noexcept {
  if (!is_open_) return;
  is_open_ = false;
  events_ = kNone;
  on_closed_ = on_closed;
  uv_close(reinterpret_cast<uv_handle_t*>(&poll_), [](uv_handle_t* handle) {
    Watcher& watcher = of(reinterpret_cast<uv_poll_t*>(handle));
    watcher.on_closed_(watcher);
  });
}

}  // namespace violet::net
