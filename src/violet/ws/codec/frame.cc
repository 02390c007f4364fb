#include "violet/ws/codec/frame.h"

namespace violet::ws {

FrameVerdict detail::parse_long_frame_head(const std::uint8_t* p, std::size_t size, FrameHead& head) noexcept {
  const std::size_t bytes = frame_head_bytes(p[1]);
  if (size < bytes) return FrameVerdict::More;
  const int length_bytes = (p[1] & 0x7f) == 126 ? 2 : 8;
  std::uint64_t value = 0;
  for (int i = 0; i < length_bytes; ++i) value = value << 8 | p[2 + i];
  // The shortest form, and no more than 63 bits (RFC 6455 §5.2).
  if (value < (length_bytes == 2 ? 126u : 65536u) || value >> 63 != 0) return FrameVerdict::Bad;
  head.size = value;
  head.key = 0;
  if ((p[1] & kMasked) != 0) std::memcpy(&head.key, p + 2 + length_bytes, 4);
  head.head_bytes = static_cast<std::uint8_t>(bytes);
  return FrameVerdict::Done;
}

}  // namespace violet::ws
