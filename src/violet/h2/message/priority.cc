#include "violet/h2/message/priority.h"

#include "violet/base/ascii.h"

namespace violet::h2 {
namespace {

// The value of one member without its parameters: "1", "?0", "" for a bare key.
void note_member(std::string_view key, std::string_view value, Priority& priority) noexcept {
  if (key == "u" && value.size() == 1 && value[0] >= '0' && value[0] <= '7') {
    priority.urgency = static_cast<std::uint8_t>(value[0] - '0');
  } else if (key == "i") {
    if (value.empty() || value == "?1") priority.is_incremental = true;
    if (value == "?0") priority.is_incremental = false;
  }
}

bool is_key(std::string_view text) noexcept {
  if (text.empty() || !((text[0] >= 'a' && text[0] <= 'z') || text[0] == '*')) return false;
  for (const char c : text) {
    const bool is_allowed =
        (c >= 'a' && c <= 'z') || ascii::is(c, ascii::kDigit) || c == '_' || c == '-' || c == '.' || c == '*';
    if (!is_allowed) return false;
  }
  return true;
}

}  // namespace

Priority parse_priority(std::string_view text) noexcept {
  Priority priority;
  for (auto member = ascii::next_member(text); !member.empty(); member = ascii::next_member(text)) {
    member = ascii::trim(member.substr(0, member.find(';')));
    const std::size_t equals = member.find('=');
    const std::string_view key = member.substr(0, equals);
    if (!is_key(key)) return {};
    const bool has_value = equals != std::string_view::npos;
    if (has_value && equals + 1 == member.size()) return {};
    note_member(key, has_value ? member.substr(equals + 1) : std::string_view{}, priority);
  }
  return priority;
}

}  // namespace violet::h2
