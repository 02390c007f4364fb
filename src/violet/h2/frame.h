#pragma once

// Frames of HTTP/2 (RFC 9113 §4, §6): their numbers, the nine octets before each payload, and writing of the small
// ones.

#include "violet/net/io/output.h"

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace violet::h2 {

enum class FrameType : std::uint8_t {
  Data = 0,
  Headers = 1,
  Priority = 2,
  RstStream = 3,
  Settings = 4,
  PushPromise = 5,
  Ping = 6,
  Goaway = 7,
  WindowUpdate = 8,
  Continuation = 9,
  PriorityUpdate = 16,  // RFC 9218 §7.1
};

namespace flag {
inline constexpr std::uint8_t kEndStream = 0x1;   // DATA, HEADERS
inline constexpr std::uint8_t kAck = 0x1;         // SETTINGS, PING
inline constexpr std::uint8_t kEndHeaders = 0x4;  // HEADERS, CONTINUATION
inline constexpr std::uint8_t kPadded = 0x8;      // DATA, HEADERS
inline constexpr std::uint8_t kPriority = 0x20;   // HEADERS
}  // namespace flag

// Error codes (RFC 9113 §7).
enum class Code : std::uint32_t {
  NoError = 0,
  ProtocolError = 1,
  InternalError = 2,
  FlowControlError = 3,
  SettingsTimeout = 4,
  StreamClosed = 5,
  FrameSizeError = 6,
  RefusedStream = 7,
  Cancel = 8,
  CompressionError = 9,
  ConnectError = 10,
  EnhanceYourCalm = 11,
  InadequateSecurity = 12,
  Http11Required = 13,
};

enum class Setting : std::uint16_t {
  HeaderTableSize = 1,
  EnablePush = 2,
  MaxConcurrentStreams = 3,
  InitialWindowSize = 4,
  MaxFrameSize = 5,
  MaxHeaderListSize = 6,
  EnableConnectProtocol = 8,  // RFC 8441 §3
  NoRfc7540Priorities = 9,    // RFC 9218 §2.1
};

inline constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";  // RFC 9113 §3.4
inline constexpr std::size_t kFrameHeadBytes = 9;
// Both ends may always send frames of this size, and we neither send nor take larger ones (§4.2).
inline constexpr std::uint32_t kFrameBytesMax = 16'384;
inline constexpr std::uint32_t kWindowDefault = 65'535;
inline constexpr std::uint32_t kWindowMax = 0x7fff'ffff;
inline constexpr std::uint32_t kStreamIdMax = 0x7fff'ffff;
// What the PING behind the first of two GOAWAYs carries (§6.8).
inline constexpr std::string_view kDrainPing = "violet:d";

struct FrameHead {
  std::uint32_t size = 0;
  FrameType type = FrameType::Data;
  std::uint8_t flags = 0;
  std::uint32_t stream = 0;

  [[nodiscard]] bool has(std::uint8_t flags_wanted) const noexcept { return (flags & flags_wanted) != 0; }
};

[[nodiscard]] inline std::uint32_t read_u32(const char* p) noexcept {
  std::uint32_t value;
  std::memcpy(&value, p, sizeof value);
  return __builtin_bswap32(value);
}
[[nodiscard]] inline std::uint16_t read_u16(const char* p) noexcept {
  std::uint16_t value;
  std::memcpy(&value, p, sizeof value);
  return __builtin_bswap16(value);
}
inline char* put_u32(char* p, std::uint32_t value) noexcept {
  value = __builtin_bswap32(value);
  std::memcpy(p, &value, sizeof value);
  return p + sizeof value;
}
inline char* put_u16(char* p, std::uint16_t value) noexcept {
  value = __builtin_bswap16(value);
  std::memcpy(p, &value, sizeof value);
  return p + sizeof value;
}
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

// REQUIRES: kFrameHeadBytes at `p`. The reserved bit is ignored (§4.1).
[[nodiscard]] inline FrameHead read_frame_head(const char* p) noexcept {
  const std::uint32_t first = read_u32(p);
  return {.size = first >> 8,
          .type = static_cast<FrameType>(first & 0xff),
          .flags = static_cast<std::uint8_t>(p[4]),
          .stream = read_u32(p + 5) & kStreamIdMax};
}
inline char* put_frame_head(char* p, std::uint32_t size, FrameType type, std::uint8_t flags,
                            std::uint32_t stream) noexcept {
  p = put_u32(p, size << 8 | static_cast<std::uint32_t>(type));
  *p++ = static_cast<char>(flags);
  return put_u32(p, stream);
}

// --- whole frames

using net::Output;

// A frame whose payload is one number.
inline void write_number_frame(Output& out, FrameType type, std::uint32_t stream, std::uint32_t number) {
  char* start = out.reserve(kFrameHeadBytes + 4);
  put_u32(put_frame_head(start, 4, type, 0, stream), number);
  out.commit(kFrameHeadBytes + 4);
}
inline void write_reset(Output& out, std::uint32_t stream, Code code) {
  write_number_frame(out, FrameType::RstStream, stream, static_cast<std::uint32_t>(code));
}
// `stream` 0: the connection's window. REQUIRES: 0 < increment <= kWindowMax.
inline void write_window_update(Output& out, std::uint32_t stream, std::uint32_t increment) {
  write_number_frame(out, FrameType::WindowUpdate, stream, increment);
}
// The frame head of DATA; its payload is appended behind it.
inline void write_data_head(Output& out, std::uint32_t size, std::uint8_t flags, std::uint32_t stream) {
  char* start = out.reserve(kFrameHeadBytes);
  put_frame_head(start, size, FrameType::Data, flags, stream);
  out.commit(kFrameHeadBytes);
}

struct SettingValue {
  Setting setting;
  std::uint32_t value;
};
inline void write_settings(Output& out, std::initializer_list<SettingValue> values) {
  char* start = out.reserve(kFrameHeadBytes + values.size() * 6);
  char* p = put_frame_head(start, static_cast<std::uint32_t>(values.size() * 6), FrameType::Settings, 0, 0);
  for (const SettingValue& one : values) p = put_u32(put_u16(p, static_cast<std::uint16_t>(one.setting)), one.value);
  out.commit(static_cast<std::size_t>(p - start));
}
inline void write_settings_ack(Output& out) {
  char* start = out.reserve(kFrameHeadBytes);
  put_frame_head(start, 0, FrameType::Settings, flag::kAck, 0);
  out.commit(kFrameHeadBytes);
}
// `payload` has eight bytes.
inline void write_ping(Output& out, std::uint8_t flags, std::string_view payload) {
  char* start = out.reserve(kFrameHeadBytes + 8);
  std::memcpy(put_frame_head(start, 8, FrameType::Ping, flags, 0), payload.data(), 8);
  out.commit(kFrameHeadBytes + 8);
}
// `debug` is for whoever reads the peer's log.
inline void write_goaway(Output& out, std::uint32_t last_stream, Code code, std::string_view debug = {}) {
  const std::size_t size = 8 + debug.size();
  char* start = out.reserve(kFrameHeadBytes + size);
  char* p = put_frame_head(start, static_cast<std::uint32_t>(size), FrameType::Goaway, 0, 0);
  p = put_u32(put_u32(p, last_stream), static_cast<std::uint32_t>(code));
  if (!debug.empty()) std::memcpy(p, debug.data(), debug.size());
  out.commit(kFrameHeadBytes + size);
}

}  // namespace violet::h2
