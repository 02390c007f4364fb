// h1::Session from the transport up: reading, parsing, handing up; and time.

#include "violet/h1/session.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace violet::h1 {
namespace {

Error error_of(const Parsed& parsed) {
  return Error(parsed.limit == LimitId::None ? ErrorKind::Protocol : ErrorKind::TooLarge,
               static_cast<std::int32_t>(parsed.limit), parsed.status);
}

Error timeout_of(LimitId id, int status) {
  return Error(ErrorKind::Timeout, static_cast<std::int32_t>(id), static_cast<std::uint16_t>(status));
}

}  // namespace

Session::Session(Shared& shared, Host& host, net::Transport& transport, const Connection& connection) noexcept
    : shared_(shared), host_(host), transport_(&transport), connection_(connection) {
  transport.set_owner(*this);
}

Session::~Session() { VIOLET_ASSERT(streams_.is_empty() && transport_ == nullptr); }

void Session::open() noexcept {
  transport_->want(true, false);
  reading_.begin(now(), limits().header_ms);
  arm();
}

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

void Session::on_peer_closed() noexcept {
  if (is_closed_ || is_peer_done_) return;
  // A peer that closed while we keep it waiting may have left bytes to read, which are not lost. It is gone when they
  // cannot complete what it has begun.
  const bool has_more_to_say = is_paused_ || (receiving_ != nullptr && (receiving_->is_raw_ || can_body_complete()));
  if (!has_more_to_say) on_end_of_stream();
}

// Whether the bytes that have arrived may hold the rest of the body; of a chunked one the least there can be.
bool Session::can_body_complete() const noexcept {
  constexpr std::uint64_t kCrlf = 2;
  constexpr std::uint64_t kLastChunk = 5;
  std::uint64_t needed = 0;
  switch (input_) {
    case Input::Length: needed = body_left_; break;
    case Input::ChunkData: needed = body_left_ + kCrlf + kLastChunk; break;
    case Input::ChunkEnd: needed = kCrlf + kLastChunk; break;
    case Input::ChunkLine: needed = kLastChunk; break;
    case Input::Trailers: needed = kCrlf; break;
    default: break;
  }
  const std::uint64_t kept = partial_.size();
  return kept >= needed || transport_->unread_bytes_max() >= needed - kept;
}

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
  char* to = shared_.input.lend();
  const ssize_t n = transport_->read(to, shared_.input.room());
  if (!took(n)) return;
  shared_.input.commit(static_cast<std::size_t>(n));
  received({to, to + n, &shared_.input.owner()});
}

void Session::read_into_partial() noexcept {
  const net::KeptBytes::Room room = partial_.room();
  const ssize_t n = transport_->read(room.data, room.size);
  if (!took(n)) return;
  const bool is_worth_a_look = partial_.commit(static_cast<std::size_t>(n));
  if (input_ == Input::Head && !is_paused_ && !is_worth_a_look) return;
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

// Kept bytes, once there is room for the requests in them.
void Session::resume_input() {
  is_paused_ = false;
  if (!partial_) return;
  const Ref<HeapBuffer> held = partial_.buffer();
  Bytes bytes = partial_.bytes();
  process(bytes);
  keep_rest(bytes);
}

bool Session::has_room_for_request() const noexcept {
  if (stream_count_ >= limits().pipeline_max) return false;
  if (output_ != nullptr && output_->size() >= limits().flush_bytes_max) return false;
  // Answers that are ready before their turn.
  std::uint64_t unsent_bytes = 0;
  for (const Stream* stream = first(); stream != nullptr; stream = streams_.next(*stream)) {
    unsent_bytes += stream->body_.chain().size() + (stream->early_ != nullptr ? stream->early_->size() : 0);
  }
  return unsent_bytes < limits().unsent_bytes_max;
}

// Whether a head has begun to arrive. The empty line that some clients send behind a body is none (RFC 9112 §2.2): a
// connection that has only that is idle.
bool Session::has_partial_head() const noexcept {
  if (!partial_) return false;
  const Bytes bytes = partial_.bytes();
  return std::any_of(bytes.begin, bytes.end, [](char c) { return c != '\r' && c != '\n'; });
}

bool Session::wants_to_read() const noexcept {
  if (is_peer_done_ || is_paused_ || input_ == Input::Undecided) return false;
  return receiving_ == nullptr || receiving_->owed_bytes_ < limits().receive_bytes_max;
}

// --- input states

void Session::process(Bytes& bytes) {
  bool goes_on = true;
  while (goes_on && !bytes.is_empty() && !is_closed_) {
    switch (input_) {
      case Input::Head: goes_on = process_head(bytes); break;
      case Input::Length:
      case Input::ChunkData: goes_on = process_body(bytes); break;
      case Input::Raw: goes_on = !has_tunnel() && process_body(bytes); break;
      case Input::ChunkLine: goes_on = process_chunk_line(bytes); break;
      case Input::ChunkEnd: goes_on = process_chunk_end(bytes); break;
      case Input::Trailers: goes_on = process_trailers(bytes); break;
      case Input::Undecided: return;
      case Input::Closed:
        wants_linger_ = true;
        bytes.begin = bytes.end;
        return;
    }
  }
}

bool Session::process_head(Bytes& bytes) {
  if (is_closing_) {
    // What follows a request that closes is not handled (RFC 9112 §9.6).
    input_ = Input::Closed;
    return true;
  }
  if (!has_room_for_request()) {
    if (stream_count_ < limits().pipeline_max) flush();
    if (is_closed_ || !has_room_for_request()) {
      is_paused_ = true;
      return false;
    }
  }
  Stream& stream = open_stream();
  const Parsed parsed = parse_head(bytes.begin, bytes.end, limits(), stream.exchange_->request(), stream.framing_,
                                   {&shared_.sections, &section_hint_});
  if (parsed.verdict == Verdict::More) {
    drop_stream(stream);
    return false;
  }
  if (parsed.verdict == Verdict::Bad && is_first_ && begins_http2(bytes.begin, bytes.end)) [[unlikely]] {
    drop_stream(stream);
    return process_preface(bytes);
  }
  streams_.push_back(stream);
  ++stream_count_;
  if (parsed.verdict == Verdict::Bad) {
    refuse_head(stream, error_of(parsed));
    return true;
  }
  bytes.begin = parsed.end;
  if (stream.framing_.wants_upgrade && hand_over(bytes, &stream)) [[unlikely]]
    return false;
  accept(stream);
  return !is_closed_;
}

// A whole head: decides how the body comes, and hands both up.
void Session::accept(Stream& stream) {
  is_first_ = false;
  http::Head& head = stream.exchange_->request();
  if (head.scheme.empty()) head.scheme = connection_.is_secure ? "https" : "http";
  stream.is_head_request_ = head.method == http::Method::Head;
  stream.is_http10_ = head.version == http::Version::Http10;
  stream.is_connect_ = head.method == http::Method::Connect;
  if (!stream.framing_.keeps_alive) is_closing_ = true;
  reading_.end();  // the next head has its own time
  stream.is_plain_ = stream.framing_.keeps_alive && !stream.framing_.wants_upgrade && !stream.is_http10_ &&
                     !stream.is_head_request_ && !stream.is_connect_;
  const bool has_body = stream.framing_.has_body();
  if (has_body) {
    receiving_ = &stream;
    body_left_ = stream.framing_.content_length;
    input_ = stream.framing_.is_chunked ? Input::ChunkLine : Input::Length;
    stream.expects_continue_ = head.fields.has(http::FieldId::Expect);
    // Protocols do not change in the middle of a request; a server may ignore Upgrade (RFC 9110 §7.8).
    stream.framing_.wants_upgrade = false;
  } else {
    stream.is_received_ = true;
    // The bytes behind an upgrade belong to whatever it becomes (RFC 9110 §7.8).
    if (stream.is_connect_ || stream.framing_.wants_upgrade) input_ = Input::Undecided;
  }
  stream.receiver_->on_head(head, has_body);
  if (is_closed_) return;
  if (!has_body && !stream.is_raw_ && input_ != Input::Undecided) stream.receiver_->on_end(nullptr);
  if (is_closed_) return;
  if (stream.is_done() && streams_.is_front(stream)) {
    retire(stream);
  } else if (!stream.is_received_ && stream.exchange_ != nullptr) {
    // The body is still coming; the head must not count on the block that will be read into next.
    stream.exchange_->pin();
  }
}

bool Session::process_body(Bytes& bytes) {
  Stream& stream = *receiving_;
  std::size_t size = bytes.size();
  if (input_ == Input::Raw) {
    reading_.moved(size, now(), 0, limits().half_closed_ms);
  } else {
    if (size > body_left_) size = static_cast<std::size_t>(body_left_);
    body_left_ -= size;
    reading_.moved(size, now(), limits().body_rate_min, limits().body_stall_ms);
  }
  stream.expects_continue_ = false;
  stream.owed_bytes_ += static_cast<std::uint32_t>(size);
  const char* data = bytes.begin;
  bytes.begin += size;
  if (stream.is_answered_ && !stream.is_raw_) {
    // The answer has left: the rest is read away, within bounds.
    stream.discarded_bytes_ += size;
    if (stream.discarded_bytes_ > limits().discard_bytes_max) {
      cut_body(stream);
      return true;
    }
  }
  stream.receiver_->on_data(Slice(*bytes.owner, data, size));
  if (is_closed_ || receiving_ != &stream) return !is_closed_;
  if (input_ == Input::Raw || body_left_ > 0) return true;
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
    refuse_body(error_of(parsed));
    return true;
  }
  ChunkBudget& budget = receiving_->chunk_budget_;
  budget.add(static_cast<std::uint64_t>(parsed.end - bytes.begin) + 2, line.extension_bytes, line.size);
  bytes.begin = parsed.end;
  if (budget.is_over_extensions(limits().chunk_extension_bytes_max)) {
    refuse_body(Error(ErrorKind::TooLarge, static_cast<std::int32_t>(LimitId::chunk_extension_bytes_max), 413));
    return true;
  }
  if (budget.is_over_overhead(limits().chunk_overhead_bytes_max)) {
    refuse_body(Error(ErrorKind::TooLarge, static_cast<std::int32_t>(LimitId::chunk_overhead_bytes_max), 413));
    return true;
  }
  body_left_ = line.size;
  input_ = line.size == 0 ? Input::Trailers : Input::ChunkData;
  return true;
}

bool Session::process_chunk_end(Bytes& bytes) {
  // Exactly CRLF: anything else is how chunk sizes are made to disagree (RFC 9112 §7.1).
  if (bytes.begin[0] != '\r' || (bytes.size() > 1 && bytes.begin[1] != '\n')) {
    refuse_body(Error(ErrorKind::Protocol));
    return true;
  }
  if (bytes.size() < 2) return false;
  bytes.begin += 2;
  input_ = Input::ChunkLine;
  return true;
}

bool Session::process_trailers(Bytes& bytes) {
  // Most bodies have none.
  if (bytes.size() >= 2 && bytes.begin[0] == '\r' && bytes.begin[1] == '\n') {
    bytes.begin += 2;
    end_body(nullptr);
    return true;
  }
  alignas(16) std::byte room[2048];
  Arena arena(room, sizeof room);
  http::Fields trailers(arena);
  const Parsed parsed = parse_trailers(bytes.begin, bytes.end, limits(), trailers);
  if (parsed.verdict == Verdict::More) return false;
  if (parsed.verdict == Verdict::Bad) {
    refuse_body(error_of(parsed));
    return true;
  }
  bytes.begin = parsed.end;
  end_body(&trailers);
  return true;
}

void Session::end_body(const http::Fields* trailers) {
  Stream& stream = *receiving_;
  receiving_ = nullptr;
  input_ = Input::Head;
  stream.is_received_ = true;
  reading_.end();
  stream.receiver_->on_end(trailers);
  if (!is_closed_ && stream.is_done() && streams_.is_front(stream)) retire(stream);
}

// --- what is wrong

// A head that cannot be served: answered in its turn, then the connection closes, for what follows cannot be trusted.
void Session::refuse_head(Stream& stream, Error why) {
  ++shared_.site.counters.protocol_errors;
  stream.is_head_request_ = stream.exchange_->request().method == http::Method::Head;
  stream.is_received_ = true;
  stream.framing_ = {};
  stream.framing_.keeps_alive = false;
  is_closing_ = wants_linger_ = true;
  input_ = Input::Closed;
  stream.exchange_->guard([&] { stream.exchange_->refuse(why); });
}

void Session::refuse_body(Error why) {
  ++shared_.site.counters.protocol_errors;
  Stream& stream = *receiving_;
  receiving_ = nullptr;
  stream.is_received_ = true;
  stream.framing_.keeps_alive = false;
  is_closing_ = wants_linger_ = true;
  input_ = Input::Closed;
  reading_.end();
  if (stream.exchange_ != nullptr) {
    stream.exchange_->fail_body(why);
  } else {
    abort(why);
  }
}

void Session::on_end_of_stream() noexcept {
  if (has_tunnel()) return settle();  // which finds the end again
  is_peer_done_ = true;
  if (phase_ == Phase::Lingering || streams_.is_empty()) {
    if (output_ == nullptr) {
      abort({});
      return;
    }
  }
  // A client that closed waits for no answer that has not begun; those that are under way are finished for clients that
  // have closed only their sending side.
  Stream* gone = first();
  while (gone != nullptr && gone->is_started_ && gone->is_received_) gone = streams_.next(*gone);
  if (gone != nullptr && gone->is_raw_ && !gone->reset_why_) {
    end_tunnel_input(*gone);
    return;
  }
  if (gone != nullptr && streams_.is_front(*gone) && output_ == nullptr) {
    abort(Error(ErrorKind::Closed));
    return;
  }
  is_closing_ = true;
  input_ = Input::Closed;
  while (gone != nullptr) {
    Stream* next = streams_.next(*gone);
    retire(*gone, Error(ErrorKind::Closed));
    gone = next;
  }
  settle();
}

// The peer has ended its direction of a tunnel; ours goes on until its own end.
void Session::end_tunnel_input(Stream& tunnel) noexcept {
  receiving_ = nullptr;
  input_ = Input::Closed;
  reading_.end();
  is_closing_ = true;
  tunnel.is_received_ = true;
  tunnel.receiver_->on_end(nullptr);
  settle();
}

// --- time

Session::Phase Session::next_phase() const noexcept {
  // A client that still reads an answer is not idle.
  if (streams_.is_empty() && output_ == nullptr) return has_partial_head() ? Phase::Head : Phase::Idle;
  if (receiving_ == nullptr) return Phase::Busy;
  if (receiving_->is_answered_ && streams_.is_front(*receiving_)) {
    if (!wants_to_read()) return Phase::Unused;
    if (receiving_->is_raw_) return Phase::HalfClosed;
  }
  return receiving_->is_raw_ ? Phase::Busy : Phase::Body;
}

void Session::enter(Phase phase) noexcept {
  const bool is_same = phase == phase_;
  phase_ = phase;
  switch (phase) {
    case Phase::New: break;
    case Phase::Idle: reading_.begin(now(), limits().keep_alive_ms); break;
    case Phase::Head:
      if (!is_same || !reading_.is_running()) reading_.begin(now(), limits().header_ms);
      break;
    case Phase::Body:
      // The client's time runs only while we are willing to read, and not while it waits for our 100.
      if (!wants_to_read() || receiving_->expects_continue_) {
        reading_.end();
      } else if (!is_same || !reading_.is_running()) {
        reading_.begin(now(), limits().body_grace_ms);
      }
      break;
    case Phase::Unused:
      if (!is_same) reading_.begin(now(), limits().body_unused_ms);
      break;
    case Phase::HalfClosed:
      if (!is_same) reading_.begin(now(), limits().half_closed_ms);
      break;
    case Phase::Busy: reading_.end(); break;
    case Phase::Lingering:
      if (!is_same) reading_.begin(now(), limits().linger_ms);
      break;
  }
}

void Session::arm() noexcept {
  const std::uint64_t due = std::min(reading_.due_ms(), writing_.due_ms());
  if (due == Pace::kNever) return;
  // A timer that fires too early looks again; so a busy connection never touches the wheel.
  if (timer_.is_armed() && timer_.due_ms() <= due) return;
  shared_.site.loop.timers().arm(timer_, due);
}

void Session::on_timer() noexcept {
  if (is_closed_) return;
  if (writing_.due_ms() <= now()) {
    ++shared_.site.counters.timeouts;
    abort(timeout_of(LimitId::write_stall_ms, 408));
  } else if (reading_.due_ms() <= now()) {
    time_out_read();
  } else {
    arm();
  }
}

void Session::time_out_read() noexcept {
  reading_.end();
  switch (phase_) {
    case Phase::New:
    case Phase::Idle:
      // A loop that was held up has not yet seen what came in time.
      on_readable();
      if (is_closed_ || reading_.is_running() || !streams_.is_empty()) return;
      [[fallthrough]];
    case Phase::Busy:
    case Phase::Lingering: abort(timeout_of(LimitId::keep_alive_ms, 408)); return;
    case Phase::Head: {
      ++shared_.site.counters.timeouts;
      if (has_partial_preface()) return abort(timeout_of(LimitId::header_ms, 408));
      Stream& stream = open_stream();
      streams_.push_back(stream);
      ++stream_count_;
      partial_.clear();
      refuse_head(stream, timeout_of(LimitId::header_ms, 408));
      break;
    }
    case Phase::Body:
      ++shared_.site.counters.timeouts;
      refuse_body(timeout_of(LimitId::body_rate_min, 408));
      break;
    case Phase::Unused: {
      ++shared_.site.counters.timeouts;
      // The client has its answer, and time to read it.
      Stream& stream = *receiving_;
      cut_body(stream);
      retire(stream, timeout_of(LimitId::body_unused_ms, 0));
      break;
    }
    case Phase::HalfClosed:
      ++shared_.site.counters.timeouts;
      abort(timeout_of(LimitId::half_closed_ms, 0));
      return;
  }
  settle();
}

// A handler that has answered uses what it was given, if slowly.
void Session::note_credit(std::size_t n) noexcept {
  if (phase_ == Phase::Unused) reading_.moved(n, now(), 0, limits().body_unused_ms);
}

}  // namespace violet::h1
