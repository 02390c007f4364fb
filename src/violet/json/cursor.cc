#include "violet/json/cursor.h"

#include "violet/base/ascii.h"
#include "violet/data/format/utf8.h"
#include "violet/json/scan.h"

#include <bit>

namespace violet::json {
namespace {

bool is_digit(char c) noexcept { return static_cast<unsigned>(c - '0') <= 9; }

// Four hex digits; -1 when they are none.
std::int32_t read_hex(const char* at) noexcept {
  std::int32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    const int digit = ascii::hex_value(at[i]);
    if (digit < 0) return -1;
    value = value << 4 | digit;
  }
  return value;
}
bool is_high_surrogate(std::int32_t unit) noexcept { return (unit & 0xfc00) == 0xd800; }
bool is_low_surrogate(std::int32_t unit) noexcept { return (unit & 0xfc00) == 0xdc00; }

char plain_escape(char c) noexcept {
  switch (c) {
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return c;
  }
}

}  // namespace

const char* Cursor::string(const char* at, StringToken& out) noexcept {
  const char* const first = ++at;
  while (end_ - at >= static_cast<std::ptrdiff_t>(kVector)) {
    const std::uint32_t found = special(at);
    if (found == 0) {
      at += kVector;
      continue;
    }
    at += std::countr_zero(found);
    if (*at != '"') [[unlikely]]
      break;
    out.raw = {first, static_cast<std::size_t>(at - first)};
    out.has_escapes = false;
    return at + 1;
  }
  out.has_escapes = false;
  return string_with_care(at, first, out);
}

// Near the end of the text, and from the first escape or character beyond ASCII on.
const char* Cursor::string_with_care(const char* at, const char* first, StringToken& out) noexcept {
  while (at < end_) {
    if (end_ - at >= static_cast<std::ptrdiff_t>(kVector)) {
      const std::uint32_t found = special(at);
      if (found == 0) {
        at += kVector;
        continue;
      }
      at += std::countr_zero(found);
    }
    const auto c = static_cast<unsigned char>(*at);
    if (c == '"') {
      out.raw = {first, static_cast<std::size_t>(at - first)};
      return at + 1;
    }
    if (c == '\\') {
      out.has_escapes = true;
      at = escape(at);
      if (at == nullptr) return nullptr;
    } else if (c < 0x20) {
      return fail(at, "a control character has to be escaped in a string");
    } else if (const std::size_t size = utf8::length(at, end_); size > 0) {
      at += size;
    } else {
      return fail(at, "this is not UTF-8");
    }
  }
  return fail(first - 1, "a string does not end");
}

// REQUIRES: a backslash at `at`.
const char* Cursor::escape(const char* at) noexcept {
  constexpr std::ptrdiff_t kUnitBytes = 6;  // \u1234
  if (end_ - at < 2) return fail(at, "a string does not end");
  if (at[1] != 'u') {
    constexpr std::string_view kKnown = "\"\\/bfnrt";
    return kKnown.find(at[1]) != std::string_view::npos ? at + 2 : fail(at, "there is no such escape");
  }
  const std::int32_t unit = end_ - at >= kUnitBytes ? read_hex(at + 2) : -1;
  if (unit < 0) return fail(at, "\\u needs four hex digits");
  if (is_low_surrogate(unit)) return fail(at, "half of a surrogate pair");
  if (!is_high_surrogate(unit)) return at + kUnitBytes;
  const char* const second = at + kUnitBytes;
  const bool is_pair =
      end_ - second >= kUnitBytes && second[0] == '\\' && second[1] == 'u' && is_low_surrogate(read_hex(second + 2));
  return is_pair ? second + kUnitBytes : fail(at, "half of a surrogate pair");
}

const char* Cursor::number(const char* at, NumberToken& out) noexcept {
  const char* const first = at;
  if (peek(at) == '-') ++at;
  if (!is_digit(peek(at))) return fail(at, peek(first) == '-' ? "a number needs a digit" : "a value is expected");
  if (*at == '0') {
    ++at;
    if (is_digit(peek(at))) return fail(at, "a number may not begin with 0");
  } else {
    while (at < end_ && is_digit(*at)) ++at;
  }
  bool is_whole = true;
  if (peek(at) == '.') {
    is_whole = false;
    ++at;
    if (!is_digit(peek(at))) return fail(at, "a fraction needs a digit");
    while (at < end_ && is_digit(*at)) ++at;
  }
  if (peek(at) == 'e' || peek(at) == 'E') {
    is_whole = false;
    ++at;
    if (peek(at) == '+' || peek(at) == '-') ++at;
    if (!is_digit(peek(at))) return fail(at, "an exponent needs a digit");
    while (at < end_ && is_digit(*at)) ++at;
  }
  out.text = {first, static_cast<std::size_t>(at - first)};
  out.is_whole = is_whole;
  return at;
}

const char* Cursor::literal(const char* at, std::string_view word) noexcept {
  const bool is_there = static_cast<std::size_t>(end_ - at) >= word.size() && std::string_view(at, word.size()) == word;
  return is_there ? at + word.size() : fail(at, "a value is expected");
}

const char* Cursor::value(const char* at) noexcept {
  switch (peek(at)) {
    case '{': return object(at);
    case '[': return list(at);
    case '"': {
      StringToken token;
      return string(at, token);
    }
    case 't': return literal(at, "true");
    case 'f': return literal(at, "false");
    case 'n': return literal(at, "null");
    default: {
      NumberToken token;
      return number(at, token);
    }
  }
}

const char* Cursor::object(const char* at) noexcept {
  if (!enter(at)) return nullptr;
  at = skip_space(at + 1);
  if (peek(at) != '}') {
    for (;;) {
      StringToken key;
      if (peek(at) != '"') return fail(at, "a name in quotes is expected");
      at = string(at, key);
      if (at == nullptr) return nullptr;
      at = skip_space(at);
      if (peek(at) != ':') return fail(at, "':' is expected");
      at = value(skip_space(at + 1));
      if (at == nullptr) return nullptr;
      at = skip_space(at);
      if (peek(at) == '}') break;
      if (peek(at) != ',') return fail(at, "',' or '}' is expected");
      at = skip_space(at + 1);
    }
  }
  leave();
  return at + 1;
}

const char* Cursor::list(const char* at) noexcept {
  if (!enter(at)) return nullptr;
  at = skip_space(at + 1);
  if (peek(at) != ']') {
    for (;;) {
      at = value(at);
      if (at == nullptr) return nullptr;
      at = skip_space(at);
      if (peek(at) == ']') break;
      if (peek(at) != ',') return fail(at, "',' or ']' is expected");
      at = skip_space(at + 1);
    }
  }
  leave();
  return at + 1;
}

std::string_view unescape(const StringToken& token, Arena& arena) {
  if (!token.has_escapes) return token.raw;
  // No escape is shorter than what it stands for.
  char* const first = static_cast<char*>(arena.allocate(token.raw.size(), 1));
  char* out = first;
  const char* at = token.raw.data();
  const char* const end = at + token.raw.size();
  while (at < end) {
    if (*at != '\\') {
      *out++ = *at++;
      continue;
    }
    if (at[1] != 'u') {
      *out++ = plain_escape(at[1]);
      at += 2;
      continue;
    }
    std::int32_t point = read_hex(at + 2);
    at += 6;
    if (is_high_surrogate(point)) {
      point = 0x10000 + ((point & 0x3ff) << 10 | (read_hex(at + 2) & 0x3ff));
      at += 6;
    }
    out += utf8::write(static_cast<std::uint32_t>(point), out);
  }
  const auto size = static_cast<std::size_t>(out - first);
  arena.give_back(first + size, token.raw.size() - size);
  return {first, size};
}

}  // namespace violet::json
