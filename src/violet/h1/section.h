#pragma once

// What the parsers of requests and of responses share: a field line, the end of a section, Content-Length and
// Transfer-Encoding (RFC 9112 §5-§7). Strict for both, because a proxy has both ends.
//
// REQUIRES of all: kScanPadding readable bytes behind `end`.

#include "violet/base/ascii.h"
#include "violet/h1/parser.h"
#include "violet/h1/scan.h"

#include <cstdint>
#include <string_view>

namespace violet::h1::section {

inline Parsed more() { return {}; }
inline Parsed done(const char* end) { return {.verdict = Verdict::Done, .end = end}; }
inline Parsed bad(std::uint16_t status = 400) { return {.verdict = Verdict::Bad, .status = status}; }
inline Parsed over(LimitId limit, std::uint16_t status) {
  return {.verdict = Verdict::Bad, .status = status, .limit = limit};
}

inline bool is_over(const char* begin, const char* end, std::uint64_t limit) {
  return static_cast<std::uint64_t>(end - begin) > limit;
}

// The empty line that ends a section. REQUIRES: p < end, *p == '\r'. Sets p behind it.
inline Verdict parse_section_end(const char*& p, const char* end) {
  if (p + 1 == end) return Verdict::More;
  if (p[1] != '\n') return Verdict::Bad;
  p += 2;
  return Verdict::Done;
}

// One field line, not the empty one, into `field`. Sets p behind its CRLF.
[[gnu::always_inline]] inline Verdict parse_field(const char*& p, const char* end, http::Field& field) {
  const char* colon = skip_name(p, end);
  if (colon >= end) [[unlikely]] {
    // No colon yet: only token characters can still become a name.
    return ascii::all_are({p, static_cast<std::size_t>(end - p)}, ascii::kToken) ? Verdict::More : Verdict::Bad;
  }
  // White space before the colon, a folded line and a line without a colon (RFC 9112 §5.1, §5.2).
  if (*colon != ':' || colon == p) return Verdict::Bad;
  field.name = {p, static_cast<std::size_t>(colon - p)};
  field.id = http::find_padded_field(field.name);
  field.is_sensitive = false;
  if (field.id == http::FieldId::Other && !ascii::is_token(field.name)) return Verdict::Bad;
  const char* value = colon + 1;
  // Nearly always exactly one space.
  if (*value == ' ') ++value;
  if (*value == ' ' || *value == '\t') [[unlikely]] {
    while (value < end && (*value == ' ' || *value == '\t')) ++value;
  }
  const char* stop = skip_field_value(value, end);
  if (stop >= end) return Verdict::More;
  if (*stop != '\r') return Verdict::Bad;
  if (stop + 1 == end) return Verdict::More;
  if (stop[1] != '\n') return Verdict::Bad;
  p = stop + 2;
  if (stop > value && (stop[-1] == ' ' || stop[-1] == '\t')) [[unlikely]] {
    while (stop > value && (stop[-1] == ' ' || stop[-1] == '\t')) --stop;
  }
  field.value = {value, static_cast<std::size_t>(stop - value)};
  return Verdict::Done;
}

inline bool parse_length(std::string_view text, std::uint64_t& length) {
  if (text.empty() || text.size() > 19) return false;
  std::uint64_t value = 0;
  for (char c : text) {
    if (!ascii::is(c, ascii::kDigit)) return false;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  length = value;
  return true;
}

// Codings of all Transfer-Encoding lines of a message, as one list (RFC 9112 §6.1).
struct Codings {
  int count = 0;
  int chunked_count = 0;
  bool ends_chunked = false;

  // An empty member counts as a coding nobody knows. Recipients may skip it (RFC 9110 §5.6.1), but "chunked," is read
  // in two ways by the servers of this world, and no client that means well sends it.
  void add(std::string_view value) {
    for (;;) {
      const std::size_t comma = value.find(',');
      ends_chunked = ascii::equal_folded(ascii::trim(value.substr(0, comma)), "chunked");
      chunked_count += ends_chunked;
      ++count;
      if (comma == std::string_view::npos) return;
      value.remove_prefix(comma + 1);
    }
  }
};

}  // namespace violet::h1::section
