#include "violet/web/input/value.h"

#include "violet/data/type.h"

#include <charconv>
#include <cmath>
#include <cstring>

namespace violet::web {
namespace {

constexpr std::uint64_t unsigned_max(std::uint8_t size) noexcept { return ~std::uint64_t{0} >> (64 - size * 8); }

// Digits only; at most `max`.
bool read_digits(std::string_view text, std::uint64_t max, std::uint64_t& out) noexcept {
  if (text.empty()) return false;
  std::uint64_t value = 0;
  if (text.size() <= 18) [[likely]] {
    for (char c : text) {
      const auto digit = static_cast<unsigned>(c - '0');
      if (digit > 9) return false;
      value = value * 10 + digit;
    }
  } else {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return false;
  }
  out = value;
  return value <= max;
}

template <class T>
bool read_floating(std::string_view text, void* out) noexcept {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return false;
  std::memcpy(out, &value, sizeof value);
  return true;
}

}  // namespace

bool set_value(ValueType type, std::string_view text, void* out) {
  // The common number: at most nine digits into an integer that holds them all.
  if (type.size >= 4 && text.size() <= 9 &&
      (type.kind == ValueType::Kind::Signed || type.kind == ValueType::Kind::Unsigned)) {
    std::uint64_t value = 0;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at < end && static_cast<unsigned>(*at - '0') <= 9) value = value * 10 + static_cast<unsigned>(*at++ - '0');
    if (at == end && !text.empty()) [[likely]] {
      data::store_whole(value, type.size, out);
      return true;
    }
  }
  switch (type.kind) {
    case ValueType::Kind::None: return false;
    case ValueType::Kind::Signed: {
      const bool is_negative = !text.empty() && text.front() == '-';
      const std::uint64_t max = (unsigned_max(type.size) >> 1) + (is_negative ? 1 : 0);
      std::uint64_t value = 0;
      if (!read_digits(is_negative ? text.substr(1) : text, max, value)) return false;
      data::store_whole(is_negative ? 0 - value : value, type.size, out);
      return true;
    }
    case ValueType::Kind::Unsigned: {
      std::uint64_t value = 0;
      if (!read_digits(text, unsigned_max(type.size), value)) return false;
      data::store_whole(value, type.size, out);
      return true;
    }
    case ValueType::Kind::Float: return read_floating<float>(text, out);
    case ValueType::Kind::Double: return read_floating<double>(text, out);
    case ValueType::Kind::Bool: {
      const bool is_true = text == "true" || text == "1";
      if (!is_true && text != "false" && text != "0") return false;
      *static_cast<bool*>(out) = is_true;
      return true;
    }
    case ValueType::Kind::String: *static_cast<std::string*>(out) = text; return true;
    case ValueType::Kind::View: *static_cast<std::string_view*>(out) = text; return true;
  }
  return false;
}

std::string describe(ValueType type) {
  switch (type.kind) {
    case ValueType::Kind::Signed: {
      const auto max = static_cast<std::int64_t>(unsigned_max(type.size) >> 1);
      return "a whole number from " + std::to_string(-max - 1) + " to " + std::to_string(max);
    }
    case ValueType::Kind::Unsigned: return "a whole number from 0 to " + std::to_string(unsigned_max(type.size));
    case ValueType::Kind::Float:
    case ValueType::Kind::Double: return "a number";
    case ValueType::Kind::Bool: return "true or false";
    default: return "a text";
  }
}

}  // namespace violet::web
