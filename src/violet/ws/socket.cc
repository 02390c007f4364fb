#include "violet/ws/socket.h"

#include "violet/ws/topic/topics.h"

namespace violet::ws {

bool Reader::await_suspend(std::coroutine_handle<> handle) noexcept {
  if (!suspend(handle)) return false;
  VIOLET_CHECK(session_.reader_ == nullptr);  // two reads at once
  session_.reader_ = this;
  return true;
}

void Reader::on_stop(Error why) noexcept {
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
  try_to_send(payload_);
  resume();
}

void Send::on_stop(Error why) noexcept {
  ListNode<Send>::unlink();
  resume_with(why);
}

}  // namespace violet::ws

namespace violet {

bool WebSocket::subscribe(std::string_view topic) {
  ws::Topics* topics = session_->settings().topics;
  return topics != nullptr && topics->subscribe(*session_, topic);
}

bool WebSocket::unsubscribe(std::string_view topic) {
  ws::Topics* topics = session_->settings().topics;
  return topics != nullptr && topics->unsubscribe(*session_, topic);
}

}  // namespace violet
