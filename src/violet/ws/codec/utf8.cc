#include "violet/ws/codec/utf8.h"

#include <array>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace violet::ws {
namespace {

bool check_by_bytes(std::string_view text) noexcept {
  Utf8 state;
  return state.add(text) && state.is_complete();
}

#if defined(__x86_64__)

// What can be wrong with two bytes that follow each other. Each kind is a set of first bytes (their high and their low
// halves) and a set of second bytes (their high halves), so that three lookups of 16 entries and two ANDs find it.
struct Kind {
  std::uint16_t first_high;  // a bit for each value of the half
  std::uint16_t first_low;
  std::uint16_t second_high;
};
consteval std::uint16_t halves(unsigned from, unsigned to) {
  std::uint16_t set = 0;
  for (unsigned half = from; half <= to; ++half) set = static_cast<std::uint16_t>(set | 1u << half);
  return set;
}
constexpr std::uint16_t kAny = halves(0, 15);
constexpr std::uint16_t kContinuation = halves(0x8, 0xb);
constexpr int kTwoContinuations = 7;  // no fault where a lead byte two or three before wants them
constexpr Kind kKinds[8] = {
    {halves(0xc, 0xf), kAny, halves(0x0, 0x7) | halves(0xc, 0xf)},          // a lead byte without a continuation
    {halves(0x0, 0x7), kAny, kContinuation},                                // a continuation without a lead byte
    {halves(0xc, 0xc), halves(0x0, 0x1), kContinuation},                    // two bytes for what fits into one
    {halves(0xe, 0xe), halves(0x0, 0x0), halves(0x8, 0x9)},                 // three for what fits into two
    {halves(0xf, 0xf), halves(0x0, 0x0) | halves(0x5, 0xf), halves(8, 8)},  // four for three; above F4
    {halves(0xe, 0xe), halves(0xd, 0xd), halves(0xa, 0xb)},                 // surrogates
    {halves(0xf, 0xf), halves(0x4, 0xf), halves(0x9, 0xb)},                 // above U+10FFFF
    {kContinuation, kAny, kContinuation},
};

using Lookup = std::array<std::uint8_t, 32>;  // the 16 entries twice, for both lanes
consteval Lookup lookup_of(std::uint16_t Kind::* set) {
  Lookup table{};
  for (unsigned i = 0; i < 32; ++i) {
    for (unsigned kind = 0; kind < 8; ++kind) {
      if ((kKinds[kind].*set >> (i % 16) & 1) != 0) table[i] = static_cast<std::uint8_t>(table[i] | 1u << kind);
    }
  }
  return table;
}
alignas(32) constexpr Lookup kFirstHigh = lookup_of(&Kind::first_high);
alignas(32) constexpr Lookup kFirstLow = lookup_of(&Kind::first_low);
alignas(32) constexpr Lookup kSecondHigh = lookup_of(&Kind::second_high);

// The largest bytes with which a vector may end: more would be a lead byte whose code point goes on behind it.
alignas(32) constexpr Lookup kEndMost = [] {
  Lookup table{};
  table.fill(0xff);
  table[29] = 0xf0 - 1;
  table[30] = 0xe0 - 1;
  table[31] = 0xc0 - 1;
  return table;
}();

// For vectors of 32 bytes in a row.
class Checker {
 public:
  [[gnu::target("avx2"), gnu::always_inline]] inline Checker() noexcept
      : first_high_(load(kFirstHigh.data())),
        first_low_(load(kFirstLow.data())),
        second_high_(load(kSecondHigh.data())),
        end_most_(load(kEndMost.data())),
        wrong_(_mm256_setzero_si256()),
        previous_(_mm256_setzero_si256()),
        unfinished_(_mm256_setzero_si256()) {}

  [[gnu::target("avx2"), gnu::always_inline]] inline void ascii() noexcept {
    wrong_ = _mm256_or_si256(wrong_, unfinished_);
    previous_ = unfinished_ = _mm256_setzero_si256();
  }
  [[gnu::target("avx2"), gnu::always_inline]] inline void check(__m256i input) noexcept {
    const __m256i half = _mm256_set1_epi8(0x0f);
    const __m256i carried = _mm256_permute2x128_si256(previous_, input, 0x21);
    const __m256i before_1 = _mm256_alignr_epi8(input, carried, 15);
    const __m256i before_2 = _mm256_alignr_epi8(input, carried, 14);
    const __m256i before_3 = _mm256_alignr_epi8(input, carried, 13);
    const __m256i high = _mm256_shuffle_epi8(first_high_, _mm256_and_si256(_mm256_srli_epi16(before_1, 4), half));
    const __m256i low = _mm256_shuffle_epi8(first_low_, _mm256_and_si256(before_1, half));
    const __m256i next = _mm256_shuffle_epi8(second_high_, _mm256_and_si256(_mm256_srli_epi16(input, 4), half));
    const __m256i faults = _mm256_and_si256(_mm256_and_si256(high, low), next);
    // The top bit is set where a lead byte of three or four, two before, or of four, three before, wants a second or
    // third continuation: exactly there two continuations are right.
    const __m256i third = _mm256_subs_epu8(before_2, _mm256_set1_epi8(static_cast<char>(0xe0 - 0x80)));
    const __m256i fourth = _mm256_subs_epu8(before_3, _mm256_set1_epi8(static_cast<char>(0xf0 - 0x80)));
    const __m256i wanted = _mm256_and_si256(_mm256_or_si256(third, fourth), _mm256_set1_epi8(static_cast<char>(0x80)));
    static_assert(kTwoContinuations == 7);
    wrong_ = _mm256_or_si256(wrong_, _mm256_xor_si256(faults, wanted));
    unfinished_ = _mm256_subs_epu8(input, end_most_);
    previous_ = input;
  }
  [[gnu::target("avx2"), gnu::always_inline]] inline bool is_right() const noexcept {
    const __m256i all = _mm256_or_si256(wrong_, unfinished_);
    return _mm256_testz_si256(all, all) != 0;
  }
  [[gnu::target("avx2"), gnu::always_inline]] static inline __m256i load(const void* from) noexcept {
    return _mm256_loadu_si256(static_cast<const __m256i*>(from));
  }

 private:
  __m256i first_high_;
  __m256i first_low_;
  __m256i second_high_;
  __m256i end_most_;
  __m256i wrong_;
  __m256i previous_;
  __m256i unfinished_;
};

[[gnu::target("avx2")]] bool check_avx2(std::string_view text) noexcept {
  Checker checker;
  const char* at = text.data();
  std::size_t left = text.size();
  for (; left >= 128; at += 128, left -= 128) {
    const __m256i a = Checker::load(at);
    const __m256i b = Checker::load(at + 32);
    const __m256i c = Checker::load(at + 64);
    const __m256i d = Checker::load(at + 96);
    if (_mm256_movemask_epi8(_mm256_or_si256(_mm256_or_si256(a, b), _mm256_or_si256(c, d))) == 0) {
      checker.ascii();
      continue;
    }
    checker.check(a);
    checker.check(b);
    checker.check(c);
    checker.check(d);
  }
  for (; left >= 32; at += 32, left -= 32) checker.check(Checker::load(at));
  // Zeros behind the end are ASCII: a code point that is cut off shows against them.
  alignas(32) char rest[32] = {};
  if (left > 0) std::memcpy(rest, at, left);
  checker.check(Checker::load(rest));
  return checker.is_right();
}

#endif

Utf8Function choose() noexcept {
  const Utf8Function avx2 = utf8_by_avx2();
  return avx2 != nullptr ? avx2 : utf8_by_bytes();
}

// How many bytes at the end belong to a code point that goes on behind it; 0 when nobody can tell.
std::size_t unfinished_bytes(std::string_view text) noexcept {
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if (byte < 0x80) return 0;
    if (byte < 0xc0) continue;
    const std::size_t size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return back < size ? back : 0;
  }
  return 0;
}

}  // namespace

Utf8Function utf8_by_bytes() noexcept { return &check_by_bytes; }

Utf8Function utf8_by_avx2() noexcept {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return &check_avx2;
#endif
  return nullptr;
}

bool detail::is_utf8_long(std::string_view text) noexcept {
  static const Utf8Function chosen = choose();
  return chosen(text);
}

// RFC 3629 §4: the second byte's range depends on the first.
bool Utf8::step(unsigned char byte) noexcept {
  if (needed_ > 0) {
    if (byte < least_ || byte > most_) return false;
    --needed_;
    least_ = 0x80;
    most_ = 0xbf;
    return true;
  }
  if (byte < 0x80) return true;
  if (byte < 0xc2 || byte > 0xf4) return false;
  needed_ = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : 1;
  least_ = byte == 0xe0 ? 0xa0 : byte == 0xf0 ? 0x90 : 0x80;
  most_ = byte == 0xed ? 0x9f : byte == 0xf4 ? 0x8f : 0xbf;
  return true;
}

bool Utf8::add(std::string_view piece) noexcept {
  while (needed_ > 0 && !piece.empty()) {
    if (!step(static_cast<unsigned char>(piece.front()))) return false;
    piece.remove_prefix(1);
  }
  // A long middle goes through the vectors, the end byte by byte.
  constexpr std::size_t kWorthIt = 32;
  if (piece.size() >= kWorthIt && utf8_by_avx2() != nullptr) {
    const std::size_t middle = piece.size() - unfinished_bytes(piece);
    if (!detail::is_utf8_long(piece.substr(0, middle))) return false;
    piece.remove_prefix(middle);
  }
  for (const char c : piece) {
    if (!step(static_cast<unsigned char>(c))) return false;
  }
  return true;
}

}  // namespace violet::ws
