#include "violet/data/format/base64.h"
#include "violet/data/rule/rule.h"
#include "violet/data/text_value.h"
#include "violet/json/read/reading.h"
#include "violet/json/writer.h"

#include <charconv>
#include <cmath>
#include <cstring>

namespace violet::json::detail {
namespace {

void write_token(std::string& out, std::string_view name) {
  // RFC 6901 §3.
  for (const char c : name) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
}

void write_pointer(std::string& out, const Place& place) {
  constexpr std::size_t kPointerMax = 1024;
  if (place.outer == nullptr) return;
  write_pointer(out, *place.outer);
  if (out.size() > kPointerMax) return;
  out += '/';
  if (place.is_index) {
    out += std::to_string(place.index);
  } else {
    write_token(out, place.name.substr(0, kPointerMax));
  }
}

// Whole numbers that are written with a fraction or an exponent: exact, or none.
bool to_whole(const NumberToken& token, bool is_signed, std::uint64_t& out) noexcept {
  const char* const first = token.text.data();
  const char* const end = first + token.text.size();
  if (token.is_whole) {
    if (is_signed) {
      std::int64_t value = 0;
      if (std::from_chars(first, end, value).ec != std::errc{}) return false;
      out = static_cast<std::uint64_t>(value);
      return true;
    }
    if (token.text.front() == '-') return token.text == "-0" && (out = 0, true);
    return std::from_chars(first, end, out).ec == std::errc{};
  }
  constexpr double kExactMax = 9007199254740992;  // 2^53
  double value = 0;
  if (std::from_chars(first, end, value).ec != std::errc{} || std::trunc(value) != value) return false;
  if (std::abs(value) > kExactMax || (value < 0 && !is_signed)) return false;
  out = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  return true;
}

bool fits(const Type& type, std::uint64_t value) noexcept {
  if (type.size == 8) return true;
  const int bits = type.size * 8;
  if (type.kind == Kind::Unsigned) return value >> bits == 0;
  const auto number = static_cast<std::int64_t>(value);
  return number >> (bits - 1) == 0 || number >> (bits - 1) == -1;
}

// Whether a value that begins like this can be read as that type.
bool begins_like(const Type& type, char first, bool is_whole) noexcept {
  switch (type.kind) {
    case Kind::Bool: return first == 't' || first == 'f';
    case Kind::Signed:
    case Kind::Unsigned: return is_whole;
    case Kind::Float:
    case Kind::Double: return first == '-' || is_digit(first);
    case Kind::Object:
    case Kind::Map: return first == '{';
    case Kind::List: return first == '[';
    case Kind::Optional: return first == 'n' || begins_like(*type.optional->inner, first, is_whole);
    case Kind::Dynamic:
    case Kind::Variant: return true;
    default: return first == '"';
  }
}

}  // namespace

// --- what is wrong

void Reader::report(const Place& place, std::string_view what) {
  has_findings_ = true;
  std::string pointer;
  write_pointer(pointer, place);
  findings_.add(data::Part::Body, pointer, what);
}

const char* Reader::refuse(const Type& type, const char* at, const Place& place) {
  const bool is_null = cursor_.peek(at) == 'n';
  at = cursor_.value(at);
  if (at != nullptr) report(place, "has to be " + data::what_is_expected(type) + (is_null ? ", not null" : ""));
  return at;
}

void Reader::check_rules(const Type& type, const void* value, const Place& place) {
  for (std::size_t i = 0; i < type.rule_count; ++i) {
    if (!data::holds(type.rules[i], type, value)) report(place, data::describe(type.rules[i], type));
  }
}

void Reader::check_object(const Type& type, const void* object, const Place& place) {
  struct To {
    Reader& reader;
    const Place& place;
  } to{*this, place};
  data::Rules rules(
      *type.object, object,
      [](void* target, std::string_view member, std::string_view what) {
        auto& [reader, place_of_object] = *static_cast<To*>(target);
        if (member.empty()) return reader.report(place_of_object, what);
        reader.report(Place{.outer = &place_of_object, .name = member}, what);
      },
      &to);
  type.object->rules(object, rules);
}

// --- values

const char* Reader::unusual(const Type& type, void* out, const char* at, const Place& place) {
  switch (type.kind) {
    case Kind::Bool: return boolean(type, out, at, place);
    case Kind::Float:
    case Kind::Double: return real(type, out, at, place);
    case Kind::Map: return map(type, out, at, place);
    case Kind::Variant: return variant(type, out, at, place);
    case Kind::Optional:
      if (cursor_.peek(at) == 'n') {
        type.optional->reset(out);
        return cursor_.literal(at, "null");
      }
      return any(*type.optional->inner, type.optional->emplace(out), at, place);
    case Kind::Dynamic: {
      const char* const first = at;
      at = cursor_.value(at);
      if (at == nullptr) return nullptr;
      if (!type.dynamic->read({first, static_cast<std::size_t>(at - first)}, out)) report(place, "cannot be taken");
      return at;
    }
    default: return refuse(type, at, place);
  }
}

const char* Reader::boolean(const Type& type, void* out, const char* at, const Place& place) {
  const char first = cursor_.peek(at);
  if (first != 't' && first != 'f') return refuse(type, at, place);
  *static_cast<bool*>(out) = first == 't';
  return cursor_.literal(at, first == 't' ? "true" : "false");
}

const char* Reader::whole_with_care(const Type& type, void* out, const char* at, const Place& place) {
  const char first = cursor_.peek(at);
  if (first != '-' && !is_digit(first)) return refuse(type, at, place);
  NumberToken token;
  const char* const behind = cursor_.number(at, token);
  if (behind == nullptr) return nullptr;
  std::uint64_t value = 0;
  if (!to_whole(token, type.kind == Kind::Signed, value) || !fits(type, value)) {
    report(place, "has to be " + data::what_is_expected(type));
    return behind;
  }
  data::store_whole(value, type.size, out);
  if (type.rule_count > 0) check_rules(type, out, place);
  return behind;
}

const char* Reader::real(const Type& type, void* out, const char* at, const Place& place) {
  const char first = cursor_.peek(at);
  if (first != '-' && !is_digit(first)) return refuse(type, at, place);
  NumberToken token;
  const char* const behind = cursor_.number(at, token);
  if (behind == nullptr) return nullptr;
  const char* const end = token.text.data() + token.text.size();
  bool is_good = false;
  if (type.kind == Kind::Float) {
    float value = 0;
    is_good = std::from_chars(token.text.data(), end, value).ec == std::errc{} && std::isfinite(value);
    if (is_good) std::memcpy(out, &value, sizeof value);
  } else {
    double value = 0;
    is_good = std::from_chars(token.text.data(), end, value).ec == std::errc{} && std::isfinite(value);
    if (is_good) std::memcpy(out, &value, sizeof value);
  }
  if (!is_good) {
    report(place, "is out of range");
  } else if (type.rule_count > 0) {
    check_rules(type, out, place);
  }
  return behind;
}

bool Reader::store_text(const Type& type, void* out, std::string_view text) {
  switch (type.kind) {
    case Kind::String: static_cast<std::string*>(out)->assign(text); return true;
    case Kind::View: *static_cast<std::string_view*>(out) = text; return true;
    case Kind::Text: return type.text->read(text, out);
    case Kind::Time: return data::set_time(type, out, text);
    case Kind::Bytes: return store_bytes(type, out, text);
    case Kind::Enum: return data::set_enum(type, out, text);
    default: return false;
  }
}

bool Reader::store_bytes(const Type& type, void* out, std::string_view text) {
  char* const room = static_cast<char*>(findings_.arena().allocate(base64::decoded_size_max(text.size()) + 1, 1));
  const auto size = base64::decode(text, room);
  if (size) type.bytes->assign(out, {room, *size});
  return size.has_value();
}

const char* Reader::map(const Type& type, void* out, const char* at, const Place& place) {
  if (cursor_.peek(at) != '{') return refuse(type, at, place);
  if (!cursor_.enter(at)) return nullptr;
  const data::MapType& shape = *type.map;
  shape.clear(out);
  Place inner{.outer = &place, .name = {}};
  at = cursor_.skip_space(at + 1);
  if (cursor_.peek(at) != '}') {
    for (;;) {
      StringToken token;
      if (cursor_.peek(at) != '"') return cursor_.fail(at, "a name in quotes is expected");
      at = cursor_.string(at, token);
      if (at == nullptr) return nullptr;
      inner.name = unescape(token, findings_.arena());
      at = cursor_.skip_space(at);
      if (cursor_.peek(at) != ':') return cursor_.fail(at, "':' is expected");
      at = cursor_.skip_space(at + 1);
      bool is_new = false;
      void* const place_of_value = shape.insert(out, inner.name, is_new);
      if (place_of_value == nullptr) {
        report(inner, "cannot be a name here");
        at = cursor_.value(at);
      } else if (!is_new && options_.duplicates != DuplicateKeys::Last) {
        if (options_.duplicates == DuplicateKeys::Refuse) report(inner, "comes twice");
        at = cursor_.value(at);
      } else {
        at = any(*shape.value, place_of_value, at, inner);
      }
      if (at == nullptr) return nullptr;
      at = cursor_.skip_space(at);
      if (cursor_.peek(at) == '}') break;
      if (cursor_.peek(at) != ',') return cursor_.fail(at, "',' or '}' is expected");
      at = cursor_.skip_space(at + 1);
    }
  }
  cursor_.leave();
  if (type.rule_count > 0) check_rules(type, out, place);
  return at + 1;
}

const char* Reader::variant(const Type& type, void* out, const char* at, const Place& place) {
  if (!type.variant->tag.empty()) return tagged(type, out, at, place);
  const char first = cursor_.peek(at);
  bool is_whole = false;
  if (first == '-' || is_digit(first)) {
    NumberToken token;
    if (cursor_.number(at, token) == nullptr) return nullptr;
    is_whole = token.is_whole;
  }
  for (std::size_t i = 0; i < type.variant->count; ++i) {
    const data::VariantType::Alternative& alternative = type.variant->alternatives[i];
    if (begins_like(*alternative.type, first, is_whole)) {
      return any(*alternative.type, alternative.emplace(out), at, place);
    }
  }
  return refuse(type, at, place);
}

const char* Reader::tagged(const Type& type, void* out, const char* at, const Place& place) {
  if (cursor_.peek(at) != '{') return refuse(type, at, place);
  std::string_view name;
  if (find_tag(type.variant->tag, at, name) == nullptr) return nullptr;
  for (std::size_t i = 0; i < type.variant->count; ++i) {
    const data::VariantType::Alternative& alternative = type.variant->alternatives[i];
    if (alternative.name == name)
      return object(*alternative.type, alternative.emplace(out), at, place, type.variant->tag);
  }
  std::string what = name.empty() ? "is missing: one of " : "has to be one of ";
  for (std::size_t i = 0; i < type.variant->count; ++i) {
    if (i > 0) what += ", ";
    what.append(type.variant->alternatives[i].name);
  }
  report({.outer = &place, .name = type.variant->tag}, what);
  return cursor_.value(at);
}

// The tag's value, "" when there is none that is a text.
const char* Reader::find_tag(std::string_view tag, const char* at, std::string_view& found) {
  at = cursor_.skip_space(at + 1);
  while (cursor_.peek(at) == '"') {
    StringToken token;
    at = cursor_.string(at, token);
    if (at == nullptr) return nullptr;
    const bool is_tag = unescape(token, findings_.arena()) == tag;
    at = cursor_.skip_space(at);
    if (cursor_.peek(at) != ':') return cursor_.fail(at, "':' is expected");
    at = cursor_.skip_space(at + 1);
    if (is_tag && cursor_.peek(at) == '"') {
      at = cursor_.string(at, token);
      if (at != nullptr) found = unescape(token, findings_.arena());
      return at;
    }
    at = cursor_.value(at);
    if (at == nullptr) return nullptr;
    at = cursor_.skip_space(at);
    if (cursor_.peek(at) == ',') at = cursor_.skip_space(at + 1);
  }
  return at;  // what is wrong here is found when the object is read
}

}  // namespace violet::json::detail
