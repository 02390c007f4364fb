#pragma once

// Names of members and enumerators as documents show them, found while compiling.

#include "violet/base/reflect.h"
#include "violet/data/describe.h"
#include "violet/data/type.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

namespace violet::data {

// --- members

// Called in a constant expression only when something is wrong: the compiler then shows its name.
inline void a_note_describes_a_member_that_does_not_exist() {}
inline void a_name_in_documents_is_longer_than_200_bytes() {}

template <class T>
consteval bool has_notes() {
  return requires { T::describe[0]; } || !std::is_same_v<std::remove_cvref_t<decltype(kDescribe<T>)>, NoNotes>;
}

// f(note) for each note of T.
template <class T, class F>
constexpr void each_note(F f) {
  if constexpr (requires { T::describe[0]; }) {
    for (const Note& note : T::describe) f(note);
  } else if constexpr (has_notes<T>()) {
    for (const Note& note : kDescribe<T>) f(note);
  }
}

// How many bytes `text` takes in a JSON string; what must be escaped takes six.
constexpr std::size_t escaped_size(std::string_view text) {
  std::size_t size = 0;
  for (const char c : text) size += c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20 ? 6 : 1;
  return size;
}
consteval char* escape(std::string_view text, char* out) {
  for (const char c : text) {
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20) {
      for (const char d : std::string_view("\\u00")) *out++ = d;
      *out++ = "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
      *out++ = "0123456789abcdef"[c & 15];
    } else {
      *out++ = c;
    }
  }
  return out;
}

template <class T>
struct Named {
  static constexpr std::size_t kCount = reflect::kMemberCount<T>;

  static consteval auto make_names() {
    std::array<std::string_view, kCount> found = reflect::kMemberNames<T>;
    each_note<T>([&](const Note& note) {
      bool is_known = false;
      for (std::size_t i = 0; i < kCount; ++i) {
        if (reflect::kMemberNames<T>[i] != note.member) continue;
        is_known = true;
        if (!note.name.empty()) found[i] = note.name;
        if (note.name.size() > 200) a_name_in_documents_is_longer_than_200_bytes();
      }
      if (!is_known) a_note_describes_a_member_that_does_not_exist();
    });
    return found;
  }
  static constexpr auto names = make_names();

  static constexpr void note(std::size_t at, Member& member) {
    each_note<T>([&](const Note& one) {
      if (one.member != reflect::kMemberNames<T>[at]) return;
      member.is_ignored = one.ignored;
      member.may_miss = one.optional;
      member.about = one.about;
      member.example = one.example;
    });
  }

  // ,"name": of all members behind each other, with room for whole vectors behind the last.
  static consteval std::size_t prefix_bytes() {
    std::size_t size = kPrefixRoom;
    for (const std::string_view name : names) size += escaped_size(name) + 4;
    return size;
  }
  static consteval auto make_prefixes() {
    std::array<char, prefix_bytes()> text{};
    char* out = text.data();
    for (const std::string_view name : names) {
      *out++ = ',';
      *out++ = '"';
      out = escape(name, out);
      *out++ = '"';
      *out++ = ':';
    }
    return text;
  }
  static constexpr auto prefixes = make_prefixes();
  static constexpr std::string_view prefix(std::size_t at) {
    const char* first = prefixes.data();
    for (std::size_t i = 0; i < at; ++i) first += escaped_size(names[i]) + 4;
    return {first, escaped_size(names[at]) + 4};
  }
};

// --- enumerators

namespace detail {

// clang: "… [E = Color, V = <Color::Red, (Color)1>]", g++: "… [with E = Color; E ...V = {Color::Red, (Color)1}; …".
template <class E, E... V>
consteval std::string_view spelled_all() {
  std::string_view text = __PRETTY_FUNCTION__;
#if defined(__clang__)
  text.remove_prefix(text.find("V = <") + 5);
  return text.substr(0, text.rfind('>'));
#else
  text.remove_prefix(text.find("V = {") + 5);
  return text.substr(0, text.find('}'));
#endif
}
template <class E, int... I>
consteval std::string_view spelled_range(std::integer_sequence<int, I...>) {
  return spelled_all<E, static_cast<E>(kEnumMin<E> + I)...>();
}

// f(value, name) for each enumerator that is there.
template <class E, class F>
consteval void each_enumerator(F f) {
  constexpr int kCount = kEnumMax<E> - kEnumMin<E> + 1;
  std::string_view rest = spelled_range<E>(std::make_integer_sequence<int, kCount>{});
  for (int i = 0; i < kCount; ++i) {
    const std::size_t comma = rest.find(',');
    std::string_view one = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
    // "(ns::Color)2" has no name.
    if (one.find(')') != std::string_view::npos) {
      if (one.find_first_of("0123456789-", one.rfind(')') + 1) == one.rfind(')') + 1) continue;
    }
    const std::size_t start = one.find_last_of(": )");
    if (start != std::string_view::npos) one = one.substr(start + 1);
    f(static_cast<std::int64_t>(kEnumMin<E> + i), one);
  }
}

template <class E>
consteval std::size_t count_enumerators() {
  std::size_t count = 0;
  each_enumerator<E>([&](std::int64_t, std::string_view) { ++count; });
  return count;
}

}  // namespace detail

template <class E>
consteval auto enumerators() {
  static_assert(
      requires { E{0}; }, "violet: an enumeration in a document needs a fixed type: enum class E, enum E : int");
  if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(kEnumNames<E>)>, NoNotes>) {
    std::array<EnumType::Enumerator, std::size(kEnumNames<E>)> found{};
    for (std::size_t i = 0; i < found.size(); ++i) {
      found[i] = {kEnumNames<E>[i].name, static_cast<std::int64_t>(kEnumNames<E>[i].value)};
    }
    return found;
  } else {
    std::array<EnumType::Enumerator, detail::count_enumerators<E>()> found{};
    std::size_t at = 0;
    detail::each_enumerator<E>([&](std::int64_t value, std::string_view name) { found[at++] = {name, value}; });
    static_assert(!found.empty(), "violet: no enumerator lies between kEnumMin and kEnumMax");
    return found;
  }
}

}  // namespace violet::data
