#pragma once

// Types that carry their rules: a value of one that came from a request has passed them. They convert to what they hold
// and are read and written as it is.
//
//   struct NewUser { text<1, 80> name; email mail; std::optional<range<int, 0, 150>> age; };
//   in->mail == "a@example.org"          // compares and converts as a std::string
//   const std::string& name = in->name;
//
// Rules are checked where values come in, not when a program assigns.

#include "violet/data/literal.h"
#include "violet/data/rule/rule.h"
#include "violet/data/type_of.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace violet {

// A value and its rules; each Rule type has `static constexpr data::Rule rule`, or for_value<T> of that kind.
template <class T, class... R>
struct Checked {
  using violet_is_checked = void;
  T value{};

  operator const T&() const noexcept { return value; }  // NOLINT(google-explicit-constructor)
  const T& operator*() const noexcept { return value; }
  T& operator*() noexcept { return value; }
  const T* operator->() const noexcept { return &value; }
  friend bool operator==(const Checked&, const Checked&) = default;
  template <class U>
    requires(!std::is_same_v<U, Checked>)
  friend bool operator==(const Checked& a, const U& b) {
    return a.value == b;
  }
};

namespace rule {

template <std::size_t Min, std::size_t Max = static_cast<std::size_t>(data::Rule::kNoMax)>
struct Length {
  static constexpr data::Rule rule{
      .kind = data::Rule::Kind::Length, .min = static_cast<std::int64_t>(Min), .max = static_cast<std::int64_t>(Max)};
};
template <auto Min, auto Max>
struct Range {
  static constexpr bool is_real = std::is_floating_point_v<decltype(Min)>;
  static_assert(Min <= Max, "violet: a range goes from the smaller to the larger number");
  static constexpr data::Rule make() {
    if constexpr (is_real) {
      return {.kind = data::Rule::Kind::RealRange, .real_min = Min, .real_max = Max};
    } else {
      return {.kind = data::Rule::Kind::Range,
              .min = static_cast<std::int64_t>(Min),
              .max = static_cast<std::int64_t>(Max)};
    }
  }
  static constexpr data::Rule rule = make();
};
template <Literal text>
struct Pattern {
  static constexpr Literal kText = text;
  static constexpr data::Rule rule{
      .kind = data::Rule::Kind::Pattern, .text = kText.text(), .pattern = &data::pattern_of<text>};
};
struct Email {
  static constexpr data::Rule rule{.kind = data::Rule::Kind::Email};
};
struct Url {
  static constexpr data::Rule rule{.kind = data::Rule::Kind::Url};
};
struct Uuid {
  static constexpr data::Rule rule{.kind = data::Rule::Kind::Uuid};
};
// No two items are equal.
template <class List>
struct Unique {
  static bool holds(const void* value) {
    const List& list = *static_cast<const List*>(value);
    for (auto a = list.begin(); a != list.end(); ++a) {
      for (auto b = list.begin(); b != a; ++b) {
        if (*a == *b) return false;
      }
    }
    return true;
  }
  static constexpr data::Rule rule{.kind = data::Rule::Kind::Unique, .holds = &holds};
};
// A predicate of the user's: `what` follows the place, "has to be even".
template <class T, bool (*Holds)(const T&), Literal what>
struct Custom {
  static constexpr Literal kWhat = what;
  static bool holds(const void* value) { return Holds(*static_cast<const T*>(value)); }
  static constexpr data::Rule rule{.kind = data::Rule::Kind::Custom, .text = kWhat.text(), .holds = &holds};
};

}  // namespace rule

// A text of Min to Max characters (code points).
template <std::size_t Min, std::size_t Max>
using text = Checked<std::string, rule::Length<Min, Max>>;
// The same without a copy, valid as long as the request.
template <std::size_t Min, std::size_t Max>
using text_view = Checked<std::string_view, rule::Length<Min, Max>>;
using email = Checked<std::string, rule::Email>;
using url = Checked<std::string, rule::Url>;
using uuid = Checked<std::string, rule::Uuid>;
// A text in which the expression is found, pattern<"^[a-z]+$">.
template <Literal expression>
using pattern = Checked<std::string, rule::Pattern<expression>>;
template <class T, T Min, T Max>
using range = Checked<T, rule::Range<Min, Max>>;
// A text, list or map.
template <class T>
using non_empty = Checked<T, rule::Length<1>>;
// A list.
template <class T>
using unique = Checked<T, rule::Unique<T>>;

// A value that is read and never written: a password, a token. Objects leave it out.
template <class T>
struct secret {
  using violet_is_checked = void;
  T value{};
  const T& operator*() const noexcept { return value; }
  const T* operator->() const noexcept { return &value; }
};

namespace data {

template <class T, class... R>
struct TypeOf<Checked<T, R...>> {
  static_assert(sizeof...(R) < 32);
  static constexpr Rule rules[] = {R::rule...};
  static consteval Type make() {
    Type type = kType<T>;
    type.rules = rules;
    type.rule_count = sizeof...(R);
    return type;
  }
};
template <class T>
inline constexpr bool kIsSecret<secret<T>> = true;
template <class T>
struct TypeOf<secret<T>> {
  static consteval Type make() {
    Type type = kType<T>;
    type.is_secret = true;
    return type;
  }
};

}  // namespace data
}  // namespace violet
