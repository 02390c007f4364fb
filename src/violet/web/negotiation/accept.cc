#include "violet/web/negotiation/accept.h"

#include "violet/base/ascii.h"
#include "violet/http/value/weight.h"

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

// Takes the next one off, without its semicolon; empty when there is none left.
std::string_view next_parameter(std::string_view& rest) noexcept {
  while (!rest.empty()) {
    rest.remove_prefix(1);  // the semicolon
    const std::string_view parameter = rest.substr(0, rest.find(';'));
    rest.remove_prefix(parameter.size());
    if (const std::string_view trimmed = ascii::trim(parameter); !trimmed.empty()) return trimmed;
  }
  return {};
}

bool has_parameter(std::string_view parameters, std::string_view wanted) noexcept {
  for (std::string_view each = next_parameter(parameters); !each.empty(); each = next_parameter(parameters)) {
    if (ascii::equal_folded(each, wanted)) return true;
  }
  return false;
}

// How exactly the range names the type; 0: it does not.
int specificity(const MediaType& range, const MediaType& of) noexcept {
  if (range.type == "*") return 1;
  if (!ascii::equal_folded(range.type, of.type)) return 0;
  if (range.subtype == "*") return 2;
  if (!ascii::equal_folded(range.subtype, of.subtype)) return 0;
  int found = 3;
  std::string_view rest = range.parameters;
  for (std::string_view each = next_parameter(rest); !each.empty(); each = next_parameter(rest)) {
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
