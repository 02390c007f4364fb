#include "violet/ws/socket.h"

#include "violet/ws/topic/topics.h"

#include <utility>

namespace violet::ws {

bool Reader::await_suspend(std::coroutine_handle<> handle) noexcept {
  if (!suspend(handle)) return false;
  VIOLET_CHECK(session_.reader_ == nullptr);  // two reads at once
  session_.reader_ = this;
  return true;
}

bool Reader::fetch() {
  // Who waits goes on when the session ends, which a frame may bring about: then nothing is left of this here.
  Session& session = session_;
  const bool wants_part = wants_part_;
  if (const int size = wants_part ? Session::kNotUsual : session.find_usual(); size != Session::kNotUsual) {
    session.take_usual(size, message_);
    return has_message_ = true;
  }
  if (session.reader_ != this) return false;
  Message message;
  bool is_last = false;
  const bool has_message =
      session.is_readable() && (wants_part ? session.next_part(message, is_last) : session.next(message));
  if (!has_message || session.reader_ != this) return false;
  message_ = std::move(message);
  is_last_ = is_last;
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
