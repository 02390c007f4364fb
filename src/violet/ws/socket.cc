#include "violet/ws/socket.h"

#include "violet/ws/topic/topics.h"

namespace violet::ws {

bool Reader::await_suspend(std::coroutine_handle<> handle) noexcept {
  if (!suspend(handle)) return false;
  VIOLET_CHECK(session_.reader_ == nullptr);  // two reads at once
  session_.reader_ = this;
  return true;
}

bool Reader::fetch() {
  const int size = wants_part_ ? Session::kNotUsual : session_.find_usual();
  if (size == Session::kNotUsual) return await_ready() && has_message_;
  session_.take_usual(size, message_);
  return has_message_ = true;
}

void Reader::on_stop(Error why) noexcept {
  session_.reader_ = nullptr;
  resume_with(why);
}

bool Sender::await_suspend(std::coroutine_handle<> handle) {
  if (!suspend(handle)) return false;
  payload_ = std::move(payload_).owned();
  session_.senders_.push_back(*this);
  session_.is_drain_awaited_ = true;
  return true;
}

void Sender::go_on() noexcept {
  sent_ = how_ == SendAs::Whole ? session_.send(kind_, payload_)
                                : session_.send_part(kind_, payload_, how_ == SendAs::LastPart);
  resume();
}

void Sender::on_stop(Error why) noexcept {
  ListNode<Sender>::unlink();
  resume_with(why);
}

Result<void> Send::answer() const noexcept {
  if (sender_ && sender_->error()) return fail(sender_->error());
  switch (sender_ ? sender_->sent() : sent_) {
    case Session::Sent::Yes: return {};
    case Session::Sent::Closed: return fail(session_.end_error());
    case Session::Sent::Full:
    case Session::Sent::Busy: break;
  }
  return fail(ErrorKind::Busy);
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
