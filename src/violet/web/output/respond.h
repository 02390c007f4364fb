#pragma once

// Respond<R>: how a value that a handler returns becomes an answer. Specialise it for reply types of your own:
//
//   template <>
//   struct violet::Respond<Picture> {
//     static violet::Body body(violet::Exchange& exchange, Picture&& picture) {
//       violet::web::set_content_type(exchange, "image/png");
//       return violet::Slice::of(std::move(picture.bytes));
//     }
//   };
//
// body() may set fields of exchange.response() and returns what to send, which may borrow from the value. A reply type
// that decides more than its body has `static void send(Exchange&, R&&)` instead, which answers by itself.

#include "violet/core/exchange.h"
#include "violet/data/type_of.h"
#include "violet/web/output/reply.h"
#include "violet/web/output/status.h"
#include "violet/web/route/shape.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace violet {

template <class R>
struct Respond;

template <class R>
concept Replyable = requires { sizeof(Respond<R>); };

namespace web {

// A type of the user's with `Reply to_reply(const R&)` beside it; see web/content/replies.h.
template <class R>
concept HasToReply = std::is_class_v<R> && requires(R&& value) {
  { to_reply(std::move(value)) } -> std::same_as<Reply>;
};

inline constexpr std::string_view kPlainText = "text/plain; charset=utf-8";
inline constexpr std::string_view kOctets = "application/octet-stream";

// How a handler that returns R may answer; see web/route/shape.h.
template <class R>
consteval auto replies_of() {
  if constexpr (std::is_void_v<R>) {
    return replies({.status = 204});
  } else if constexpr (requires { Respond<R>::replies; }) {
    return Respond<R>::replies;
  } else {
    return replies({});
  }
}

// Unless there is one already. `type` is not copied.
inline void set_content_type(Exchange& exchange, std::string_view type) {
  http::Fields& fields = exchange.response().fields;
  if (!fields.has(http::FieldId::ContentType)) fields.push(http::FieldId::ContentType, type);
}

// Borrows `text`.
inline Body text_body(Exchange& exchange, std::string_view text) {
  set_content_type(exchange, kPlainText);
  return Slice::borrowed(text);
}
// Borrows a short text and takes a long one over.
Body string_body(Exchange& exchange, std::string&& text);
Body signed_body(Exchange& exchange, std::int64_t value);
Body unsigned_body(Exchange& exchange, std::uint64_t value);
Body floating_body(Exchange& exchange, double value);
Body octets_body(Exchange& exchange, const std::byte* bytes, std::size_t size);
Body source_body(Exchange& exchange, SourcePtr source);
void send_status(Exchange& exchange, Status status);
void send_reply(Exchange& exchange, Reply& reply);

template <class R>
void respond(Exchange& exchange, R&& value) {
  using Type = Respond<std::remove_cvref_t<R>>;
  if constexpr (requires { Type::send(exchange, std::forward<R>(value)); }) {
    Type::send(exchange, std::forward<R>(value));
  } else {
    exchange.reply(Type::body(exchange, std::forward<R>(value)));
  }
}

}  // namespace web

// Head and body together: Answer<User>{.status = Status::Created, .fields = {{"Location", "/users/7"}}, .body = user}.
template <class R>
struct Answer {
  struct Line {
    std::string name;
    std::string value;
  };
  Status status = Status::Ok;
  std::vector<Line> fields = {};
  R body = {};
};

// --- texts and bytes

template <class R>
  requires std::is_same_v<R, const char*> || std::is_same_v<R, char*> || std::is_same_v<R, std::string_view>
struct Respond<R> {
  static constexpr auto replies =
      web::replies({.status = 200, .media = web::kPlainText, .type = &data::kType<std::string>});
  static Body body(Exchange& exchange, std::string_view text) { return web::text_body(exchange, text); }
};
template <>
struct Respond<std::string> {
  static constexpr auto replies =
      web::replies({.status = 200, .media = web::kPlainText, .type = &data::kType<std::string>});
  static Body body(Exchange& exchange, std::string&& text) { return web::string_body(exchange, std::move(text)); }
};
template <>
struct Respond<std::vector<std::byte>> {
  static constexpr auto replies = web::replies({.status = 200, .media = web::kOctets});
  static Body body(Exchange& exchange, const std::vector<std::byte>& bytes) {
    return web::octets_body(exchange, bytes.data(), bytes.size());
  }
};
template <>
struct Respond<std::span<const std::byte>> {
  static constexpr auto replies = web::replies({.status = 200, .media = web::kOctets});
  static Body body(Exchange& exchange, std::span<const std::byte> bytes) {
    return web::octets_body(exchange, bytes.data(), bytes.size());
  }
};
// A number is its decimal text, never a status.
template <class R>
  requires(std::is_arithmetic_v<R> && !std::is_same_v<R, char>)
struct Respond<R> {
  static constexpr auto replies = web::replies({.status = 200, .media = web::kPlainText, .type = &data::kType<R>});
  static Body body(Exchange& exchange, R value) {
    if constexpr (std::is_same_v<R, bool>) {
      return web::text_body(exchange, value ? "true" : "false");
    } else if constexpr (std::is_floating_point_v<R>) {
      return web::floating_body(exchange, static_cast<double>(value));
    } else if constexpr (std::is_signed_v<R>) {
      return web::signed_body(exchange, value);
    } else {
      return web::unsigned_body(exchange, value);
    }
  }
};

// What a handler took may be returned as it is: Text, Path<int>, …
template <class R>
  requires requires { typename R::Wrapped; } && Replyable<typename R::Wrapped>
struct Respond<R> {
  static constexpr auto replies = web::replies_of<typename R::Wrapped>();
  static void send(Exchange& exchange, R&& wrapped) { web::respond(exchange, typename R::Wrapped(*wrapped)); }
};

// --- bodies

template <>
struct Respond<Slice> {
  static constexpr auto replies = web::replies({.status = 200, .media = web::kOctets});
  static Body body(Exchange& exchange, Slice&& slice) {
    web::set_content_type(exchange, web::kOctets);
    return std::move(slice);
  }
};
template <>
struct Respond<Body> {
  static constexpr auto replies = web::replies({.status = 200, .media = web::kOctets});
  static Body body(Exchange& exchange, Body&& body) {
    web::set_content_type(exchange, web::kOctets);
    return std::move(body);
  }
};
template <class S, class D>
  requires std::is_base_of_v<Source, S>
struct Respond<std::unique_ptr<S, D>> {
  static constexpr auto replies = web::replies({.status = 200, .media = web::kOctets});
  static Body body(Exchange& exchange, std::unique_ptr<S, D>&& source) {
    return web::source_body(exchange, SourcePtr(source.release()));
  }
};

// --- more than a body

// 400 and above: the error page; below: an empty body.
template <>
struct Respond<Status> {
  static void send(Exchange& exchange, Status status) { web::send_status(exchange, status); }
};
template <>
struct Respond<Reply> {
  static void send(Exchange& exchange, Reply&& reply) { web::send_reply(exchange, reply); }
};
// Nothing: 404.
template <class R>
  requires Replyable<R>
struct Respond<std::optional<R>> {
  static constexpr auto replies = web::joined(web::replies_of<R>(), web::replies({.status = 404, .is_problem = true}));
  static void send(Exchange& exchange, std::optional<R>&& value) {
    if (value) {
      web::respond(exchange, std::move(*value));
    } else {
      exchange.refuse(Error(ErrorKind::NotFound));
    }
  }
};
// An error that is violet's is an error page, another one is answered as what it is.
template <class R, class E>
  requires(std::is_void_v<R> || Replyable<R>) && (std::is_same_v<E, Error> || Replyable<E>)
struct Respond<std::expected<R, E>> {
  static consteval auto errors() {
    if constexpr (std::is_same_v<E, Error>) {
      return web::replies({.is_problem = true});
    } else {
      return web::replies_of<E>();
    }
  }
  static constexpr auto replies = web::joined(web::replies_of<R>(), errors());
  static void send(Exchange& exchange, std::expected<R, E>&& result) {
    if (result) {
      if constexpr (std::is_void_v<R>) {
        web::send_status(exchange, Status::NoContent);
      } else {
        web::respond(exchange, std::move(*result));
      }
    } else if constexpr (std::is_same_v<E, Error>) {
      exchange.refuse(result.error());
    } else {
      web::respond(exchange, std::move(result.error()));
    }
  }
};
template <class R>
  requires requires(Exchange& exchange, R value) { Respond<R>::body(exchange, std::move(value)); }
struct Respond<Answer<R>> {
  static constexpr auto replies = web::with_status(web::replies_of<R>(), 0, false);
  static void send(Exchange& exchange, Answer<R>&& answer) {
    Reply head(answer.status);
    for (const auto& line : answer.fields) head.field(line.name, line.value);
    if (!head.defect().empty()) {
      web::send_reply(exchange, head);
      return;
    }
    static_cast<void>(head.write(exchange));
    exchange.reply(Respond<R>::body(exchange, std::move(answer.body)));
  }
};

}  // namespace violet
