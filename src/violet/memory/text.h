#pragma once

// Short texts, copied and compared in a few loads that overlap instead of a call.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace violet {

namespace detail {
template <class Word>
[[nodiscard]] inline Word load_word(const char* from) noexcept {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}
// The first `Bytes` and the last, of texts that have at least as many.
template <std::size_t Bytes>
[[nodiscard, gnu::always_inline]] inline bool ends_equal(const char* a, const char* b, std::size_t size) noexcept {
  const std::size_t last = size - Bytes;
  return std::memcmp(a, b, Bytes) == 0 && std::memcmp(a + last, b + last, Bytes) == 0;
}
}  // namespace detail

// Writes the text and nothing behind it; returns the end of what it wrote.
inline char* put_text(char* to, std::string_view text) noexcept {
  const std::size_t size = text.size();
  const char* from = text.data();
  if (size > 32) {
    std::memcpy(to, from, size);
  } else if (size >= 16) {
    std::memcpy(to, from, 16);
    std::memcpy(to + size - 16, from + size - 16, 16);
  } else if (size >= 8) {
    std::memcpy(to, from, 8);
    std::memcpy(to + size - 8, from + size - 8, 8);
  } else if (size >= 4) {
    std::memcpy(to, from, 4);
    std::memcpy(to + size - 4, from + size - 4, 4);
  } else if (size > 0) {
    to[0] = from[0];
    to[size / 2] = from[size / 2];
    to[size - 1] = from[size - 1];
  }
  return to + size;
}

[[nodiscard, gnu::always_inline]] inline bool are_equal(std::string_view a, std::string_view b) noexcept {
  const std::size_t size = a.size();
  if (size != b.size()) return false;
  const char* p = a.data();
  const char* q = b.data();
  if (size >= 16) {
    const std::size_t last = size - 16;
    for (std::size_t i = 0; i < last; i += 16) {
      if (std::memcmp(p + i, q + i, 16) != 0) return false;
    }
    return std::memcmp(p + last, q + last, 16) == 0;
  }
  if (size >= 8) return detail::ends_equal<8>(p, q, size);
  if (size >= 4) return detail::ends_equal<4>(p, q, size);
  if (size == 0) return true;
  return p[0] == q[0] && p[size / 2] == q[size / 2] && p[size - 1] == q[size - 1];
}

}  // namespace violet
