#pragma once

// Reflection over the members of aggregates, without macros:
//
//   struct Page { int limit = 20; std::string sort; };
//   reflect::kMemberCount<Page>                                                   // 2
//   reflect::kMemberNames<Page>                                                   // {"limit", "sort"}
//   reflect::visit(page, [](auto&... member) { … });                              // all members at once, by reference
//   reflect::for_each(page, [](std::string_view name, auto& member) { … });       // one after the other
//
// A type qualifies when it is an aggregate without base classes that holds 1 to 32 members, none of them a reference, a
// bit-field or a C array (use std::array). Whatever else is asked for is one static_assert. Everything here is resolved
// while compiling, but for declared_without_value(), which is asked once for each type.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

namespace violet::reflect {

inline constexpr std::size_t kMemberCountMax = 32;

namespace detail {

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-inline"
#pragma clang diagnostic ignored "-Wundefined-internal"
#else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wundefined-inline"
#endif

// Becomes whatever a member wants to be initialised from; never really called. Not the aggregate itself, so that one
// of them does not look like a copy. It has a body because members of members may be types without linkage.
template <class Whole>
struct Anything {
  template <class T>
    requires(!std::is_same_v<std::remove_cvref_t<T>, Whole>)
  operator T() const noexcept {  // NOLINT(google-explicit-constructor)
    __builtin_unreachable();
  }
};
template <class Whole, std::size_t>
using AnythingAt = Anything<Whole>;

template <class T, std::size_t... I>
consteval bool can_hold(std::index_sequence<I...>) {
  return requires { T{AnythingAt<T, I>{}...}; };
}
// The most initialisers T takes; one more than the limit stands for too many.
template <class T, std::size_t N>
consteval std::size_t count_members() {
  if constexpr (N == 0) {
    return 0;
  } else if constexpr (can_hold<T>(std::make_index_sequence<N>{})) {
    return N;
  } else {
    return count_members<T, N - 1>();
  }
}
template <class T>
inline constexpr std::size_t kCountMax = sizeof(T) > kMemberCountMax ? kMemberCountMax + 1 : sizeof(T);

// Storage in which no T is ever made: only addresses inside it are formed, and only while compiling. (A variable that
// is declared and not defined would do, were it not for types without linkage.)
template <class T>
union Sample {
  constexpr Sample() noexcept : nothing() {}
  constexpr ~Sample() {}
  char nothing;
  T value;
};
template <class T>
inline constexpr Sample<T> kSample{};

#if defined(__clang__)
#pragma clang diagnostic pop
#else
#pragma GCC diagnostic pop
#endif

}  // namespace detail

// An aggregate whose members can be told apart; std::array and the like are no such thing.
template <class T>
concept Aggregate = std::is_class_v<T> && std::is_aggregate_v<T> && !std::is_empty_v<T> && requires {
  requires(detail::count_members<T, detail::kCountMax<T>>() > 0);
  requires !requires(T value) { value.begin(); };
};

template <class T>
inline constexpr std::size_t kMemberCount = detail::count_members<T, detail::kCountMax<T>>();

// Calls f(member...) with all members of `value`, const if it is, and returns what f returns.
template <class T, class F>
constexpr decltype(auto) visit(T& value, F&& f) {
  constexpr std::size_t kCount = kMemberCount<std::remove_const_t<T>>;
  static_assert(kCount > 0, "violet: this type is no aggregate with members");
  static_assert(kCount <= kMemberCountMax, "violet: an aggregate has at most 32 members here");
  if constexpr (kCount == 1) {
    auto& [m1] = value;
    return f(m1);
  } else if constexpr (kCount == 2) {
    auto& [m1, m2] = value;
    return f(m1, m2);
  } else if constexpr (kCount == 3) {
    auto& [m1, m2, m3] = value;
    return f(m1, m2, m3);
  } else if constexpr (kCount == 4) {
    auto& [m1, m2, m3, m4] = value;
    return f(m1, m2, m3, m4);
  } else if constexpr (kCount == 5) {
    auto& [m1, m2, m3, m4, m5] = value;
    return f(m1, m2, m3, m4, m5);
  } else if constexpr (kCount == 6) {
    auto& [m1, m2, m3, m4, m5, m6] = value;
    return f(m1, m2, m3, m4, m5, m6);
  } else if constexpr (kCount == 7) {
    auto& [m1, m2, m3, m4, m5, m6, m7] = value;
    return f(m1, m2, m3, m4, m5, m6, m7);
  } else if constexpr (kCount == 8) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8] = value;
    return f(m1, m2, m3, m4, m5, m6, m7, m8);
  } else if constexpr (kCount == 9) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9] = value;
    return f(m1, m2, m3, m4, m5, m6, m7, m8, m9);
  } else if constexpr (kCount == 10) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10] = value;
    return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10);
  } else if constexpr (kCount == 11) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11] = value;
    return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11);
  } else if constexpr (kCount == 12) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12] = value;
    return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12);
  } else if constexpr (kCount == 13) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13] = value;
    return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13);
  } else if constexpr (kCount == 14) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14] = value;
    return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14);
  } else if constexpr (kCount == 15) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15] = value;
    return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15);
  } else if constexpr (kCount == 16) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16] = value;
    return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16);
  } else if constexpr (kCount == 17) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17] = value;
    return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17);
  } else if constexpr (kCount == 18) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18] = value;
    return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18);
  } else if constexpr (kCount == 19) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19] = value;
    return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19);
  } else if constexpr (kCount == 20) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20] = value;
    return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20);
  } else if constexpr (kCount == 21) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21] = value;
    return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21);
  } else if constexpr (kCount == 22) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22] = value;
    return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22);
  } else if constexpr (kCount == 23) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23] =
        value;
    return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23);
  } else if constexpr (kCount == 24) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23,
           m24] = value;
    return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23,
             m24);
  } else if constexpr (kCount == 25) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23,
           m24, m25] = value;
    return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23,
             m24, m25);
  } else if constexpr (kCount == 26) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23,
           m24, m25, m26] = value;
    return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23,
             m24, m25, m26);
  } else if constexpr (kCount == 27) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23,
           m24, m25, m26, m27] = value;
    return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23,
             m24, m25, m26, m27);
  } else if constexpr (kCount == 28) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23,
           m24, m25, m26, m27, m28] = value;
    return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23,
             m24, m25, m26, m27, m28);
  } else if constexpr (kCount == 29) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23,
           m24, m25, m26, m27, m28, m29] = value;
    return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23,
             m24, m25, m26, m27, m28, m29);
  } else if constexpr (kCount == 30) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23,
           m24, m25, m26, m27, m28, m29, m30] = value;
    return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23,
             m24, m25, m26, m27, m28, m29, m30);
  } else if constexpr (kCount == 31) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23,
           m24, m25, m26, m27, m28, m29, m30, m31] = value;
    return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23,
             m24, m25, m26, m27, m28, m29, m30, m31);
  } else if constexpr (kCount == 32) {
    auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23,
           m24, m25, m26, m27, m28, m29, m30, m31, m32] = value;
    return f(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23,
             m24, m25, m26, m27, m28, m29, m30, m31, m32);
  }
}

namespace detail {

template <class Member>
struct Pointer {
  const Member* at;
};
template <class Member>
Pointer(const Member*) -> Pointer<Member>;

template <std::size_t I, class First, class... Rest>
constexpr auto pointer_at(First& first, Rest&... rest) {
  if constexpr (I == 0) {
    return Pointer<std::remove_const_t<First>>{&first};
  } else {
    return pointer_at<I - 1>(rest...);
  }
}
template <class T, std::size_t I>
constexpr auto sample_member() {
  return visit(kSample<T>.value, [](auto&... members) { return pointer_at<I>(members...); });
}

// clang: "… [P = Pointer<int>{&kSample.value.limit}]", g++: "… [with auto P = …{(& kSample<Page>.….Page::limit)}; …]".
template <auto P>
consteval std::string_view spelled() {
  return __PRETTY_FUNCTION__;
}
template <auto P>
consteval std::string_view member_name() {
  std::string_view text = spelled<P>();
#if defined(__clang__)
  text = text.substr(0, text.rfind('}'));
#else
  text = text.substr(0, text.rfind(")}"));
#endif
  std::size_t start = text.size();
  while (start > 0 && text[start - 1] != '.' && text[start - 1] != ':') --start;
  return text.substr(start);
}

template <class T, std::size_t... I>
consteval auto member_names(std::index_sequence<I...>) {
  return std::array<std::string_view, sizeof...(I)>{member_name<sample_member<T, I>()>()...};
}

}  // namespace detail

// In the order of declaration.
template <class T>
inline constexpr auto kMemberNames = detail::member_names<T>(std::make_index_sequence<kMemberCount<T>>{});

// Calls f(name, member) for each member in order.
template <class T, class F>
constexpr void for_each(T& value, F&& f) {
  const std::string_view* name = kMemberNames<std::remove_const_t<T>>.data();
  visit(value, [&](auto&... members) { (f(*name++, members), ...); });
}

// "Page" and the like, for messages.
template <class T>
consteval std::string_view type_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  const std::size_t start = text.find("T = ") + 4;
#if defined(__clang__)
  return text.substr(start, text.rfind(']') - start);
#else
  return text.substr(start, text.find_first_of(";]", start) - start);
#endif
}

namespace detail {

// Kept out of line, so that the compiler cannot know what the memory held before.
template <class T>
[[gnu::noinline]] T* make_default(void* at) {
  return ::new (at) T;
}

}  // namespace detail

// A bit for each number, bool, enumerator or pointer that is declared without an initialiser ("int a;" but not
// "int a = 0;"): that is what a reader has to be given. Members of class type always have a value.
template <class T>
std::uint32_t declared_without_value() {
  std::uint32_t found = 0;
  if constexpr (std::is_default_constructible_v<T>) {
    // A member that nothing initialises keeps the pattern its memory was filled with, whatever the pattern.
    alignas(T) unsigned char memory[sizeof(T)];
    std::uint32_t kept[2] = {0, 0};
    for (int round = 0; round < 2; ++round) {
      const unsigned char pattern = round == 0 ? 0x5a : 0xa5;
      std::memset(memory, pattern, sizeof memory);
      asm volatile("" : : "r"(memory) : "memory");
      T* value = detail::make_default<T>(memory);
      asm volatile("" : : "r"(memory) : "memory");
      visit(*value, [&](auto&... members) {
        std::uint32_t bit = 1;
        const auto look = [&](const auto& member) {
          if constexpr (std::is_scalar_v<std::remove_cvref_t<decltype(member)>>) {
            unsigned char bytes[sizeof member];
            std::memcpy(bytes, &member, sizeof member);
            bool is_kept = true;
            for (unsigned char byte : bytes) is_kept = is_kept && byte == pattern;
            if (is_kept) kept[round] |= bit;
          }
          bit <<= 1;
        };
        (look(members), ...);
      });
      value->~T();
    }
    found = kept[0] & kept[1];
  }
  return found;
}

}  // namespace violet::reflect
