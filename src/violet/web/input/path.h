#pragma once

// Path<T>: the {name}s of the pattern, decoded.
//
//   app.get("/users/{id}", [](Path<std::int64_t> id) { … *id … });
//   app.get("/{year}/{month}", [](Path<int> year, Path<int> month) { … });      // in the order of the pattern
//   struct Day { int year; int month; };
//   app.get("/{month}/{year}", [](Path<Day> day) { … day->year … });            // by name
//
// T is an integer, a floating-point number, bool, std::string_view or std::string, or an aggregate of those. A value
// that is none, or does not fit into T, is a 400 that names the parameter. That a pattern has too few parameters, or
// none of a member's name, is an error when listening starts.

#include "violet/data/type_of.h"
#include "violet/web/input/extract.h"
#include "violet/web/input/value.h"

namespace violet {

template <class T>
struct Path {
  using Wrapped = T;
  T value{};

  operator const T&() const noexcept { return value; }  // NOLINT(google-explicit-constructor)
  const T& operator*() const noexcept { return value; }
  const T* operator->() const noexcept { return &value; }
};

namespace web {

void bind_path(Binding& binding, std::size_t at);
void bind_path_members(Binding& binding, ParameterSlot& slot, const std::string_view* names, std::size_t count);
void fetch_path(Fetch& fetch, std::size_t at, ValueType type, void* out);

// The table of an aggregate of values; of another one nullptr, which has an error of its own.
template <class T>
consteval const data::Type* table_of_values() {
  constexpr bool kHasValues =
      reflect::visit(reflect::detail::kSample<T>.value, []<class... M>(const M&...) { return (Value<M> && ...); });
  if constexpr (kHasValues && data::Structure<T>) {
    return &data::kType<T>;
  } else {
    return nullptr;
  }
}

}  // namespace web

template <class T>
  requires web::Value<T>
struct Extract<Path<T>> : Extractor {
  static constexpr bool takes_path_value = true;
  static constexpr web::Input input{
      .kind = web::Input::Kind::Path, .is_checked = !web::kIsText<T>, .type = &data::kType<T>};
  static void bind(web::Binding& binding, web::ParameterSlot&, std::size_t at) { web::bind_path(binding, at); }
  static Path<T> from(Fetch& fetch, const web::ParameterSlot&, std::size_t at) {
    Path<T> path;
    web::fetch_path(fetch, at, web::value_type<T>(), &path.value);
    return path;
  }
};

template <class T>
  requires(!web::Value<T> && reflect::Aggregate<T>)
struct Extract<Path<T>> : Extractor {
  static_assert(reflect::kMemberCount<T> <= sizeof(web::ParameterSlot::indices),
                "violet: Path<T> takes an aggregate of at most eight members");
  static constexpr web::Input input{
      .kind = web::Input::Kind::PathMembers, .is_checked = true, .type = web::table_of_values<T>()};
  static void bind(web::Binding& binding, web::ParameterSlot& slot, std::size_t) {
    web::bind_path_members(binding, slot, reflect::kMemberNames<T>.data(), reflect::kMemberCount<T>);
  }
  static Path<T> from(Fetch& fetch, const web::ParameterSlot& slot, std::size_t) {
    Path<T> path;
    const std::uint8_t* index = slot.indices;
    reflect::visit(path.value, [&]<class... M>(M&... member) {
      static_assert((web::Value<M> && ...), "violet: the members of Path<T> are numbers, bools or strings");
      (web::fetch_path(fetch, *index++, web::value_type<M>(), &member), ...);
    });
    return path;
  }
};

}  // namespace violet
