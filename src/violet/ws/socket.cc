#include "violet/ws/socket.h"

namespace violet::ws {

bool Read::await_suspend(std::coroutine_handle<> handle) noexcept {
  if (!suspend(handle)) return false;
  VIOLET_CHECK(session_.reader_ == nullptr);  // two reads at once
  session_.reader_ = this;
  return true;
}

void Read::on_stop(Error why) noexcept {
  session_.reader_ = nullptr;
  resume_with(why);
}

bool Send::await_suspend(std::coroutine_handle<> handle) {
  if (!suspend(handle)) return false;
  payload_ = std::move(payload_).owned();
  session_->senders_.push_back(*this);
  session_->is_drain_awaited_ = true;
  return true;
}

void Send::go_on() noexcept {
  sent_ = session_->send(kind_, payload_);
  resume();
}

void Send::on_stop(Error why) noexcept {
  ListNode<Send>::unlink();
  resume_with(why);
}

}  // namespace violet::ws
