// h2::Session: budgets, time, and how a connection ends.

#include "violet/h2/session.h"

#include <algorithm>

namespace violet::h2 {
namespace {

constexpr std::uint64_t kRestMs = 2000;       // after which an idle connection keeps nothing that makes heads cheaper
constexpr std::uint64_t kDrainBeatMs = 1000;  // that a peer has to answer the PING behind the first GOAWAY

Error timeout_of(LimitId id) noexcept { return Error(ErrorKind::Timeout, static_cast<std::int32_t>(id), 408); }

}  // namespace

Session::Session(Shared& shared, Host& host, net::Transport& transport, const Connection& connection,
                 Role role) noexcept
    : shared_(shared),
      host_(host),
      transport_(&transport),
      connection_(connection),
      role_(role),
      input_(role == Role::Server ? Input::Preface : Input::Head) {
  connection_.version = http::Version::Http2;
  transport.set_owner(*this);
}

Session::~Session() { VIOLET_ASSERT(streams_.count() == 0 && transport_ == nullptr); }

void Session::open() noexcept {
  greet();
  later();
}

void Session::open(Bytes received) noexcept {
  greet();
  receive(received);
}

void Session::open(const http::Head& request, std::string_view settings, Bytes received) noexcept {
  output().copy("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n");
  greet();
  is_in_turn_ = true;
  // The 101 acknowledges them (RFC 7540 §3.2.1).
  if (apply_settings(settings)) accept_upgraded(request);
  receive(received);
}

// Both sides speak first (RFC 9113 §3.4).
void Session::greet() {
  net::Output& out = output();
  const auto window = static_cast<std::uint32_t>(std::min<std::uint64_t>(limits().receive_bytes_max, kWindowMax));
  const auto fields = static_cast<std::uint32_t>(std::min<std::uint64_t>(limits().field_bytes_max, 0xffff'ffffu));
  if (is_server()) {
    const auto streams = static_cast<std::uint32_t>(std::min<std::uint64_t>(limits().h2_streams_max, 0xffff'ffffu));
    write_settings(out, {{Setting::MaxConcurrentStreams, streams},
                         {Setting::InitialWindowSize, window},
                         {Setting::MaxHeaderListSize, fields},
                         {Setting::EnableConnectProtocol, 1},
                         {Setting::NoRfc7540Priorities, 1}});
  } else {
    out.copy(kPreface);
    write_settings(out, {{Setting::EnablePush, 0},
                         {Setting::InitialWindowSize, window},
                         {Setting::MaxHeaderListSize, fields},
                         {Setting::NoRfc7540Priorities, 1}});
  }
  const std::uint64_t whole = std::min<std::uint64_t>(limits().h2_window_bytes, kWindowMax);
  if (whole > kWindowDefault) {
    write_window_update(out, 0, static_cast<std::uint32_t>(whole) - kWindowDefault);
    receive_window_ = static_cast<std::int64_t>(whole);
  }
  head_.begin(now(), limits().header_ms);
  transport_->want(true, false);
}

// --- budgets

bool Session::charge_death() noexcept {
  if (deaths_.take(1, now(), limits().h2_stream_deaths_max, limits().h2_stream_deaths_rate)) [[likely]]
    return true;
  fail(Code::EnhanceYourCalm, LimitId::h2_stream_deaths_max);
  return false;
}

bool Session::charge_control(std::uint64_t count) noexcept {
  if (control_.take(count, now(), limits().h2_control_frames_max, limits().h2_control_frames_rate)) [[likely]]
    return true;
  fail(Code::EnhanceYourCalm, LimitId::h2_control_frames_max);
  return false;
}

// --- time

// Which of the connection's times run from here on.
void Session::note_time() noexcept {
  if (is_lingering_) return;
  const bool is_head_on_its_way =
      !has_settings_ || head_used_ > 0 || input_ == Input::Payload || input_ == Input::Pad || block_stream_ != 0;
  if (!is_head_on_its_way) {
    head_.end();
  } else if (!head_.is_running()) {
    head_.begin(now(), limits().header_ms);
  }
  if (streams_.count() > 0 || output_ != nullptr) {
    idle_.end();
  } else if (!idle_.is_running()) {
    idle_.begin(now(), is_client_leaving_ ? limits().linger_ms : limits().keep_alive_ms);
    look_ms_ = std::min(look_ms_, now() + kRestMs);
  }
  if (scheduler_.is_empty()) window_.unblock(now());
}

void Session::arm() noexcept {
  const std::uint64_t due =
      std::min({idle_.due_ms(), head_.due_ms(), writing_.due_ms(), leaving_.due_ms(), window_.due_ms(), look_ms_});
  if (due == Pace::kNever) return;
  // A timer that fires too early looks again; so a busy connection never touches the wheel.
  if (timer_.is_armed() && timer_.due_ms() <= due) return;
  shared_.loop.timers().arm(timer_, due);
}

void Session::on_timer() noexcept {
  if (is_closed_) return;
  const std::uint64_t time = now();
  if (writing_.due_ms() <= time) {
    if (is_server()) ++shared_.site->counters.timeouts;
    return abort(timeout_of(LimitId::write_stall_ms));
  }
  if (head_.due_ms() <= time) {
    time_out_head();
  } else if (window_.due_ms() <= time) {
    if (is_server()) ++shared_.site->counters.timeouts;
    window_.unblock(time);
    fail(Code::EnhanceYourCalm, LimitId::write_stall_ms);
  } else if (idle_.due_ms() <= time) {
    time_out_idle();
  }
  if (is_closed_) return;
  if (leaving_.due_ms() <= time) leaving_.end();
  if (look_ms_ <= time) look_at_streams();
  settle();
}

void Session::time_out_head() noexcept {
  head_.end();
  // Who has never said anything is not told anything.
  if (is_server() && !has_settings_ && preface_used_ == 0) return abort(timeout_of(LimitId::header_ms));
  if (is_server()) ++shared_.site->counters.timeouts;
  fail(Code::EnhanceYourCalm, LimitId::header_ms);
}

void Session::time_out_idle() noexcept {
  idle_.end();
  if (is_lingering_) return abort({});
  // A loop that was held up has not yet seen what came in time.
  on_readable();
  if (is_closed_ || idle_.is_running() || streams_.count() > 0) return;
  if (drain_ == Drain::None) write_goaway(output(), last_peer_id_, Code::NoError);
  drain_ = Drain::Final;
  is_leaving_ = true;
}

void Session::look_at_streams() noexcept {
  look_ms_ = Pace::kNever;
  if (streams_.count() == 0) {
    decoder_.rest();
    encoder_.rest();
  }
  streams_.each([this](Stream& stream) {
    if (!stream.is_doomed_) look_at(stream);
    look_ms_ = std::min({look_ms_, stream.reading_.due_ms(), stream.patience_.due_ms()});
  });
}

void Session::look_at(Stream& stream) noexcept {
  if (stream.patience_.due_ms() <= now()) {
    if (is_server()) ++shared_.site->counters.timeouts;
    stream.patience_.unblock(now());
    doom(stream, timeout_of(LimitId::write_stall_ms), Code::EnhanceYourCalm);
    return;
  }
  if (stream.reading_.due_ms() > now()) return;
  ++shared_.site->counters.timeouts;
  stream.reading_.end();
  switch (stream.waits_for_) {
    case Stream::Waiting::Body: refuse_body(stream, timeout_of(LimitId::body_rate_min)); break;
    case Stream::Waiting::Use: doom(stream, timeout_of(LimitId::body_unused_ms), Code::NoError); break;
    case Stream::Waiting::TunnelEnd: doom(stream, timeout_of(LimitId::half_closed_ms), Code::Cancel); break;
  }
}

// --- closing

void Session::drain() noexcept {
  if (is_closed_ || is_failing_ || is_lingering_ || drain_ != Drain::None) return;
  // A request that came in time is still answered.
  if (streams_.count() == 0) on_readable();
  if (is_closed_ || is_failing_) return;
  if (!is_server()) {
    is_leaving_ = true;
    drain_ = Drain::Final;
    write_goaway(output(), 0, Code::NoError);
  } else if (streams_.count() == 0 && output_ == nullptr) {
    drain_ = Drain::Final;
    write_goaway(output(), last_peer_id_, Code::NoError);
  } else {
    // Streams that are on their way are let in until the peer must have heard (§6.8).
    drain_ = Drain::Announced;
    write_goaway(output(), kStreamIdMax, Code::NoError);
    write_ping(output(), 0, kDrainPing);
    leaving_.begin(now(), kDrainBeatMs);
  }
  later();
}

void Session::advance_drain() noexcept {
  if (drain_ != Drain::Announced) return;
  if (!is_drain_seen_ && leaving_.is_running() && streams_.count() > 0) return;
  drain_ = Drain::Final;
  leaving_.end();
  write_goaway(output(), last_peer_id_, Code::NoError);
}

// A fault of the connection: every stream ends, and the peer is told why (§5.4.1).
void Session::fail(Code code, LimitId limit) noexcept {
  if (is_closed_ || is_failing_ || is_lingering_) return;
  is_failing_ = true;
  input_ = Input::Closed;
  block_ = {};
  partial_ = {};
  why_ = Error(ErrorKind::Protocol, static_cast<std::int32_t>(code));
  if (is_server()) ++shared_.site->counters.protocol_errors;
  streams_.each([this](Stream& stream) { condemn(stream, why_); });
  write_goaway(output(), last_peer_id_, code, name(limit));
  later();
}

// All has been said. A peer that is still sending would lose it to a reset, so it may go on for a while.
void Session::end_gently() noexcept {
  if (is_peer_done_) return abort(why_);
  is_lingering_ = true;
  input_ = Input::Closed;
  transport_->shutdown();
  transport_->want(true, false);
  head_.end();
  idle_.begin(now(), limits().linger_ms);
  arm();
}

void Session::on_end_of_stream() noexcept {
  is_peer_done_ = true;
  input_ = Input::Closed;
  if (is_lingering_ || (streams_.count() == 0 && output_ == nullptr)) return abort(why_);
  // A client that closed waits for no answer that has not begun; those that are under way are finished for clients that
  // have closed only their sending side. A client's answers are all lost.
  streams_.each([this](Stream& stream) {
    if (!is_server() || !stream.is_started_ || !stream.is_received_) condemn(stream, Error(ErrorKind::Closed));
  });
  is_leaving_ = true;
  settle();
}

void Session::on_turn_end() noexcept {
  if (!is_closed_) {
    settle();
    if (!is_closed_) return;
  }
  while (Stream* stream = streams_.any()) retire(*stream, stream->is_doomed_ ? stream->why_ : why_);
  host_.on_session_closed(*this);
}

void Session::abort(Error why) noexcept {
  if (is_closed_) return;
  is_closed_ = true;
  why_ = why;
  input_ = Input::Closed;
  timer_.cancel();
  partial_ = {};
  block_ = {};
  if (output_ != nullptr) shared_.buffers.give_output(*std::exchange(output_, nullptr));
  std::exchange(transport_, nullptr)->close();
  shared_.loop.defer(turn_end_);
}

}  // namespace violet::h2
