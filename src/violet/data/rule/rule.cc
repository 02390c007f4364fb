#include "violet/data/rule/rule.h"

#include "violet/base/ascii.h"
#include "violet/data/format/utf8.h"

#include <charconv>
#include <vector>

namespace violet::data {
namespace {

bool is_letter_or_digit(char c) noexcept {
  return (c >= '0' && c <= '9') || (ascii::lower(c) >= 'a' && ascii::lower(c) <= 'z');
}

// One label after the other: letters, digits, hyphens inside, at most 63 (RFC 1035 §2.3.1).
bool is_host_name(std::string_view text) noexcept {
  constexpr std::size_t kLabelMax = 63;
  while (true) {
    const std::size_t dot = text.find('.');
    const std::string_view label = text.substr(0, dot);
    if (label.empty() || label.size() > kLabelMax || label.front() == '-' || label.back() == '-') return false;
    for (const char c : label) {
      if (!is_letter_or_digit(c) && c != '-') return false;
    }
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

// What a browser takes for one (HTML, "valid e-mail address"), within the lengths of RFC 5321 §4.5.3.1.
bool is_email(std::string_view text) noexcept {
  constexpr std::size_t kAllMax = 254, kLocalMax = 64;
  const std::size_t at = text.find('@');
  if (text.size() > kAllMax || at == std::string_view::npos || at == 0 || at > kLocalMax) return false;
  for (const char c : text.substr(0, at)) {
    if (!is_letter_or_digit(c) && std::string_view(".!#$%&'*+/=?^_`{|}~-").find(c) == std::string_view::npos)
      return false;
  }
  return is_host_name(text.substr(at + 1));
}

// Of the web only: "javascript:" and the like are URLs, too, and end in somebody's page.
bool is_url(std::string_view text) noexcept {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view scheme = text.substr(0, colon);
  if (!ascii::equal_folded(scheme, "http") && !ascii::equal_folded(scheme, "https")) return false;
  text.remove_prefix(colon);
  if (!text.starts_with("://")) return false;
  text.remove_prefix(3);
  const std::string_view authority = text.substr(0, text.find_first_of("/?#"));
  if (authority.empty() || authority.front() == ':' || authority.ends_with('@')) return false;
  for (const char c : text) {
    if (!ascii::is(c, ascii::kTarget) && c != '#') return false;
  }
  return authority.find('\\') == std::string_view::npos;
}

bool is_uuid(std::string_view text) noexcept {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_hyphen = i == 8 || i == 13 || i == 18 || i == 23;
    if (is_hyphen ? text[i] != '-' : ascii::hex_value(text[i]) < 0) return false;
  }
  return true;
}

bool is_text(const Type& type) noexcept {
  return type.kind == Kind::String || type.kind == Kind::View || type.kind == Kind::Literal;
}

bool holds_length(const Rule& rule, const Type& type, const void* value) {
  std::size_t count = 0;
  if (is_text(type)) {
    count = utf8::count(text_of(type, value));
  } else if (type.kind == Kind::Bytes) {
    count = type.bytes->get(value).size();
  } else {
    count = count_of(type, value);
  }
  return count >= static_cast<std::size_t>(rule.min) && count <= static_cast<std::size_t>(rule.max);
}

bool holds_range(const Rule& rule, const Type& type, const void* value) noexcept {
  if (type.kind == Kind::Unsigned) {
    const std::uint64_t whole = load_unsigned(value, type.size);
    return whole <= static_cast<std::uint64_t>(INT64_MAX)
               ? static_cast<std::int64_t>(whole) >= rule.min && static_cast<std::int64_t>(whole) <= rule.max
               : rule.max == Rule::kNoMax;
  }
  if (type.kind == Kind::Signed || type.kind == Kind::Time) {
    const std::int64_t whole = load_signed(value, type.size);
    return whole >= rule.min && whole <= rule.max;
  }
  return true;
}

bool holds_real(const Rule& rule, const Type& type, const void* value) noexcept {
  const double real = type.kind == Kind::Float ? static_cast<double>(*static_cast<const float*>(value))
                                               : *static_cast<const double*>(value);
  return real >= rule.real_min && real <= rule.real_max;
}

std::string number(double value) {
  char text[32];
  const char* end = std::to_chars(text, text + sizeof text, value).ptr;
  return std::string(text, static_cast<std::size_t>(end - text));
}

std::string span_of(std::int64_t min, std::int64_t max) {
  if (max == Rule::kNoMax) return "at least " + std::to_string(min);
  if (min == max) return "exactly " + std::to_string(min);
  if (min <= 0) return "at most " + std::to_string(max);
  return std::to_string(min) + " to " + std::to_string(max);
}

}  // namespace

bool holds(const Rule& rule, const Type& type, const void* value) {
  switch (rule.kind) {
    case Rule::Kind::Length: return holds_length(rule, type, value);
    case Rule::Kind::Range: return holds_range(rule, type, value);
    case Rule::Kind::RealRange: return holds_real(rule, type, value);
    case Rule::Kind::Pattern: return rule.pattern().matches(text_of(type, value));
    case Rule::Kind::Email: return is_email(text_of(type, value));
    case Rule::Kind::Url: return is_url(text_of(type, value));
    case Rule::Kind::Uuid: return is_uuid(text_of(type, value));
    case Rule::Kind::Unique:
    case Rule::Kind::Custom: return rule.holds(value);
  }
  return true;
}

std::string describe(const Rule& rule, const Type& type) {
  switch (rule.kind) {
    case Rule::Kind::Length: {
      if (rule.min == 1 && rule.max == Rule::kNoMax) return "may not be empty";
      const char* const unit = is_text(type) ? " characters" : type.kind == Kind::Bytes ? " bytes" : " items";
      return "has to have " + span_of(rule.min, rule.max) + unit;
    }
    case Rule::Kind::Range:
      if (rule.max == Rule::kNoMax) return "has to be at least " + std::to_string(rule.min);
      if (rule.min == INT64_MIN) return "has to be at most " + std::to_string(rule.max);
      return "has to be a whole number from " + std::to_string(rule.min) + " to " + std::to_string(rule.max);
    case Rule::Kind::RealRange:
      return "has to be a number from " + number(rule.real_min) + " to " + number(rule.real_max);
    case Rule::Kind::Pattern: return "has to match " + std::string(rule.text);
    case Rule::Kind::Email: return "has to be an e-mail address";
    case Rule::Kind::Url: return "has to be an http or https URL";
    case Rule::Kind::Uuid: return "has to be a UUID";
    case Rule::Kind::Unique: return "may not have an item twice";
    case Rule::Kind::Custom: return std::string(rule.text);
  }
  return {};
}

Rules::Of& Rules::Of::add(const Rule& rule) {
  void* members[kMembersMax];
  rules_.type_.locate(const_cast<void*>(rules_.object_), members);
  for (std::size_t i = 0; i < rules_.type_.count; ++i) {
    if (members[i] != member_) continue;
    const Member& member = rules_.type_.members[i];
    if (!holds(rule, *member.type, member_)) rules_.report_(rules_.to_, member.name, describe(rule, *member.type));
    return *this;
  }
  rules_.report_(rules_.to_, "", "has a rule for something that is no member");
  return *this;
}

namespace {

class Inspector {
 public:
  Inspector(bool is_read, void (*report)(void*, std::string_view), void* to) noexcept
      : is_read_(is_read), report_(report), to_(to) {}

  void visit(const Type& type) {
    for (const Type* one : seen_) {
      if (one == &type) return;
    }
    seen_.push_back(&type);
    for (std::size_t i = 0; i < type.rule_count; ++i) look(type.rules[i]);
    switch (type.kind) {
      case Kind::Object:
        for (std::size_t i = 0; i < type.object->count; ++i) {
          if (!type.object->members[i].is_ignored) visit(*type.object->members[i].type);
        }
        break;
      case Kind::List:
        if (is_read_ && type.list->append == nullptr && type.list->append_bool == nullptr) {
          report_(to_, "a list that is only a view cannot be read: take a std::vector");
        }
        visit(*type.list->element);
        break;
      case Kind::Map: visit(*type.map->value); break;
      case Kind::Optional: visit(*type.optional->inner); break;
      case Kind::Variant:
        for (std::size_t i = 0; i < type.variant->count; ++i) visit(*type.variant->alternatives[i].type);
        break;
      case Kind::Literal:
        if (is_read_) report_(to_, "a const char* cannot be read: take a std::string or std::string_view");
        break;
      default: break;
    }
  }

 private:
  void look(const Rule& rule) {
    if (rule.kind != Rule::Kind::Pattern || rule.pattern().defect().empty()) return;
    report_(to_,
            "the pattern \"" + std::string(rule.text) + "\" is malformed: " + std::string(rule.pattern().defect()));
  }

  bool is_read_;
  void (*report_)(void*, std::string_view);
  void* to_;
  std::vector<const Type*> seen_;
};

}  // namespace

void find_defects(const Type& type, bool is_read, void (*report)(void* to, std::string_view sentence), void* to) {
  Inspector(is_read, report, to).visit(type);
}

}  // namespace violet::data
