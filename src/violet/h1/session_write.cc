// h1::Session from the streams down: framing, ordering, writing, closing.

#include "violet/h1/session.h"
#include "violet/http/status.h"

#include <algorithm>

namespace violet::h1 {
namespace {

using Kind = AnswerFraming::Kind;

constexpr std::size_t kJoinMax = 1024;  // bytes of a body that go into the head's piece
constexpr int kRoundsMax = 4;           // times that a source is asked before others get their turn

}  // namespace

// --- calls of the streams

void Stream::inform(const http::Head& head) {
  // HTTP/1.0 knows no 1xx (RFC 9110 §15.2).
  if (is_started_ || session_->is_closed_ || is_http10_) return;
  expects_continue_ = false;
  write_head(session_->output_of(*this), head, AnswerFraming{.kind = Kind::None}, session_->shared_.site);
  session_->answer_now();
}

void Stream::start(const http::Head& head, Body&& body) {
  if (is_started_ || session_->is_closed_) return;
  if (!session_->answer_plain(*this, head, body)) session_->begin_answer(*this, head, body);
}

void Stream::wake() {
  if (!is_source_waiting_) return;
  is_source_waiting_ = false;
  session_->later();
}

void Stream::credit(std::size_t n) {
  VIOLET_ASSERT(n <= owed_bytes_);
  const bool was_full = owed_bytes_ >= session_->limits().receive_bytes_max;
  owed_bytes_ -= std::min(static_cast<std::uint32_t>(n), owed_bytes_);
  session_->note_credit(n);
  if (was_full && owed_bytes_ < session_->limits().receive_bytes_max) session_->later();
}

void Stream::reset(Error why) {
  if (!session_->is_closed_) session_->reset(*this, why);
}

void Stream::set_receiver(Receiver& receiver) {
  receiver_ = &receiver;
  exchange_ = nullptr;
}

const Connection& Stream::connection() const noexcept { return session_->connection_; }
Address Stream::local_address() const noexcept {
  return session_->transport_ != nullptr ? session_->transport_->local() : Address{};
}

// --- streams

void Session::reset(Stream& stream, Error why) {
  if (first() == &stream) {
    fail(why);
  } else {
    // Answers before this one are still owed to the client.
    stream.reset_why_ = why ? why : Error(ErrorKind::Cancelled);
    stream.is_started_ = true;
    stream.is_answered_ = false;
    is_closing_ = true;
    later();
  }
}

Stream& Session::open_stream() {
  if (Stream* spare = shared_.take_spare_stream(); spare != nullptr) [[likely]] {
    spare->reuse(*this);
    return *spare;
  }
  Stream& stream = *shared_.streams.take(*this);
  stream.exchange_ = &shared_.site.exchanges.open(stream);
  stream.receiver_ = stream.exchange_;
  return stream;
}

// One that never came to be: its head is not all there.
void Session::drop_stream(Stream& stream) noexcept {
  stream.receiver_->on_close({});
  shared_.streams.give(&stream);
}

void Session::retire(Stream& stream, Error why) noexcept {
  stream.unlink();
  --stream_count_;
  // The usual stream goes on to the next request with its exchange, without a way through the pools.
  if (stream.is_reusable() && !why && shared_.wants_spare_stream() && stream.exchange_ != nullptr &&
      stream.exchange_->reopen()) [[likely]] {
    shared_.give_spare_stream(stream);
    return;
  }
  if (receiving_ == &stream) receiving_ = nullptr;
  if (Source* source = stream.body_.source(); source != nullptr) source->attach(nullptr);
  if (stream.early_ != nullptr) shared_.give_output(*stream.early_);
  if (stream.tunnel_ != nullptr) {
    std::exchange(stream.tunnel_, nullptr)->drop(why);
  } else {
    stream.receiver_->on_close(why);
  }
  shared_.streams.give(&stream);
}

// --- answers

AnswerFraming Session::frame_answer(const Stream& stream, const http::Head& head, const Body& body) noexcept {
  AnswerFraming framing;
  // Nothing may follow an answer that says close (RFC 9112 §9.6): of several under way only the last one says it.
  framing.closes =
      !stream.framing_.keeps_alive || (streams_.back() == &stream && (is_closing_ || shared_.site.is_draining));
  if (!stream.is_received_) {
    // The client still waits for a 100 and may or may not send now; or there is more to come than is worth reading; or
    // it was too much already.
    if (stream.expects_continue_ || (!stream.framing_.is_chunked && body_left_ > limits().discard_bytes_max) ||
        head.status == 413) {
      framing.closes = true;
    }
  }
  const auto length = body.length();
  if (head.status == 204 || http::is_informational(head.status)) {
    framing.kind = Kind::None;
  } else if (head.status == 304 ||
             (stream.is_head_request_ && body.is_empty() && head.fields.has(http::FieldId::ContentLength))) {
    framing.kind = Kind::Kept;
  } else if (length) {
    framing.kind = Kind::Length;
    framing.length = *length;
  } else if (stream.is_http10_) {
    framing.kind = Kind::Close;
    framing.closes = true;
  } else {
    framing.kind = Kind::Chunked;
  }
  framing.says_keep_alive = stream.is_http10_ && !framing.closes;
  return framing;
}

// The usual answer: 200 with a body in one slice to a plain request whose turn it is. Nothing to decide.
bool Session::answer_plain(Stream& stream, const http::Head& head, Body& body) {
  Chain& chain = body.chain();
  if (!stream.is_plain_ || !stream.is_received_ || is_closing_ || head.status != 200 || body.source() != nullptr ||
      chain.count() != 1 || chain.front().is_file() || !streams_.is_front(stream) || shared_.site.is_draining) {
    return false;
  }
  stream.is_started_ = stream.is_answered_ = stream.is_answered_plainly_ = true;
  Output& out = output();
  const std::size_t size = chain.size();
  if (size <= kJoinMax) [[likely]] {
    write_plain_answer(out, head, shared_.site, size, chain.front().text());
  } else {
    write_plain_answer(out, head, shared_.site, size, {});
    out.append(chain.pop_front());
  }
  answer_now();
  return true;
}

void Session::begin_answer(Stream& stream, const http::Head& head, Body& body) {
  stream.is_started_ = true;
  const bool is_switch = (head.status == 101 && stream.framing_.wants_upgrade) ||
                         (stream.is_connect_ && head.status >= 200 && head.status < 300);
  if (!is_switch && http::is_informational(head.status)) {
    // A 101 to somebody who did not ask for it, or a 1xx as the final answer: no client could make sense of it.
    reset(stream, Error(ErrorKind::Handler));
    return;
  }
  if (is_switch) {
    stream.answer_ = {.kind = Kind::None};
    stream.is_raw_ = true;
  } else {
    stream.answer_ = frame_answer(stream, head, body);
    if (stream.answer_.closes) {
      is_closing_ = true;
      ends_unframed_ = ends_unframed_ || (stream.answer_.kind == Kind::Close && !stream.is_head_request_);
      // A client that did not ask for the close may have sent more already; closing at once would reset the connection
      // and could destroy the answer on its way (RFC 9112 §9.6).
      wants_linger_ = wants_linger_ || stream.framing_.keeps_alive;
    }
    if (input_ == Input::Undecided && streams_.back() == &stream) {
      // No switch after all: the next request follows.
      input_ = Input::Head;
      if (partial_) is_paused_ = true;
    }
  }
  const bool is_first = streams_.is_front(stream);
  const bool has_no_body = !is_switch && (stream.is_head_request_ || http::is_bodyless(head.status));
  Chain& chain = body.chain();
  if (is_first && body.source() == nullptr && stream.answer_.kind == Kind::Length && !has_no_body &&
      chain.count() <= 1 && chain.size() <= kJoinMax && (chain.is_empty() || !chain.front().is_file())) [[likely]] {
    // Head and small body in one piece.
    write_head(output(), head, stream.answer_, shared_.site,
               chain.is_empty() ? std::string_view{} : chain.front().text());
    end_answer(stream);
    answer_now();
    return;
  }
  write_head(output_of(stream), head, stream.answer_, shared_.site);
  if (is_switch) turn_raw(stream);
  if (has_no_body) {
    end_answer(stream);
  } else if (body.source() == nullptr && is_first) {
    if (!chain.is_empty()) send_chain(stream, chain);
    end_answer(stream);
  } else {
    chain.make_owned();
    stream.source_left_ = body.length().value_or(0) - chain.size();
    stream.body_ = std::move(body);
    if (Source* source = stream.body_.source(); source != nullptr) source->attach(&stream);
    if (is_first) pump(stream);
  }
  answer_now();
}

// The connection carries plain bytes from here on.
void Session::turn_raw(Stream& stream) {
  stream.is_received_ = false;
  receiving_ = &stream;
  input_ = Input::Raw;
  is_closing_ = false;
  if (partial_) is_paused_ = true;  // what came behind the request goes up in settle()
}

// Sends what the first stream has.
void Session::pump(Stream& stream) {
  VIOLET_ASSERT(first() == &stream);
  if (stream.reset_why_) {
    flush();
    if (!is_closed_ && !is_write_blocked_) abort(stream.reset_why_);
    return;
  }
  if (!stream.is_started_) return;
  if (!stream.body_.chain().is_empty()) send_chain(stream, stream.body_.chain());
  if (stream.body_.source() != nullptr) {
    pull(stream);
  } else {
    end_answer(stream);
  }
}

// Heads that were written before it was this stream's turn.
void Session::take_early(Stream& stream) {
  stream.early_->move_to(output());
  shared_.give_output(*std::exchange(stream.early_, nullptr));
}

// Asks the source while there is room (and while this turn may).
void Session::pull(Stream& stream) {
  for (int round = 0; !stream.is_source_waiting_ && !is_closed_; ++round) {
    const std::size_t queued = output().size();
    if (queued >= limits().flush_bytes_max) {
      flush();
      if (is_closed_ || is_write_blocked_) return;
      continue;
    }
    if (round >= kRoundsMax) {
      wants_turn_ = true;
      return;
    }
    Chain chain;
    const Pull verdict = stream.body_.source()->pull(chain, limits().flush_bytes_max - queued);
    if (is_closed_) return;
    if (stream.answer_.kind == Kind::Length && !stream.is_raw_) {
      // A promised length is kept to the byte: too much or too little ends the connection (RFC 9112 §6.3).
      if (chain.size() > stream.source_left_ || (verdict == Pull::End && chain.size() < stream.source_left_)) {
        fail(Error(ErrorKind::Invalid));
        return;
      }
      stream.source_left_ -= chain.size();
    }
    if (!chain.is_empty()) send_chain(stream, chain);
    switch (verdict) {
      case Pull::More: break;
      case Pull::Wait: stream.is_source_waiting_ = true; break;
      case Pull::End: end_answer(stream); return;
      case Pull::Failed: fail(Error(ErrorKind::Handler)); return;
    }
  }
}

void Session::send_chain(Stream& stream, Chain& chain) {
  Output& out = output();
  const bool is_chunked = stream.answer_.kind == Kind::Chunked && !stream.is_raw_;
  if (is_chunked) write_chunk_line(out, chain.size());
  while (!chain.is_empty()) out.append(chain.pop_front());
  if (is_chunked) out.copy("\r\n");
}

void Session::end_answer(Stream& stream) {
  if (stream.is_raw_) {
    // The other direction goes on until its own end.
    stream.is_answered_ = is_closing_ = ends_output_ = true;
    return;
  }
  if (stream.answer_.kind == Kind::Chunked && streams_.is_front(stream) && !stream.is_head_request_) {
    Source* source = stream.body_.source();
    write_last_chunk(output(), source != nullptr ? source->trailers() : nullptr);
  }
  stream.is_answered_ = true;
  if (!stream.is_received_ && is_closing_) cut_body(stream);
}

// The answer is complete and the connection will not be used again: what is left of the request is not handed up.
void Session::cut_body(Stream& stream) {
  stream.is_received_ = true;
  receiving_ = nullptr;
  reading_.end();
  is_closing_ = wants_linger_ = true;
  input_ = Input::Closed;
}

// Brings the queue forward: retires what is done, sends what the next one has.
void Session::advance() {
  while (Stream* stream = first()) {
    if (is_closed_ || stream->tunnel_ != nullptr) return;
    if (stream->early_ != nullptr && !stream->reset_why_) take_early(*stream);
    if (!stream->is_answered_ && !is_write_blocked_) pump(*stream);
    if (is_closed_ || !stream->is_done()) return;
    const bool is_final = stream->answer_.closes;
    retire(*stream);
    if (is_final && !streams_.is_empty()) {
      // An HTTP/1.0 body that ends with the connection: answers to requests behind it would become part of it.
      input_ = Input::Closed;
      while (Stream* behind = first()) retire(*behind, Error(ErrorKind::Closed));
    }
  }
}

// --- writing

Output& Session::output() {
  if (output_ == nullptr) output_ = &shared_.take_output();
  return *output_;
}

Output& Session::output_of(Stream& stream) {
  if (streams_.is_front(stream)) return output();
  if (stream.early_ == nullptr) stream.early_ = &shared_.take_output();
  return *stream.early_;
}

// Writes what is queued. May end in abort().
void Session::flush() noexcept {
  if (output_ == nullptr || is_closed_ || is_write_blocked_) return;
  std::uint64_t written = 0;
  switch (output_->flush(*transport_, written)) {
    case Output::Flushed::All:
      writing_.end();
      shared_.give_empty_output(*std::exchange(output_, nullptr));
      break;
    case Output::Flushed::Blocked:
      is_write_blocked_ = true;
      if (!writing_.is_running()) writing_.begin(now(), limits().write_stall_ms);
      writing_.moved(written, now(), limits().write_rate_min, limits().write_stall_ms);
      break;
    case Output::Flushed::Failed: abort(output_->error()); break;
  }
}

// After an answer outside a read turn: writes at once when it stands alone; answers of one pipeline wait for the end of
// the turn to leave together. Nothing here calls up.
void Session::answer_now() noexcept {
  if (is_in_turn_) return;
  if (stream_count_ == 1) flush();
  later();
}

void Session::later() noexcept {
  if (!is_in_turn_ || is_closed_) shared_.site.loop.defer(turn_end_);
}

// Everything that follows from a change: order, kept input, writing, closing, interest, time.
void Session::settle() noexcept {
  if (phase_ == Phase::Idle && streams_.is_empty() && !partial_ && !is_closing_ && !is_closed_) [[likely]] {
    // The usual turn of a kept connection: what came has been answered, and the transport is watched as it should be.
    flush();
    if (output_ == nullptr && !is_closed_) [[likely]] {
      reading_.begin(now(), limits().keep_alive_ms);
      if (!timer_.is_armed()) arm();
      return;
    }
  }
  is_in_turn_ = true;
  for (;;) {
    advance();
    if (is_closed_ || !is_paused_) break;
    if (input_ == Input::Head && !has_room_for_request()) {
      flush();
      if (is_closed_ || is_write_blocked_ || !has_room_for_request()) break;
    }
    resume_input();
  }
  if (!is_closed_) flush();
  if (ends_output_ && output_ == nullptr && !is_closed_) {
    ends_output_ = false;
    transport_->shutdown();
  }
  is_in_turn_ = false;
  if (is_closed_) {
    later();
    return;
  }
  if (has_tunnel()) {
    open_tunnel(*first());
    return;
  }
  if (streams_.is_empty() && output_ == nullptr && is_closing_ && phase_ != Phase::Lingering) {
    close_gently();
    return;
  }
  if (phase_ != Phase::Lingering) enter(next_phase());
  transport_->want(wants_to_read(), is_write_blocked_ || wants_turn_);
  arm();
}

void Session::on_turn_end() noexcept {
  if (!is_closed_) {
    settle();
    if (!is_closed_) return;
  }
  while (Stream* stream = first()) retire(*stream, why_);
  host_.on_session_closed(*this);
}

// --- closing

void Session::drain() noexcept {
  if (is_closed_) return;
  // A request that came in time is still answered.
  if (phase_ == Phase::New || phase_ == Phase::Idle) on_readable();
  if (is_closed_) return;
  is_closing_ = true;
  if (streams_.is_empty() && output_ == nullptr) {
    if (phase_ != Phase::Lingering) abort({});
    return;
  }
  // An answer that was framed before now says nothing of the close, and the next request may be on its way: what is
  // under way must not be lost to a reset (RFC 9112 §9.6).
  wants_linger_ = true;
}

// All answers have left. A client that is still sending would lose them to a reset, so it may go on for a while.
void Session::close_gently() noexcept {
  if (!wants_linger_ || is_peer_done_) {
    abort({});
    return;
  }
  input_ = Input::Closed;
  transport_->shutdown();
  transport_->want(true, false);
  enter(Phase::Lingering);
  arm();
}

// The answer under way cannot be completed. Answers before it, which may still be queued, are owed to the client.
void Session::fail(Error why) noexcept {
  flush();
  abort(why);
}

// To the client of an answer that ends with the connection, a FIN in the middle would look like its end.
bool Session::would_close_look_whole() const noexcept {
  return ends_unframed_ && (output_ != nullptr || !streams_.is_empty());
}

void Session::abort(Error why) noexcept {
  if (is_closed_) return;
  is_closed_ = true;
  why_ = why;
  timer_.cancel();
  reading_.end();
  writing_.end();
  partial_.clear();
  net::Transport& transport = *std::exchange(transport_, nullptr);
  if (would_close_look_whole()) {
    transport.close_by_reset();
  } else {
    transport.close();
  }
  if (output_ != nullptr) shared_.give_output(*std::exchange(output_, nullptr));
  shared_.site.loop.defer(turn_end_);
}

}  // namespace violet::h1
