#include "violet/data/format/base64.h"

#include <array>
#include <cstdint>

namespace violet::base64 {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNone = 64;

constexpr auto kValues = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNone);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}();

std::uint32_t byte(char c) noexcept { return static_cast<unsigned char>(c); }

}  // namespace

void encode(std::string_view bytes, char* out) noexcept {
  const auto put = [&out](std::uint32_t group, int characters) {
    for (int i = 0; i < characters; ++i) *out++ = kAlphabet[group >> (18 - 6 * i) & 63];
  };
  while (bytes.size() >= 3) {
    put(byte(bytes[0]) << 16 | byte(bytes[1]) << 8 | byte(bytes[2]), 4);
    bytes.remove_prefix(3);
  }
  if (bytes.size() == 1) {
    put(byte(bytes[0]) << 16, 2);
    *out++ = '=';
    *out++ = '=';
  } else if (bytes.size() == 2) {
    put(byte(bytes[0]) << 16 | byte(bytes[1]) << 8, 3);
    *out++ = '=';
  }
}

std::optional<std::size_t> decode(std::string_view text, char* out) noexcept {
  if (text.size() % 4 != 0) return std::nullopt;
  const char* const first = out;
  while (!text.empty()) {
    // Padding stands only at the very end.
    const std::size_t padding = text.size() > 4 || text[3] != '=' ? 0 : text[2] == '=' ? 2 : 1;
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::uint8_t value = i < 4 - padding ? kValues[byte(text[i])] : 0;
      if (value == kNone) return std::nullopt;
      group = group << 6 | value;
    }
    for (std::size_t i = 0; i < 3 - padding; ++i) *out++ = static_cast<char>(group >> (16 - 8 * i));
    if (padding > 0 && (group & (padding == 1 ? 0xffU : 0xffffU)) != 0) return std::nullopt;
    text.remove_prefix(4);
  }
  return static_cast<std::size_t>(out - first);
}

}  // namespace violet::base64
