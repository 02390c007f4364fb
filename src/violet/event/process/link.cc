#include "violet/event/process/link.h"

#include "violet/base/check.h"

#include <cerrno>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace violet {

WorkerLink::WorkerLink(Loop& loop, int descriptor, Function<void(Order)> on_order)
    : watch_(new Watch{{}, std::move(on_order), descriptor, false}) {
  VIOLET_CHECK(uv_poll_init(loop.uv(), &watch_->handle, descriptor) == 0);
  watch_->handle.data = watch_;
  uv_unref(reinterpret_cast<uv_handle_t*>(&watch_->handle));
  uv_poll_start(&watch_->handle, UV_READABLE, &WorkerLink::on_readable);
}

WorkerLink::~WorkerLink() {
  watch_->is_closed = true;
  uv_poll_stop(&watch_->handle);
  ::close(watch_->descriptor);
  uv_close(reinterpret_cast<uv_handle_t*>(&watch_->handle),
           [](uv_handle_t* handle) { delete static_cast<Watch*>(handle->data); });
}

void WorkerLink::say(int descriptor, Word word) noexcept {
  const char byte = static_cast<char>(word);
  while (::send(descriptor, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno == EINTR) {
  }
}

void WorkerLink::on_readable(uv_poll_t* handle, int, int) noexcept {
  Watch* const watch = static_cast<Watch*>(handle->data);
  char order;
  ssize_t got = 1;
  while (!watch->is_closed && (got = ::read(watch->descriptor, &order, 1)) == 1) {
    watch->on_order(static_cast<Order>(order));
  }
  if (watch->is_closed || (got < 0 && (errno == EAGAIN || errno == EINTR))) return;
  uv_poll_stop(handle);
  watch->on_order(Order::Orphaned);
}

}  // namespace violet
