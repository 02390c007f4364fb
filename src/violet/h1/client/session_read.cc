// h1::client::Session from the transport up: reading, parsing, handing up.

#include "violet/h1/client/session.h"
#include "violet/http/status.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace violet::h1::client {
namespace {

using Kind = ResponseFraming::Kind;

Error error_of(const Parsed& parsed) {
  return Error(parsed.limit == LimitId::None ? ErrorKind::Protocol : ErrorKind::TooLarge,
               static_cast<std::int32_t>(parsed.limit));
}

}  // namespace

Session::Session(Shared& shared, Host& host, net::Transport& transport, const Connection& connection) noexcept
    : shared_(shared), host_(host), transport_(&transport), connection_(connection) {
  transport.set_owner(*this);
}

Session::~Session() { VIOLET_ASSERT(streams_.is_empty() && transport_ == nullptr); }

void Session::open() noexcept { transport_->want(true, false); }

// --- events of the transport

void Session::on_readable() noexcept {
  if (is_closed_) return;
  if (partial_) {
    read_into_partial();
  } else {
    read_into_block();
  }
}

void Session::on_writable() noexcept {
  if (is_closed_) return;
  is_write_blocked_ = wants_turn_ = false;
  settle();
}

// Only told while we do not read: what is left to read comes first.
void Session::on_peer_closed() noexcept {}

void Session::on_broken() noexcept { abort(Error(ErrorKind::Closed)); }

// False when there is nothing to process.
bool Session::took(ssize_t n) noexcept {
  if (n > 0) [[likely]]
    return true;
  if (n == 0) {
    on_end_of_stream();
  } else if (n != -EAGAIN) {
    abort(Error(ErrorKind::System, static_cast<std::int32_t>(-n)));
  }
  return false;
}

void Session::read_into_block() noexcept {
  ReadBlock& input = shared_.buffers.input;
  char* to = input.lend();
  const ssize_t n = transport_->read(to, input.room());
  if (!took(n)) return;
  input.commit(static_cast<std::size_t>(n));
  received({to, to + n, &input.owner()});
}

void Session::read_into_partial() noexcept {
  const net::KeptBytes::Room room = partial_.room();
  const ssize_t n = transport_->read(room.data, room.size);
  if (!took(n)) return;
  const bool is_worth_a_look = partial_.commit(static_cast<std::size_t>(n));
  if (input_ == Input::Head && !is_worth_a_look) return;
  const Ref<HeapBuffer> held = partial_.buffer();
  received(partial_.bytes());
}

void Session::received(Bytes bytes) noexcept {
  is_in_turn_ = true;
  process(bytes);
  if (!bytes.is_empty() || partial_) keep_rest(bytes);
  is_in_turn_ = false;
  settle();
}

void Session::keep_rest(const Bytes& bytes) {
  if (is_closed_) {
    partial_.clear();
  } else {
    partial_.keep(bytes);
  }
}

bool Session::wants_to_read() const noexcept {
  const Stream* stream = first();
  return stream == nullptr || stream->owed_bytes_ < limits().receive_bytes_max;
}

// --- input states

void Session::process(Bytes& bytes) {
  bool goes_on = true;
  while (goes_on && !bytes.is_empty() && !is_closed_) {
    switch (input_) {
      case Input::Head: goes_on = process_head(bytes); break;
      case Input::Length:
      case Input::ChunkData:
      case Input::UntilClose:
      case Input::Raw: goes_on = process_body(bytes); break;
      case Input::ChunkLine: goes_on = process_chunk_line(bytes); break;
      case Input::ChunkEnd: goes_on = process_chunk_end(bytes); break;
      case Input::Trailers: goes_on = process_trailers(bytes); break;
      // What follows an answer that closes is nobody's.
      case Input::Closed: bytes.begin = bytes.end; return;
    }
  }
}

bool Session::process_head(Bytes& bytes) {
  Stream* stream = first();
  if (stream == nullptr || !stream->is_started_) {
    protocol_error();
    return false;
  }
  const Parsed parsed =
      parse_response(bytes.begin, bytes.end, limits(), stream->method_, stream->head_, stream->response_);
  if (parsed.verdict == Verdict::Done) {
    bytes.begin = parsed.end;
    const bool is_final = stream->head_.status >= 200 || stream->head_.status == 101;
    return is_final ? take_final(*stream) : take_informational(*stream);
  }
  stream->head_.clear();
  if (parsed.verdict == Verdict::Bad) abort(error_of(parsed));
  return false;
}

bool Session::take_informational(Stream& stream) {
  if (++stream.informational_count_ > limits().informational_max) {
    abort(Error(ErrorKind::TooLarge, static_cast<std::int32_t>(LimitId::informational_max)));
    return false;
  }
  const bool goes_on = stream.head_.status == 100 && stream.awaits_continue_;
  stream.receiver_->on_head(stream.head_, false);
  stream.head_.clear();
  if (!is_closed_ && goes_on) go_on_sending(stream);
  return !is_closed_;
}

// Where the body goes, and that there is one.
bool Session::take_final(Stream& stream) {
  const ResponseFraming& framing = stream.response_;
  if (framing.kind == Kind::Raw && stream.head_.status == 101 && !stream.wants_upgrade_) {
    protocol_error();
    return false;
  }
  if (!framing.keeps_alive && framing.kind != Kind::Raw) is_closing_ = true;
  if (stream.is_tunnel_ && framing.kind != Kind::Raw) end_request(stream);  // there will be none
  bool has_body = true;
  switch (framing.kind) {
    case Kind::None: has_body = false; break;
    case Kind::Length:
      has_body = framing.content_length > 0;
      input_ = Input::Length;
      break;
    case Kind::Chunked: input_ = Input::ChunkLine; break;
    case Kind::Close: input_ = Input::UntilClose; break;
    case Kind::Raw:
      input_ = Input::Raw;
      is_closing_ = stream.is_raw_ = true;
      break;
  }
  body_left_ = framing.content_length;
  chunk_budget_.reset();
  // A server that has answered does not want the body any more (RFC 9110 §10.1.1).
  if (stream.awaits_continue_) is_closing_ = true;
  stream.receiver_->on_head(stream.head_, has_body);
  if (is_closed_) return false;
  if (!has_body) end_body(nullptr);
  return !is_closed_;
}

bool Session::process_body(Bytes& bytes) {
  Stream& stream = *first();
  std::size_t size = bytes.size();
  const bool is_counted = input_ == Input::Length || input_ == Input::ChunkData;
  if (is_counted) {
    size = static_cast<std::size_t>(std::min<std::uint64_t>(size, body_left_));
    body_left_ -= size;
  }
  stream.owed_bytes_ += size;
  const char* data = bytes.begin;
  bytes.begin += size;
  stream.receiver_->on_data(Slice(*bytes.owner, data, size));
  if (is_closed_) return false;
  if (!is_counted || body_left_ > 0) return true;
  if (input_ == Input::ChunkData) {
    input_ = Input::ChunkEnd;
  } else {
    end_body(nullptr);
  }
  return true;
}

bool Session::process_chunk_line(Bytes& bytes) {
  ChunkLine line;
  const Parsed parsed = parse_chunk_line(bytes.begin, bytes.end, limits(), line);
  if (parsed.verdict == Verdict::More) return false;
  if (parsed.verdict == Verdict::Bad) {
    abort(error_of(parsed));
    return false;
  }
  chunk_budget_.add(static_cast<std::uint64_t>(parsed.end - bytes.begin) + 2, line.extension_bytes, line.size);
  bytes.begin = parsed.end;
  if (chunk_budget_.is_over_extensions(limits().chunk_extension_bytes_max) ||
      chunk_budget_.is_over_overhead(limits().chunk_overhead_bytes_max)) {
    abort(Error(ErrorKind::TooLarge, static_cast<std::int32_t>(LimitId::chunk_overhead_bytes_max)));
    return false;
  }
  body_left_ = line.size;
  input_ = line.size == 0 ? Input::Trailers : Input::ChunkData;
  return true;
}

bool Session::process_chunk_end(Bytes& bytes) {
  // Exactly CRLF: anything else is how chunk sizes are made to disagree (RFC 9112 §7.1).
  if (bytes.begin[0] != '\r' || (bytes.size() > 1 && bytes.begin[1] != '\n')) {
    protocol_error();
    return false;
  }
  if (bytes.size() < 2) return false;
  bytes.begin += 2;
  input_ = Input::ChunkLine;
  return true;
}

bool Session::process_trailers(Bytes& bytes) {
  alignas(16) std::byte room[2048];
  Arena arena(room, sizeof room);
  http::Fields trailers(arena);
  const Parsed parsed = parse_trailers(bytes.begin, bytes.end, limits(), trailers);
  if (parsed.verdict == Verdict::More) return false;
  if (parsed.verdict == Verdict::Bad) {
    abort(error_of(parsed));
    return false;
  }
  bytes.begin = parsed.end;
  end_body(trailers.is_empty() ? nullptr : &trailers);
  return true;
}

void Session::end_body(const http::Fields* trailers) {
  Stream& stream = *first();
  // Requests behind an answer that closes are not answered on this connection (RFC 9112 §9.6), and one that is answered
  // before it was sent leaves nobody knowing where the next begins.
  const bool is_last = !stream.response_.keeps_alive || !stream.is_sent_;
  input_ = is_last ? Input::Closed : Input::Head;
  is_closing_ = is_closing_ || is_last;
  stream.is_received_ = true;
  stream.receiver_->on_end(trailers);
  if (is_closed_) return;
  retire(stream, stream.is_sent_ ? Error() : Error(ErrorKind::Closed));
  if (is_last) abort(Error(ErrorKind::Closed));
}

// The peer's side of the connection has ended, and with it what it was sending.
void Session::end_with_connection(Stream& stream) {
  const bool is_tunnel = input_ == Input::Raw;
  input_ = Input::Closed;
  stream.is_received_ = true;
  stream.receiver_->on_end(nullptr);
  if (is_closed_) return;
  // Our direction of a tunnel goes on until its source has ended.
  if (is_tunnel && !stream.is_sent_ && stream.body_.source() != nullptr) return;
  retire(stream, {});
  abort(Error(ErrorKind::Closed));
}

void Session::on_end_of_stream() noexcept {
  if (input_ != Input::UntilClose && input_ != Input::Raw) {
    abort(Error(ErrorKind::Closed));
    return;
  }
  is_in_turn_ = true;
  end_with_connection(*first());
  is_in_turn_ = false;
  settle();
}

}  // namespace violet::h1::client
