// ws::Session: what goes, and how it ends.

#include "violet/ws/session.h"
#include "violet/ws/socket.h"
#include "violet/ws/topic/published.h"
#include "violet/ws/topic/topics.h"

#include <algorithm>
#include <cstring>

namespace violet::ws {

Session::Session(Shared& shared, const Settings& settings, Role role) noexcept
    : shared_(shared),
      settings_(settings),
      is_server_(role == Role::Server),
      is_usual_(role == Role::Server && settings.backlog != Backlog::DropOldest) {}

Session& Session::make(Loop& loop, const Settings& settings, Role role) {
  return *new Session(loop.local<Shared>(), settings, role);
}

Session::~Session() {
  leave();
  drop_stash();
  drop_assembly();
  if (outbox_ != nullptr) shared_.give_outbox(*outbox_);
}

void Session::destroy() noexcept {
  if (application_ != nullptr) std::exchange(application_, nullptr)->dispose();
  delete this;
}

void Session::open(Stream& stream, Application* application) noexcept {
  if (settings_.totals != nullptr) shared_.count_for(*settings_.totals);
  ++shared_.counters.opened;
  stream_ = &stream;
  application_ = application;
  if (settings_.ping_ms > 0) arm(settings_.ping_ms);
}

// --- frames

void Session::add(std::uint8_t first, const Slice& payload) {
  if (outbox_ == nullptr) outbox_ = &shared_.take_outbox(settings_.backlog_bytes_max);
  MaskKey key = 0;
  if (!is_server_) key = shared_.mask_keys.next();
  const MaskKey* mask = is_server_ ? nullptr : &key;
  if (settings_.backlog == Backlog::DropOldest) {
    outbox_->add_apart(first, payload, mask);
  } else {
    outbox_->add(first, payload, mask);
  }
  if (is_source_waiting_) wake();
}

void Session::add_control(std::uint8_t opcode, std::string_view payload) {
  add(static_cast<std::uint8_t>(kFin | opcode), Slice::borrowed(payload));
}

Session::Sent Session::send_slowly(Kind kind, const Slice& payload) {
  const auto first = static_cast<std::uint8_t>(kFin | static_cast<std::uint8_t>(kind));
  if (is_quick_to_send() && outbox_ != nullptr && outbox_->add_short(first, payload.text())) return Sent::Yes;
  if (!is_open() || is_in_parts_) [[unlikely]]
    return is_open() ? Sent::Busy : Sent::Closed;
  if (is_full()) [[unlikely]] {
    if (settings_.backlog == Backlog::Wait) {
      ++shared_.counters.waited_for_room;
      return Sent::Full;
    }
    if (!make_way()) return is_open() ? Sent::Yes : Sent::Closed;
  }
  add_message(kind, payload);
  return Sent::Yes;
}

void Session::add_message(Kind kind, const Slice& payload) {
  const auto first = static_cast<std::uint8_t>(kFin | static_cast<std::uint8_t>(kind));
  if (!deflate_.is_on || payload.size() < settings_.compression.message_bytes_min) [[likely]] {
    add(first, payload);
    outbox_->note_message();
    return;
  }
  Assembly& out = *shared_.assemblies.take();
  if (deflate_.keeps_own) {
    std::unique_ptr<Deflater>& own = extras().contexts.deflater;
    if (own == nullptr) own = std::make_unique<Deflater>(int{deflate_.own_bits}, settings_.compression.level);
    own->add(payload.text(), true, shared_, out);
  } else {
    auto lent = shared_.deflates.take_deflater(deflate_.own_bits, settings_.compression.level);
    lent->add(payload.text(), true, shared_, out);
    shared_.deflates.give(std::move(lent));
  }
  // What did not shrink goes as it is, unless the peer needs it for the messages that follow.
  if (deflate_.keeps_own || out.size < payload.size()) {
    add(first | kRsv1, Slice(*out.buffer, out.buffer->data(), out.size));
  } else {
    add(first, payload);
  }
  outbox_->note_message();
  shared_.assemblies.give(&out);
}

// Parts cannot be dropped or overtaken: they wait whatever the policy is.
Session::Sent Session::send_part(Kind kind, const Slice& payload, bool is_last) {
  if (!is_open()) return Sent::Closed;
  if (is_full()) {
    ++shared_.counters.waited_for_room;
    return Sent::Full;
  }
  const unsigned opcode = is_in_parts_ ? unsigned{kContinuation} : static_cast<unsigned>(kind);
  add(static_cast<std::uint8_t>(opcode | (is_last ? kFin : 0u)), payload);
  is_in_parts_ = !is_last;
  if (is_last) outbox_->note_message();
  if (!is_in_parts_ && extras_ != nullptr) {
    while (!extras_->held.is_empty()) add_whole(extras_->held.pop_front());
  }
  return Sent::Yes;
}

void Session::send_or_drop(Kind kind, const Slice& payload) {
  const Sent sent = send(kind, payload);
  if (sent == Sent::Full || sent == Sent::Busy) ++shared_.counters.dropped_newest;
}

void Session::send_published(PublishedHere& published) {
  if (!is_open()) return;
  const std::size_t held = is_in_parts_ && extras_ != nullptr ? extras_->held.size() : 0;
  if (backlog_bytes() + held >= settings_.backlog_bytes_max) {
    // Nobody waits here.
    if (settings_.backlog == Backlog::Wait || held > 0) ++shared_.counters.dropped_newest;
    if (settings_.backlog == Backlog::Wait || held > 0 || !make_way()) return;
  }
  const bool is_deflated = deflate_.is_on && published.payload().size() >= settings_.compression.message_bytes_min;
  // What did not go through our window is not in it: it begins anew.
  if (is_deflated && extras_ != nullptr && extras_->contexts.deflater != nullptr) extras_->contexts.deflater->reset();
  add_whole(is_deflated ? published.compressed(deflate_.own_bits, settings_.compression.level) : published.frame());
}

// A server's frame that was made before.
void Session::add_whole(const Slice& frame) {
  if (is_in_parts_) {
    extras().held.append(frame);
    return;
  }
  if (outbox_ == nullptr) outbox_ = &shared_.take_outbox(settings_.backlog_bytes_max);
  outbox_->add_whole(frame);
  outbox_->note_message();
  if (is_source_waiting_) wake();
}

Session::Sent Session::send_ping(std::string_view payload) {
  if (!is_open()) return Sent::Closed;
  if (!is_full()) add_control(kPing, payload.substr(0, kControlBytesMax));
  return Sent::Yes;
}

// Too much waits already. True when there is room for one more message all the same.
bool Session::make_way() {
  switch (settings_.backlog) {
    case Backlog::Wait: return true;
    case Backlog::DropOldest:
      ++shared_.counters.dropped_oldest;
      while (is_full() && outbox_->drop_oldest() > 0) {
      }
      return !is_full();
    case Backlog::DropNewest: ++shared_.counters.dropped_newest; return false;
    case Backlog::Close:
      ++shared_.counters.closed_for_backlog;
      close(kTryAgainLater, "too slow");
      return false;
  }
  return false;
}

Pull Session::pull(Chain& out, std::size_t max) {
  if (outbox_ != nullptr) {
    shared_.counters.sent += outbox_->take_message_count();
    outbox_->move_to(out, max, settings_.backlog == Backlog::DropOldest);
    if (outbox_->is_empty()) shared_.give_outbox(*std::exchange(outbox_, nullptr));
  }
  if (is_drain_awaited_ && backlog_bytes() <= settings_.backlog_bytes_max / 2) {
    is_drain_awaited_ = false;
    shared_.call_when_turn_ends(*this);
  }
  if (outbox_ != nullptr) return Pull::More;
  if (is_ending_) return Pull::End;
  is_source_waiting_ = true;
  return Pull::Wait;
}

void Session::wake() noexcept {
  if (!is_source_waiting_ || stream_ == nullptr) return;
  is_source_waiting_ = false;
  stream_->wake();
}

void Session::on_drained() noexcept {
  const ResumeBatch batch;
  while (!is_full() || !is_open()) {
    Sender* sender = senders_.pop_front();
    if (sender == nullptr) break;
    sender->go_on();
  }
  if (!senders_.is_empty()) is_drain_awaited_ = true;
  if (application_ != nullptr && application_->takes_messages && !is_deaf_) deliver();
}

// --- ending

void Session::close(std::uint16_t code, std::string_view reason) {
  if (!is_open()) return;
  send_close(code, reason);
  wake_waiting();
  // What was read ahead is of no use any more, but the peer's Close may be in it.
  if (!is_delivering_) deliver();
}

void Session::send_close(std::uint16_t code, std::string_view reason) {
  char payload[kControlBytesMax];
  std::size_t size = 0;
  if (code != kNoCode) {
    if (!is_wire_close_code(code)) code = kNormal;
    payload[0] = static_cast<char>(code >> 8);
    payload[1] = static_cast<char>(code);
    // No code point is cut in two.
    std::size_t kept = std::min(reason.size(), kControlBytesMax - 2);
    while (kept > 0 && kept < reason.size() && (static_cast<unsigned char>(reason[kept]) & 0xc0) == 0x80) --kept;
    reason = reason.substr(0, kept);
    if (!reason.empty()) std::memcpy(payload + 2, reason.data(), reason.size());
    size = 2 + reason.size();
  }
  is_close_sent_ = true;
  if (extras_ != nullptr && extras_->remote) extras_->remote->note_closing();
  add_control(kClose, {payload, size});
  arm(settings_.close_ms);
}

// The peer broke the rules: it hears why, and nothing more of it is listened to (RFC 6455 §7.1.7).
void Session::fail(std::uint16_t code) {
  ++shared_.counters.protocol_errors;
  note_end(code, {});
  if (!is_close_sent_) send_close(code, {});
  end();
}

// Both have said Close, or we have had enough: the stream ends when everything has left.
void Session::end() noexcept {
  is_deaf_ = is_ending_ = true;
  drop_input();
  wake();
  arm(settings_.close_ms);
  wake_waiting();
}

void Session::note_end(std::uint16_t code, std::string_view reason) {
  if (close_code_ != 0) return;
  close_code_ = code;
  if (!reason.empty()) extras().reason = reason;
}

// Those who read and send hear that it is over.
void Session::wake_waiting() noexcept {
  if (reader_ == nullptr && senders_.is_empty()) return;
  const ResumeBatch batch;
  if (Reader* reader = std::exchange(reader_, nullptr); reader != nullptr) reader->resume();
  while (Sender* sender = senders_.pop_front()) sender->go_on();
}

void Session::abort(Error why) noexcept {
  note_end(kAbnormal, {});
  is_deaf_ = true;
  drop_input();
  if (stream_ != nullptr) stream_->reset(why);
  wake_waiting();
}

void Session::on_drain() noexcept { close(kGoingAway, {}); }

void Session::on_close(Error) noexcept {
  ++shared_.counters.closed;
  stream_ = nullptr;
  is_over_ = true;
  note_end(kAbnormal, {});
  timer_.cancel();
  DrainHook::unlink();
  if (outbox_ != nullptr) shared_.give_outbox(*std::exchange(outbox_, nullptr));
  leave();
  wake_waiting();
  if (application_ != nullptr) application_->on_close(*this);
  release();
}

// Nobody reaches it any more.
void Session::leave() noexcept {
  if (extras_ == nullptr) return;
  Topics::unsubscribe_all(std::exchange(extras_->subscriptions, nullptr));
  if (extras_->remote) extras_->remote->detach();
  extras_->held.clear();
}

SocketHandle Session::handle() {
  Ref<Remote>& remote = extras().remote;
  if (!remote) {
    remote = Ref<Remote>::adopt(new Remote(*this, shared_.loop.ref()));
    if (is_over_) remote->detach();
  }
  return SocketHandle(remote);
}

// --- time

void Session::arm(std::uint64_t delay_ms) noexcept {
  if (delay_ms == 0 || stream_ == nullptr) {
    timer_.cancel();
    return;
  }
  shared_.loop.timers().arm(timer_, shared_.loop.now_ms() + delay_ms);
}

void Session::on_timer() noexcept {
  if (stream_ == nullptr) return;
  if (is_close_sent_) {
    // The peer takes no part in closing.
    ++shared_.counters.timeouts;
    abort(Error(ErrorKind::Timeout, static_cast<std::int32_t>(LimitId::websocket_close_ms)));
  } else {
    beat();
  }
}

// Nothing is written down for each message: a socket that was heard of since the last time is alive.
void Session::beat() noexcept {
  // What we do not read says nothing about the peer.
  const bool is_alive = std::exchange(is_alive_, false) || !input_.is_empty();
  if (is_alive) {
    is_ping_out_ = false;
    arm(settings_.ping_ms);
  } else if (is_ping_out_) {
    ++shared_.counters.timeouts;
    abort(Error(ErrorKind::Timeout, static_cast<std::int32_t>(LimitId::websocket_pong_ms)));
  } else {
    is_ping_out_ = true;
    add_control(kPing, {});
    arm(settings_.pong_ms > 0 ? settings_.pong_ms : settings_.ping_ms);
  }
}

}  // namespace violet::ws
