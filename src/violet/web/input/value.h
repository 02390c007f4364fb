#pragma once

// Values in texts: numbers, bools and strings of paths, queries and fields, through one function for all types.

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

namespace violet::web {

// A type as data.
struct ValueType {
  enum class Kind : std::uint8_t { None, Signed, Unsigned, Float, Double, Bool, String, View };
  Kind kind = Kind::None;
  std::uint8_t size = 0;
};

template <class T>
consteval ValueType value_type() {
  using Kind = ValueType::Kind;
  constexpr auto size = static_cast<std::uint8_t>(sizeof(T));
  if constexpr (std::is_same_v<T, bool>) {
    return {Kind::Bool, size};
  } else if constexpr (std::is_same_v<T, std::string>) {
    return {Kind::String, 0};
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    return {Kind::View, 0};
  } else if constexpr (std::is_same_v<T, float>) {
    return {Kind::Float, size};
  } else if constexpr (std::is_same_v<T, double>) {
    return {Kind::Double, size};
  } else if constexpr (std::is_integral_v<T> && sizeof(T) <= 8 && !std::is_same_v<T, char>) {
    return {std::is_signed_v<T> ? Kind::Signed : Kind::Unsigned, size};
  } else {
    return {};
  }
}

// What a value in a text can become.
template <class T>
concept Value = value_type<T>().kind != ValueType::Kind::None;

// Any text will do.
template <class T>
inline constexpr bool kIsText = std::is_same_v<T, std::string> || std::is_same_v<T, std::string_view>;

// Writes the value of `text` into `out`, an object of that type. False: it is none, or does not fit. Numbers are
// decimal, whole, without sign but '-', without spaces; a bool is true, false, 1 or 0.
bool set_value(ValueType type, std::string_view text, void* out);
// "a whole number from 0 to 255"
std::string describe(ValueType type);

}  // namespace violet::web
