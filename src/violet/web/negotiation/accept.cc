#include "violet/web/negotiation/accept.h"

#include "violet/base/ascii.h"
#include "violet/http/value/weight.h"

#include <algorithm>

namespace violet::web {
namespace {

struct MediaType {
  std::string_view type;
  std::string_view subtype;
  std::string_view parameters;  // ";level=1"
};

// False: it is none.
bool split(std::string_view text, MediaType& out) noexcept {
  const std::size_t semicolon = text.find(';');
  const std::string_view name = ascii::trim(text.substr(0, semicolon));
  out.parameters = semicolon == std::string_view::npos ? std::string_view{} : text.substr(semicolon);
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) return false;
  out.type = name.substr(0, slash);
  out.subtype = name.substr(slash + 1);
  return ascii::is_token(out.type) && ascii::is_token(out.subtype) && (out.type != "*" || out.subtype == "*");
}

struct Parameter {
  std::string_view name;  // empty: there is none left
  std::string_view value;
};

// Where the next semicolon outside of quotes is, or the end.
std::size_t end_of_parameter(std::string_view text) noexcept {
  bool is_quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_quoted && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      is_quoted = !is_quoted;
    } else if (text[i] == ';' && !is_quoted) {
      return i;
    }
  }
  return text.size();
}

// Takes the next one off, with its semicolon.
Parameter next_parameter(std::string_view& rest) noexcept {
  while (!rest.empty()) {
    rest.remove_prefix(1);  // the semicolon
    const std::string_view text = rest.substr(0, end_of_parameter(rest));
    rest.remove_prefix(text.size());
    const std::string_view trimmed = ascii::trim(text);
    if (trimmed.empty()) continue;
    const std::size_t equals = std::min(trimmed.find('='), trimmed.size());
    return {trimmed.substr(0, equals), trimmed.substr(std::min(equals + 1, trimmed.size()))};
  }
  return {};
}

// The next character of a value, quoted or not; -1 at its end.
int next_character(std::string_view& value, bool is_quoted) noexcept {
  if (is_quoted && value.size() > 1 && value.front() == '\\') value.remove_prefix(1);
  if (value.empty()) return -1;
  const char c = ascii::lower(value.front());
  value.remove_prefix(1);
  return static_cast<unsigned char>(c);
}

bool unquote(std::string_view& value) noexcept {
  if (value.size() < 2 || !value.starts_with('"') || !value.ends_with('"')) return false;
  value = value.substr(1, value.size() - 2);
  return true;
}

// A quoted string and a token with the same characters are the same value (RFC 9110 §5.6.6).
bool are_same(std::string_view one, std::string_view other) noexcept {
  const bool is_one_quoted = unquote(one);
  const bool is_other_quoted = unquote(other);
  for (;;) {
    const int c = next_character(one, is_one_quoted);
    if (c != next_character(other, is_other_quoted)) return false;
    if (c < 0) return true;
  }
}

// Text of a type that says no charset is UTF-8 here, as JSON always is (RFC 8259 §8.1).
bool has_parameter(std::string_view parameters, const Parameter& wanted) noexcept {
  for (Parameter each = next_parameter(parameters); !each.name.empty(); each = next_parameter(parameters)) {
    if (ascii::equal_folded(each.name, wanted.name)) return are_same(each.value, wanted.value);
  }
  return ascii::equal_folded(wanted.name, "charset") && are_same(wanted.value, "utf-8");
}

// How exactly the range names the type; 0: it does not.
int specificity(const MediaType& range, const MediaType& of) noexcept {
  if (range.type == "*") return 1;
  if (!ascii::equal_folded(range.type, of.type)) return 0;
  if (range.subtype == "*") return 2;
  if (!ascii::equal_folded(range.subtype, of.subtype)) return 0;
  int found = 3;
  std::string_view rest = range.parameters;
  for (Parameter each = next_parameter(rest); !each.name.empty(); each = next_parameter(rest)) {
    if (!has_parameter(of.parameters, each)) return 0;
    ++found;
  }
  return found;
}

}  // namespace

std::uint16_t Accept::weight(std::string_view media_type) const noexcept {
  MediaType wanted;
  if (!split(media_type, wanted)) return 0;
  bool has_range = false;
  int best = 0;
  std::uint16_t weight = 0;
  for (const http::Field& field : fields_) {
    if (field.id != http::FieldId::Accept) continue;
    std::string_view rest = field.value;
    http::Weighted member;
    MediaType range;
    while (http::next_weighted(rest, member)) {
      if (!split(member.value, range)) continue;
      has_range = true;
      const int found = specificity(range, wanted);
      if (found <= best) continue;
      best = found;
      weight = member.weight;
    }
  }
  return has_range ? weight : http::kWeightMax;
}

std::optional<std::size_t> Accept::choose(std::span<const std::string_view> media_types) const noexcept {
  std::optional<std::size_t> chosen;
  std::uint16_t best = 0;
  for (std::size_t i = 0; i < media_types.size(); ++i) {
    const std::uint16_t found = weight(media_types[i]);
    if (found <= best) continue;
    best = found;
    chosen = i;
  }
  return chosen;
}

}  // namespace violet::web
