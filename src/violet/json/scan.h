#pragma once

// Sixteen characters at a time: which of them end the plain part of a JSON string. SSE2, which every x86-64 has; other
// processors take eight at a time in a word.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace violet::json {

inline constexpr std::size_t kVector = 16;

// A bit for each of the characters at `from` that is '"', '\\', a control or no ASCII. Reads kVector bytes.
#if defined(__SSE2__)
inline std::uint32_t special_in(__m128i text) noexcept {
  const __m128i quotes = _mm_cmpeq_epi8(text, _mm_set1_epi8('"'));
  const __m128i backslashes = _mm_cmpeq_epi8(text, _mm_set1_epi8('\\'));
  // Signed: controls and everything from 0x80 on are less than a space.
  const __m128i others = _mm_cmplt_epi8(text, _mm_set1_epi8(' '));
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quotes, backslashes), others)));
}
inline std::uint32_t special(const char* from) noexcept {
  return special_in(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}
// The first eight of `from` and the last eight of the text that ends at `end`; 8 to 16 bytes.
inline bool has_special_8_to_16(const char* from, const char* end) noexcept {
  const __m128i low = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
  const __m128i high = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(end - 8));
  return special_in(_mm_unpacklo_epi64(low, high)) != 0;
}
// Whether the first n <= 16 bytes are the same. Reads kVector bytes of both.
inline bool is_same(const char* a, const char* b, std::size_t n) noexcept {
  const __m128i equal = _mm_cmpeq_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(a)),
                                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(b)));
  const auto differing = ~static_cast<std::uint32_t>(_mm_movemask_epi8(equal));
  return (differing << (32 - n)) == 0;
}
#else
inline bool is_special(char c) noexcept {
  return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x80;
}
inline std::uint32_t special(const char* from) noexcept {
  std::uint32_t found = 0;
  for (std::size_t i = 0; i < kVector; ++i) found |= static_cast<std::uint32_t>(is_special(from[i])) << i;
  return found;
}
inline bool has_special_8_to_16(const char* from, const char* end) noexcept {
  for (; from < end; ++from) {
    if (is_special(*from)) return true;
  }
  return false;
}
inline bool is_same(const char* a, const char* b, std::size_t n) noexcept { return std::memcmp(a, b, n) == 0; }
#endif

// One for each of the eight bytes of a word that is '"', '\\', a control or no ASCII; other bits are undefined but 0
// when there is none.
inline std::uint64_t special_in(std::uint64_t word) noexcept {
  constexpr std::uint64_t kOnes = 0x0101010101010101, kHigh = 0x8080808080808080;
  const std::uint64_t quotes = word ^ (kOnes * '"');
  const std::uint64_t backslashes = word ^ (kOnes * '\\');
  return ((word - kOnes * 0x20) | (quotes - kOnes) | (backslashes - kOnes) | word) & kHigh;
}

}  // namespace violet::json
