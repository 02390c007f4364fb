#pragma once

// kType<T>: the table of a C++ type (data/type.h), made while compiling.
//
//   bool, integers, enumerations with a fixed type, float, double     std::string, std::string_view, const char*
//   aggregates of up to 32 members                                    std::optional, std::unique_ptr
//   std::vector and the like, std::array, std::span, kept ranges      std::map and the like with texts or integers as
//   keys std::variant                                                      std::chrono time points, dates and durations
//   std::vector<std::byte>, std::span<const std::byte>                secret<T>, text<1, 80>, email and the like
//   whatever specialises TextForm<T>
//
// A type that is none of these is one static_assert. Standard containers are known by their shape, so that this header
// includes none of theirs.

#include "violet/base/reflect.h"
#include "violet/data/describe.h"
#include "violet/data/names.h"
#include "violet/data/type.h"

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace violet {

// A type of the user's that is a text in documents; specialise it:
//
//   template <>
//   struct violet::TextForm<Address> {
//     static constexpr std::string_view format = "ipv4";                            // of JSON Schema; may be ""
//     static bool read(std::string_view text, Address& out);                        // false: it is none
//     static std::size_t write(const Address& value, char* out, std::size_t room);  // how many bytes
//   };
template <class T>
struct TextForm;

namespace data {

// Specialised for each kind of type.
template <class T>
struct TypeOf;

template <class T>
concept Known = requires { sizeof(TypeOf<T>); };

template <class T>
inline constexpr Type kType = TypeOf<T>::make();

// Read, and never written.
template <class T>
inline constexpr bool kIsSecret = false;

template <class T>
consteval Type named(Kind kind) {
  Type type(kind);
  type.name = reflect::type_name<T>();
  return type;
}

// --- numbers and texts

template <class T>
  requires(std::is_arithmetic_v<T> && sizeof(T) <= 8 && !std::is_same_v<T, char> && !std::is_same_v<T, wchar_t>)
struct TypeOf<T> {
  static consteval Type make() {
    Type type(std::is_same_v<T, bool>     ? Kind::Bool
              : std::is_same_v<T, float>  ? Kind::Float
              : std::is_same_v<T, double> ? Kind::Double
              : std::is_signed_v<T>       ? Kind::Signed
                                          : Kind::Unsigned);
    type.size = sizeof(T);
    return type;
  }
};
template <>
struct TypeOf<std::string> {
  static consteval Type make() { return Type(Kind::String); }
};
template <>
struct TypeOf<std::string_view> {
  static consteval Type make() { return Type(Kind::View); }
};
template <>
struct TypeOf<const char*> {
  static consteval Type make() { return Type(Kind::Literal); }
};
template <class T>
  requires requires { sizeof(TextForm<T>); }
struct TypeOf<T> {
  static bool read(std::string_view text, void* out) { return TextForm<T>::read(text, *static_cast<T*>(out)); }
  static std::size_t write(const void* value, char* out, std::size_t room) {
    return TextForm<T>::write(*static_cast<const T*>(value), out, room);
  }
  static constexpr TextType table{TextForm<T>::format, &read, &write};
  static consteval Type make() {
    Type type = named<T>(Kind::Text);
    type.text = &table;
    return type;
  }
};

template <class T>
  requires std::is_enum_v<T>
struct TypeOf<T> {
  static constexpr auto names = enumerators<T>();
  static constexpr EnumType table{names.data(), names.size()};
  static consteval Type make() {
    Type type = named<T>(Kind::Enum);
    type.size = sizeof(T);
    type.is_signed = std::is_signed_v<std::underlying_type_t<T>>;
    type.enumeration = &table;
    return type;
  }
};

// --- aggregates

template <class T>
concept Wrapping = requires { typename T::Wrapped; };

template <class T>
concept Structure = reflect::Aggregate<T> && !Wrapping<T> && !requires { sizeof(TextForm<T>); } &&
                    !requires { typename T::violet_is_checked; };

template <class M>
consteval const Type* type_of_member() {
  static_assert(Known<M>,
                "violet: a member of this type has no form in documents. Take numbers, bool, enumerations, texts, "
                "std::optional, std::vector, std::array, std::map, std::variant, std::chrono times, std::byte lists, "
                "structs of those, or specialise violet::TextForm");
  if constexpr (Known<M>) {
    return &kType<M>;
  } else {
    return nullptr;
  }
}

template <Structure T>
struct TypeOf<T> {
  static_assert(reflect::kMemberCount<T> <= kMembersMax, "violet: an aggregate has at most 32 members here");

  static void locate(void* object, void** out) {
    reflect::visit(*static_cast<T*>(object), [&](auto&... member) { ((*out++ = address(member)), ...); });
  }
  static std::uint32_t required() {
    static_assert(std::is_default_constructible_v<T>, "violet: a struct in a document can be made without arguments");
    static const std::uint32_t mask = [] {
      T defaults{};
      return required_members(table, &defaults, reflect::declared_without_value<T>());
    }();
    return mask;
  }
  static void with_defaults(void (*see)(void* to, const void* object), void* to) {
    if constexpr (std::is_default_constructible_v<T>) {
      const T defaults{};
      see(to, &defaults);
    }
  }
  static void check(const void* object, Rules& rules) {
    if constexpr (requires(const T& value) { value.rules(rules); }) {
      static_cast<const T*>(object)->rules(rules);
    }
  }
  // What the struct says of itself: `static constexpr std::string_view about = "…";`
  static consteval std::string_view about() {
    if constexpr (requires { requires std::is_same_v<decltype(&T::about), const std::string_view*>; }) {
      return T::about;
    } else {
      return {};
    }
  }
  static consteval auto make_members() {
    return reflect::visit(reflect::detail::kSample<T>.value, []<class... M>(const M&...) {
      std::array<Member, sizeof...(M)> members{};
      const Type* types[] = {type_of_member<M>()...};
      const bool is_secret[] = {kIsSecret<M>...};
      for (std::size_t i = 0; i < sizeof...(M); ++i) {
        members[i].name = Named<T>::names[i];
        members[i].prefix = Named<T>::prefix(i);
        members[i].type = types[i];
        Named<T>::note(i, members[i]);
        members[i].is_written = !members[i].is_ignored && !is_secret[i];
      }
      return members;
    });
  }
  static constexpr std::array<Member, reflect::kMemberCount<T>> members = make_members();
  static constexpr bool has_rules = requires(const T& value, Rules& rules) { value.rules(rules); };
  static constexpr ObjectType table{
      members.data(), members.size(), &locate, &required, &with_defaults, has_rules ? &check : nullptr, about()};
  static consteval Type make() {
    Type type = named<T>(Kind::Object);
    type.object = &table;
    return type;
  }

 private:
  template <class M>
  static void* address(const M& member) {
    return const_cast<M*>(std::addressof(member));
  }
};

// --- values that may not be there

template <class T>
concept Nullable = requires(T& value, const T& constant) {
  { *constant };
  { static_cast<bool>(constant) };
  value.reset();
} && !std::is_pointer_v<T>;

template <class T>
  requires Nullable<T> && requires { sizeof(*std::declval<T&>()); }
inline constexpr bool kIsSecret<T> = kIsSecret<std::remove_cvref_t<decltype(*std::declval<T&>())>>;

template <Nullable T>
struct TypeOf<T> {
  using Inner = std::remove_cvref_t<decltype(*std::declval<T&>())>;
  static const void* get(const void* optional) {
    const T& value = *static_cast<const T*>(optional);
    return value ? std::addressof(*value) : nullptr;
  }
  static void* emplace(void* optional) {
    T& value = *static_cast<T*>(optional);
    if constexpr (requires { value.emplace(); }) {
      return &value.emplace();
    } else {
      value = T(new Inner());
      return value.get();
    }
  }
  static void reset(void* optional) { static_cast<T*>(optional)->reset(); }
  static constexpr OptionalType table{type_of_member<Inner>(), &get, &emplace, &reset};
  static consteval Type make() {
    Type type(Kind::Optional);
    type.is_secret = kIsSecret<T>;
    type.optional = &table;
    return type;
  }
};

// --- times: std::chrono without its header

template <class T>
concept Duration = requires(const T& value) {
  typename T::rep;
  typename T::period;
  value.count();
} && std::is_integral_v<typename T::rep>;

template <class T>
concept TimePoint = requires(const T& value) {
  typename T::clock;
  requires Duration<typename T::duration>;
  value.time_since_epoch();
} && requires { T::clock::to_time_t(typename T::clock::time_point{}); };  // the system's clock

template <Duration T>
struct TypeOf<T> {
  static_assert(sizeof(T) == sizeof(typename T::rep));
  static consteval Type make() { return kType<typename T::rep>; }
};
template <TimePoint T>
struct TypeOf<T> {
  using Period = typename T::period;
  static_assert(sizeof(T) == sizeof(typename T::rep));
  static constexpr TimeType table{Period::num == 1 ? Period::den : 0, Period::den == 1 ? Period::num : 0,
                                  Period::num == 86'400};
  static consteval Type make() {
    Type type(Kind::Time);
    type.size = sizeof(typename T::rep);
    type.time = &table;
    return type;
  }
};

}  // namespace data
}  // namespace violet

#include "violet/data/type_of_many.h"  // lists, maps, variants
