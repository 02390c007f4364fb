#include "violet/h1/parser.h"

#include "violet/base/ascii.h"
#include "violet/h1/section.h"
#include "violet/http/target.h"
#include "violet/memory/text.h"

#include <cstring>
#include <optional>

namespace violet::h1 {
namespace {

using http::FieldId;
using namespace section;

std::uint64_t load_word(const char* p) {
  std::uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}
constexpr std::uint64_t word_of(const char (&text)[9]) {
  std::uint64_t word = 0;
  for (int i = 7; i >= 0; --i) word = word << 8 | static_cast<unsigned char>(text[i]);
  return word;
}
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

// The method and the space behind it. Sets p behind both.
Verdict parse_method(const char*& p, const char* end, http::Head& head) {
  const std::uint64_t word = load_word(p);
  if ((word & 0xffffffff) == (word_of("GET     ") & 0xffffffff) && end - p >= 4) [[likely]] {
    head.method = http::Method::Get;
    head.method_text = {p, 3};
    p += 4;
    return Verdict::Done;
  }
  if ((word & 0xffffffffff) == (word_of("POST    ") & 0xffffffffff) && end - p >= 5) {
    head.method = http::Method::Post;
    head.method_text = {p, 4};
    p += 5;
    return Verdict::Done;
  }
  const char* stop = p;
  while (stop < end && ascii::is(*stop, ascii::kToken)) ++stop;
  if (stop == end) return Verdict::More;
  if (*stop != ' ' || stop == p) return Verdict::Bad;
  head.method_text = {p, static_cast<std::size_t>(stop - p)};
  head.method = http::find_method(head.method_text);
  p = stop + 1;
  return Verdict::Done;
}

// "HTTP/1.1\r\n". Sets p behind it; a version we do not speak makes `status` 505.
Verdict parse_version(const char*& p, const char* end, http::Head& head, std::uint16_t& status) {
  constexpr std::string_view kStart = "HTTP/";
  const auto size = static_cast<std::size_t>(end - p);
  if (size >= 10) [[likely]] {
    const std::uint64_t word = load_word(p);
    if (word == word_of("HTTP/1.1")) [[likely]] {
      head.version = http::Version::Http11;
    } else if (word == word_of("HTTP/1.0")) {
      head.version = http::Version::Http10;
    } else {
      if (std::string_view(p, 5) != kStart || !ascii::is(p[5], ascii::kDigit) || p[6] != '.' ||
          !ascii::is(p[7], ascii::kDigit) || p[8] != '\r' || p[9] != '\n') {
        return Verdict::Bad;
      }
      if (p[5] != '1') {
        status = 505;
        return Verdict::Bad;
      }
      // A higher minor version is answered as the highest we know (RFC 9110 §2.5).
      head.version = http::Version::Http11;
    }
    if (p[8] != '\r' || p[9] != '\n') return Verdict::Bad;
    p += 10;
    return Verdict::Done;
  }
  // What cannot become a version any more is refused before the line is complete.
  constexpr std::string_view kShape = "HTTP/9.9\r\n";
  for (std::size_t i = 0; i < size; ++i) {
    if (kShape[i] == '9' ? !ascii::is(p[i], ascii::kDigit) : p[i] != kShape[i]) return Verdict::Bad;
  }
  return Verdict::More;
}

// What the fields that frame a message or steer the connection say. The common head has a Host and none of the others.
struct Control {
  enum Seen : unsigned {
    kHost = 1,
    kLength = 2,
    kCoding = 4,
    kClose = 8,
    kKeepAlive = 16,
    kUpgrade = 32,
    kUpgradeOption = 64
  };
  unsigned seen = 0;
  std::string_view host;
  std::optional<std::string_view> content_type;
  std::uint64_t length = 0;
  Codings codings;

  [[nodiscard]] bool has(unsigned bits) const noexcept { return (seen & bits) == bits; }
};

// False: malformed.
bool note_field(const http::Field& field, Control& control) {
  switch (field.id) {
    case FieldId::Host:
      if (control.has(Control::kHost)) return false;
      control.seen |= Control::kHost;
      control.host = field.value;
      return true;
    case FieldId::ContentLength:
      // A second line, even an equal one, is how smuggling begins (RFC 9112 §6.3).
      if (control.has(Control::kLength)) return false;
      control.seen |= Control::kLength;
      return parse_length(field.value, control.length);
    case FieldId::ContentType:
      // Who reads the first line and who reads the last one would take the body for different things (RFC 9110 §5.3).
      if (control.content_type && *control.content_type != field.value) return false;
      control.content_type = field.value;
      return true;
    case FieldId::TransferEncoding:
      control.seen |= Control::kCoding;
      control.codings.add(field.value);
      return true;
    case FieldId::Connection: {
      std::string_view rest = field.value;
      for (auto next = ascii::next_member(rest); !next.empty(); next = ascii::next_member(rest)) {
        if (ascii::equal_folded(next, "close")) control.seen |= Control::kClose;
        if (ascii::equal_folded(next, "keep-alive")) control.seen |= Control::kKeepAlive;
        if (ascii::equal_folded(next, "upgrade")) control.seen |= Control::kUpgradeOption;
      }
      return true;
    }
    case FieldId::Upgrade: control.seen |= Control::kUpgrade; return true;
    default: return true;
  }
}

// The authority of an absolute or authority-form target replaces Host (RFC 9112 §3.2.2).
void set_authority(http::Head& head, std::string_view host) {
  if (head.form == http::TargetForm::Origin || head.form == http::TargetForm::Asterisk) head.authority = host;
}

// Everything that only the whole head can tell. 0, or the status of a refusal.
std::uint16_t finish_head(http::Head& head, const Control& control, Framing& framing) {
  const bool is_http10 = head.version == http::Version::Http10;
  if (control.has(Control::kHost)) [[likely]] {
    if (!http::is_authority(control.host, true)) return 400;
  } else if (!is_http10) {
    return 400;  // an HTTP/1.1 request has exactly one Host (RFC 9112 §3.2)
  }
  set_authority(head, control.host);
  if (control.seen == Control::kHost && !is_http10) [[likely]]
    return 0;

  framing.content_length = control.length;
  if (control.has(Control::kCoding)) {
    const Codings& codings = control.codings;
    if (is_http10 || control.has(Control::kLength) || !codings.ends_chunked || codings.chunked_count != 1) return 400;
    if (codings.count > 1) return 501;
    framing.is_chunked = true;
  }
  // CONNECT has no content; what follows it belongs to the tunnel (RFC 9110 §9.3.6).
  if (head.method == http::Method::Connect && framing.has_body()) return 400;
  framing.keeps_alive = !control.has(Control::kClose) && (!is_http10 || control.has(Control::kKeepAlive));
  framing.wants_upgrade = control.has(Control::kUpgrade | Control::kUpgradeOption) && !is_http10;
  return 0;
}

}  // namespace

Parsed parse_head(const char* begin, const char* end, const Limits& limits, http::Head& head, Framing& framing,
                  Memory memory) {
  const char* p = begin;
  while (p < end && *p == '\r') [[unlikely]] {
    if (p + 1 == end) return more();
    if (p[1] != '\n') return bad();
    p += 2;
    if (is_over(begin, p, limits.request_line_bytes_max)) return over(LimitId::request_line_bytes_max, 400);
  }
  if (p >= end) return more();

  // Reads no further than a limit, so that it does not matter how much of a long line has arrived.
  const char* line = p;
  const char* stop = is_over(line, end, limits.request_line_bytes_max) ? line + limits.request_line_bytes_max : end;
  std::uint16_t status = 400;
  const auto line_verdict = [&](Verdict verdict) {
    if (verdict == Verdict::Bad) return bad(status);
    return stop != end ? over(LimitId::request_line_bytes_max, 414) : more();
  };
  if (const Verdict verdict = parse_method(p, stop, head); verdict != Verdict::Done) return line_verdict(verdict);
  const char* target = p;
  p = skip_target(p, stop);
  if (p >= stop) return line_verdict(Verdict::More);
  if (*p != ' ' || p == target) return bad();
  head.target = {target, static_cast<std::size_t>(p - target)};
  ++p;
  if (const Verdict verdict = parse_version(p, stop, head, status); verdict != Verdict::Done)
    return line_verdict(verdict);
  if (head.method != http::Method::Connect && *target == '/') [[likely]] {
    const char* const mark = find_question(target, target + head.target.size());
    const char* const target_end = target + head.target.size();
    head.form = http::TargetForm::Origin;
    head.path = {target, static_cast<std::size_t>((mark < target_end ? mark : target_end) - target)};
    head.query = mark < target_end ? std::string_view(mark + 1, static_cast<std::size_t>(target_end - mark - 1))
                                   : std::string_view{};
  } else if (!http::split_target(head)) {
    return bad();
  }

  const char* fields = p;
  // What CONNECT and HTTP/1.0 may say about a body is different.
  const bool is_memorable =
      memory.sections != nullptr && head.version == http::Version::Http11 && head.method != http::Method::Connect;
  if (is_memorable) {
    if (const std::size_t size = memory.sections->recall(fields, end, *memory.hint, head, framing); size != 0) {
      p += size;
      head.raw = {line, static_cast<std::size_t>(p - line)};
      return done(p);
    }
  }
  stop = is_over(fields, end, limits.field_bytes_max) ? fields + limits.field_bytes_max : end;
  Control control;
  Verdict verdict = Verdict::More;
  for (std::uint64_t count = 0; p < stop; ++count) {
    if (*p == '\r') {
      verdict = parse_section_end(p, stop);
      break;
    }
    if (count >= limits.field_count_max) return over(LimitId::field_count_max, 431);
    http::Field& field = head.fields.push_raw();
    verdict = parse_field(p, stop, field);
    if (verdict != Verdict::Done) {
      head.fields.pop_raw();
      break;
    }
    if (!note_field(field, control)) return bad();
    verdict = Verdict::More;
  }
  if (verdict == Verdict::Bad) return bad();
  if (verdict == Verdict::More) return stop != end ? over(LimitId::field_bytes_max, 431) : more();
  head.raw = {line, static_cast<std::size_t>(p - line)};
  if (const std::uint16_t refusal = finish_head(head, control, framing); refusal != 0) return bad(refusal);
  if (is_memorable) {
    memory.sections->learn({fields, static_cast<std::size_t>(p - fields)}, control.host, head, framing, *memory.hint);
  }
  return done(p);
}

std::size_t SectionMemo::recall(const char* begin, const char* end, Hint hint, http::Head& head,
                                Framing& framing) const noexcept {
  if (hint.slot == kNone) return 0;
  const Section& section = sections_[hint.slot];
  const std::size_t size = section.bytes;
  if (static_cast<std::size_t>(end - begin) < size || !are_equal({begin, size}, {section.text, size})) return 0;
  for (std::size_t i = 0; i < section.line_count; ++i) {
    const Line& line = section.lines[i];
    http::Field& field = head.fields.push_raw();
    field.name = {begin + line.name, line.name_bytes};
    field.value = {begin + line.value, line.value_bytes};
    field.id = line.id;
    field.is_sensitive = false;
  }
  framing = section.framing;
  set_authority(head, {begin + section.host, section.host_bytes});
  return size;
}

void SectionMemo::learn(std::string_view section, std::string_view host, const http::Head& head, const Framing& framing,
                        Hint& hint) noexcept {
  const bool comes_again = section.size() == hint.bytes;
  hint.bytes = section.size() <= kBytesMax ? static_cast<std::uint16_t>(section.size()) : 0;
  hint.slot = kNone;
  if (!comes_again || hint.bytes == 0 || head.fields.count() > kLinesMax) return;
  if (sections_ == nullptr) sections_ = std::make_unique_for_overwrite<Section[]>(kSlots);
  // Connections of one client share a slot.
  std::uint64_t hash = section.size();
  for (std::size_t i = 0; i + 8 <= section.size(); i += 8) {
    hash = (hash ^ load_word(section.data() + i)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  hint.slot = static_cast<std::uint8_t>(hash % kSlots);
  Section& place = sections_[hint.slot];
  if (place.bytes == section.size() && std::memcmp(place.text, section.data(), section.size()) == 0) return;
  const auto offset = [&section](std::string_view text) {
    return static_cast<std::uint16_t>(text.data() - section.data());
  };
  place.bytes = hint.bytes;
  place.host = host.data() == nullptr ? 0 : offset(host);
  place.host_bytes = static_cast<std::uint16_t>(host.size());
  place.framing = framing;
  place.line_count = static_cast<std::uint8_t>(head.fields.count());
  Line* line = place.lines;
  for (const http::Field& field : head.fields) {
    *line++ = {offset(field.name), static_cast<std::uint16_t>(field.name.size()), offset(field.value),
               static_cast<std::uint16_t>(field.value.size()), field.id};
  }
  std::memcpy(place.text, section.data(), section.size());
}

namespace {

// *( BWS ";" BWS name [ BWS "=" BWS value ] ) from right behind a chunk's size (RFC 9112 §7.1.1). White space before
// the first ";" is refused, as it has no use but to be read differently by somebody else. Sets p at the CR behind it.
Parsed parse_extensions(const char*& p, const char* end, std::uint64_t limit) {
  enum class At : std::uint8_t { Size, Semicolon, Name, NameGap, Equals, Token, Quoted, Escaped, ValueEnd, Gap };
  const char* begin = p;
  At at = At::Size;
  for (; p < end; ++p) {
    if (is_over(begin, p, limit)) return over(LimitId::chunk_extension_bytes_max, 413);
    const char c = *p;
    const bool is_blank = c == ' ' || c == '\t';
    const bool is_token = ascii::is(c, ascii::kToken);
    switch (at) {
      case At::Size:
        if (c == '\r') return done(p);
        if (c != ';') return bad();
        at = At::Semicolon;
        break;
      case At::Semicolon:
        if (is_token)
          at = At::Name;
        else if (!is_blank)
          return bad();
        break;
      case At::Name:
      case At::NameGap:
        if (c == '\r' && at == At::Name) return done(p);
        if (c == '=')
          at = At::Equals;
        else if (c == ';')
          at = At::Semicolon;
        else if (is_blank)
          at = At::NameGap;
        else if (!is_token || at == At::NameGap)
          return bad();
        break;
      case At::Equals:
        if (c == '"')
          at = At::Quoted;
        else if (is_token)
          at = At::Token;
        else if (!is_blank)
          return bad();
        break;
      case At::Quoted:
        if (c == '"')
          at = At::ValueEnd;
        else if (c == '\\')
          at = At::Escaped;
        else if (!ascii::is(c, ascii::kFieldValue))
          return bad();
        break;
      case At::Escaped:
        if (!ascii::is(c, ascii::kFieldValue)) return bad();
        at = At::Quoted;
        break;
      case At::Token:
      case At::ValueEnd:
      case At::Gap:
        if (c == '\r' && at != At::Gap) return done(p);
        if (c == ';')
          at = At::Semicolon;
        else if (is_blank)
          at = At::Gap;
        else if (!is_token || at != At::Token)
          return bad();
        break;
    }
  }
  return more();
}

}  // namespace

Parsed parse_chunk_line(const char* begin, const char* end, const Limits& limits, ChunkLine& line) {
  const char* p = begin;
  std::uint64_t size = 0;
  for (; p < end; ++p) {
    const int digit = ascii::hex_value(*p);
    if (digit < 0) break;
    if (p - begin >= 16) return bad();
    size = size << 4 | static_cast<std::uint64_t>(digit);
  }
  if (p == end) return more();
  if (p == begin) return bad();
  line.size = size;

  const char* extensions = p;
  if (const Parsed parsed = parse_extensions(p, end, limits.chunk_extension_bytes_max);
      parsed.verdict != Verdict::Done) {
    return parsed;
  }
  line.extension_bytes = static_cast<std::size_t>(p - extensions);
  if (p + 1 == end) return more();
  if (p[1] != '\n') return bad();
  return done(p + 2);
}

Parsed parse_trailers(const char* begin, const char* end, const Limits& limits, http::Fields& trailers) {
  const char* p = begin;
  const char* stop = is_over(begin, end, limits.trailer_bytes_max) ? begin + limits.trailer_bytes_max : end;
  std::uint64_t count = 0;
  for (;;) {
    http::Field field;
    Verdict verdict = Verdict::More;
    if (p < stop && *p == '\r') {
      verdict = parse_section_end(p, stop);
      if (verdict == Verdict::Done) return done(p);
    } else if (p < stop) {
      verdict = parse_field(p, stop, field);
    }
    if (verdict == Verdict::Bad) return bad();
    if (verdict == Verdict::More) return stop != end ? over(LimitId::trailer_bytes_max, 431) : more();
    if (++count > limits.field_count_max) return over(LimitId::field_count_max, 431);
    if (!http::is_forbidden_trailer(field.id)) trailers.push(field);
  }
}

}  // namespace violet::h1
