#include "violet/data/text_value.h"

#include "violet/data/format/base64.h"
#include "violet/data/format/time.h"
#include "violet/data/format/utf8.h"
#include "violet/data/rule/rule.h"

#include <charconv>
#include <cmath>
#include <cstring>

namespace violet::data {
namespace {

// All of a text as a number; "+1", " 1" and "1 " are none.
template <class T>
bool read_number(std::string_view text, T& value) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

bool set_whole(const Type& type, void* out, std::string_view text) noexcept {
  const int unused_bits = 64 - type.size * 8;
  if (type.kind == Kind::Unsigned) {
    std::uint64_t value = 0;
    if (!read_number(text, value) || (value << unused_bits) >> unused_bits != value) return false;
    store_whole(value, type.size, out);
  } else {
    std::int64_t value = 0;
    if (!read_number(text, value)) return false;
    if (value > (INT64_MAX >> unused_bits) || value < (INT64_MIN >> unused_bits)) return false;
    store_whole(static_cast<std::uint64_t>(value), type.size, out);
  }
  return true;
}

template <class T>
bool set_real(void* out, std::string_view text) noexcept {
  T value{};
  if (!read_number(text, value) || !std::isfinite(value)) return false;
  std::memcpy(out, &value, sizeof value);
  return true;
}

bool set_bool(void* out, std::string_view text) noexcept {
  // "on" is what a browser sends for a ticked box that has no value.
  const bool is_true = text == "true" || text == "1" || text == "on";
  if (!is_true && text != "false" && text != "0") return false;
  *static_cast<bool*>(out) = is_true;
  return true;
}

bool set_bytes(const Type& type, void* out, std::string_view text, Arena& arena) {
  char* const room = static_cast<char*>(arena.allocate(base64::decoded_size_max(text.size()) + 1, 1));
  const auto size = base64::decode(text, room);
  if (size) type.bytes->assign(out, {room, *size});
  return size.has_value();
}

bool set_scalar(const Type& type, void* out, std::string_view text, Arena& arena) {
  switch (type.kind) {
    case Kind::Bool: return set_bool(out, text);
    case Kind::Signed:
    case Kind::Unsigned: return set_whole(type, out, text);
    case Kind::Float: return set_real<float>(out, text);
    case Kind::Double: return set_real<double>(out, text);
    case Kind::String: static_cast<std::string*>(out)->assign(text); return true;
    case Kind::View: *static_cast<std::string_view*>(out) = text; return true;
    case Kind::Enum: return set_enum(type, out, text);
    case Kind::Time: return set_time(type, out, text);
    case Kind::Bytes: return set_bytes(type, out, text, arena);
    case Kind::Text: return type.text->read(text, out);
    default: return false;
  }
}

}  // namespace

bool set_enum(const Type& type, void* out, std::string_view name) noexcept {
  for (std::size_t i = 0; i < type.enumeration->count; ++i) {
    if (type.enumeration->enumerators[i].name != name) continue;
    store_whole(static_cast<std::uint64_t>(type.enumeration->enumerators[i].value), type.size, out);
    return true;
  }
  return false;
}

bool set_time(const Type& type, void* out, std::string_view text) noexcept {
  const TimeType& time = *type.time;
  std::int64_t ticks = 0;
  if (time.is_date) {
    const auto days = read_date(text);
    if (!days) return false;
    ticks = *days;
  } else {
    const auto instant = read_time(text);
    if (!instant) return false;
    if (time.ticks_per_second > 0) {
      const auto fraction =
          static_cast<std::int64_t>(static_cast<unsigned __int128>(instant->nanoseconds) *
                                    static_cast<unsigned __int128>(time.ticks_per_second) / 1'000'000'000);
      if (__builtin_mul_overflow(instant->seconds, time.ticks_per_second, &ticks) ||
          __builtin_add_overflow(ticks, fraction, &ticks)) {
        return false;
      }
    } else {
      // Towards the past, as the calendar counts.
      ticks = instant->seconds / time.seconds_per_tick;
      if (instant->seconds % time.seconds_per_tick < 0) --ticks;
    }
  }
  if (type.size == 4 && ticks != static_cast<std::int32_t>(ticks)) return false;
  store_whole(static_cast<std::uint64_t>(ticks), type.size, out);
  return true;
}

std::string what_is_expected(const Type& type) {
  if (type.kind == Kind::Optional) return what_is_expected(*type.optional->inner);
  if (type.kind == Kind::List && type.list->fixed_count > 0) {
    return "a list of " + std::to_string(type.list->fixed_count) + " items";
  }
  if (type.kind != Kind::Enum) return std::string(kind_name(type));
  constexpr std::size_t kNamesMax = 16;
  const EnumType& names = *type.enumeration;
  std::string text = "one of ";
  for (std::size_t i = 0; i < names.count && i < kNamesMax; ++i) {
    if (i > 0) text += ", ";
    text.append(names.enumerators[i].name);
  }
  return names.count > kNamesMax ? text + " and so on" : text;
}

std::string set_text(const Type& type, void* out, std::string_view text, Arena& arena) {
  if (type.kind == Kind::Optional) return set_text(*type.optional->inner, type.optional->emplace(out), text, arena);
  if (type.kind == Kind::List && type.list->append != nullptr && type.list->fixed_count == 0) {
    return set_text(*type.list->element, type.list->append(out, 0), text, arena);
  }
  if (!utf8::is_valid(text)) return "has to be UTF-8";
  if (!set_scalar(type, out, text, arena)) return "has to be " + what_is_expected(type);
  for (std::size_t i = 0; i < type.rule_count; ++i) {
    if (!holds(type.rules[i], type, out)) return describe(type.rules[i], type);
  }
  return {};
}

bool takes_many(const Type& type) noexcept {
  return type.kind == Kind::List && type.list->append != nullptr && type.list->fixed_count == 0;
}

bool takes_text(const Type& type) noexcept {
  switch (type.kind) {
    case Kind::Object:
    case Kind::Map:
    case Kind::Variant:
    case Kind::Dynamic:
    case Kind::Literal: return false;
    case Kind::Optional: return takes_text(*type.optional->inner);
    case Kind::List: return takes_many(type) && takes_text(*type.list->element) && !takes_many(*type.list->element);
    default: return true;
  }
}

}  // namespace violet::data
