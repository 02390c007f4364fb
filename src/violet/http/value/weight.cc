#include "violet/http/value/weight.h"

#include "violet/base/ascii.h"

namespace violet::http {
namespace {

bool is_weight(std::string_view parameter) noexcept {
  return parameter.size() >= 2 && (parameter[0] | 0x20) == 'q' && parameter[1] == '=';
}

// Cuts the weight off a member; false when it is malformed.
bool split(std::string_view member, Weighted& out) noexcept {
  out = {.value = member, .weight = kWeightMax};
  for (std::size_t at = member.find(';'); at != std::string_view::npos; at = member.find(';', at + 1)) {
    const std::string_view rest = ascii::trim(member.substr(at + 1));
    if (!is_weight(rest)) continue;
    const int weight = parse_weight(ascii::trim(rest.substr(2, rest.find(';') - 2)));
    if (weight < 0) return false;
    out.value = ascii::trim(member.substr(0, at));
    out.weight = static_cast<std::uint16_t>(weight);
    return true;
  }
  return true;
}

}  // namespace

int parse_weight(std::string_view text) noexcept {
  constexpr std::size_t kLongest = 5;  // "0.123"
  if (text.empty() || text.size() > kLongest || (text[0] != '0' && text[0] != '1')) return -1;
  if (text.size() > 1 && text[1] != '.') return -1;
  int value = (text[0] - '0') * kWeightMax;
  int unit = kWeightMax / 10;
  for (std::size_t i = 2; i < text.size(); ++i, unit /= 10) {
    if (!ascii::is(text[i], ascii::kDigit)) return -1;
    value += (text[i] - '0') * unit;
  }
  return value <= kWeightMax ? value : -1;
}

bool next_weighted(std::string_view& rest, Weighted& out) noexcept {
  for (;;) {
    const std::string_view member = ascii::next_member(rest);
    if (member.empty()) return false;
    if (split(member, out) && !out.value.empty()) return true;
  }
}

}  // namespace violet::http
