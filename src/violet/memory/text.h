#pragma once

// Short texts, copied, compared, hashed and searched in a few loads that overlap instead of a call.

#include <bit>
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

namespace detail {
// A product has all of its factors' bits in its middle; folding brings both halves to where they are used.
[[nodiscard]] inline std::uint64_t fold_product(std::uint64_t a, std::uint64_t b) noexcept {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}
}  // namespace detail

// For hash tables. Whoever keeps what strangers choose gives a seed that they cannot know, or they could choose a
// thousand of one hash.
[[nodiscard]] inline std::uint64_t hash_text(std::string_view text, std::uint64_t seed = 0) noexcept {
  constexpr std::uint64_t kFirst = 0x9e3779b97f4a7c15u, kSecond = 0xd6e8feb86659fd93u;
  const char* p = text.data();
  const std::size_t size = text.size();
  std::uint64_t hash = seed ^ size * kSecond;
  std::uint64_t last = 0;
  if (size >= 8) {
    for (const char* const end = p + size - 8; p < end; p += 8) {
      hash = detail::fold_product(hash ^ detail::load_word<std::uint64_t>(p), kFirst);
    }
    last = detail::load_word<std::uint64_t>(text.data() + size - 8);
  } else if (size >= 4) {
    last = std::uint64_t{detail::load_word<std::uint32_t>(p)} << 32 | detail::load_word<std::uint32_t>(p + size - 4);
  } else if (size > 0) {
    const auto byte = [p](std::size_t at) { return std::uint32_t{static_cast<unsigned char>(p[at])}; };
    last = byte(0) << 16 | byte(size / 2) << 8 | byte(size - 1);
  }
  return detail::fold_product(hash ^ last, kSecond ^ seed << 1);
}

// The first `byte` in the text, or its size.
[[nodiscard]] inline std::size_t find_byte(std::string_view text, char byte) noexcept {
  constexpr std::uint64_t kOnes = 0x0101010101010101u, kTops = 0x8080808080808080u;
  const std::size_t size = text.size();
  std::size_t at = 0;
  if (std::endian::native == std::endian::little && size >= 8) {
    const std::uint64_t wanted = kOnes * static_cast<unsigned char>(byte);
    for (;;) {
      const std::uint64_t word = detail::load_word<std::uint64_t>(text.data() + at) ^ wanted;
      // A bit above the first zero byte may be wrong, none below it.
      if (const std::uint64_t zeros = (word - kOnes) & ~word & kTops; zeros != 0) {
        return at + static_cast<std::size_t>(std::countr_zero(zeros)) / 8;
      }
      if (at + 8 == size) return size;
      // The last eight may overlap those before.
      at = at + 16 <= size ? at + 8 : size - 8;
    }
  }
  while (at < size && text[at] != byte) ++at;
  return at;
}

}  // namespace violet
