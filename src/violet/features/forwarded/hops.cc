#include "violet/features/forwarded/hops.h"

#include "violet/base/ascii.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace violet::forwarded {
namespace {

using http::FieldId;

// The members of a comma-separated field, in all its lines; calls see(member).
template <class See>
void each_member(const http::Fields& fields, FieldId id, See see) {
  for (const http::Field& field : fields) {
    if (field.id != id) continue;
    for (std::string_view rest = field.value; !rest.empty();) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      if (const std::string_view member = ascii::trim(rest.substr(0, comma)); !member.empty()) see(member);
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
}

std::span<const std::string_view> last_members(const http::Fields& fields, FieldId id, Arena& arena, std::size_t max) {
  std::size_t count = 0;
  each_member(fields, id, [&](std::string_view) { ++count; });
  const std::size_t skipped = count - std::min(count, max);
  auto* const members = arena.array<std::string_view>(count - skipped);
  std::size_t at = 0;
  each_member(fields, id, [&](std::string_view member) {
    if (at >= skipped) members[at - skipped] = member;
    ++at;
  });
  return {members, count - skipped};
}

// One line of Forwarded, element by element (RFC 7239 §4).
class Elements {
 public:
  explicit Elements(std::string_view line) noexcept : rest_(line) {}

  struct Element {
    std::string_view node;
    std::string_view proto;
    std::string_view host;
    std::uint8_t seen = 0;  // a bit each; a parameter may come once (RFC 7239 §4)
  };
  // False at the end, and where something is malformed.
  bool next(Element& element, Arena* arena);
  [[nodiscard]] bool is_malformed() const noexcept { return is_malformed_; }

 private:
  bool pair(Element& element, Arena* arena);
  bool quoted(std::string_view& value, Arena* arena);
  void skip_space() noexcept { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size())); }
  bool take(char c) noexcept {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string_view token() noexcept {
    std::size_t size = 0;
    while (size < rest_.size() && ascii::is(rest_[size], ascii::kToken)) ++size;
    const std::string_view text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return text;
  }

  std::string_view rest_;
  bool is_malformed_ = false;
};

bool Elements::next(Element& element, Arena* arena) {
  element = {};
  do skip_space();
  while (take(','));
  if (rest_.empty()) return false;
  do {
    skip_space();
    if (rest_.empty() || rest_.front() == ',' || rest_.front() == ';') continue;  // empty pairs are allowed
    if (!pair(element, arena)) {
      is_malformed_ = true;
      return false;
    }
    skip_space();
  } while (take(';'));
  is_malformed_ = !rest_.empty() && !take(',');
  return !is_malformed_;
}

bool Elements::pair(Element& element, Arena* arena) {
  const std::string_view name = token();
  if (name.empty() || !take('=')) return false;
  std::string_view value;
  if (take('"')) {
    if (!quoted(value, arena)) return false;
  } else if (value = token(); value.empty()) {
    return false;
  }
  const struct {
    std::string_view name;
    std::string_view* value;
  } known[] = {{"for", &element.node}, {"proto", &element.proto}, {"host", &element.host}, {"by", nullptr}};
  for (unsigned i = 0; i < std::size(known); ++i) {
    if (!ascii::equal_folded(name, known[i].name)) continue;
    if ((element.seen >> i & 1U) != 0) return false;
    element.seen = static_cast<std::uint8_t>(element.seen | 1U << i);
    if (known[i].value != nullptr) *known[i].value = value;
  }
  return true;
}

// Up to the closing quote; escapes are resolved where there is an arena to put the text (RFC 9110 §5.6.4).
bool Elements::quoted(std::string_view& value, Arena* arena) {
  std::size_t size = 0;
  bool is_escaped = false;
  while (size < rest_.size() && rest_[size] != '"') {
    is_escaped |= rest_[size] == '\\';
    size += rest_[size] == '\\' ? 2 : 1;
  }
  if (size >= rest_.size()) return false;
  value = rest_.substr(0, size);
  rest_.remove_prefix(size + 1);
  if (!is_escaped || arena == nullptr) return true;
  char* const text = arena->array<char>(value.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] == '\\') ++i;
    text[count++] = value[i];
  }
  value = {text, count};
  return true;
}

// How many elements stand behind the last malformed line.
std::size_t count_elements(const http::Fields& fields, const http::Field*& first) {
  std::size_t count = 0;
  first = fields.begin();
  for (const http::Field& field : fields) {
    if (field.id != FieldId::Forwarded) continue;
    Elements elements(field.value);
    Elements::Element element;
    while (elements.next(element, nullptr)) ++count;
    if (!elements.is_malformed()) continue;
    count = 0;
    first = &field + 1;
  }
  return count;
}

}  // namespace

Hops read_forwarded(const http::Fields& fields, Arena& arena, std::size_t max) {
  const http::Field* first = nullptr;
  const std::size_t count = count_elements(fields, first);
  const std::size_t skipped = count - std::min(count, max);
  const std::size_t kept = count - skipped;
  auto* const texts = arena.array<std::string_view>(kept * 3);
  std::size_t at = 0;
  for (const http::Field* field = first; field != fields.end(); ++field) {
    if (field->id != FieldId::Forwarded) continue;
    Elements elements(field->value);
    for (Elements::Element element; elements.next(element, at >= skipped ? &arena : nullptr); ++at) {
      if (at < skipped) continue;
      texts[at - skipped] = element.node;
      texts[kept + at - skipped] = element.proto;
      texts[2 * kept + at - skipped] = element.host;
    }
  }
  return {{texts, kept}, {texts + kept, kept}, {texts + 2 * kept, kept}};
}

Hops read_x_forwarded(const http::Fields& fields, Arena& arena, std::size_t max) {
  return {last_members(fields, FieldId::XForwardedFor, arena, max),
          last_members(fields, FieldId::XForwardedProto, arena, max),
          last_members(fields, FieldId::XForwardedHost, arena, max)};
}

std::optional<Address> address_of(std::string_view node) noexcept {
  std::string_view host = node;
  std::string_view port;
  if (node.starts_with('[')) {
    const std::size_t end = node.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    host = node.substr(1, end - 1);
    port = node.substr(end + 1);
    if (host.find(':') == std::string_view::npos) return std::nullopt;
  } else if (const std::size_t colon = node.find(':'); colon == node.rfind(':') && colon != std::string_view::npos) {
    // One colon ends an IPv4 address; more than one are an IPv6 address without brackets, as X-Forwarded-For has it.
    host = node.substr(0, colon);
    port = node.substr(colon);
  }
  std::uint16_t number = 0;
  if (!port.empty()) {
    // The port may be obfuscated on its own ("192.0.2.1:_p"): the address is as good (RFC 7239 §6).
    if (port.front() != ':' || port.size() == 1) return std::nullopt;
    const auto given = ascii::to_number<std::uint16_t>(port.substr(1));
    if (!given && port[1] != '_') return std::nullopt;
    number = given.value_or(0);
  }
  const Result<Address> address = Address::parse(host, number);
  if (!address) return std::nullopt;
  return *address;
}

}  // namespace violet::forwarded
