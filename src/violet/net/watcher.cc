#include "violet/net/watcher.h"

namespace violet::net {

int Watcher::open(Loop& loop, int descriptor, const Calls& calls) noexcept {
  VIOLET_ASSERT(!is_open_);
  const int error = uv_poll_init(loop.uv(), &poll_, descriptor);
  if (error != 0) return error;
  poll_.data = this;
  calls_ = &calls;
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
    watcher.calls_->on_events(watcher, error, ready);
  });
}

void Watcher::close() noexcept {
  if (!is_open_) return;
  is_open_ = false;
  events_ = kNone;
  uv_close(reinterpret_cast<uv_handle_t*>(&poll_), [](uv_handle_t* handle) {
    Watcher& watcher = of(reinterpret_cast<uv_poll_t*>(handle));
    watcher.calls_->on_closed(watcher);
  });
}

}  // namespace violet::net
