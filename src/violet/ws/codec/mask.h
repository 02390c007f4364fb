#pragma once

// Masking (RFC 6455 §5.3): every byte a client sends is combined with one of four bytes of a key. Vectors are used as
// wide as the processor has them, chosen at run time.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace violet::ws {

// Four bytes in the order of the wire.
using MaskKey = std::uint32_t;

// The key as it is for a payload's byte `count` and those behind it.
[[nodiscard]] constexpr MaskKey rotate_key(MaskKey key, std::size_t count) noexcept {
  const int bits = static_cast<int>(count % 4) * 8;
  return std::endian::native == std::endian::little ? std::rotr(key, bits) : std::rotl(key, bits);
}

namespace detail {

template <class Word>
Word load_word(const char* from) noexcept {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// Sizes from sizeof(Word) to twice that. Both words are read before one is written, so that they may overlap.
template <class Word>
void mask_two_words(char* to, const char* from, std::size_t size, Word first_key, Word last_key) noexcept {
  const Word first = load_word<Word>(from) ^ first_key;
  const Word last = load_word<Word>(from + size - sizeof(Word)) ^ last_key;
  std::memcpy(to, &first, sizeof first);
  std::memcpy(to + size - sizeof last, &last, sizeof last);
}

constexpr std::uint64_t twice(MaskKey key) noexcept { return std::uint64_t{key} << 32 | key; }

void mask_many(char* to, const char* from, std::size_t size, MaskKey key) noexcept;

}  // namespace detail

// Masks or unmasks at most kMaskShortMax bytes without a call; `to` and `from` are the same place, or do not overlap.
inline constexpr std::size_t kMaskShortMax = 16;
inline void mask_short(char* to, const char* from, std::size_t size, MaskKey key) noexcept {
  if (size >= 8) {
    detail::mask_two_words<std::uint64_t>(to, from, size, detail::twice(key), detail::twice(rotate_key(key, size)));
  } else if (size >= 4) {
    detail::mask_two_words<std::uint32_t>(to, from, size, key, rotate_key(key, size));
  } else {
    char bytes[4];
    std::memcpy(bytes, &key, 4);
    for (std::size_t i = 0; i < size; ++i) to[i] = static_cast<char>(from[i] ^ bytes[i]);
  }
}

// Any number of them.
inline void apply_mask(char* to, const char* from, std::size_t size, MaskKey key) noexcept {
  if (size > kMaskShortMax) {
    detail::mask_many(to, from, size, key);
  } else {
    mask_short(to, from, size, key);
  }
}

// The ways there are, for tests and benchmarks: "avx2", "words"; nullptr where the processor lacks it.
using MaskFunction = void (*)(char* to, const char* from, std::size_t size, MaskKey key) noexcept;
MaskFunction mask_by_words() noexcept;
MaskFunction mask_by_avx2() noexcept;

}  // namespace violet::ws
