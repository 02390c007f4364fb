// What of Reader reads values as they mostly are. Compiled here, once, so that programs that are not optimised read as
// fast.

#include "violet/json/read/reading.h"
#include "violet/json/scan.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace violet::json::detail {
namespace {

// As many bytes as T has, the first one lowest.
template <class T>
T load_word(const char* at) noexcept {
  T word = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&word, at, sizeof word);
  } else {
    for (std::size_t i = 0; i < sizeof word; ++i) word |= T{static_cast<unsigned char>(at[i])} << i * 8;
  }
  return word;
}

// The bits of the digits that a word begins with; those of the whole word where there is nothing else in it.
template <class T>
int digit_bits(T word, T digits) noexcept {
  constexpr T kOnes = static_cast<T>(~T{0} / 0xff);
  // The high bit of each byte that is no digit, right up to the first one.
  const T others = ((word + kOnes * (0x7f - '9')) | digits) & kOnes * 0x80;
  return std::countr_zero(others) & ~7;
}
constexpr std::uint32_t kZeros4 = 0x30303030;
constexpr std::uint64_t kZeros8 = 0x3030303030303030;

// Digits of a byte each, the first one lowest, behind zeros.
std::uint32_t number_of(std::uint32_t digits) noexcept {
  digits = (digits * 10 + (digits >> 8)) & 0x00ff00ff;  // pairs
  return digits * (100 << 16 | 1) >> 16 & 0x3fff;
}
std::uint64_t number_of(std::uint64_t digits) noexcept {
  digits = digits * 10 + (digits >> 8);
  constexpr std::uint64_t kPairs = 0x000000ff000000ff;
  const std::uint64_t high = (digits & kPairs) * (100 + (std::uint64_t{1'000'000} << 32));
  const std::uint64_t low = (digits >> 16 & kPairs) * (1 + (std::uint64_t{10'000} << 32));
  return (high + low) >> 32;
}

bool ends_number(char c) noexcept { return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\n' || c == '\r'; }

// Up to seven digits.
Reader::Whole read_digits(const char* at) noexcept {
  const auto four = load_word<std::uint32_t>(at);
  std::uint64_t value = 0;
  int bits = digit_bits<std::uint32_t>(four, four - kZeros4);
  if (bits < 32) [[likely]] {
    if (bits == 0) [[unlikely]]
      return {};
    value = number_of((four - kZeros4) << (32 - bits));
  } else {
    const auto eight = load_word<std::uint64_t>(at);
    bits = digit_bits<std::uint64_t>(eight, eight - kZeros8);
    if (bits == 64) return {};
    value = number_of((eight - kZeros8) << (64 - bits));
  }
  // No number but zero begins with 0; a fraction or an exponent may follow.
  if ((*at == '0' && bits > 8) || !ends_number(at[bits / 8])) [[unlikely]]
    return {};
  return {at + bits / 8, value};
}

}  // namespace

Reader::Whole Reader::plain_whole(const char* at, bool is_signed) noexcept {
  if (is_signed && *at == '-') [[unlikely]] {
    const Whole whole = read_digits(at + 1);
    return {whole.end, 0 - whole.value};
  }
  return read_digits(at);
}

const char* Reader::plain(const char* at, bool& out) noexcept {
  const bool is_true = std::memcmp(at, "true", 4) == 0;
  if (!is_true && std::memcmp(at, "false", 5) != 0) return nullptr;
  out = is_true;
  return at + (is_true ? 4 : 5);
}

const char* Reader::skip_space(const char* at) const noexcept { return cursor_.skip_space(at); }

const char* Reader::behind_prefix(const char* at, std::string_view prefix, bool is_first) const noexcept {
  if (!is_first) {
    if (*at <= ' ') at = cursor_.skip_space(at);
    if (cursor_.peek(at) != ',') return nullptr;
  }
  at = cursor_.skip_space(at + 1);
  prefix.remove_prefix(1);
  const bool is_there = static_cast<std::size_t>(cursor_.end() - at) > prefix.size() + kValueRoom &&
                        std::memcmp(at, prefix.data(), prefix.size()) == 0;
  return is_there ? at + prefix.size() : nullptr;
}

namespace {

// The text in quotes at `at`: its end, where nothing has to be unescaped or looked at; nullptr otherwise.
[[gnu::always_inline]] inline const char* end_of_text(const char* at, const char* end) noexcept {
  if (*at != '"') [[unlikely]]
    return nullptr;
  std::uint32_t found = special(++at);
  while (found == 0) {
    at += kVector;
    if (end - at < static_cast<std::ptrdiff_t>(kVector)) return nullptr;
    found = special(at);
  }
  at += std::countr_zero(found);
  return *at == '"' ? at : nullptr;
}

// Out of the way of short texts, which need no more than a few registers.
[[gnu::noinline]] const char* assign(std::string& out, const char* first, const char* end) {
  out.assign(first, end);
  return end + 1;
}

}  // namespace

const char* Reader::plain(const char* at, std::string_view& out) const noexcept {
  const char* const end = end_of_text(at, cursor_.end());
  if (end == nullptr) [[unlikely]]
    return nullptr;
  out = {at + 1, static_cast<std::size_t>(end - at - 1)};
  return end + 1;
}

const char* Reader::plain(const char* at, std::string& out) const {
  constexpr std::size_t kShort = kVector - 1;  // any string has room for so many
  const char* const end = end_of_text(at, cursor_.end());
  if (end == nullptr) [[unlikely]]
    return nullptr;
  const auto size = static_cast<std::size_t>(end - ++at);
  if (size > kShort || out.capacity() < kShort) [[unlikely]]
    return assign(out, at, end);
  out.resize_and_overwrite(kShort, [at, size](char* to, std::size_t) {
    std::memcpy(to, at, kShort);
    return size;
  });
  return end + 1;
}

std::size_t Reader::room_for(std::size_t element_bytes, std::size_t count, const char* first,
                             const char* at) const noexcept {
  constexpr std::size_t kFirst = 4, kLarge = 1024;
  if (count == 0) return element_bytes <= kLarge ? kFirst : 1;
  // As many as the rest of the text may hold, and some more; no more than eight times what was really there.
  const auto read = static_cast<std::size_t>(at - first);
  const auto left = static_cast<std::size_t>(cursor_.end() - at);
  const std::size_t more = left / (read / count + 1);
  return count + std::clamp(more + more / 8, count / 2 + 1, count * 7);
}

}  // namespace violet::json::detail
