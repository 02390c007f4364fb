#include "violet/ws/codec/mask.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace violet::ws {
namespace {

void mask_words(char* to, const char* from, std::size_t size, MaskKey key) noexcept {
  const std::uint64_t wide = detail::twice(key);
  std::size_t at = 0;
  for (; at + 8 <= size; at += 8) {
    const std::uint64_t word = detail::load_word<std::uint64_t>(from + at) ^ wide;
    std::memcpy(to + at, &word, 8);
  }
  char bytes[4];
  std::memcpy(bytes, &key, 4);
  for (; at < size; ++at) to[at] = static_cast<char>(from[at] ^ bytes[at % 4]);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] __m256i load(const char* from) noexcept {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
[[gnu::target("avx2")]] void store(char* to, __m256i value) noexcept {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), value);
}

[[gnu::target("avx2")]] void mask_avx2(char* to, const char* from, std::size_t size, MaskKey key) noexcept {
  const __m256i wide = _mm256_set1_epi32(static_cast<int>(key));
  std::size_t at = 0;
  for (; at + 128 <= size; at += 128) {
    const __m256i a = _mm256_xor_si256(load(from + at), wide);
    const __m256i b = _mm256_xor_si256(load(from + at + 32), wide);
    const __m256i c = _mm256_xor_si256(load(from + at + 64), wide);
    const __m256i d = _mm256_xor_si256(load(from + at + 96), wide);
    store(to + at, a);
    store(to + at + 32, b);
    store(to + at + 64, c);
    store(to + at + 96, d);
  }
  for (; at + 32 <= size; at += 32) store(to + at, _mm256_xor_si256(load(from + at), wide));
  mask_words(to + at, from + at, size - at, key);
}
#endif

MaskFunction choose() noexcept {
  const MaskFunction avx2 = mask_by_avx2();
  return avx2 != nullptr ? avx2 : mask_by_words();
}

}  // namespace

MaskFunction mask_by_words() noexcept { return &mask_words; }

MaskFunction mask_by_avx2() noexcept {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return &mask_avx2;
#endif
  return nullptr;
}

void detail::mask_many(char* to, const char* from, std::size_t size, MaskKey key) noexcept {
  static const MaskFunction chosen = choose();
  chosen(to, from, size, key);
}

}  // namespace violet::ws
