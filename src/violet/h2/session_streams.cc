// h2::Session: streams from their head to their end.

#include "violet/h2/message/kept.h"
#include "violet/h2/message/read.h"
#include "violet/h2/message/upgrade.h"
#include "violet/h2/session.h"
#include "violet/http/status.h"

#include <algorithm>

namespace violet::h2 {
namespace {

// A kept slice of fewer bytes is copied out of its block when its stream has others: a block must not be pinned by a
// few bytes each time.
constexpr std::size_t kCopyMax = 2048;

std::uint32_t ordinal(std::uint32_t id) noexcept { return (id + 1) / 2; }

Error limit_error(LimitId id, int status) noexcept {
  return Error(ErrorKind::TooLarge, static_cast<std::int32_t>(id), static_cast<std::uint16_t>(status));
}

// Of a head that says too much.
Error error_of(Reading reading) noexcept {
  if (reading == Reading::TargetTooLong) return limit_error(LimitId::request_line_bytes_max, 414);
  return limit_error(reading == Reading::TooManyBytes ? LimitId::field_bytes_max : LimitId::field_count_max, 431);
}

// The receiver of requests that nobody has taken yet.
Receiver& nobody() noexcept {
  struct Nobody final : Receiver {
    void on_head(http::Head&, bool) override {}
    void on_data(Slice) override {}
    void on_end(const http::Fields*) override {}
    void on_close(Error) noexcept override {}
  };
  static constinit Nobody one;
  return one;
}

}  // namespace

// --- heads

Stream& Session::open_stream(std::uint32_t id) {
  Stream* stream = shared_.take_spare_stream();
  if (stream != nullptr) [[likely]] {
    stream->reuse(*this);
  } else {
    stream = shared_.streams.take(*this);
    stream->exchange_ = &shared_.site->exchanges.open(*stream);
    stream->receiver_ = stream->exchange_;
  }
  begin_stream(*stream, id);
  return *stream;
}

void Session::begin_stream(Stream& stream, std::uint32_t id) noexcept {
  stream.id_ = id;
  stream.send_window_ = static_cast<std::int32_t>(peer_.window);
  stream.receive_window_ = receive_window();
  streams_.insert(stream);
}

// What a peer may send on a new stream. Until it has seen our settings it may use the default.
std::int32_t Session::receive_window() const noexcept {
  const std::uint64_t window = std::min<std::uint64_t>(limits().receive_bytes_max, kWindowMax);
  return static_cast<std::int32_t>(is_settings_known_ ? window : std::max<std::uint64_t>(window, kWindowDefault));
}

void Session::on_request(std::uint32_t id, bool ends_stream, bool depends_on_itself, std::string_view block) {
  if (id % 2 == 0) return fail(Code::ProtocolError);
  if (id <= last_peer_id_) return on_late_head(id, block);
  closed_.advance(ordinal(id) - ordinal(last_peer_id_));
  last_peer_id_ = id;
  if (drain_ == Drain::Final) return refuse_stream(id, block);
  if (streams_.count() >= limits().h2_streams_max) {
    refuse_stream(id, block);
    static_cast<void>(charge_death());
    return;
  }
  control_.earn(kControlFramesPerRequest);
  if (!has_room_for_request()) [[unlikely]] {
    if (!is_closed_) on_waiting_request(id, ends_stream, depends_on_itself, block);
    return;
  }
  Stream& stream = open_stream(id);
  http::Head& head = stream.exchange_->request();
  hpack::Section section(head.fields);
  const Reading reading = read_head(stream, ends_stream, block, section, head);
  if (reading == Reading::Good && !depends_on_itself) [[likely]] {
    accept(stream, ends_stream, section.has(http::FieldId::Priority), section.has(http::FieldId::Expect));
  } else if (reading == Reading::Malformed || reading == Reading::Good) {
    stream_error(stream, Code::ProtocolError);
  } else if (reading != Reading::Broken) {
    refuse_head(stream, ends_stream, error_of(reading));
  }
}

// A request's block into `head`, and what it says of the body into the stream.
Reading Session::read_head(Stream& stream, bool ends_stream, std::string_view block, hpack::Section& section,
                           http::Head& head) {
  const auto verdict =
      decoder_.decode(block, {.bytes_max = limits().field_bytes_max, .count_max = limits().field_count_max}, section);
  if (verdict == hpack::Verdict::Broken) {
    fail(Code::CompressionError);
    return Reading::Broken;
  }
  std::optional<std::uint64_t> length;
  const Reading reading = read_request(section, limits().request_line_bytes_max, true, head, length);
  if (verdict != hpack::Verdict::Done)
    return verdict == hpack::Verdict::OverBytes ? Reading::TooManyBytes : Reading::TooManyFields;
  if (reading == Reading::Good && ends_stream && length.value_or(0) > 0) return Reading::Malformed;
  stream.has_length_ = length.has_value();
  stream.length_left_ = length.value_or(0);
  return reading;
}

// So much is unsent already that this request has to wait before it may add to it. What is sound of it is kept;
// anything else needs no room.
void Session::on_waiting_request(std::uint32_t id, bool ends_stream, bool depends_on_itself, std::string_view block) {
  Stream& stream = *shared_.streams.take(*this);
  stream.receiver_ = &nobody();
  begin_stream(stream, id);
  shared_.scratch.reset();
  http::Head head(shared_.scratch);
  hpack::Section section(head.fields);
  const Reading reading = read_head(stream, ends_stream, block, section, head);
  if (reading == Reading::Broken) return;
  if (reading == Reading::Malformed || depends_on_itself) return stream_error(stream, Code::ProtocolError);
  if (reading != Reading::Good) return stream_error(stream, Code::EnhanceYourCalm);
  stream.is_received_ = ends_stream;
  stream.held_ = std::make_unique<Stream::Held>();
  stream.held_->is_waiting = true;
  stream.held_->ends_with_head = stream.held_->is_ended = ends_stream;
  stream.held_->head = keep(head);
  waiting_.push_back(stream);
}

// Takes up a request that has waited, with what has come of its body.
void Session::admit(Stream& stream) {
  stream.unlink();
  const std::unique_ptr<Stream::Held> held = std::move(stream.held_);
  stream.exchange_ = &shared_.site->exchanges.open(stream);
  stream.receiver_ = stream.exchange_;
  http::Head& head = stream.exchange_->request();
  restore(held->head, head);
  const bool has_expect = head.fields.has(http::FieldId::Expect) && held->data.is_empty();
  accept(stream, held->ends_with_head, head.fields.has(http::FieldId::Priority), has_expect);
  if (is_closed_ || held->ends_with_head) return;
  if (stream.held_) {
    // A CONNECT: it waits on, for the decision.
    stream.held_->data = std::move(held->data);
    stream.held_->is_ended = stream.is_received_ = held->is_ended;
    return;
  }
  release_held(stream, *held);
}

bool Session::has_room_for_request() {
  const auto unsent = [this] { return unsent_bytes_ + (output_ != nullptr ? output_->size() : 0); };
  if (unsent() < limits().flush_bytes_max) [[likely]]
    return true;
  pump();
  if (output_ != nullptr && output_->size() >= limits().flush_bytes_max) flush();
  // Bytes that wait for the transport or for the connection's window: a further answer would wait behind them. Those
  // that wait for the windows of their streams keep nobody else, within bounds.
  const bool is_blocked = is_write_blocked_ || send_window_ <= 0;
  return !is_closed_ && unsent() < (is_blocked ? limits().flush_bytes_max : limits().unsent_bytes_max);
}

// HEADERS of a stream that is over, or was passed by (RFC 9113 §5.1, §5.1.1).
void Session::on_late_head(std::uint32_t id, std::string_view block) {
  if (!skip_block(block)) return;
  switch (closed_.past(ordinal(last_peer_id_) - ordinal(id))) {
    case ClosedStreams::Past::NeverUsed: fail(Code::ProtocolError); break;
    case ClosedStreams::Past::Ended: fail(Code::StreamClosed); break;
    case ClosedStreams::Past::ResetByUs:
    case ClosedStreams::Past::Forgotten: static_cast<void>(charge_control()); break;
  }
}

// A whole and proper head: decides how the body comes, and hands both up.
void Session::accept(Stream& stream, bool ends_stream, bool has_priority, bool has_expect) {
  http::Head& head = stream.exchange_->request();
  stream.is_head_request_ = head.method == http::Method::Head;
  stream.is_connect_ = head.method == http::Method::Connect;
  stream.is_received_ = ends_stream;
  if (has_priority) {
    stream.priority_ = parse_priority(head.fields.get(http::FieldId::Priority));
    uses_priorities_ = true;
  } else {
    // To a client that says nothing of priorities, streams are alike (RFC 9218 §10 leaves it to us).
    stream.priority_ = {.urgency = 3, .is_incremental = !uses_priorities_};
  }
  if (early_priorities_) [[unlikely]] {
    for (const EarlyPriority& early : *early_priorities_) {
      if (early.id == stream.id_) stream.priority_ = early.priority;
    }
  }
  const bool has_body = !ends_stream && !stream.is_connect_;
  if (has_body) {
    stream.expects_continue_ = has_expect;
    time_reading(stream);
  }
  if (stream.is_connect_) {
    // What follows belongs to whatever it becomes.
    stream.held_ = std::make_unique<Stream::Held>();
    stream.held_->is_ended = ends_stream;
    stream.held_->is_extended = !head.protocol.empty();
  }
  idle_.end();
  stream.receiver_->on_head(head, has_body);
  if (is_closed_ || !ends_stream || stream.is_doomed_) return;
  if (!stream.is_connect_) stream.receiver_->on_end(nullptr);
  if (stream.is_done() && !stream.is_doomed_ && !stream.held_) retire(stream);
}

// Stream 1 is the request that came in HTTP/1.1 (RFC 7540 §3.2).
void Session::accept_upgraded(const http::Head& request) {
  last_peer_id_ = 1;
  closed_.advance(1);
  Stream& stream = open_stream(1);
  http::Head& head = stream.exchange_->request();
  copy_request(request, head);
  accept(stream, true, head.fields.has(http::FieldId::Priority), false);
}

// Answered without the application; what may follow of the request is not handed up.
void Session::refuse_head(Stream& stream, bool ends_stream, Error why) {
  ++shared_.site->counters.protocol_errors;
  stream.is_head_request_ = stream.exchange_->request().method == http::Method::Head;
  stream.is_received_ = ends_stream;
  stream.is_deaf_ = true;
  stream.priority_ = {};
  idle_.end();
  stream.exchange_->guard([&] { stream.exchange_->refuse(why); });
  if (!is_closed_ && stream.is_done() && !stream.is_doomed_) retire(stream);
}

// Not taken at all, and safe to send again (§8.7).
void Session::refuse_stream(std::uint32_t id, std::string_view block) {
  if (!skip_block(block)) return;
  closed_.note_reset(0);
  write_reset(output(), id, Code::RefusedStream);
}

// Keeps the table in step with a block that nobody wants (§4.3). False: failed.
bool Session::skip_block(std::string_view block) {
  shared_.scratch.reset();
  http::Fields fields(shared_.scratch);
  hpack::Section section(fields);
  if (decoder_.decode(block, {}, section) != hpack::Verdict::Broken) return true;
  fail(Code::CompressionError);
  return false;
}

void Session::on_response(Stream& stream, bool ends_stream, std::string_view block) {
  shared_.scratch.reset();
  http::Head head(shared_.scratch);
  hpack::Section section(head.fields);
  const auto verdict =
      decoder_.decode(block, {.bytes_max = limits().field_bytes_max, .count_max = limits().field_count_max}, section);
  if (verdict == hpack::Verdict::Broken) return fail(Code::CompressionError);
  if (verdict != hpack::Verdict::Done) return stream_error(stream, Code::EnhanceYourCalm);
  std::optional<std::uint64_t> length;
  if (read_response(section, head, length) != Reading::Good) return stream_error(stream, Code::ProtocolError);
  if (http::is_informational(head.status)) {
    // Nothing ends with a head that only informs (§8.1), and it comes to an answer some time.
    if (++stream.informational_count_ > limits().informational_max) return stream_error(stream, Code::EnhanceYourCalm);
    if (ends_stream) return stream_error(stream, Code::ProtocolError);
    stream.receiver_->on_head(head, false);
    return;
  }
  stream.has_head_ = true;
  stream.has_length_ = length && !stream.is_head_request_ && !http::is_bodyless(head.status);
  stream.length_left_ = length.value_or(0);
  stream.receiver_->on_head(head, !ends_stream);
  if (ends_stream && !is_closed_ && !stream.is_doomed_) end_body(stream, nullptr);
}

void Session::on_trailers(Stream& stream, std::string_view block) {
  shared_.scratch.reset();
  http::Fields fields(shared_.scratch);
  hpack::Section section(fields);
  const auto verdict =
      decoder_.decode(block, {.bytes_max = limits().trailer_bytes_max, .count_max = limits().field_count_max}, section);
  if (verdict == hpack::Verdict::Broken) return fail(Code::CompressionError);
  if (verdict != hpack::Verdict::Done) {
    stream.is_received_ = true;
    return refuse_body(
        stream,
        limit_error(verdict == hpack::Verdict::OverBytes ? LimitId::trailer_bytes_max : LimitId::field_count_max, 431));
  }
  // A tunnel carries DATA alone (§8.5).
  if (!read_trailers(section) || stream.is_connect_) return stream_error(stream, Code::ProtocolError);
  if (stream.held_) stream.held_->trailers = keep(fields);
  end_body(stream, &fields);
}

// --- bodies

void Session::deliver(Stream& stream, Slice data) {
  const auto size = static_cast<std::uint32_t>(data.size());
  if (stream.has_length_) {
    if (size > stream.length_left_) return stream_error(stream, Code::ProtocolError);
    stream.length_left_ -= size;
  }
  stream.expects_continue_ = false;
  stream.reading_.moved(size, now(), stream.is_tunnel_ ? 0 : limits().body_rate_min,
                        stream.is_tunnel_ ? limits().half_closed_ms : limits().body_stall_ms);
  const bool is_small = size < kCopyMax;
  if (stream.held_) {
    stream.held_->data.append(is_small ? Slice::of(std::string(data.text())) : std::move(data));
    return;
  }
  if (is_server() && stream.is_finished_ && !stream.is_tunnel_) {
    // The answer has left: the rest is read away, within bounds.
    stream.discarded_bytes_ += size;
    if (stream.discarded_bytes_ > limits().discard_bytes_max) return cut_body(stream);
  }
  if (stream.is_deaf_) return return_to_peer(stream, size);
  if (stream.owed_bytes_ > 0 && is_small) data = Slice::of(std::string(data.text()));
  stream.owed_bytes_ += size;
  stream.receiver_->on_data(std::move(data));
  time_reading(stream);
}

void Session::end_body(Stream& stream, const http::Fields* trailers) {
  if (stream.has_length_ && stream.length_left_ != 0) return stream_error(stream, Code::ProtocolError);
  stream.is_received_ = true;
  time_reading(stream);
  if (stream.held_) {
    stream.held_->is_ended = true;
    return;
  }
  if (!stream.is_deaf_) stream.receiver_->on_end(trailers);
  if (stream.is_done() && !stream.is_doomed_ && !is_closed_) retire(stream);
}

// Body or trailers that cannot be taken: whoever waits for them hears why, and so does the client if nothing has left.
void Session::refuse_body(Stream& stream, Error why) {
  stream.is_deaf_ = true;
  if (stream.is_finished_) return cut_body(stream);
  if (stream.exchange_ == nullptr) return doom(stream, why, Code::Cancel);
  stream.exchange_->fail_body(why);
  if (stream.is_done() && !stream.is_doomed_ && !is_closed_) retire(stream);
}

void Session::decide_all() {
  has_decided_ = false;
  for (;;) {
    Stream* decided = nullptr;
    streams_.each([&](Stream& stream) {
      if (stream.held_ && stream.is_started_ && !stream.is_doomed_) decided = &stream;
    });
    if (decided == nullptr || is_closed_) return;
    decide(*decided);
  }
}

// What a CONNECT has become is known: the bytes behind it go where they belong.
void Session::decide(Stream& stream) {
  const std::unique_ptr<Stream::Held> held = std::move(stream.held_);
  if (!stream.is_tunnel_) stream.is_deaf_ = true;
  const bool is_ended = held->is_ended;
  release_held(stream, *held);
  if (!is_ended && !is_closed_ && stream.is_finished_ && stream.is_deaf_) cut_body(stream);
}

// Hands up what came before there was somebody to take it. The stream may be gone afterwards.
void Session::release_held(Stream& stream, Stream::Held& held) {
  while (!held.data.is_empty() && !stream.is_doomed_ && !is_closed_) {
    Slice data = held.data.pop_front();
    const auto size = static_cast<std::uint32_t>(data.size());
    if (stream.is_deaf_) {
      return_to_peer(stream, size);
    } else {
      stream.owed_bytes_ += size;
      stream.receiver_->on_data(std::move(data));
    }
  }
  if (is_closed_ || stream.is_doomed_) return;
  if (!held.is_ended) return time_reading(stream);
  shared_.scratch.reset();
  http::Fields trailers(shared_.scratch);
  restore(held.trailers, trailers);
  // Its length was looked at when it came.
  stream.has_length_ = false;
  end_body(stream, trailers.is_empty() ? nullptr : &trailers);
}

// --- windows of ours, and the time that a peer has to use them

void Session::return_to_peer(std::uint32_t bytes) {
  returned_bytes_ += bytes;
  if (returned_bytes_ < limits().h2_window_bytes / 2 && receive_window_ >= kFrameBytesMax) return;
  write_window_update(output(), 0, returned_bytes_);
  receive_window_ += std::exchange(returned_bytes_, 0);
}

void Session::return_to_peer(Stream& stream, std::uint32_t bytes) {
  stream.returned_bytes_ += bytes;
  if (stream.is_received_ || stream.is_doomed_ || stream.returned_bytes_ == 0) return;
  if (stream.returned_bytes_ < limits().receive_bytes_max / 2) return;
  write_window_update(output(), stream.id_, stream.returned_bytes_);
  stream.receive_window_ += static_cast<std::int32_t>(std::exchange(stream.returned_bytes_, 0));
}

void Session::time_reading(Stream& stream) noexcept {
  const auto wait_for = [&](Stream::Waiting what, std::uint64_t ms) {
    if (stream.waits_for_ == what && stream.reading_.is_running()) return;
    stream.waits_for_ = what;
    stream.reading_.begin(now(), ms);
    look_ms_ = std::min(look_ms_, stream.reading_.due_ms());
  };
  // Bytes that we keep the peer's window closed for.
  const bool is_held = stream.owed_bytes_ > limits().receive_bytes_max / 2;
  const bool waits_for_use = is_held && stream.is_finished_;
  const bool waits_for_nobody = stream.is_received_ || !is_server() || (stream.is_tunnel_ && !stream.is_finished_);
  if (waits_for_nobody || (!waits_for_use && (is_held || stream.expects_continue_))) {
    stream.reading_.end();
  } else if (waits_for_use) {
    wait_for(Stream::Waiting::Use, limits().body_unused_ms);
  } else if (stream.is_tunnel_) {
    wait_for(Stream::Waiting::TunnelEnd, limits().half_closed_ms);
  } else {
    wait_for(Stream::Waiting::Body, limits().body_grace_ms);
  }
}

// --- ends

void Session::retire(Stream& stream, Error why) noexcept {
  streams_.remove(stream);
  scheduler_.remove(stream);
  stream.unlink();
  if (receiving_ == &stream) receiving_ = nullptr;
  unsent_bytes_ -= stream.body_.chain().size();
  // The usual stream goes on to the next request with its exchange, without a way through the pools.
  if (stream.is_reusable() && !why && shared_.wants_spare_stream() && stream.exchange_->reopen()) [[likely]] {
    shared_.give_spare_stream(stream);
    return;
  }
  if (Source* source = stream.body_.source(); source != nullptr) source->attach(nullptr);
  stream.receiver_->on_close(why);
  shared_.streams.give(&stream);
}

void Session::stream_error(Stream& stream, Code code) {
  if (is_server()) ++shared_.site->counters.protocol_errors;
  write_reset(output(), stream.id_, code);
  if (is_server()) closed_.note_reset(ordinal(last_peer_id_) - ordinal(stream.id_));
  retire(stream, Error(ErrorKind::Protocol, static_cast<std::int32_t>(code)));
  // A peer may not make us end streams for it without end (§10.5).
  static_cast<void>(charge_death());
}

// A stream that ends at the next safe moment, without a word to the peer.
void Session::condemn(Stream& stream, Error why) noexcept {
  // One that is over has nothing left to fail.
  if (stream.is_doomed_ || (stream.is_done() && !stream.held_)) return;
  scheduler_.remove(stream);
  stream.unlink();  // it may wait for room
  stream.is_doomed_ = true;
  stream.why_ = why;
  over_.push_back(stream);
  later();
}

void Session::doom(Stream& stream, Error why, Code code) {
  if (stream.is_doomed_ || stream.is_done()) return;
  condemn(stream, why);
  if (stream.id_ == 0) return;  // of a client, and not started
  write_reset(output(), stream.id_, code);
  if (is_server()) closed_.note_reset(ordinal(last_peer_id_) - ordinal(stream.id_));
}

void Session::bury() noexcept {
  while (Stream* stream = over_.front()) retire(*stream, stream->why_);
}

// The answer is complete, and the rest of the request is not worth waiting for (§8.1).
void Session::cut_body(Stream& stream) { doom(stream, {}, Code::NoError); }

// --- a client's

Stream* Session::request(Receiver& receiver) {
  if (is_leaving() || is_server() || next_id_ > kStreamIdMax || streams_.count() >= peer_.streams_max) return nullptr;
  Stream* stream = shared_.streams.take(*this);
  stream->receiver_ = &receiver;
  streams_.insert(*stream);
  return stream;
}

}  // namespace violet::h2
