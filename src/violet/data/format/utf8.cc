#include "violet/data/format/utf8.h"

#include <cstring>

namespace violet::utf8 {
namespace {

bool is_tail(unsigned char c) noexcept { return (c & 0xc0) == 0x80; }

}  // namespace

std::size_t length(const char* at, const char* end) noexcept {
  const auto* bytes = reinterpret_cast<const unsigned char*>(at);
  const auto left = static_cast<std::size_t>(end - at);
  const unsigned char first = bytes[0];
  if (first < 0x80) return 1;
  if (first < 0xc2) return 0;
  if (first < 0xe0) return left >= 2 && is_tail(bytes[1]) ? 2 : 0;
  if (first < 0xf0) {
    if (left < 3 || !is_tail(bytes[1]) || !is_tail(bytes[2])) return 0;
    if (first == 0xe0 && bytes[1] < 0xa0) return 0;
    return first == 0xed && bytes[1] >= 0xa0 ? 0 : 3;
  }
  if (first > 0xf4 || left < 4 || !is_tail(bytes[1]) || !is_tail(bytes[2]) || !is_tail(bytes[3])) return 0;
  if (first == 0xf0 && bytes[1] < 0x90) return 0;
  return first == 0xf4 && bytes[1] >= 0x90 ? 0 : 4;
}

bool is_valid(std::string_view text) noexcept {
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    while (end - at >= 8) {
      std::uint64_t word;
      std::memcpy(&word, at, sizeof word);
      if ((word & 0x8080808080808080U) != 0) break;
      at += 8;
    }
    if (at == end) break;
    const std::size_t size = length(at, end);
    if (size == 0) return false;
    at += size;
  }
  return true;
}

std::size_t count(std::string_view text) noexcept {
  std::size_t found = 0;
  for (const char c : text) found += !is_tail(static_cast<unsigned char>(c));
  return found;
}

std::size_t write(std::uint32_t code_point, char* out) noexcept {
  const auto put = [out](std::size_t at, std::uint32_t byte) { out[at] = static_cast<char>(byte); };
  if (code_point < 0x80) {
    put(0, code_point);
    return 1;
  }
  if (code_point < 0x800) {
    put(0, 0xc0 | code_point >> 6);
    put(1, 0x80 | (code_point & 0x3f));
    return 2;
  }
  if (code_point < 0x10000) {
    put(0, 0xe0 | code_point >> 12);
    put(1, 0x80 | (code_point >> 6 & 0x3f));
    put(2, 0x80 | (code_point & 0x3f));
    return 3;
  }
  put(0, 0xf0 | code_point >> 18);
  put(1, 0x80 | (code_point >> 12 & 0x3f));
  put(2, 0x80 | (code_point >> 6 & 0x3f));
  put(3, 0x80 | (code_point & 0x3f));
  return 4;
}

}  // namespace violet::utf8
