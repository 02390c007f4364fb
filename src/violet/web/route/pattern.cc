#include "violet/web/route/pattern.h"

#include "violet/base/ascii.h"

namespace violet::web {
namespace {

bool is_name(std::string_view text) noexcept {
  if (text.empty() || ascii::is(text.front(), ascii::kDigit)) return false;
  for (char c : text) {
    const char low = ascii::lower(c);
    if (!(low >= 'a' && low <= 'z') && !ascii::is(c, ascii::kDigit) && c != '_') return false;
  }
  return true;
}

bool has_escape(std::string_view text) noexcept {
  for (std::size_t i = 0; i + 2 < text.size(); ++i) {
    if (text[i] == '%' && ascii::hex_value(text[i + 1]) >= 0 && ascii::hex_value(text[i + 2]) >= 0) return true;
  }
  return false;
}

std::expected<Segment, std::string> parse_segment(std::string_view text) {
  if (text.find_first_of("{}") == std::string_view::npos) {
    return Segment{Segment::Kind::Literal, std::string(text)};
  }
  if (text.front() != '{' || text.back() != '}') {
    return std::unexpected("a parameter is a whole segment: /{name}/");
  }
  std::string_view name = text.substr(1, text.size() - 2);
  Segment::Kind kind = Segment::Kind::Param;
  if (name.ends_with("...")) {
    kind = Segment::Kind::Rest;
    name.remove_suffix(3);
  }
  if (!is_name(name)) return std::unexpected("a parameter's name consists of letters, digits and _");
  return Segment{kind, std::string(name)};
}

}  // namespace

bool Pattern::is_literal() const noexcept {
  for (const Segment& segment : segments) {
    if (segment.kind != Segment::Kind::Literal) return false;
  }
  return true;
}

std::vector<std::string> Pattern::names() const {
  std::vector<std::string> names;
  for (const Segment& segment : segments) {
    if (segment.kind != Segment::Kind::Literal) names.push_back(segment.text);
  }
  return names;
}

std::expected<Pattern, std::string> Pattern::parse(std::string_view text) {
  if (text.empty() || text.front() != '/') return std::unexpected("a pattern begins with '/'");
  if (text.find('?') != std::string_view::npos) return std::unexpected("the query takes no part in routing");
  if (text.find('\0') != std::string_view::npos) return std::unexpected("no path contains a NUL");
  if (has_escape(text)) return std::unexpected("patterns are written decoded, without %XX");
  Pattern pattern{.text = std::string(text), .segments = {}};
  for (std::size_t at = 1; at <= text.size();) {
    const std::size_t slash = text.find('/', at);
    const std::size_t end = slash == std::string_view::npos ? text.size() : slash;
    auto segment = parse_segment(text.substr(at, end - at));
    if (!segment) return std::unexpected(segment.error());
    if (segment->kind == Segment::Kind::Rest && end != text.size()) {
      return std::unexpected("{" + segment->text + "...} has to be the last segment");
    }
    if (segment->kind != Segment::Kind::Literal) {
      for (const Segment& other : pattern.segments) {
        if (other.kind != Segment::Kind::Literal && other.text == segment->text) {
          return std::unexpected("{" + segment->text + "} stands twice");
        }
      }
    }
    pattern.segments.push_back(std::move(*segment));
    at = end + 1;
  }
  return pattern;
}

}  // namespace violet::web
