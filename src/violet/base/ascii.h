#pragma once

// Characters and small texts as HTTP sees them: ASCII only, no locale.

#include <charconv>
#include <cstdint>
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

}  // namespace violet::ascii
