#pragma once

// Integers of HPACK (RFC 7541 §5.1): what fits into the low bits of the first byte, or those bits full and the rest in
// groups of seven, lowest first.

#include <cstdint>

namespace violet::hpack {

// Moves `p` behind the integer whose first byte it points at. False: cut off, or above 2^32-1, also by the number of
// its bytes: an integer may be padded with zeros for ever (§5.1). REQUIRES: p < end, 1 <= prefix <= 8.
[[nodiscard]] inline bool read_integer(const char*& p, const char* end, int prefix, std::uint32_t& value) noexcept {
  const std::uint32_t full = (1u << prefix) - 1;
  value = static_cast<unsigned char>(*p++) & full;
  if (value != full) [[likely]]
    return true;
  std::uint64_t sum = full;
  for (int shift = 0; shift < 35 && p < end; shift += 7) {
    const auto byte = static_cast<unsigned char>(*p++);
    sum += static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      value = static_cast<std::uint32_t>(sum);
      return sum <= 0xffffffffu;
    }
  }
  return false;
}

// Most bytes of an integer below 2^32.
inline constexpr int kIntegerBytesMax = 6;

// `first` holds the bits above the prefix.
[[nodiscard]] inline char* write_integer(char* out, int prefix, unsigned first, std::uint32_t value) noexcept {
  const std::uint32_t full = (1u << prefix) - 1;
  if (value < full) [[likely]] {
    *out = static_cast<char>(first | value);
    return out + 1;
  }
  *out++ = static_cast<char>(first | full);
  for (value -= full; value >= 0x80; value >>= 7) *out++ = static_cast<char>(value | 0x80);
  *out++ = static_cast<char>(value);
  return out;
}

}  // namespace violet::hpack
