#pragma once

// Query<T>: the query, read into an aggregate by the names of its members.
//
//   struct Page { int limit = 20; std::optional<std::string> sort; std::vector<int> tag; };
//   app.get("/users", [](Query<Page> page) { … page->limit … });       // /users?limit=5&tag=1&tag=2
//
// Members are integers, floating-point numbers, bools, std::string_view, std::string, and std::optional or std::vector
// of those; also types with rules (range<int, 1, 100>), enumerations and times. What does not come keeps its default; a
// number or bool that is declared without one ("int a;") has to come. Names and values are decoded ('+' is a space). Of
// a name that comes more than once the first counts, a vector gets all. Unknown names are ignored. A bool without a
// value ("?verbose") is true. Everything that is wrong is named in one 400.
//
// RawQuery is the query as it came.

#include "violet/web/content/form.h"
#include "violet/web/input/extract.h"
#include "violet/web/input/value.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
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
  // Where the value goes, if not into the member itself: for an optional or a vector a new element.
  void* (*place)(void* member) = nullptr;
};

template <class M>
struct QueryMember {
  static_assert(Value<M>,
                "violet: a member of Query<T> is an integer, a floating-point number, bool, std::string_view, "
                "std::string, or a std::optional or std::vector of those");
  static constexpr QueryField field{value_type<M>(), false};
};
template <class M>
  requires Value<M>
struct QueryMember<std::optional<M>> {
  static constexpr QueryField field{
      value_type<M>(), false, [](void* member) -> void* { return &static_cast<std::optional<M>*>(member)->emplace(); }};
};
template <class M>
  requires(Value<M> && !std::is_same_v<M, bool>)
struct QueryMember<std::vector<M>> {
  static constexpr QueryField field{value_type<M>(), true, [](void* member) -> void* {
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

// How far a query has been read.
struct QueryState {
  const char* at;
  const char* end;
  std::uint32_t seen = 0;  // a bit for each member that has come
};

// A plain number at `at`, up to '&' or the end. nullptr: something else, or it may not fit.
template <class M>
[[gnu::always_inline]] inline const char* read_plain_int(const char* at, const char* end, M& out) noexcept {
  constexpr std::ptrdiff_t kDigitsMax = 9;
  const bool is_negative = at < end && *at == '-';
  if (is_negative) ++at;
  const char* const first = at;
  std::uint32_t value = 0;
  for (unsigned digit; at < end && (digit = static_cast<unsigned>(*at - '0')) <= 9; ++at) value = value * 10 + digit;
  if (at == first || at - first > kDigitsMax || (at < end && *at != '&')) return nullptr;
  const auto number = static_cast<std::int32_t>(value);
  out = is_negative ? -number : number;
  return at;
}

// Reads the next pair when it is member I of T, an integer with a plain number. The name is known while compiling, so
// that finding it is one comparison.
template <class T, std::size_t I, class M>
[[gnu::always_inline]] inline void read_plain_member(QueryState& state, M& member) noexcept {
  if constexpr (std::is_integral_v<M> && std::is_signed_v<M> && sizeof(M) >= 4) {
    constexpr std::string_view kName = reflect::kMemberNames<T>[I];
    constexpr std::uint32_t kBit = std::uint32_t{1} << I;
    if (static_cast<std::size_t>(state.end - state.at) <= kName.size() || state.at[kName.size()] != '=' ||
        std::memcmp(state.at, kName.data(), kName.size()) != 0 || (state.seen & kBit) != 0) {
      return;
    }
    const char* const next = read_plain_int(state.at + kName.size() + 1, state.end, member);
    if (next == nullptr) return;
    state.seen |= kBit;
    state.at = next + (next < state.end);
  }
}

// Reads the common query, integers in the order of the members or in another, as far as it is one.
template <class T>
void read_plain(QueryState& state, T& value) noexcept {
  const char* before;
  do {
    before = state.at;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      reflect::visit(value, [&](auto&... member) { (read_plain_member<T, I>(state, member), ...); });
    }(std::make_index_sequence<reflect::kMemberCount<T>>{});
  } while (state.at != before && state.at < state.end);
}

// The rest of a query, whatever it is, and what is missing.
void fetch_query(Fetch& fetch, const QueryShape& shape, void* const* members, QueryState state, std::uint32_t required);

}  // namespace web

namespace web {

template <class M>
inline constexpr bool kIsPlain = Value<M>;
template <class M>
inline constexpr bool kIsPlain<std::optional<M>> = Value<M>;
template <class M>
inline constexpr bool kIsPlain<std::vector<M>> = Value<M> && !std::is_same_v<M, bool>;

// Members that carry rules, enumerations, times and the like, all of them known: read by their tables.
template <data::Structure T>
consteval bool is_typed_query() {
  return reflect::visit(reflect::detail::kSample<T>.value,
                        []<class... M>(const M&...) { return (data::Known<M> && ...) && !(kIsPlain<M> && ...); });
}
template <class T>
concept TypedQuery = data::Structure<T> && is_typed_query<T>();

// The table of another one, unless it has an error of its own.
template <class T>
consteval const data::Type* table_of_plain() {
  constexpr bool kArePlain =
      reflect::visit(reflect::detail::kSample<T>.value, []<class... M>(const M&...) { return (kIsPlain<M> && ...); });
  if constexpr (kArePlain && data::Structure<T>) {
    return &data::kType<T>;
  } else {
    return nullptr;
  }
}

}  // namespace web

template <web::TypedQuery T>
struct Extract<Query<T>> : Extractor {
  static constexpr web::Input input{.kind = web::Input::Kind::Query, .is_checked = true, .type = &data::kType<T>};
  static void bind(web::Binding& binding, web::ParameterSlot&, std::size_t) {
    web::bind_pairs(binding, data::kType<T>, "Query<>");
  }
  static Query<T> from(Fetch& fetch) {
    Query<T> query;
    web::fetch_pairs(fetch, data::Part::Query, fetch.exchange().request().query, data::kType<T>, &query.value);
    return query;
  }
};

template <class T>
  requires(reflect::Aggregate<T> && !web::TypedQuery<T>)
struct Extract<Query<T>> : Extractor {
  static constexpr web::Input input{
      .kind = web::Input::Kind::Query, .is_checked = true, .type = web::table_of_plain<T>()};
  static void bind(web::Binding&, web::ParameterSlot& slot, std::size_t) {
    slot.mask = reflect::declared_without_value<T>();
  }
  static Query<T> from(Fetch& fetch, const web::ParameterSlot& slot, std::size_t) {
    static constexpr web::QueryShape kShape{reflect::kMemberNames<T>.data(), web::kQueryFields<T>.data(),
                                            reflect::kMemberCount<T>};
    Query<T> query;
    const std::string_view text = fetch.exchange().request().query;
    web::QueryState state{text.data(), text.data() + text.size()};
    web::read_plain(state, query.value);
    if (state.at < state.end || (slot.mask & ~state.seen) != 0) [[unlikely]] {
      reflect::visit(query.value, [&](auto&... member) {
        void* const members[] = {&member...};
        web::fetch_query(fetch, kShape, members, state, slot.mask);
      });
    }
    return query;
  }
};

template <>
struct Extract<RawQuery> : Extractor {
  static RawQuery from(Fetch& fetch) noexcept { return {fetch.exchange().request().query}; }
};

}  // namespace violet
