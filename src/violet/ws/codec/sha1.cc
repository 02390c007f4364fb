#include "violet/ws/codec/sha1.h"

#include <bit>
#include <cstring>

namespace violet::ws {
namespace {

constexpr std::size_t kBlockBytes = 64;

void mix(std::array<std::uint32_t, 5>& state, const std::uint8_t* block) noexcept {
  std::uint32_t words[80];
  for (int i = 0; i < 16; ++i) {
    words[i] = std::uint32_t{block[i * 4]} << 24 | std::uint32_t{block[i * 4 + 1]} << 16 |
               std::uint32_t{block[i * 4 + 2]} << 8 | block[i * 4 + 3];
  }
  for (int i = 16; i < 80; ++i) {
    words[i] = std::rotl(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
  }
  auto [a, b, c, d, e] = state;
  for (int i = 0; i < 80; ++i) {
    std::uint32_t choice = 0;
    std::uint32_t constant = 0;
    if (i < 20) {
      choice = (b & c) | (~b & d);
      constant = 0x5a827999;
    } else if (i < 40) {
      choice = b ^ c ^ d;
      constant = 0x6ed9eba1;
    } else if (i < 60) {
      choice = (b & c) | (b & d) | (c & d);
      constant = 0x8f1bbcdc;
    } else {
      choice = b ^ c ^ d;
      constant = 0xca62c1d6;
    }
    const std::uint32_t next = std::rotl(a, 5) + choice + e + constant + words[i];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
  state[4] += e;
}

}  // namespace

std::array<std::uint8_t, 20> sha1(std::string_view text) noexcept {
  std::array<std::uint32_t, 5> state{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  const std::uint64_t bits = std::uint64_t{text.size()} * 8;
  while (text.size() >= kBlockBytes) {
    mix(state, reinterpret_cast<const std::uint8_t*>(text.data()));
    text.remove_prefix(kBlockBytes);
  }
  // A one bit, zeros, and the length in the last eight bytes of a block.
  std::uint8_t last[2 * kBlockBytes] = {};
  if (!text.empty()) std::memcpy(last, text.data(), text.size());
  last[text.size()] = 0x80;
  const std::size_t size = text.size() + 9 <= kBlockBytes ? kBlockBytes : 2 * kBlockBytes;
  for (int i = 0; i < 8; ++i)
    last[size - 8 + static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(bits >> (56 - 8 * i));
  mix(state, last);
  if (size > kBlockBytes) mix(state, last + kBlockBytes);
  std::array<std::uint8_t, 20> digest;
  for (std::size_t i = 0; i < 20; ++i) digest[i] = static_cast<std::uint8_t>(state[i / 4] >> (24 - i % 4 * 8));
  return digest;
}

}  // namespace violet::ws
