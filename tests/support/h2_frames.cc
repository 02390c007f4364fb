#include "tests/support/h2_frames.h"

#include "violet/hpack/integer.h"

#include <cstdlib>

namespace violet::test {

using h2::Code;
using h2::FrameType;

namespace {

std::string u32(std::uint32_t value) {
  char bytes[4];
  h2::put_u32(bytes, value);
  return {bytes, 4};
}

std::string text(std::string_view value) {
  char size[hpack::kIntegerBytesMax];
  const char* end = hpack::write_integer(size, 7, 0, static_cast<std::uint32_t>(value.size()));
  return std::string(size, static_cast<std::size_t>(end - size)) + std::string(value);
}

}  // namespace

std::string frame(FrameType type, std::uint8_t flags, std::uint32_t stream, std::string_view payload) {
  char head[h2::kFrameHeadBytes];
  h2::put_frame_head(head, static_cast<std::uint32_t>(payload.size()), type, flags, stream);
  return std::string(head, sizeof head) + std::string(payload);
}

std::string settings(std::vector<h2::SettingValue> values) {
  std::string payload;
  for (const auto& [setting, value] : values) {
    char id[2];
    h2::put_u16(id, static_cast<std::uint16_t>(setting));
    payload += std::string(id, 2) + u32(value);
  }
  return frame(FrameType::Settings, 0, 0, payload);
}

std::string settings_ack() { return frame(FrameType::Settings, h2::flag::kAck, 0); }

std::string ping(std::string_view payload, bool is_ack) {
  return frame(FrameType::Ping, is_ack ? h2::flag::kAck : std::uint8_t{0}, 0, payload);
}

std::string goaway(std::uint32_t last, Code code) {
  return frame(FrameType::Goaway, 0, 0, u32(last) + u32(static_cast<std::uint32_t>(code)));
}

std::string reset(std::uint32_t stream, Code code) {
  return frame(FrameType::RstStream, 0, stream, u32(static_cast<std::uint32_t>(code)));
}

std::string window_update(std::uint32_t stream, std::uint32_t increment) {
  return frame(FrameType::WindowUpdate, 0, stream, u32(increment));
}

std::string data(std::uint32_t stream, std::string_view bytes, bool ends_stream) {
  return frame(FrameType::Data, ends_stream ? h2::flag::kEndStream : std::uint8_t{0}, stream, bytes);
}

std::string padded_data(std::uint32_t stream, std::string_view bytes, std::size_t pad, bool ends_stream) {
  const auto flags = static_cast<std::uint8_t>(h2::flag::kPadded | (ends_stream ? h2::flag::kEndStream : 0));
  return frame(FrameType::Data, flags, stream,
               std::string(1, static_cast<char>(pad)) + std::string(bytes) + std::string(pad, '\0'));
}

std::string block(const FieldList& fields) {
  std::string bytes;
  // Literal without indexing, new name (RFC 7541 §6.2.2).
  for (const auto& [name, value] : fields) bytes += std::string(1, '\0') + text(name) + text(value);
  return bytes;
}

std::string headers(std::uint32_t stream, std::string_view block, bool ends_stream, bool ends_headers) {
  const auto flags =
      static_cast<std::uint8_t>((ends_stream ? h2::flag::kEndStream : 0) | (ends_headers ? h2::flag::kEndHeaders : 0));
  return frame(FrameType::Headers, flags, stream, block);
}

std::string continuation(std::uint32_t stream, std::string_view block, bool ends_headers) {
  return frame(FrameType::Continuation, ends_headers ? h2::flag::kEndHeaders : std::uint8_t{0}, stream, block);
}

FieldList request(std::string_view method, std::string_view path, const FieldList& more) {
  FieldList fields{
      {":method", std::string(method)}, {":scheme", "http"}, {":path", std::string(path)}, {":authority", "a"}};
  fields.insert(fields.end(), more.begin(), more.end());
  return fields;
}

std::string StreamReply::field(std::string_view name) const {
  for (const auto& [one, value] : fields) {
    if (one == name) return value;
  }
  return {};
}

void FrameReader::note_error(const std::string& what, const Frame& frame) {
  if (error_.empty())
    error_ = what + " (frame type " + std::to_string(static_cast<int>(frame.type)) + " on stream " +
             std::to_string(frame.stream) + ")";
}

void FrameReader::add(std::string_view bytes) {
  rest_ += bytes;
  std::size_t at = 0;
  while (rest_.size() - at >= h2::kFrameHeadBytes) {
    const h2::FrameHead head = h2::read_frame_head(rest_.data() + at);
    if (rest_.size() - at - h2::kFrameHeadBytes < head.size) break;
    Frame one{head.type, head.flags, head.stream, rest_.substr(at + h2::kFrameHeadBytes, head.size)};
    at += h2::kFrameHeadBytes + head.size;
    if (one.payload.size() > h2::kFrameBytesMax) note_error("larger than allowed", one);
    if (frames_.empty() && one.type != FrameType::Settings) note_error("the first frame is not SETTINGS", one);
    read(one);
    frames_.push_back(std::move(one));
  }
  rest_.erase(0, at);
}

void FrameReader::read(const Frame& frame) {
  if (block_stream_ != 0 && (frame.type != FrameType::Continuation || frame.stream != block_stream_)) {
    note_error("a frame inside a block", frame);
  }
  if (frame.stream == 0) return;
  StreamReply& stream = streams_[frame.stream];
  ++stream.frame_count;
  if (stream.is_reset) note_error("behind RST_STREAM", frame);
  switch (frame.type) {
    case FrameType::Data:
      if (stream.status == 0 || stream.is_ended) note_error("DATA out of place", frame);
      stream.body += frame.payload;
      data_bytes_ += frame.payload.size();
      stream.is_ended = frame.has(h2::flag::kEndStream);
      break;
    case FrameType::Headers:
      if (stream.is_ended) note_error("HEADERS behind the end", frame);
      block_ends_stream_ = frame.has(h2::flag::kEndStream);
      [[fallthrough]];
    case FrameType::Continuation:
      block_ += frame.payload;
      block_stream_ = frame.has(h2::flag::kEndHeaders) ? 0 : frame.stream;
      if (block_stream_ == 0) read_headers(frame, std::exchange(block_, {}));
      break;
    case FrameType::RstStream:
      stream.is_reset = true;
      stream.code = static_cast<Code>(frame.number());
      break;
    case FrameType::WindowUpdate: break;
    default: note_error("not of a stream", frame);
  }
}

void FrameReader::read_headers(const Frame& frame, std::string_view payload) {
  Arena arena;
  http::Fields fields(arena);
  hpack::Section section(fields);
  std::string padded(payload);
  padded.append(kScanPadding, '\0');
  const auto verdict = decoder_.decode({padded.data(), payload.size()}, {1 << 20, 10'000}, section);
  if (verdict != hpack::Verdict::Done || section.flaws != 0) note_error("a block that cannot be read", frame);
  FieldList list;
  for (const http::Field& field : fields) {
    list.emplace_back(field.id != http::FieldId::Other ? http::lower_name(field.id) : field.name, field.value);
  }
  StreamReply& stream = streams_[frame.stream];
  stream.is_ended = block_ends_stream_;
  const int status = std::atoi(std::string(section.get(hpack::Pseudo::Status)).c_str());
  if (stream.status != 0) {
    if (section.seen != 0 || !stream.is_ended) note_error("trailers that are none", frame);
    stream.trailers = list;
  } else if (status >= 100 && status < 200) {
    if (stream.is_ended) note_error("a 1xx that ends the stream", frame);
    stream.informational.push_back(status);
  } else {
    if (status == 0) note_error("no :status", frame);
    stream.status = status;
    stream.fields = list;
  }
}

std::size_t FrameReader::count(FrameType type, std::uint8_t flags) const {
  std::size_t sum = 0;
  for (const Frame& one : frames_) sum += one.type == type && (one.flags & flags) == flags ? 1 : 0;
  return sum;
}

const Frame* FrameReader::goaway() const {
  for (auto one = frames_.rbegin(); one != frames_.rend(); ++one) {
    if (one->type == FrameType::Goaway) return &*one;
  }
  return nullptr;
}

}  // namespace violet::test
