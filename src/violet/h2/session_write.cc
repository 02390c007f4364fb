// h2::Session from streams to bytes: heads, scheduling, DATA within the windows, one write a turn.

#include "violet/h2/session.h"
#include "violet/http/status.h"

#include <algorithm>

namespace violet::h2 {
namespace {

using Length = Framing::Length;

constexpr int kPullsMax = 8;  // times that a source is asked to fill one frame

}  // namespace

// --- calls of the streams

void Stream::inform(const http::Head& head) {
  // Nothing to switch to, and nothing after the final head (RFC 9113 §8.6).
  if (is_started_ || is_doomed_ || session_->is_closed_ || !session_->is_server() || head.status == 101) return;
  session_->writer().response(id_, head.status, head.fields, {}, *session_->shared_.site);
  if (std::exchange(expects_continue_, false)) session_->time_reading(*this);
  session_->later();
}

void Stream::start(const http::Head& head, Body&& body) {
  if (is_started_ || is_doomed_ || session_->is_closed_) return;
  if (!session_->answer_plain(*this, head, body)) session_->start(*this, head, body);
}

void Stream::wake() {
  if (!is_source_waiting_ || is_doomed_ || session_->is_closed_) return;
  is_source_waiting_ = false;
  session_->make_ready(*this);
  session_->later();
}

void Stream::credit(std::size_t n) {
  VIOLET_ASSERT(n <= owed_bytes_);
  if (is_doomed_ || session_->is_closed_) return;
  const auto bytes = static_cast<std::uint32_t>(std::min<std::size_t>(n, owed_bytes_));
  owed_bytes_ -= bytes;
  if (waits_for_ == Waiting::Use) reading_.moved(bytes, session_->now(), 0, session_->limits().body_unused_ms);
  session_->return_to_peer(*this, bytes);
  session_->time_reading(*this);
  session_->later();
}

void Stream::reset(Error why) {
  if (is_doomed_ || session_->is_closed_) return;
  Code code = Code::InternalError;
  switch (why.kind()) {
    // Only what has not been touched may be sent again (RFC 9113 §8.7).
    case ErrorKind::Refused: code = is_started_ ? Code::InternalError : Code::RefusedStream; break;
    case ErrorKind::None:
    case ErrorKind::Cancelled:
    case ErrorKind::Closed:
    case ErrorKind::Timeout: code = Code::Cancel; break;
    case ErrorKind::Protocol: code = Code::ProtocolError; break;
    default: break;
  }
  session_->doom(*this, why ? why : Error(ErrorKind::Cancelled), code);
}

void Stream::set_receiver(Receiver& receiver) {
  receiver_ = &receiver;
  exchange_ = nullptr;
}

const Connection& Stream::connection() const noexcept { return session_->connection_; }
Address Stream::local_address() const noexcept {
  return session_->transport_ != nullptr ? session_->transport_->local() : Address{};
}

// --- messages

// The usual answer: 200 with a small body that the windows have room for. One piece, nothing to decide.
bool Session::answer_plain(Stream& stream, const http::Head& head, Body& body) {
  const Chain& chain = body.chain();
  if (!stream.is_received_ || stream.is_connect_ || stream.is_head_request_ || head.status != 200 ||
      body.source() != nullptr || chain.count() != 1 || chain.size() > HeadWriter::kBodyMax ||
      chain.begin()->is_file() ||
      static_cast<std::int64_t>(chain.size()) > std::min<std::int64_t>(stream.send_window_, send_window_)) {
    return false;
  }
  const auto size = static_cast<std::int32_t>(chain.size());
  stream.is_started_ = stream.is_finished_ = stream.is_plain_ = true;
  send_window_ -= size;
  over_.push_back(stream);
  writer().response(stream.id_, 200, head.fields, {.says = Length::Known, .length = chain.size()}, *shared_.site,
                    chain.begin()->text());
  later();
  return true;
}

void Session::start(Stream& stream, const http::Head& head, Body& body) {
  stream.is_started_ = true;
  if (!is_server()) return start_request(stream, head, body);
  int status = head.status;
  if (stream.held_) {
    has_decided_ = true;
    // What HTTP/1.1 says by a 101 is a 200 here (RFC 8441 §5).
    if (status == 101 && stream.held_->is_extended) status = 200;
    stream.is_tunnel_ = status >= 200 && status < 300;
  }
  if (http::is_informational(status)) {
    // A 1xx as the final answer, or a 101 to somebody who did not ask for it: no client could make sense of it.
    return doom(stream, Error(ErrorKind::Handler), Code::InternalError);
  }
  const bool is_bodyless = !stream.is_tunnel_ && (stream.is_head_request_ || http::is_bodyless(status));
  Framing framing{.ends_stream = is_bodyless || body.is_empty()};
  if (status == 204 || stream.is_tunnel_) {
    framing.says = Length::None;
  } else if (status == 304 ||
             (stream.is_head_request_ && body.is_empty() && head.fields.has(http::FieldId::ContentLength))) {
    framing.says = Length::Kept;
  } else if (const auto length = body.length()) {
    framing.says = Length::Known;
    framing.length = *length;
  }
  stream.is_plain_ = stream.is_received_ && !stream.is_connect_ && body.source() == nullptr;
  writer().response(stream.id_, status, head.fields, framing, *shared_.site);
  begin_body(stream, framing.ends_stream, body);
}

void Session::start_request(Stream& stream, const http::Head& head, Body& body) {
  streams_.remove(stream);
  stream.id_ = next_id_;
  next_id_ += 2;
  stream.send_window_ = static_cast<std::int32_t>(peer_.window);
  stream.receive_window_ = receive_window();
  streams_.insert(stream);
  stream.is_head_request_ = head.method == http::Method::Head;
  stream.is_tunnel_ = head.method == http::Method::Connect;
  Framing framing{.ends_stream = body.is_empty()};
  if (const auto length = body.length(); length && !stream.is_tunnel_ && !framing.ends_stream) {
    framing.says = Length::Known;
    framing.length = *length;
  }
  idle_.end();
  writer().request(stream.id_, head, framing);
  begin_body(stream, framing.ends_stream, body);
}

// Keeps what is to be sent until the scheduler asks for it.
void Session::begin_body(Stream& stream, bool has_none, Body& body) {
  later();
  if (has_none) return finish(stream);
  body.chain().make_owned();
  const auto length = body.length();
  stream.has_source_length_ = length.has_value() && !stream.is_tunnel_;
  stream.source_left_ = length.value_or(0) - body.chain().size();
  stream.body_ = std::move(body);
  unsent_bytes_ += stream.body_.chain().size();
  if (Source* source = stream.body_.source(); source != nullptr) source->attach(&stream);
  make_ready(stream);
}

// --- scheduling

// Lets a stream that has something to send do so, or notes that its window keeps it from that.
void Session::make_ready(Stream& stream) noexcept {
  if (stream.is_doomed_ || !stream.has_output()) return;
  if (stream.send_window_ > 0) {
    stream.patience_.unblock(now());
    scheduler_.add(stream);
    return;
  }
  scheduler_.remove(stream);
  stream.patience_.block(now(), limits().write_stall_ms);
  look_ms_ = std::min(look_ms_, stream.patience_.due_ms());
}

// Fills one flush with what the windows have room for. Others get their turn before the next: what waits in the socket
// of one connection would leave the processor's caches before the peer reads it.
void Session::pump() {
  while (!scheduler_.is_empty() && !is_write_blocked_ && !is_closed_) {
    if (output().size() + kFrameHeadBytes >= limits().flush_bytes_max) {
      wants_turn_ = true;
      return;
    }
    if (send_window_ <= 0) {
      window_.block(now(), limits().write_stall_ms);
      return;
    }
    send_from(*scheduler_.next());
  }
}

// One frame of a stream, and its end if that follows. REQUIRES: open windows, room for a frame in the output. A flush
// is filled to the byte: its default is what full TLS records hold, and one byte more would be a record more.
void Session::send_from(Stream& stream) {
  const std::size_t left = static_cast<std::size_t>(limits().flush_bytes_max) - output().size() - kFrameHeadBytes;
  const std::size_t room = std::min({std::size_t{kFrameBytesMax}, static_cast<std::size_t>(stream.send_window_),
                                     static_cast<std::size_t>(send_window_), left});
  Chain& chain = stream.body_.chain();
  Source* source = stream.body_.source();
  bool is_last = source == nullptr;
  if (source != nullptr && chain.size() < room) {
    is_last = pull(stream, room);
    if (stream.is_doomed_) return;
  }
  const std::size_t size = std::min(chain.size(), room);
  is_last = is_last && size == chain.size();
  const http::Fields* trailers = is_last && source != nullptr && !stream.is_tunnel_ ? source->trailers() : nullptr;
  const bool has_trailers = trailers != nullptr && !trailers->is_empty();
  if (size > 0 || (is_last && !has_trailers)) {
    send_data(stream, size, is_last && !has_trailers ? flag::kEndStream : std::uint8_t{0});
  }
  if (has_trailers) writer().trailers(stream.id_, *trailers);
  if (is_last) return finish(stream);
  // A source may lend bytes for the time of the call alone.
  chain.make_owned();
  if (!stream.has_output()) {
    scheduler_.remove(stream);
  } else if (stream.send_window_ <= 0) {
    make_ready(stream);
  } else if (stream.priority_.is_incremental) {
    scheduler_.rotate(stream);
  }
}

// Fills the stream's chain up to `room` bytes. True: that was all.
bool Session::pull(Stream& stream, std::size_t room) {
  if (stream.is_source_ended_) return true;
  Chain& chain = stream.body_.chain();
  for (int pulls = 0; pulls < kPullsMax && chain.size() < room && !stream.is_source_waiting_; ++pulls) {
    const std::size_t before = chain.size();
    const Pull verdict = stream.body_.source()->pull(chain, room - before);
    const std::size_t more = chain.size() - before;
    unsent_bytes_ += more;
    if (stream.is_doomed_) return false;
    // A promised length is kept to the byte: too much or too little is malformed (RFC 9113 §8.1.1).
    if (stream.has_source_length_ &&
        (more > stream.source_left_ || (verdict == Pull::End && more < stream.source_left_))) {
      doom(stream, Error(ErrorKind::Invalid), Code::InternalError);
      return false;
    }
    stream.source_left_ -= more;
    switch (verdict) {
      case Pull::More: break;
      case Pull::Wait: stream.is_source_waiting_ = true; break;
      case Pull::End: stream.is_source_ended_ = true; return true;
      case Pull::Failed: doom(stream, Error(ErrorKind::Handler), Code::InternalError); return false;
    }
  }
  return false;
}

void Session::send_data(Stream& stream, std::size_t size, std::uint8_t flags) {
  net::Output& out = output();
  write_data_head(out, static_cast<std::uint32_t>(size), flags, stream.id_);
  Chain& chain = stream.body_.chain();
  for (std::size_t left = size; left > 0;) {
    const std::size_t piece = std::min(left, chain.front().size());
    left -= piece;
    if (piece == chain.front().size()) {
      out.append(chain.pop_front());
    } else {
      out.append(chain.front().prefix(piece));
      chain.drop_front(piece);
    }
  }
  stream.send_window_ -= static_cast<std::int32_t>(size);
  send_window_ -= static_cast<std::int64_t>(size);
  unsent_bytes_ -= size;
  VIOLET_ASSERT(stream.send_window_ >= 0 && send_window_ >= 0);
  stream.patience_.moved(size, limits().write_rate_min);
  window_.moved(size, limits().write_rate_min);
  control_.earn(kControlFramesPerData);
}

// Our direction has ended.
void Session::finish(Stream& stream) {
  scheduler_.remove(stream);
  stream.is_finished_ = true;
  if (stream.is_received_) {
    if (!stream.held_) over_.push_back(stream);
  } else if (is_server() && !stream.held_ && (stream.expects_continue_ || stream.is_deaf_)) {
    cut_body(stream);
  } else {
    time_reading(stream);
  }
}

// --- writing

net::Output& Session::output() {
  if (output_ == nullptr) output_ = &shared_.buffers.take_output();
  return *output_;
}

// Writes what is queued. May end in abort().
void Session::flush() noexcept {
  if (output_ == nullptr || is_closed_ || is_write_blocked_) return;
  std::uint64_t written = 0;
  switch (output_->flush(*transport_, written)) {
    case net::Output::Flushed::All:
      writing_.end();
      shared_.buffers.give_empty_output(*std::exchange(output_, nullptr));
      break;
    case net::Output::Flushed::Blocked:
      is_write_blocked_ = true;
      if (!writing_.is_running()) writing_.begin(now(), limits().write_stall_ms);
      writing_.moved(written, now(), limits().write_rate_min, limits().write_stall_ms);
      break;
    case net::Output::Flushed::Failed: abort(output_->error()); break;
  }
}

// What follows from a call of the application comes at the end of the turn, for all streams together.
void Session::later() noexcept {
  if (!is_in_turn_ || is_closed_) shared_.loop.defer(turn_end_);
}

// A peer that reads nothing is read from no more once answers to what it sends have piled up.
bool Session::wants_to_read() const noexcept {
  return !is_peer_done_ && (output_ == nullptr || !is_write_blocked_ || output_->size() < limits().unsent_bytes_max);
}

// Everything that follows from a change: ends, DATA, writing, closing, interest, time.
void Session::settle() noexcept {
  is_in_turn_ = true;
  do {
    if (has_decided_) decide_all();
    bury();
    pump();
    while (!is_closed_ && !waiting_.is_empty() && has_room_for_request()) admit(*waiting_.front());
  } while (!is_closed_ && (has_decided_ || !over_.is_empty()));
  if (is_peer_done_ && !is_write_blocked_ && !wants_turn_ && !is_closed_) {
    // Nobody is left to open a window.
    streams_.each([this](Stream& stream) {
      if (stream.has_output()) condemn(stream, Error(ErrorKind::Closed));
    });
    bury();
  }
  if (!is_closed_) {
    advance_drain();
    flush();
  }
  is_in_turn_ = false;
  if (is_closed_) return later();
  if (output_ == nullptr && !is_lingering_) {
    const bool is_over = streams_.count() == 0 && (drain_ == Drain::Final || is_leaving_);
    if (is_failing_ || is_over) return end_gently();
  }
  note_time();
  transport_->want(wants_to_read(), is_write_blocked_ || wants_turn_);
  arm();
}

}  // namespace violet::h2
