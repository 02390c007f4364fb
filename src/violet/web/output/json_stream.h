#pragma once

// JsonArray<T>, JsonLines<T>: many values as JSON, written as a coroutine yields them, without all of them being in
// memory at once.
//
//   app.get("/users", [](Db& db) -> JsonArray<User> {          // [{"id":1,…},{"id":2,…}]
//     auto rows = db.users();
//     while (auto user = co_await rows.next()) co_yield *user;
//   });
//   app.get("/log", [](Log& log) -> JsonLines<Line> { … });   // application/x-ndjson: one value a line
//
// What Generator says of waiting, clients that leave and exceptions holds here as well: an array that is cut off has no
// end, so that nobody takes it for whole.

#include "violet/data/type_of.h"
#include "violet/web/handler.h"
#include "violet/web/output/generator.h"

#include <string_view>
#include <utility>

namespace violet {

namespace web {

enum class JsonFraming : std::uint8_t { Array, Lines };

// `before`, the value, `behind`.
Slice json_piece(std::string_view before, const data::Type& type, const void* value, std::string_view behind);

}  // namespace web

template <class T, web::JsonFraming framing>
class JsonStream {
  static_assert(data::Known<T>, "violet: a JsonArray or JsonLines yields what has a form as JSON");
  static constexpr bool kIsArray = framing == web::JsonFraming::Array;

 public:
  struct promise_type : web::GeneratorPromise {
    bool is_first = true;
    JsonStream get_return_object() noexcept { return JsonStream(*this); }
    web::Yield yield_value(const T& value) {
      const std::string_view before = kIsArray && !std::exchange(is_first, false) ? "," : "";
      return {*this, web::json_piece(before, data::kType<T>, &value, kIsArray ? "" : "\n")};
    }
  };
  static_assert(alignof(promise_type) == alignof(TaskPromise<void>));

  [[nodiscard]] Body to_body(Exchange& exchange) && {
    return web::generator_body(exchange, std::move(task_), *promise_, kIsArray ? web::Ends{"[", "]"} : web::Ends{});
  }

 private:
  explicit JsonStream(promise_type& promise) noexcept
      : task_(static_cast<TaskPromise<void>&>(promise).get_return_object()), promise_(&promise) {}

  Task<void> task_;
  web::GeneratorPromise* promise_;
};

template <class T>
using JsonArray = JsonStream<T, web::JsonFraming::Array>;
template <class T>
using JsonLines = JsonStream<T, web::JsonFraming::Lines>;

template <class T, web::JsonFraming framing>
inline constexpr bool web::kIsGenerator<JsonStream<T, framing>> = true;

template <class T, web::JsonFraming framing>
struct Respond<JsonStream<T, framing>> {
  static constexpr std::string_view kMedia =
      framing == web::JsonFraming::Array ? "application/json" : "application/x-ndjson";
  static constexpr auto replies = web::replies({.status = 200, .media = kMedia});
  static Body body(Exchange& exchange, JsonStream<T, framing>&& stream) {
    web::set_content_type(exchange, kMedia);
    return std::move(stream).to_body(exchange);
  }
};

}  // namespace violet
