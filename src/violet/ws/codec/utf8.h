#pragma once

// Utf8: whether a text that comes in pieces is UTF-8 (RFC 3629): no overlong form, no surrogate, nothing above
// U+10FFFF. A code point may be split over pieces. What cannot become right any more is refused at once, not at the end
// of the text.
//
// Whole pieces are checked with vectors where the processor has them, chosen at run time.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace violet::ws {

class Utf8 {
 public:
  // False when no continuation can make it right.
  [[nodiscard]] bool add(std::string_view piece) noexcept;
  // No code point is left unfinished.
  [[nodiscard]] bool is_complete() const noexcept { return needed_ == 0; }
  void reset() noexcept { *this = Utf8(); }

 private:
  bool step(unsigned char byte) noexcept;

  std::uint8_t needed_ = 0;  // continuation bytes to come
  std::uint8_t least_ = 0x80;
  std::uint8_t most_ = 0xbf;  // of the next one
};

namespace detail {

bool is_utf8_long(std::string_view text) noexcept;

// At most 16 bytes.
inline bool is_short_ascii(const char* text, std::size_t size) noexcept {
  constexpr std::uint64_t kHigh = 0x8080808080808080u;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  if (size >= 8) {
    std::memcpy(&first, text, 8);
    std::memcpy(&last, text + size - 8, 8);
  } else if (size >= 4) {
    std::memcpy(&first, text, 4);
    std::memcpy(&last, text + size - 4, 4);
  } else {
    for (std::size_t i = 0; i < size; ++i) first |= static_cast<unsigned char>(text[i]);
  }
  return ((first | last) & kHigh) == 0;
}

}  // namespace detail

// A whole text.
[[nodiscard]] inline bool is_utf8(std::string_view text) noexcept {
  if (text.size() <= 16 && detail::is_short_ascii(text.data(), text.size())) [[likely]]
    return true;
  return detail::is_utf8_long(text);
}

// The ways there are, for tests and benchmarks; nullptr where the processor lacks it. Whole texts.
using Utf8Function = bool (*)(std::string_view text) noexcept;
Utf8Function utf8_by_bytes() noexcept;
Utf8Function utf8_by_avx2() noexcept;

}  // namespace violet::ws
