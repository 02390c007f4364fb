#pragma once

// Characters and small texts as HTTP sees them: ASCII only, no locale.

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace violet::ascii {

enum Class : std::uint8_t {
  kToken = 1,       // tchar (RFC 9110 §5.6.2)
  kFieldValue = 2,  // VCHAR, obs-text, SP, HTAB (RFC 9110 §5.5)
  kTarget = 4,      // allowed in a request target: visible ASCII but `"`, `#`, `<`, `>`
  kDigit = 8,
  kHex = 16,
  kQueryMark = 64,  // '=', '&', '%', '+': what a query is split and decoded at
  kHost = 32,       // reg-name and IPv6 literal characters, ':' and '%' included (RFC 3986 §3.2.2)
};

namespace detail {
struct Table {
  std::uint8_t at[256];
};
constexpr Table make_table() {
  Table table{};
  const auto set = [&table](std::string_view characters, std::uint8_t bits) {
    for (char c : characters) table.at[static_cast<unsigned char>(c)] |= bits;
  };
  for (int c = 0; c < 256; ++c) {
    const bool is_digit = c >= '0' && c <= '9';
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    std::uint8_t bits = 0;
    if (is_digit || is_letter) bits |= kToken | kHost;
    if (is_digit) bits |= kDigit | kHex;
    if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')) bits |= kHex;
    if ((c >= 0x20 && c != 0x7f) || c == '\t') bits |= kFieldValue;
    if (c > 0x20 && c < 0x7f && c != '"' && c != '#' && c != '<' && c != '>') bits |= kTarget;
    table.at[c] = bits;
  }
  set("!#$%&'*+-.^_`|~", kToken);
  set("-._~!$&'()*+,;=:%[]", kHost);
  set("=&%+", kQueryMark);
  return table;
}
inline constexpr Table kTable = make_table();
}  // namespace detail

[[nodiscard]] constexpr bool is(char c, std::uint8_t wanted) noexcept {
  return (detail::kTable.at[static_cast<unsigned char>(c)] & wanted) != 0;
}
[[nodiscard]] constexpr bool all_are(std::string_view text, std::uint8_t wanted) noexcept {
  for (char c : text) {
    if (!is(c, wanted)) return false;
  }
  return true;
}
[[nodiscard]] constexpr bool is_token(std::string_view text) noexcept { return !text.empty() && all_are(text, kToken); }

[[nodiscard]] constexpr char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

[[nodiscard]] constexpr bool equal_folded(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

// Without spaces and tabs at both ends (OWS, RFC 9110 §5.6.3).
[[nodiscard]] constexpr std::string_view trim(std::string_view text) noexcept {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Takes the next member of a comma-separated list off `rest`, trimmed; empty members are skipped (RFC 9110 §5.6.1).
// Returns an empty view when there is none left. Commas inside quoted strings do not separate.
[[nodiscard]] constexpr std::string_view next_member(std::string_view& rest) noexcept {
  while (!rest.empty()) {
    std::size_t end = 0;
    bool is_quoted = false;
    for (; end < rest.size() && (is_quoted || rest[end] != ','); ++end) {
      if (rest[end] == '"') is_quoted = !is_quoted;
      if (is_quoted && rest[end] == '\\' && end + 1 < rest.size()) ++end;
    }
    const std::string_view member = trim(rest.substr(0, end));
    rest.remove_prefix(end < rest.size() ? end + 1 : end);
    if (!member.empty()) return member;
  }
  return {};
}

[[nodiscard]] constexpr int hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// A whole text as a number: no sign but '-' for signed types, no spaces, nothing left over, no overflow.
template <class T>
[[nodiscard]] std::optional<T> to_number(std::string_view text) noexcept {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "00", "01", … "99", one behind the other.
inline constexpr auto kDigitPairs = [] {
  std::array<char, 200> pairs{};
  for (std::size_t i = 0; i < 100; ++i) {
    pairs[i * 2] = static_cast<char>('0' + i / 10);
    pairs[i * 2 + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

inline constexpr std::size_t kDigitsMax = 20;  // of 64 bits
namespace detail {
[[nodiscard]] inline char* put_pair(char* at, std::uint32_t value) noexcept {
  std::memcpy(at, &kDigitPairs[value * 2], 2);
  return at + 2;
}
// One digit or two.
[[nodiscard]] inline char* put_below_100(char* at, std::uint32_t value) noexcept {
  if (value >= 10) return put_pair(at, value);
  *at = static_cast<char>('0' + value);
  return at + 1;
}
[[nodiscard]] inline char* put_below_10000(char* at, std::uint32_t value) noexcept {
  if (value < 100) return put_below_100(at, value);
  return put_pair(put_below_100(at, value / 100), value % 100);
}
[[nodiscard]] inline char* put_four(char* at, std::uint32_t value) noexcept {
  return put_pair(put_pair(at, value / 100), value % 100);
}
[[nodiscard, gnu::noinline]] inline char* put_from_10000(char* at, std::uint64_t value) noexcept {
  if (value < 100'000'000) {
    const auto small = static_cast<std::uint32_t>(value);
    return put_four(put_below_10000(at, small / 10'000), small % 10'000);
  }
  std::uint32_t groups[4];
  int count = 0;
  for (; value >= 10'000; value /= 10'000) groups[count++] = static_cast<std::uint32_t>(value % 10'000);
  at = put_below_10000(at, static_cast<std::uint32_t>(value));
  while (count > 0) at = put_four(at, groups[--count]);
  return at;
}
}  // namespace detail

// Writes the number in decimal at `at`, where there is room for it; returns its end.
[[nodiscard]] inline char* put_unsigned(char* at, std::uint64_t value) noexcept {
  if (value < 10'000) [[likely]]
    return detail::put_below_10000(at, static_cast<std::uint32_t>(value));
  return detail::put_from_10000(at, value);
}
[[nodiscard]] inline char* put_signed(char* at, std::int64_t value) noexcept {
  auto magnitude = static_cast<std::uint64_t>(value);
  if (value < 0) {
    *at++ = '-';
    magnitude = 0 - magnitude;
  }
  return put_unsigned(at, magnitude);
}

}  // namespace violet::ascii
