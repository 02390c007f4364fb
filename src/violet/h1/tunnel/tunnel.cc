#include "violet/h1/tunnel/tunnel.h"

#include "violet/h1/session.h"

#include <algorithm>
#include <cerrno>

namespace violet::h1 {
namespace {

constexpr int kRoundsMax = 4;  // times that the source is asked before others get their turn

Error timeout_of(LimitId id) { return Error(ErrorKind::Timeout, static_cast<std::int32_t>(id)); }

}  // namespace

Tunnel::Tunnel(Shared& shared, Host& host, net::Transport& transport, const Connection& connection, Receiver& receiver,
               SourcePtr source, bool is_source_waiting) noexcept
    : Timer([](Timer& timer) noexcept { static_cast<Tunnel&>(timer).on_timer(); }),
      Deferred([](Deferred& deferred) noexcept { static_cast<Tunnel&>(deferred).on_turn_end(); }),
      shared_(shared),
      host_(host),
      transport_(&transport),
      receiver_(&receiver),
      source_(std::move(source)),
      connection_(connection),
      is_source_waiting_(is_source_waiting) {
  source_->attach(this);
}

Tunnel::~Tunnel() { VIOLET_ASSERT(transport_ == nullptr && receiver_ == nullptr); }

const Limits& Tunnel::limits() const noexcept { return shared_.site.limits; }
std::uint64_t Tunnel::now() const noexcept { return shared_.site.loop.now_ms(); }

void Tunnel::open(const Held& held) noexcept {
  is_open_ = true;
  transport_->set_owner(*this);
  output_ = held.output;
  is_write_blocked_ = held.is_write_blocked;
  writing_ = held.writing;
  host_.on_tunnel_opened(*this);
  // A reset() that came first.
  if (why_) return reset(why_);
  is_in_turn_ = true;
  if (held.received != nullptr) received(*held.received);
  is_in_turn_ = false;
  if (!is_closed_) settle();
}

void Tunnel::drop(Error why) noexcept {
  transport_ = nullptr;
  tell_end(why);
  delete this;
}

// --- from the stream's user

void Tunnel::wake() {
  if (!is_source_waiting_) return;
  is_source_waiting_ = false;
  later();
}

void Tunnel::credit(std::size_t n) {
  VIOLET_ASSERT(n <= owed_bytes_);
  const bool was_full = owed_bytes_ >= limits().receive_bytes_max;
  owed_bytes_ -= std::min(static_cast<std::uint32_t>(n), owed_bytes_);
  // Somebody who has said all uses what he was given, if slowly.
  if (phase_ == Phase::Unused) reading_.moved(n, now(), 0, limits().body_unused_ms);
  if (was_full && owed_bytes_ < limits().receive_bytes_max) later();
}

void Tunnel::reset(Error why) {
  if (is_closed_) return;
  if (!is_open_) {
    why_ = why ? why : Error(ErrorKind::Cancelled);
    return;
  }
  flush();
  abort(why);
}

// --- from the transport

void Tunnel::on_readable() noexcept {
  if (is_closed_ || is_input_ended_) return;
  char* const to = shared_.input.lend();
  const ssize_t n = transport_->read(to, shared_.input.room());
  if (n < 0) {
    if (n != -EAGAIN) abort(Error(ErrorKind::System, static_cast<std::int32_t>(-n)));
    return;
  }
  is_in_turn_ = true;
  if (n == 0) {
    end_input();
  } else {
    shared_.input.commit(static_cast<std::size_t>(n));
    received({to, to + n, &shared_.input.owner()});
  }
  is_in_turn_ = false;
  if (!is_closed_) settle();
}

void Tunnel::received(const net::Bytes& bytes) {
  reading_.moved(bytes.size(), now(), 0, limits().half_closed_ms);
  owed_bytes_ += static_cast<std::uint32_t>(bytes.size());
  receiver_->on_data(Slice(*bytes.owner, bytes.begin, bytes.size()));
}

// The peer has ended its direction; ours goes on until its own end.
void Tunnel::end_input() noexcept {
  is_input_ended_ = true;
  reading_.end();
  receiver_->on_end(nullptr);
}

void Tunnel::on_writable() noexcept {
  if (is_closed_) return;
  is_write_blocked_ = wants_turn_ = false;
  settle();
}

// --- writing

// Asks the source while there is room, and while this turn may.
void Tunnel::pump() {
  for (int round = 0; !is_source_waiting_ && !is_output_ended_ && !is_write_blocked_; ++round) {
    const std::size_t queued = output_ != nullptr ? output_->size() : 0;
    if (queued >= limits().flush_bytes_max) {
      flush();
      if (is_closed_) return;
      continue;
    }
    if (round >= kRoundsMax) {
      wants_turn_ = true;
      return;
    }
    Chain chain;
    const Pull verdict = source_->pull(chain, limits().flush_bytes_max - queued);
    if (is_closed_) return;
    if (!chain.is_empty() && output_ == nullptr) output_ = &shared_.take_output();
    while (!chain.is_empty()) output_->append(chain.pop_front());
    switch (verdict) {
      case Pull::More: break;
      case Pull::Wait: is_source_waiting_ = true; break;
      case Pull::End: is_output_ended_ = true; break;
      case Pull::Failed: reset(Error(ErrorKind::Handler)); return;
    }
  }
}

// Writes what is queued. May end in abort().
void Tunnel::flush() noexcept {
  if (output_ == nullptr || is_closed_ || is_write_blocked_) return;
  std::uint64_t written = 0;
  switch (output_->flush(*transport_, written)) {
    case net::Output::Flushed::All:
      writing_.end();
      shared_.give_empty_output(*std::exchange(output_, nullptr));
      break;
    case net::Output::Flushed::Blocked:
      is_write_blocked_ = true;
      if (!writing_.is_running()) writing_.begin(now(), limits().write_stall_ms);
      writing_.moved(written, now(), limits().write_rate_min, limits().write_stall_ms);
      break;
    case net::Output::Flushed::Failed: abort(output_->error()); break;
  }
}

// Everything that follows from a change: sending, ending, interest, time.
void Tunnel::settle() noexcept {
  is_in_turn_ = true;
  pump();
  flush();
  is_in_turn_ = false;
  if (is_closed_) return;
  if (is_output_ended_) {
    finish();
    if (is_closed_) return;
  }
  enter(next_phase());
  transport_->want(wants_to_read(), is_write_blocked_ || wants_turn_);
  arm();
}

// Our direction has ended.
void Tunnel::finish() noexcept {
  if (is_input_ended_) tell_end({});
  if (output_ != nullptr) return;
  if (is_input_ended_) {
    abort({});
  } else if (!is_shut_down_) {
    is_shut_down_ = true;
    transport_->shutdown();
  }
}

// --- ending

void Tunnel::tell_end(Error why) noexcept {
  if (receiver_ == nullptr) return;
  source_->attach(nullptr);
  std::exchange(receiver_, nullptr)->on_close(why);
  source_.reset();
}

void Tunnel::abort(Error why) noexcept {
  if (is_closed_) return;
  is_closed_ = true;
  why_ = why;
  Timer::cancel();
  std::exchange(transport_, nullptr)->close();
  if (output_ != nullptr) shared_.give_output(*std::exchange(output_, nullptr));
  shared_.site.loop.defer(*this);
}

// Nothing here calls up or writes: that is for the end of the turn.
void Tunnel::later() noexcept {
  if (!is_in_turn_ && is_open_ && !is_closed_) shared_.site.loop.defer(*this);
}

void Tunnel::on_turn_end() noexcept {
  if (!is_closed_) {
    settle();
    if (!is_closed_) return;
  }
  Deferred::unlink();
  tell_end(why_);
  host_.on_tunnel_closed(*this);
}

// --- time

bool Tunnel::wants_to_read() const noexcept { return !is_input_ended_ && owed_bytes_ < limits().receive_bytes_max; }

Tunnel::Phase Tunnel::next_phase() const noexcept {
  if (!is_output_ended_ || is_input_ended_) return Phase::Busy;
  return wants_to_read() ? Phase::HalfClosed : Phase::Unused;
}

void Tunnel::enter(Phase phase) noexcept {
  if (phase == std::exchange(phase_, phase)) return;
  switch (phase) {
    case Phase::Busy: reading_.end(); break;
    case Phase::Unused: reading_.begin(now(), limits().body_unused_ms); break;
    case Phase::HalfClosed: reading_.begin(now(), limits().half_closed_ms); break;
  }
}

// A timer that fires too early looks again.
void Tunnel::arm() noexcept {
  const std::uint64_t due = std::min(reading_.due_ms(), writing_.due_ms());
  if (due == Pace::kNever || (Timer::is_armed() && Timer::due_ms() <= due)) return;
  shared_.site.loop.timers().arm(*this, due);
}

void Tunnel::on_timer() noexcept {
  if (is_closed_) return;
  const bool is_stalled = writing_.due_ms() <= now();
  if (!is_stalled && reading_.due_ms() > now()) return arm();
  ++shared_.site.counters.timeouts;
  const LimitId waited = phase_ == Phase::Unused ? LimitId::body_unused_ms : LimitId::half_closed_ms;
  abort(timeout_of(is_stalled ? LimitId::write_stall_ms : waited));
}

}  // namespace violet::h1
