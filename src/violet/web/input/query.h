#pragma once

// Query<T>: the query, read into an aggregate by the names of its members.
//
//   struct Page { int limit = 20; std::optional<std::string> sort; std::vector<int> tag; };
//   app.get("/users", [](Query<Page> page) { … page->limit … });       // /users?limit=5&tag=1&tag=2
//
// Members are integers, floating-point numbers, bools, std::string_view, std::string, and std::optional or std::vector
// of those. What does not come keeps its default; a number or bool that is declared without one ("int a;") has to come.
// Names and values are decoded ('+' is a space). Of a name that comes more than once the first counts, a vector gets
// all. Unknown names are ignored. A bool without a value ("?verbose") is true. Everything that is wrong is named in one
// 400.
//
// RawQuery is the query as it came.

#include "violet/web/input/extract.h"
#include "violet/web/input/value.h"

#include <optional>
#include <string_view>
#include <vector>

namespace violet {

template <class T>
struct Query {
  using Wrapped = T;
  T value{};

  operator const T&() const noexcept { return value; }  // NOLINT(google-explicit-constructor)
  const T& operator*() const noexcept { return value; }
  const T* operator->() const noexcept { return &value; }
};

struct RawQuery {
  using Wrapped = std::string_view;
  std::string_view value;
  operator std::string_view() const noexcept { return value; }  // NOLINT(google-explicit-constructor)
  const std::string_view& operator*() const noexcept { return value; }
  const std::string_view* operator->() const noexcept { return &value; }
};

namespace web {

struct QueryField {
  ValueType type;
  bool is_many = false;
  bool is_int = false;  // a signed integer of four or eight bytes itself: the common case, read in one pass
  // Where the value goes, if not into the member itself: for an optional or a vector a new element.
  void* (*place)(void* member) = nullptr;
};

template <class M>
struct QueryMember {
  static_assert(Value<M>,
                "violet: a member of Query<T> is an integer, a floating-point number, bool, std::string_view, "
                "std::string, or a std::optional or std::vector of those");
  static constexpr QueryField field{value_type<M>(), false,
                                    std::is_integral_v<M>&& std::is_signed_v<M> && sizeof(M) >= 4};
};
template <class M>
  requires Value<M>
struct QueryMember<std::optional<M>> {
  static constexpr QueryField field{value_type<M>(), false, false, [](void* member) -> void* {
                                      return &static_cast<std::optional<M>*>(member)->emplace();
                                    }};
};
template <class M>
  requires(Value<M> && !std::is_same_v<M, bool>)
struct QueryMember<std::vector<M>> {
  static constexpr QueryField field{value_type<M>(), true, false, [](void* member) -> void* {
                                      return &static_cast<std::vector<M>*>(member)->emplace_back();
                                    }};
};

template <class T>
consteval auto query_fields() {
  return reflect::visit(reflect::detail::kSample<T>.value, []<class... M>(const M&...) {
    return std::array<QueryField, sizeof...(M)>{QueryMember<M>::field...};
  });
}
template <class T>
inline constexpr auto kQueryFields = query_fields<T>();

struct QueryShape {
  const std::string_view* names;
  const QueryField* fields;
  std::size_t count;
};
void fetch_query(Fetch& fetch, const QueryShape& shape, void* const* members, std::uint32_t required);

}  // namespace web

template <class T>
  requires reflect::Aggregate<T>
struct Extract<Query<T>> : Extractor {
  static void bind(web::Binding&, web::ParameterSlot& slot, std::size_t) {
    slot.mask = reflect::declared_without_value<T>();
  }
  static Query<T> from(Fetch& fetch, const web::ParameterSlot& slot, std::size_t) {
    static constexpr web::QueryShape kShape{reflect::kMemberNames<T>.data(), web::kQueryFields<T>.data(),
                                            reflect::kMemberCount<T>};
    Query<T> query;
    reflect::visit(query.value, [&](auto&... member) {
      void* const members[] = {&member...};
      web::fetch_query(fetch, kShape, members, slot.mask);
    });
    return query;
  }
};

template <>
struct Extract<RawQuery> : Extractor {
  static RawQuery from(Fetch& fetch) noexcept { return {fetch.exchange().request().query}; }
};

}  // namespace violet
