// h2::Session from bytes to frames. Every state can stop at any byte; DATA goes up as slices of whatever has come,
// other payloads are gathered when they did not come in one piece.

#include "violet/h2/session.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace violet::h2 {

// --- events of the transport

void Session::on_readable() noexcept {
  if (is_closed_) return;
  ReadBlock& input = shared_.buffers.input;
  char* to = input.lend();
  const ssize_t n = transport_->read(to, input.room());
  if (n > 0) [[likely]] {
    input.commit(static_cast<std::size_t>(n));
    receive({to, to + n, &input.owner()});
  } else if (n == 0) {
    on_end_of_stream();
  } else if (n != -EAGAIN) {
    abort(Error(ErrorKind::System, static_cast<std::int32_t>(-n)));
  }
}

void Session::on_writable() noexcept {
  if (is_closed_) return;
  is_write_blocked_ = wants_turn_ = false;
  settle();
}

void Session::on_peer_closed() noexcept {
  // We only stop reading while the peer does not read either: it is gone.
  if (!is_closed_ && !is_peer_done_) on_end_of_stream();
}

void Session::on_broken() noexcept { abort(Error(ErrorKind::Closed)); }

void Session::receive(Bytes bytes) noexcept {
  is_in_turn_ = true;
  turn_id_ = last_peer_id_;
  process(bytes);
  is_in_turn_ = false;
  settle();
}

// --- input states

void Session::process(Bytes& bytes) {
  while (!bytes.is_empty() && !is_closed_) {
    switch (input_) {
      case Input::Preface: process_preface(bytes); break;
      case Input::Head: process_frame_head(bytes); break;
      case Input::Payload: process_payload(bytes); break;
      case Input::Pad: process_pad(bytes); break;
      case Input::Data: process_data(bytes); break;
      case Input::Skip: process_skip(bytes); break;
      case Input::Closed: return;
    }
  }
}

void Session::process_preface(Bytes& bytes) {
  const std::string_view wanted = kPreface.substr(preface_used_);
  const std::size_t size = std::min(wanted.size(), bytes.size());
  if (std::memcmp(bytes.begin, wanted.data(), size) != 0) {
    // Whoever this is does not speak HTTP/2 (RFC 9113 §3.4).
    fail(Code::ProtocolError);
    return;
  }
  bytes.begin += size;
  preface_used_ = static_cast<std::uint8_t>(preface_used_ + size);
  if (preface_used_ == kPreface.size()) input_ = Input::Head;
}

void Session::process_frame_head(Bytes& bytes) {
  if (head_used_ == 0 && bytes.size() >= kFrameHeadBytes) [[likely]] {
    frame_ = read_frame_head(bytes.begin);
    bytes.begin += kFrameHeadBytes;
  } else {
    const std::size_t size = std::min(kFrameHeadBytes - head_used_, bytes.size());
    std::memcpy(head_bytes_ + head_used_, bytes.begin, size);
    bytes.begin += size;
    head_used_ = static_cast<std::uint8_t>(head_used_ + size);
    if (head_used_ < kFrameHeadBytes) return;
    head_used_ = 0;
    frame_ = read_frame_head(head_bytes_);
  }
  begin_frame();
}

// The nine octets are there: what can be judged by them is judged before any of the payload is waited for.
void Session::begin_frame() {
  // The preface of either side ends with SETTINGS (§3.4).
  if (!has_settings_ && (frame_.type != FrameType::Settings || frame_.has(flag::kAck)))
    return fail(Code::ProtocolError);
  if (frame_.size > kFrameBytesMax) return fail(Code::FrameSizeError);
  // Nothing may come between the frames of one block (§6.10).
  if (block_stream_ != 0 && (frame_.type != FrameType::Continuation || frame_.stream != block_stream_))
    return fail(Code::ProtocolError);
  constexpr std::uint32_t kAny = kFrameBytesMax;
  switch (frame_.type) {
    case FrameType::Headers: begin_payload(0, kAny, true); break;
    case FrameType::Data: begin_data(); break;
    case FrameType::WindowUpdate: begin_payload(4, 4, frame_.stream != 0); break;
    case FrameType::RstStream: begin_payload(4, 4, true); break;
    case FrameType::Settings:
      if (frame_.size % 6 != 0) return fail(Code::FrameSizeError);
      begin_payload(0, frame_.has(flag::kAck) ? 0 : kAny, false);
      break;
    case FrameType::Ping: begin_payload(8, 8, false); break;
    case FrameType::Goaway: begin_payload(8, kAny, false); break;
    case FrameType::Continuation:
      if (block_stream_ == 0) return fail(Code::ProtocolError);
      begin_payload(0, kAny, true);
      break;
    case FrameType::Priority: begin_payload(5, 5, true); break;
    case FrameType::PriorityUpdate: begin_payload(4, kAny, false); break;
    // We allow no server to push, and no client may (§8.4).
    case FrameType::PushPromise: fail(Code::ProtocolError); break;
    default:
      // Extensions that nobody has agreed upon are ignored (§5.5).
      if (!charge_control()) return;
      left_ = frame_.size;
      input_ = Input::Skip;
  }
}

void Session::begin_payload(std::uint32_t least, std::uint32_t most, bool is_of_stream) {
  if ((frame_.stream != 0) != is_of_stream) return fail(Code::ProtocolError);
  if (frame_.size < least || frame_.size > most) return fail(Code::FrameSizeError);
  left_ = frame_.size;
  input_ = Input::Payload;
  if (left_ > 0) return;
  input_ = Input::Head;
  on_frame({});
}

void Session::process_payload(Bytes& bytes) {
  if (!partial_ && bytes.size() >= left_) [[likely]] {
    const std::string_view payload(bytes.begin, left_);
    bytes.begin += left_;
    input_ = Input::Head;
    on_frame(payload);
    return;
  }
  if (!partial_) {
    partial_ = Ref<HeapBuffer>::adopt(HeapBuffer::make(left_));
    partial_used_ = 0;
  }
  const std::size_t size = std::min<std::size_t>(left_ - partial_used_, bytes.size());
  std::memcpy(partial_->data() + partial_used_, bytes.begin, size);
  bytes.begin += size;
  partial_used_ += static_cast<std::uint32_t>(size);
  if (partial_used_ < left_) return;
  const Ref<HeapBuffer> whole = std::exchange(partial_, {});
  input_ = Input::Head;
  on_frame({whole->data(), left_});
}

void Session::on_frame(std::string_view payload) {
  switch (frame_.type) {
    case FrameType::Headers: on_headers(payload); break;
    case FrameType::Continuation: on_continuation(payload); break;
    case FrameType::WindowUpdate: on_window_update(payload); break;
    case FrameType::RstStream: on_reset(payload); break;
    case FrameType::Settings: on_settings(payload); break;
    case FrameType::Ping: on_ping(payload); break;
    case FrameType::Goaway: on_goaway(payload); break;
    case FrameType::Priority: on_priority(payload); break;
    case FrameType::PriorityUpdate: on_priority_update(payload); break;
    default: break;
  }
}

// --- DATA

void Session::begin_data() {
  if (frame_.stream == 0) return fail(Code::ProtocolError);
  // Padding counts like data, for streams that are no more, too (§6.1, §6.9).
  receive_window_ -= frame_.size;
  if (receive_window_ < 0) return fail(Code::FlowControlError);
  return_to_peer(frame_.size);
  left_ = frame_.size;
  padding_left_ = 0;
  input_ = left_ > 0 ? Input::Skip : Input::Head;
  if (left_ == 0 && !charge_empty_data()) return;
  Stream* stream = streams_.find(frame_.stream);
  if (stream == nullptr) return on_late_frame(frame_.stream, true);
  if (stream->is_doomed_) return;
  if (stream->is_received_) return stream_error(*stream, Code::StreamClosed);
  if (!is_server() && !stream->has_head_) return stream_error(*stream, Code::ProtocolError);
  stream->receive_window_ -= static_cast<std::int32_t>(frame_.size);
  if (stream->receive_window_ < 0) return stream_error(*stream, Code::FlowControlError);
  if (left_ == 0 && frame_.has(flag::kPadded)) return fail(Code::FrameSizeError);
  receiving_ = stream;
  input_ = frame_.has(flag::kPadded) ? Input::Pad : Input::Data;
  if (left_ == 0) end_data();
}

// A frame that moves nothing costs us more than its sender (§10.5).
bool Session::charge_empty_data() { return frame_.has(flag::kEndStream) || charge_control(); }

void Session::process_pad(Bytes& bytes) {
  padding_left_ = static_cast<unsigned char>(*bytes.begin++);
  if (padding_left_ >= left_) return fail(Code::ProtocolError);
  left_ -= 1 + padding_left_;
  if (left_ == 0 && !charge_empty_data()) return;
  input_ = Input::Data;
  if (receiving_ != nullptr) return_to_peer(*receiving_, 1 + padding_left_);
  if (left_ == 0) end_data();
}

void Session::process_data(Bytes& bytes) {
  const std::size_t size = std::min<std::size_t>(left_, bytes.size());
  const char* data = bytes.begin;
  bytes.begin += size;
  left_ -= static_cast<std::uint32_t>(size);
  // Gone when its stream was given up in the middle of the frame.
  if (receiving_ != nullptr && !receiving_->is_doomed_) deliver(*receiving_, Slice(*bytes.owner, data, size));
  if (left_ == 0 && !is_closed_ && input_ == Input::Data) end_data();
}

// All data of the frame has been handed up; the padding behind it is skipped.
void Session::end_data() {
  left_ = padding_left_;
  input_ = left_ > 0 ? Input::Skip : Input::Head;
  Stream* stream = std::exchange(receiving_, nullptr);
  if (stream != nullptr && !stream->is_doomed_ && frame_.has(flag::kEndStream)) end_body(*stream, nullptr);
}

void Session::process_skip(Bytes& bytes) noexcept {
  const std::size_t size = std::min<std::size_t>(left_, bytes.size());
  bytes.begin += size;
  left_ -= static_cast<std::uint32_t>(size);
  if (left_ == 0) input_ = Input::Head;
}

}  // namespace violet::h2
