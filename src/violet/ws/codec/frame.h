#pragma once

// Frames as they stand on the wire (RFC 6455 §5.2): heads are read and written here; payloads stay where they are.
//
//   FrameHead head;
//   switch (parse_frame_head(begin, end, rules, head)) {
//     case FrameVerdict::Done: … head.size bytes of payload follow behind head.head_bytes …
//     case FrameVerdict::More: … the head is not all there …
//     case FrameVerdict::Bad:  … 1002 …
//   }

#include "violet/ws/codec/mask.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace violet::ws {

enum Opcode : std::uint8_t { kContinuation = 0, kText = 1, kBinary = 2, kClose = 8, kPing = 9, kPong = 10 };
inline constexpr std::uint8_t kFin = 0x80;
inline constexpr std::uint8_t kRsv1 = 0x40;  // the message is compressed (RFC 7692 §6)
inline constexpr std::uint8_t kMasked = 0x80;

inline constexpr std::size_t kFrameHeadMax = 14;
inline constexpr std::size_t kControlBytesMax = 125;  // RFC 6455 §5.5

struct FrameHead {
  std::uint64_t size = 0;  // of the payload
  MaskKey key = 0;
  std::uint8_t first = 0;       // FIN, RSV and opcode
  std::uint8_t head_bytes = 0;  // of the head itself

  [[nodiscard]] bool is_final() const noexcept { return (first & kFin) != 0; }
  [[nodiscard]] bool is_compressed() const noexcept { return (first & kRsv1) != 0; }
  [[nodiscard]] std::uint8_t opcode() const noexcept { return first & 0x0f; }
  [[nodiscard]] bool is_control() const noexcept { return (first & 0x08) != 0; }
};

struct FrameRules {
  bool is_server = true;     // frames come masked; otherwise they must not be (§5.1)
  bool has_deflate = false;  // RSV1 on the first frame of a message
};

enum class FrameVerdict : std::uint8_t { Done, More, Bad };

namespace detail {

// What a first byte may be: a bit each for without and with permessage-deflate, and for control frames.
inline constexpr std::uint8_t kPlain = 1, kWithDeflate = 2, kControlFrame = 4;
inline constexpr auto kFirstBytes = [] {
  std::array<std::uint8_t, 256> table{};
  for (unsigned opcode : {kContinuation, kText, kBinary}) {
    for (unsigned fin : {0u, 0x80u}) {
      table[fin | opcode] = kPlain | kWithDeflate;
      // Only the first frame of a message says that it is compressed (RFC 7692 §6.1).
      if (opcode != kContinuation) table[fin | 0x40u | opcode] = kWithDeflate;
    }
  }
  // Control frames are whole and never compressed (RFC 6455 §5.5, RFC 7692 §6.1).
  for (unsigned opcode : {kClose, kPing, kPong}) table[0x80u | opcode] = kPlain | kWithDeflate | kControlFrame;
  return table;
}();

FrameVerdict parse_long_frame_head(const std::uint8_t* p, std::size_t size, FrameHead& head) noexcept;

}  // namespace detail

// How long a head is whose second byte is `second`.
[[nodiscard]] constexpr std::size_t frame_head_bytes(std::uint8_t second) noexcept {
  const unsigned length = second & 0x7f;
  return 2u + (length == 126 ? 2 : length == 127 ? 8 : 0) + ((second & kMasked) != 0 ? 4 : 0);
}

// Looks at the first two bytes as soon as they are there, and refuses what they already show to be wrong.
[[nodiscard]] inline FrameVerdict parse_frame_head(const char* begin, std::size_t size, FrameRules rules,
                                                   FrameHead& head) noexcept {
  const auto* p = reinterpret_cast<const std::uint8_t*>(begin);
  if (size < 2) [[unlikely]]
    return FrameVerdict::More;
  const std::uint8_t kind = detail::kFirstBytes[p[0]];
  const std::uint8_t second = p[1];
  if ((kind & (rules.has_deflate ? detail::kWithDeflate : detail::kPlain)) == 0 ||
      ((second & kMasked) != 0) != rules.is_server) [[unlikely]]
    return FrameVerdict::Bad;
  if ((kind & detail::kControlFrame) != 0 && (second & 0x7f) > kControlBytesMax) [[unlikely]]
    return FrameVerdict::Bad;
  head.first = p[0];
  if ((second & 0x7f) < 126) [[likely]] {
    const std::size_t bytes = rules.is_server ? 6 : 2;
    if (size < bytes) [[unlikely]]
      return FrameVerdict::More;
    head.size = second & 0x7f;
    head.key = 0;
    if (rules.is_server) std::memcpy(&head.key, p + 2, 4);
    head.head_bytes = static_cast<std::uint8_t>(bytes);
    return FrameVerdict::Done;
  }
  return detail::parse_long_frame_head(p, size, head);
}

// Writes a head for `size` bytes of payload; `key` for a client's. Returns its length, at most kFrameHeadMax.
inline std::size_t write_frame_head(char* to, std::uint8_t first, std::uint64_t size, const MaskKey* key) noexcept {
  const std::uint8_t mask = key != nullptr ? kMasked : 0;
  std::size_t at = 2;
  to[0] = static_cast<char>(first);
  if (size < 126) {
    to[1] = static_cast<char>(mask | size);
  } else if (size < 65536) {
    to[1] = static_cast<char>(mask | 126);
    to[2] = static_cast<char>(size >> 8);
    to[3] = static_cast<char>(size);
    at = 4;
  } else {
    to[1] = static_cast<char>(mask | 127);
    for (int i = 0; i < 8; ++i) to[2 + i] = static_cast<char>(size >> (56 - 8 * i));
    at = 10;
  }
  if (key != nullptr) {
    std::memcpy(to + at, key, 4);
    at += 4;
  }
  return at;
}

// Whether a code may stand in a Close frame (RFC 6455 §7.4, and IANA's registry for 1012 to 1014).
[[nodiscard]] constexpr bool is_wire_close_code(unsigned code) noexcept {
  return (code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006) ||
         (code >= 3000 && code <= 4999);
}

}  // namespace violet::ws
