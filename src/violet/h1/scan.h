#pragma once

// Scanning for the end of a token, 16 bytes at a time where the machine has SSE2 (every x86-64), else byte by byte.
//
// REQUIRES of all: kScanPadding readable bytes behind `end`. A result at or behind `end` means that nothing was found.

#include "violet/base/ascii.h"
#include "violet/memory/buffer.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace violet::h1 {

#if defined(__SSE2__)

namespace detail {
inline __m128i load(const char* p) noexcept { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
// Advances over bytes whose mask bit is set.
template <class Good>
inline const char* skip(const char* p, const char* end, Good good) noexcept {
  while (p < end) {
    const auto bad = ~static_cast<unsigned>(_mm_movemask_epi8(good(load(p)))) & 0xffffu;
    if (bad != 0) return p + __builtin_ctz(bad);
    p += 16;
  }
  return p;
}
inline __m128i equals(__m128i bytes, char c) noexcept { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); }
}  // namespace detail

// The first byte that a field value may not hold: a control other than HTAB, or DEL.
inline const char* skip_field_value(const char* p, const char* end) noexcept {
  return detail::skip(p, end, [](__m128i bytes) {
    const __m128i is_high = _mm_cmpeq_epi8(_mm_max_epu8(bytes, _mm_set1_epi8(0x20)), bytes);
    return _mm_or_si128(_mm_andnot_si128(detail::equals(bytes, 0x7f), is_high), detail::equals(bytes, '\t'));
  });
}

// The first byte that is no ascii::kTarget character.
inline const char* skip_target(const char* p, const char* end) noexcept {
  return detail::skip(p, end, [](__m128i bytes) {
    const __m128i bad = _mm_or_si128(
        _mm_or_si128(detail::equals(bytes, 0x7f), detail::equals(bytes, '"')),
        _mm_or_si128(detail::equals(bytes, '#'), _mm_or_si128(detail::equals(bytes, '<'), detail::equals(bytes, '>'))));
    // Signed comparison: bytes from 0x80 are negative and so not greater than a space.
    return _mm_andnot_si128(bad, _mm_cmpgt_epi8(bytes, _mm_set1_epi8(0x20)));
  });
}

// The first colon, or byte that is not visible ASCII.
inline const char* skip_name(const char* p, const char* end) noexcept {
  return detail::skip(p, end, [](__m128i bytes) {
    const __m128i bad = _mm_or_si128(detail::equals(bytes, ':'), detail::equals(bytes, 0x7f));
    return _mm_andnot_si128(bad, _mm_cmpgt_epi8(bytes, _mm_set1_epi8(0x20)));
  });
}

// The first question mark.
inline const char* find_question(const char* p, const char* end) noexcept {
  return detail::skip(p, end,
                      [](__m128i bytes) { return _mm_xor_si128(detail::equals(bytes, '?'), _mm_set1_epi8(-1)); });
}

#else

namespace detail {
inline const char* skip_class(const char* p, const char* end, std::uint8_t wanted) noexcept {
  while (p < end && ascii::is(*p, wanted)) ++p;
  return p;
}
}  // namespace detail

inline const char* skip_field_value(const char* p, const char* end) noexcept {
  return detail::skip_class(p, end, ascii::kFieldValue);
}
inline const char* skip_target(const char* p, const char* end) noexcept {
  return detail::skip_class(p, end, ascii::kTarget);
}
inline const char* skip_name(const char* p, const char* end) noexcept {
  while (p < end && *p != ':' && *p > 0x20 && *p < 0x7f) ++p;
  return p;
}

inline const char* find_question(const char* p, const char* end) noexcept {
  while (p < end && *p != '?') ++p;
  return p;
}

#endif

}  // namespace violet::h1
