#include "violet/h1/client/response.h"

#include "violet/base/ascii.h"
#include "violet/h1/section.h"
#include "violet/http/status.h"

#include <cstring>

namespace violet::h1::client {
namespace {

using http::FieldId;
using namespace section;
using Kind = ResponseFraming::Kind;

constexpr std::size_t kStatusAt = 9;   // "HTTP/1.1 "
constexpr std::size_t kReasonAt = 12;  // "HTTP/1.1 200"

// The version, a space and the status. REQUIRES: kReasonAt bytes at p.
bool parse_version_and_status(const char* p, http::Head& head) {
  if (std::memcmp(p, "HTTP/1.", 7) != 0 || !ascii::is(p[7], ascii::kDigit) || p[8] != ' ') return false;
  // A higher minor version is read as the highest we know (RFC 9110 §2.5).
  head.version = p[7] == '0' ? http::Version::Http10 : http::Version::Http11;
  int status = 0;
  for (const char* digit = p + kStatusAt; digit < p + kReasonAt; ++digit) {
    if (!ascii::is(*digit, ascii::kDigit)) return false;
    status = status * 10 + (*digit - '0');
  }
  head.status = static_cast<std::uint16_t>(status);
  return status >= 100;
}

// What cannot become a status line any more is refused before it is complete.
bool can_begin_response(const char* p, const char* end) {
  constexpr std::string_view kShape = "HTTP/1.9 999";
  for (const char wanted : kShape) {
    if (p == end) return true;
    if (wanted == '9' ? !ascii::is(*p, ascii::kDigit) : *p != wanted) return false;
    ++p;
  }
  return true;
}

// "HTTP/1.1 200 OK\r\n". Sets p behind it. The reason says nothing (RFC 9112 §4), and some leave its space out with it.
Verdict parse_status_line(const char*& p, const char* end, http::Head& head) {
  if (static_cast<std::size_t>(end - p) <= kReasonAt) {
    return can_begin_response(p, end) ? Verdict::More : Verdict::Bad;
  }
  if (!parse_version_and_status(p, head)) return Verdict::Bad;
  const char* reason = p + kReasonAt;
  if (*reason != ' ' && *reason != '\r') return Verdict::Bad;
  const char* stop = skip_field_value(reason, end);
  if (stop >= end) return Verdict::More;
  if (*stop != '\r') return Verdict::Bad;
  if (stop + 1 == end) return Verdict::More;
  if (stop[1] != '\n') return Verdict::Bad;
  p = stop + 2;
  return Verdict::Done;
}

// What the fields say about the end of the body and of the connection.
struct Control {
  bool has_length = false;
  bool has_coding = false;
  bool says_close = false;
  bool says_keep_alive = false;
  std::uint64_t length = 0;
  Codings codings;
};

// False: malformed.
bool note_field(const http::Field& field, Control& control) {
  switch (field.id) {
    case FieldId::ContentLength:
      // A second line, even an equal one, is how one response becomes two (RFC 9112 §6.3).
      if (control.has_length) return false;
      control.has_length = true;
      return parse_length(field.value, control.length);
    case FieldId::TransferEncoding:
      control.has_coding = true;
      control.codings.add(field.value);
      return true;
    case FieldId::Connection: {
      std::string_view rest = field.value;
      for (auto next = ascii::next_member(rest); !next.empty(); next = ascii::next_member(rest)) {
        control.says_close = control.says_close || ascii::equal_folded(next, "close");
        control.says_keep_alive = control.says_keep_alive || ascii::equal_folded(next, "keep-alive");
      }
      return true;
    }
    default: return true;
  }
}

// The rules of RFC 9112 §6.3 in their order. False: the message cannot be trusted.
bool frame(const http::Head& head, http::Method method, const Control& control, ResponseFraming& framing) {
  const bool is_http10 = head.version == http::Version::Http10;
  framing.keeps_alive = !control.says_close && (!is_http10 || control.says_keep_alive);
  // A tunnel begins whatever else is said (RFC 9110 §9.3.6).
  framing.kind = Kind::Raw;
  if (method == http::Method::Connect && head.status >= 200 && head.status < 300) return true;
  const bool is_chunked = control.codings.count == 1 && control.codings.ends_chunked;
  if (control.has_coding && (is_http10 || control.has_length || !is_chunked)) return false;
  if (head.status == 101) return !control.has_coding;
  if (method == http::Method::Head || http::is_bodyless(head.status)) {
    framing.kind = Kind::None;
  } else if (control.has_coding) {
    framing.kind = Kind::Chunked;
  } else if (control.has_length) {
    framing.kind = Kind::Length;
    framing.content_length = control.length;
  } else {
    framing.kind = Kind::Close;
    framing.keeps_alive = false;
  }
  return true;
}

// Every field line and the empty one. Sets p behind them.
Parsed parse_fields(const char* p, const char* stop, const Limits& limits, http::Head& head, Control& control) {
  for (std::uint64_t count = 0; p < stop; ++count) {
    if (*p == '\r') {
      const Verdict verdict = parse_section_end(p, stop);
      return verdict == Verdict::Done ? done(p) : verdict == Verdict::Bad ? bad() : more();
    }
    if (count >= limits.field_count_max) return over(LimitId::field_count_max, 431);
    http::Field& field = head.fields.push_raw();
    const Verdict verdict = parse_field(p, stop, field);
    if (verdict != Verdict::Done) {
      head.fields.pop_raw();
      return verdict == Verdict::Bad ? bad() : more();
    }
    if (!note_field(field, control)) return bad();
  }
  return more();
}

}  // namespace

Parsed parse_response(const char* begin, const char* end, const Limits& limits, http::Method method, http::Head& head,
                      ResponseFraming& framing) {
  // Reads no further than the limit, so that it does not matter how much of a long head has arrived.
  const bool is_long = is_over(begin, end, limits.field_bytes_max);
  const char* const stop = is_long ? begin + limits.field_bytes_max : end;
  const auto answer_more = [&] { return is_long ? over(LimitId::field_bytes_max, 431) : more(); };
  const char* p = begin;
  const Verdict verdict = parse_status_line(p, stop, head);
  if (verdict == Verdict::Bad) return bad();
  if (verdict == Verdict::More) return answer_more();
  Control control;
  const Parsed parsed = parse_fields(p, stop, limits, head, control);
  if (parsed.verdict == Verdict::More) return answer_more();
  if (parsed.verdict == Verdict::Bad) return parsed;
  head.raw = {begin, static_cast<std::size_t>(parsed.end - begin)};
  return frame(head, method, control, framing) ? parsed : bad();
}

}  // namespace violet::h1::client
