#include "violet/data/type.h"

#include "violet/data/rule/rule.h"

#include <cstring>
#include <string>

namespace violet::data {
namespace {

class Counter final : public Visitor {
 public:
  void on_element(const void*) override { ++count; }
  void on_entry(std::string_view, const void*) override { ++count; }
  std::size_t count = 0;
};

}  // namespace

void store_whole(std::uint64_t value, std::uint8_t size, void* out) noexcept {
  switch (size) {
    case 1: {
      const auto narrow = static_cast<std::uint8_t>(value);
      std::memcpy(out, &narrow, sizeof narrow);
      break;
    }
    case 2: {
      const auto narrow = static_cast<std::uint16_t>(value);
      std::memcpy(out, &narrow, sizeof narrow);
      break;
    }
    case 4: {
      const auto narrow = static_cast<std::uint32_t>(value);
      std::memcpy(out, &narrow, sizeof narrow);
      break;
    }
    default: std::memcpy(out, &value, sizeof value);
  }
}

std::size_t count_of(const Type& type, const void* value) {
  Counter counter;
  if (type.kind == Kind::Map) {
    type.map->each(value, counter);
  } else if (type.list->row != nullptr) {
    return type.list->row(value).count;
  } else {
    type.list->each(value, counter);
  }
  return counter.count;
}

std::string_view text_of(const Type& type, const void* value) noexcept {
  switch (type.kind) {
    case Kind::String: return *static_cast<const std::string*>(value);
    case Kind::View: return *static_cast<const std::string_view*>(value);
    case Kind::Literal: return *static_cast<const char* const*>(value);
    default: return {};
  }
}

bool is_blank(const Type& type, const void* value) {
  switch (type.kind) {
    case Kind::String:
    case Kind::View: return text_of(type, value).empty();
    case Kind::Bytes: return type.bytes->get(value).empty();
    case Kind::Time: return load_signed(value, type.size) == 0;
    case Kind::List: return type.list->fixed_count > 0 || count_of(type, value) == 0;
    case Kind::Map: return count_of(type, value) == 0;
    case Kind::Object:
    case Kind::Variant:
    case Kind::Text: return true;
    default: return false;  // scalars are told apart by their initialisers
  }
}

std::uint32_t required_members(const ObjectType& type, void* defaults, std::uint32_t scalars) {
  void* members[kMembersMax];
  type.locate(defaults, members);
  std::uint32_t found = 0;
  for (std::size_t i = 0; i < type.count; ++i) {
    const Member& member = type.members[i];
    if (member.is_ignored || member.may_miss) continue;
    bool has_to_come = (scalars >> i & 1) != 0 || is_blank(*member.type, members[i]);
    for (std::size_t rule = 0; rule < member.type->rule_count && !has_to_come; ++rule) {
      has_to_come = !holds(member.type->rules[rule], *member.type, members[i]);
    }
    if (has_to_come) found |= std::uint32_t{1} << i;
  }
  return found;
}

std::string_view kind_name(const Type& type) noexcept {
  switch (type.kind) {
    case Kind::Bool: return "true or false";
    case Kind::Signed:
      switch (type.size) {
        case 1: return "a whole number from -128 to 127";
        case 2: return "a whole number from -32768 to 32767";
        case 4: return "a whole number from -2147483648 to 2147483647";
        default: return "a whole number from -9223372036854775808 to 9223372036854775807";
      }
    case Kind::Unsigned:
      switch (type.size) {
        case 1: return "a whole number from 0 to 255";
        case 2: return "a whole number from 0 to 65535";
        case 4: return "a whole number from 0 to 4294967295";
        default: return "a whole number from 0 to 18446744073709551615";
      }
    case Kind::Float:
    case Kind::Double: return "a number";
    case Kind::String:
    case Kind::View:
    case Kind::Literal: return "a text";
    case Kind::Bytes: return "a text in base64";
    case Kind::Time: return type.time->is_date ? "a date like 2024-02-29" : "a time like 2024-02-29T12:30:00Z";
    case Kind::Enum: return "one of the known names";
    case Kind::Text: return "a text of its form";
    case Kind::Object: return "an object";
    case Kind::List: return "a list";
    case Kind::Map: return "an object";
    case Kind::Optional: return kind_name(*type.optional->inner);
    case Kind::Variant: return "one of the known alternatives";
    case Kind::Dynamic: return "a value";
  }
  return "a value";
}

}  // namespace violet::data
