#pragma once

// Representations: the forms beside JSON that a type is answered in, where the client wants them (RFC 9110 §12.5.1).
//
//   std::string to_page(const User& user);
//   std::string to_row(const User& user);
//
//   template <>
//   inline constexpr violet::Representation<User> violet::kRepresentations<User>[] = {
//       {"text/html; charset=utf-8", &to_page},
//       {"text/csv", &to_row},
//   };
//
//   app.get("/users/{id}", [](Path<int> id) { return User{*id, "ada"}; });    // JSON, a page or a row, as Accept says
//
// JSON stands first: it is what a client gets that does not say, or that wants several alike. A client that accepts
// none gets a 406. Every such answer carries Vary: Accept. A type without representations is JSON, whatever Accept
// says.

#include "violet/web/output/respond.h"

#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace violet {

template <class T>
struct Representation {
  std::string_view type;  // "text/html; charset=utf-8"
  std::string (*write)(const T& value);
};

namespace web {

struct NoRepresentations {};
inline constexpr std::size_t kRepresentationsMax = 8;

// The index of the media type to answer in, which the response gets; nullopt: the request is refused, 406.
std::optional<std::size_t> negotiate(Exchange& exchange, const std::string_view* types, std::size_t count);

}  // namespace web

template <class T>
inline constexpr web::NoRepresentations kRepresentations = {};

namespace web {

template <class T>
concept HasRepresentations = !std::is_same_v<std::remove_cvref_t<decltype(kRepresentations<T>)>, NoRepresentations>;

// How such a type may be answered: by `json`, in each other form, and not at all.
template <class T>
consteval auto represented(const ReplyShape& json) {
  constexpr std::size_t kCount = std::size(kRepresentations<T>);
  std::array<ReplyShape, kCount + 2> all{json};
  for (std::size_t i = 0; i < kCount; ++i) {
    all[i + 1].status = 200;
    all[i + 1].media = kRepresentations<T>[i].type;
  }
  all.back() = {.status = 406, .is_problem = true};
  return all;
}

// The body of `value` in the form that was chosen: `json`() for the first one.
template <class T, class F>
Body represent(Exchange& exchange, const T& value, F&& json) {
  constexpr std::size_t kCount = std::size(kRepresentations<T>);
  static_assert(kCount < kRepresentationsMax, "violet: a type has at most seven representations beside JSON");
  std::string_view types[kCount + 1] = {"application/json"};
  for (std::size_t i = 0; i < kCount; ++i) types[i + 1] = kRepresentations<T>[i].type;
  const auto chosen = negotiate(exchange, types, kCount + 1);
  if (!chosen) return {};
  if (*chosen == 0) return json();
  return Slice::of(kRepresentations<T>[*chosen - 1].write(value));
}

}  // namespace web
}  // namespace violet
