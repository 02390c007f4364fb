#pragma once

// JSON of handlers: Json<T> as a parameter, and structs, lists and maps as results.
//
//   struct NewUser { text<1, 80> name; email mail; std::optional<int> age; };
//   struct User { std::int64_t id; std::string name; };
//   app.post("/users", [](Json<NewUser> in) { return User{7, *in->name}; });
//
// What does not fit T never reaches the handler: 415 when the body is not said to be JSON, 400 when it is none, with
// line and column, and 422 with every member that is wrong; see json/reader.h for what is read how. Results are written
// into blocks of the loop's pool and go out as they are. Json<T> as a result answers any T as JSON, a text in quotes
// too. Other forms than JSON, by what the client accepts: web/negotiation/representations.h.

#include "violet/data/type_of.h"
#include "violet/json/reader.h"
#include "violet/json/typed.h"
#include "violet/web/input/extract.h"
#include "violet/web/negotiation/representations.h"
#include "violet/web/output/respond.h"

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace violet {

template <class T, json::ReadOptions options = json::ReadOptions{}>
struct Json {
  using Wrapped = T;
  T value{};

  operator const T&() const noexcept { return value; }  // NOLINT(google-explicit-constructor)
  const T& operator*() const noexcept { return value; }
  T& operator*() noexcept { return value; }
  const T* operator->() const noexcept { return &value; }
};
template <class T>
Json(T) -> Json<T>;

namespace web {

inline constexpr std::string_view kJsonType = "application/json";

// What a handler may return as it is and gets as JSON.
template <class R>
concept JsonResult =
    data::Known<R> && !HasToReply<R> &&
    (data::Structure<R> || ((data::MapLike<R> || data::ListLike<R>) && !data::Wrapping<R> && !data::ByteList<R>));

void bind_json(Binding& binding, const data::Type& type);
// Refuses a body of another type.
void admit_json(Fetch& fetch);
// REQUIRES: admitted. False: the request is refused already, or `fetch` knows what is wrong.
bool fetch_json(Fetch& fetch, json::detail::Get get, void* out, const json::ReadOptions& options);
Body json_body(Exchange& exchange, json::Put put, const void* value);
// The Content-Type says JSON: application/json or anything with +json.
[[nodiscard]] bool is_json_type(std::string_view content_type) noexcept;

template <class R>
consteval auto json_replies() {
  constexpr ReplyShape kJson{.status = 200, .media = kJsonType, .type = &data::kType<R>};
  if constexpr (HasRepresentations<R>) {
    return represented<R>(kJson);
  } else {
    return web::replies(kJson);
  }
}

}  // namespace web

template <class T, json::ReadOptions options>
  requires data::Known<T>
struct Extract<Json<T, options>> : Extractor {
  static constexpr web::Input input{
      .kind = web::Input::Kind::Body, .is_checked = true, .media = web::kJsonType, .type = &data::kType<T>};
  static constexpr bool wants_body = true;
  static void bind(web::Binding& binding, web::ParameterSlot&, std::size_t) { web::bind_json(binding, data::kType<T>); }
  static void admit(Fetch& fetch) { web::admit_json(fetch); }
  static Json<T, options> from(Fetch& fetch) {
    Json<T, options> json;
    web::fetch_json(fetch, json::kGet<T>, &json.value, options);
    return json;
  }
};

template <class R>
  requires web::JsonResult<R>
struct Respond<R> {
  static constexpr auto replies = web::json_replies<R>();
  static Body body(Exchange& exchange, const R& value) {
    const auto json = [&] { return web::json_body(exchange, &json::put<R>, &value); };
    if constexpr (web::HasRepresentations<R>) {
      return web::represent(exchange, value, json);
    } else {
      return json();
    }
  }
};
template <class T, json::ReadOptions options>
  requires data::Known<T>
struct Respond<Json<T, options>> {
  static constexpr auto replies = web::replies({.status = 200, .media = web::kJsonType, .type = &data::kType<T>});
  static Body body(Exchange& exchange, const Json<T, options>& json) {
    return web::json_body(exchange, &json::put<T>, &json.value);
  }
};

}  // namespace violet
