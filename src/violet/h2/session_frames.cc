// h2::Session: what each frame means (RFC 9113 §6).

#include "violet/h2/message/priority.h"
#include "violet/h2/session.h"

#include <algorithm>
#include <vector>

namespace violet::h2 {
namespace {

constexpr std::uint32_t kSettingsPerToken = 8;  // a frame of many costs more than one of few
constexpr std::uint32_t kFrameSizeLeast = 16'384;
constexpr std::uint32_t kFrameSizeMost = 16'777'215;

// The reason that a receiver hears when its peer has reset the stream.
Error error_of_reset(std::uint32_t code) noexcept {
  if (code == static_cast<std::uint32_t>(Code::RefusedStream)) return Error(ErrorKind::Refused);
  return Error(ErrorKind::Reset, static_cast<std::int32_t>(code));
}

}  // namespace

// --- field blocks

void Session::on_headers(std::string_view payload) {
  std::size_t pad = 0;
  if (frame_.has(flag::kPadded)) {
    if (payload.empty()) return fail(Code::FrameSizeError);
    pad = static_cast<unsigned char>(payload[0]);
    payload.remove_prefix(1);
  }
  bool depends_on_itself = false;
  if (frame_.has(flag::kPriority)) {
    // The priorities of RFC 7540 are read over (§5.3.2).
    if (payload.size() < 5) return fail(Code::FrameSizeError);
    depends_on_itself = (read_u32(payload.data()) & kStreamIdMax) == frame_.stream;
    payload.remove_prefix(5);
  }
  if (pad > payload.size()) return fail(Code::ProtocolError);
  payload.remove_suffix(pad);
  const bool ends_stream = frame_.has(flag::kEndStream);
  if (frame_.has(flag::kEndHeaders)) [[likely]]
    return on_block(frame_.stream, ends_stream, depends_on_itself, payload);
  block_ = payload;
  block_stream_ = frame_.stream;
  block_ends_stream_ = ends_stream;
  block_depends_on_itself_ = depends_on_itself;
  continuation_count_ = 0;
}

void Session::on_continuation(std::string_view payload) {
  if (++continuation_count_ > limits().h2_continuations_max)
    return fail(Code::EnhanceYourCalm, LimitId::h2_continuations_max);
  block_ += payload;
  if (!frame_.has(flag::kEndHeaders)) return;
  std::string block = std::exchange(block_, {});
  const std::size_t size = block.size();
  block.append(kScanPadding, '\0');
  on_block(std::exchange(block_stream_, 0), block_ends_stream_, block_depends_on_itself_, {block.data(), size});
}

void Session::on_block(std::uint32_t id, bool ends_stream, bool depends_on_itself, std::string_view block) {
  Stream* stream = streams_.find(id);
  if (stream == nullptr && is_server()) return on_request(id, ends_stream, depends_on_itself, block);
  if (stream == nullptr) {
    if (skip_block(block)) on_late_frame(id, true);
    return;
  }
  if (stream->is_doomed_) {
    skip_block(block);
    return;
  }
  if (stream->is_received_) {
    if (skip_block(block)) stream_error(*stream, Code::StreamClosed);
    return;
  }
  if (!is_server() && !stream->has_head_) return on_response(*stream, ends_stream, block);
  if (ends_stream) return on_trailers(*stream, block);
  if (skip_block(block)) stream_error(*stream, Code::ProtocolError);
}

// --- priorities

void Session::on_priority(std::string_view payload) {
  if (!charge_control()) return;
  // A stream cannot depend on itself (RFC 7540 §5.3.1), and nothing else of these priorities is used (§5.3.2).
  if ((read_u32(payload.data()) & kStreamIdMax) != frame_.stream) return;
  if (Stream* stream = streams_.find(frame_.stream); stream != nullptr) {
    if (!stream->is_doomed_) stream_error(*stream, Code::ProtocolError);
  } else {
    fail(Code::ProtocolError);
  }
}

// RFC 9218 §7.1.
void Session::on_priority_update(std::string_view payload) {
  const std::uint32_t id = read_u32(payload.data()) & kStreamIdMax;
  if (!is_server() || id % 2 == 0) return fail(Code::ProtocolError);
  if (!charge_control()) return;
  uses_priorities_ = true;
  Stream* stream = streams_.find(id);
  if (stream == nullptr && id > last_peer_id_) return keep_priority(id, parse_priority(payload.substr(4)));
  if (stream == nullptr || stream->is_doomed_) return;
  const bool is_ready = stream->is_scheduled_;
  if (is_ready) scheduler_.remove(*stream);
  stream->priority_ = parse_priority(payload.substr(4));
  if (is_ready) scheduler_.add(*stream);
}

// The latest one for a stream that is still to come (RFC 9218 §7.1), as far as such streams would be taken.
void Session::keep_priority(std::uint32_t id, Priority priority) {
  if (!early_priorities_) early_priorities_ = std::make_unique<std::vector<EarlyPriority>>();
  auto& all = *early_priorities_;
  std::erase_if(all, [&](const EarlyPriority& kept) { return kept.id == id || kept.id <= last_peer_id_; });
  if (all.size() < limits().h2_streams_max) all.push_back({id, priority});
}

// --- streams that end or never were

void Session::on_reset(std::string_view payload) {
  const std::uint32_t code = read_u32(payload.data());
  const std::uint32_t id = frame_.stream;
  Stream* stream = streams_.find(id);
  if (stream == nullptr) {
    // Begun and ended in one turn: nobody can have seen the answer that this stream was reset after.
    if (is_server() && id > turn_id_ && id <= last_peer_id_) {
      static_cast<void>(charge_death());
    } else {
      on_late_frame(id, false);
    }
    return;
  }
  // A peer that has all of the answer may leave its own end away.
  const bool has_all = is_server() ? stream->is_finished_ : stream->is_received_;
  if (!(has_all ? charge_control() : charge_death())) return;
  const bool is_well = has_all && code == static_cast<std::uint32_t>(Code::NoError);
  retire(*stream, is_well ? Error() : error_of_reset(code));
}

// A frame of a stream that is not there. `is_error`: the peer may not send it on a stream that has ended.
void Session::on_late_frame(std::uint32_t id, bool is_error) {
  const bool is_ours = (id % 2 == 1) != is_server();
  const bool is_idle = is_ours ? id >= next_id_ : id > last_peer_id_;
  if (is_idle) return fail(Code::ProtocolError);
  if (is_error && !is_ours) {
    const auto past = closed_.past((last_peer_id_ - id) / 2);
    if (past == ClosedStreams::Past::Ended || past == ClosedStreams::Past::NeverUsed) return fail(Code::StreamClosed);
  }
  // On its way while the stream ended (§5.1).
  static_cast<void>(charge_control());
}

// --- settings

void Session::on_settings(std::string_view payload) {
  if (frame_.has(flag::kAck)) return on_settings_ack();
  const auto count = static_cast<std::uint32_t>(payload.size() / 6);
  if (has_settings_ && !charge_control(1 + count / kSettingsPerToken)) return;
  if (!has_settings_) head_.end();
  has_settings_ = true;
  if (!apply_settings(payload)) return;
  write_settings_ack(output());
}

// False: failed.
bool Session::apply_settings(std::string_view payload) {
  std::uint32_t window = peer_.window;
  for (; payload.size() >= 6; payload.remove_prefix(6)) {
    const auto setting = static_cast<Setting>(read_u16(payload.data()));
    const std::uint32_t value = read_u32(payload.data() + 2);
    if (setting == Setting::InitialWindowSize) {
      if (value > kWindowMax) {
        fail(Code::FlowControlError);
        return false;
      }
      window = value;
    } else if (!apply_setting(setting, value)) {
      fail(Code::ProtocolError);
      return false;
    }
  }
  return apply_window(window);
}

// Settings that nobody knows are ignored (§6.5.2).
bool Session::apply_setting(Setting setting, std::uint32_t value) {
  switch (setting) {
    case Setting::HeaderTableSize: encoder_.set_peer_table_bytes_max(value); return true;
    case Setting::EnablePush: return value <= (is_server() ? 1u : 0u);
    case Setting::MaxConcurrentStreams: peer_.streams_max = value; return true;
    case Setting::NoRfc7540Priorities: return value <= 1;
    case Setting::MaxFrameSize: return value >= kFrameSizeLeast && value <= kFrameSizeMost;
    case Setting::EnableConnectProtocol:
      // Once given it cannot be taken back (RFC 8441 §3).
      if (value > 1 || (peer_.enables_connect && value == 0)) return false;
      peer_.enables_connect = value == 1;
      return true;
    default: return true;
  }
}

// Windows of streams under way move along, and may become negative (§6.9.2).
bool Session::apply_window(std::uint32_t window) {
  const std::int64_t change = static_cast<std::int64_t>(window) - peer_.window;
  peer_.window = window;
  if (change == 0) return true;
  bool is_over = false;
  streams_.each([&](Stream& stream) {
    const std::int64_t sum = stream.send_window_ + change;
    is_over = is_over || sum > kWindowMax;
    stream.send_window_ = static_cast<std::int32_t>(std::min<std::int64_t>(sum, kWindowMax));
    make_ready(stream);
  });
  if (is_over) fail(Code::FlowControlError);
  return !is_over;
}

// Until the peer has seen our window it may use the default one; see open_stream().
void Session::on_settings_ack() noexcept {
  if (is_settings_known_) {
    static_cast<void>(charge_control());
    return;
  }
  is_settings_known_ = true;
  const auto window = static_cast<std::int64_t>(std::min<std::uint64_t>(limits().receive_bytes_max, kWindowMax));
  if (window >= kWindowDefault) return;
  streams_.each([&](Stream& stream) { stream.receive_window_ -= static_cast<std::int32_t>(kWindowDefault - window); });
}

// --- the connection

void Session::on_ping(std::string_view payload) {
  if (frame_.has(flag::kAck)) {
    if (drain_ == Drain::Announced && payload == kDrainPing) {
      leaving_.end();
      is_drain_seen_ = true;
    } else {
      static_cast<void>(charge_control());
    }
    return;
  }
  if (charge_control()) write_ping(output(), flag::kAck, payload);
}

void Session::on_goaway(std::string_view payload) {
  if (!charge_control()) return;
  if (is_server()) {
    // A client's is about streams of ours, and there are none. It gets what it has asked for, and is not waited for
    // long.
    is_client_leaving_ = true;
    idle_.end();
    return;
  }
  is_leaving_ = true;
  // What the server has not begun may be sent again elsewhere (§6.8).
  const std::uint32_t last = read_u32(payload.data()) & kStreamIdMax;
  streams_.each([&](Stream& stream) {
    if (stream.id_ > last && !stream.is_doomed_) doom(stream, Error(ErrorKind::Refused), Code::Cancel);
  });
}

void Session::on_window_update(std::string_view payload) {
  const std::uint32_t increment = read_u32(payload.data()) & kWindowMax;
  if (!charge_control()) return;
  if (frame_.stream == 0) {
    if (increment == 0) return fail(Code::ProtocolError);
    send_window_ += increment;
    if (send_window_ > kWindowMax) return fail(Code::FlowControlError);
    if (send_window_ > 0) window_.unblock(now());
    return;
  }
  Stream* stream = streams_.find(frame_.stream);
  if (stream == nullptr) return on_late_frame(frame_.stream, false);
  if (stream->is_doomed_) return;
  if (increment == 0) return stream_error(*stream, Code::ProtocolError);
  if (std::int64_t{stream->send_window_} + increment > kWindowMax) return stream_error(*stream, Code::FlowControlError);
  stream->send_window_ += static_cast<std::int32_t>(increment);
  make_ready(*stream);
}

}  // namespace violet::h2
