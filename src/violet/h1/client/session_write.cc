// h1::client::Session from the streams down: framing, writing, closing.

#include "violet/h1/client/session.h"
#include "violet/h1/writer.h"

#include <algorithm>

namespace violet::h1::client {
namespace {

using Kind = RequestFraming::Kind;

constexpr int kRoundsMax = 4;              // times that a source is asked before others get their turn
constexpr std::uint64_t kExpectMs = 1000;  // how long a 100 is waited for (RFC 9110 §10.1.1)

}  // namespace

// --- calls of the streams

void Stream::start(const http::Head& head, Body&& body) {
  if (is_started_ || session_->is_closed_) return;
  is_started_ = true;
  if (!is_sendable(head)) {
    session_->abort(Error(ErrorKind::Invalid));
    return;
  }
  session_->begin_request(*this, head, body);
}

void Stream::start_prepared(std::string_view bytes, http::Method method) {
  if (is_started_ || session_->is_closed_) return;
  is_started_ = true;
  method_ = method;
  session_->begin_prepared(*this, bytes);
}

void Stream::wake() {
  if (!is_source_waiting_) return;
  is_source_waiting_ = false;
  session_->later();
}

void Stream::credit(std::size_t n) {
  VIOLET_ASSERT(n <= owed_bytes_);
  const bool was_full = owed_bytes_ >= session_->limits().receive_bytes_max;
  owed_bytes_ -= std::min(n, owed_bytes_);
  if (was_full && owed_bytes_ < session_->limits().receive_bytes_max) session_->later();
}

// A request cannot be taken back from an HTTP/1.1 connection without the connection.
void Stream::reset(Error why) { session_->abort(why ? why : Error(ErrorKind::Cancelled)); }

const Connection& Stream::connection() const noexcept { return session_->connection_; }
Address Stream::local_address() const noexcept {
  return session_->transport_ != nullptr ? session_->transport_->local() : Address{};
}

// --- streams

bool Session::can_open() const noexcept {
  return !is_closing_ && !is_closed_ && sending() == nullptr && stream_count_ < limits().pipeline_max;
}

Stream* Session::open_stream(Receiver& receiver) {
  if (!can_open()) return nullptr;
  Stream* stream = shared_.streams.take(*this, receiver);
  streams_.push_back(*stream);
  ++stream_count_;
  return stream;
}

void Session::retire(Stream& stream, Error why) noexcept {
  stream.unlink();
  --stream_count_;
  if (stream.awaits_continue_) expect_timer_.cancel();
  if (Source* source = stream.body_.source(); source != nullptr) source->attach(nullptr);
  stream.receiver_->on_close(why);
  shared_.streams.give(&stream);
}

// --- requests

RequestFraming Session::frame_request(const http::Head& head, const Body& body) noexcept {
  const auto length = body.length();
  if (!length) return {.kind = Kind::Chunked};
  // A method that usually has a body says that it has none (RFC 9110 §8.6).
  const bool expects_body =
      head.method == http::Method::Post || head.method == http::Method::Put || head.method == http::Method::Patch;
  if (*length == 0 && !expects_body) return {.kind = Kind::None};
  return {.kind = Kind::Length, .length = *length};
}

void Session::begin_request(Stream& stream, const http::Head& head, Body& body) {
  stream.method_ = head.method;
  stream.wants_upgrade_ = head.fields.has(http::FieldId::Upgrade);
  stream.framing_ = frame_request(head, body);
  // The source of a tunnel sends once the tunnel stands.
  stream.is_tunnel_ = head.method == http::Method::Connect || stream.wants_upgrade_;
  if (stream.is_tunnel_) stream.framing_ = {};
  write_request_head(output(), head, stream.framing_);
  body.chain().make_owned();
  stream.source_left_ = body.length().value_or(0) - body.chain().size();
  stream.body_ = std::move(body);
  if (Source* source = stream.body_.source(); source != nullptr) source->attach(&stream);
  stream.awaits_continue_ =
      !stream.is_tunnel_ && !stream.body_.is_empty() && head.fields.has_member(http::FieldId::Expect, "100-continue");
  if (stream.awaits_continue_) {
    shared_.loop.timers().arm_after(expect_timer_, kExpectMs);
  } else if (!stream.is_tunnel_) {
    pump(stream);
  }
  later();
}

void Session::begin_prepared(Stream& stream, std::string_view bytes) {
  output().copy(bytes);
  stream.is_sent_ = true;
  later();
}

// The body of a request that waited for a 100.
void Session::go_on_sending(Stream& stream) {
  stream.awaits_continue_ = false;
  expect_timer_.cancel();
  pump(stream);
}

void Session::on_expect_timer() noexcept {
  Stream* stream = sending();
  if (is_closed_ || stream == nullptr || !stream->awaits_continue_) return;
  go_on_sending(*stream);
  if (!is_closed_) later();
}

// Sends what the stream has, while there is room.
void Session::pump(Stream& stream) {
  if (!stream.body_.chain().is_empty()) send_chain(stream, stream.body_.chain());
  if (stream.body_.source() != nullptr) {
    pull(stream);
  } else if (!stream.is_tunnel_) {
    end_request(stream);
  }
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
    if (stream.framing_.kind == Kind::Length) {
      // A promised length is kept to the byte: too much or too little ends the connection (RFC 9112 §6.3).
      if (chain.size() > stream.source_left_ || (verdict == Pull::End && chain.size() < stream.source_left_)) {
        abort(Error(ErrorKind::Invalid));
        return;
      }
      stream.source_left_ -= chain.size();
    }
    if (!chain.is_empty()) send_chain(stream, chain);
    switch (verdict) {
      case Pull::More: break;
      case Pull::Wait: stream.is_source_waiting_ = true; break;
      case Pull::End: end_request(stream); return;
      case Pull::Failed: abort(Error(ErrorKind::Handler)); return;
    }
  }
}

void Session::send_chain(Stream& stream, Chain& chain) {
  net::Output& out = output();
  const bool is_chunked = stream.framing_.kind == Kind::Chunked && !stream.is_raw_;
  if (is_chunked) write_chunk_line(out, chain.size());
  while (!chain.is_empty()) out.append(chain.pop_front());
  if (is_chunked) out.copy("\r\n");
}

void Session::end_request(Stream& stream) {
  if (stream.is_raw_) {
    // Our direction of a tunnel ends when what is queued has left; the other goes on until its own end.
    wants_shutdown_ = true;
  } else if (stream.framing_.kind == Kind::Chunked) {
    Source* source = stream.body_.source();
    write_last_chunk(output(), source != nullptr ? source->trailers() : nullptr);
  }
  stream.is_sent_ = true;
  if (Source* source = stream.body_.source(); source != nullptr) source->attach(nullptr);
  stream.body_ = Body();
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
    case net::Output::Flushed::All: shared_.buffers.give_empty_output(*std::exchange(output_, nullptr)); break;
    case net::Output::Flushed::Blocked: is_write_blocked_ = true; break;
    case net::Output::Flushed::Failed: abort(output_->error()); break;
  }
}

// Everything that follows from a change: sending, closing, interest.
void Session::settle() noexcept {
  is_in_turn_ = true;
  Stream* stream = sending();
  const bool may_send =
      stream != nullptr && stream->is_started_ && !stream->awaits_continue_ && (!stream->is_tunnel_ || stream->is_raw_);
  if (may_send && !is_write_blocked_ && !is_closed_) pump(*stream);
  if (!is_closed_) flush();
  if (!is_closed_ && wants_shutdown_ && output_ == nullptr) {
    wants_shutdown_ = false;
    transport_->shutdown();
  }
  // A tunnel whose peer has ended first.
  Stream* last = input_ == Input::Closed ? first() : nullptr;
  if (!is_closed_ && last != nullptr && last->is_raw_ && last->is_received_ && last->is_sent_ && output_ == nullptr) {
    retire(*last, {});
  }
  is_in_turn_ = false;
  if (is_closed_) return;
  if (is_closing_ && streams_.is_empty() && output_ == nullptr) {
    abort({});
    return;
  }
  transport_->want(input_ != Input::Closed && wants_to_read(), is_write_blocked_ || wants_turn_);
}

// A request outside a read turn leaves at the end of this one, together with those that follow.
void Session::later() noexcept {
  if (!is_in_turn_ || is_closed_) shared_.loop.defer(turn_end_);
}

void Session::on_turn_end() noexcept {
  if (!is_closed_) {
    settle();
    if (!is_closed_) return;
  }
  while (Stream* stream = first()) retire(*stream, why_ ? why_ : Error(ErrorKind::Closed));
  host_.on_session_closed(*this, why_);
}

// --- closing

void Session::drain() noexcept {
  if (is_closed_) return;
  is_closing_ = true;
  if (streams_.is_empty() && output_ == nullptr) abort({});
}

void Session::abort(Error why) noexcept {
  if (is_closed_) return;
  is_closed_ = true;
  why_ = why;
  expect_timer_.cancel();
  partial_.clear();
  if (output_ != nullptr) shared_.buffers.give_output(*std::exchange(output_, nullptr));
  std::exchange(transport_, nullptr)->close();
  shared_.loop.defer(turn_end_);
}

}  // namespace violet::h1::client
