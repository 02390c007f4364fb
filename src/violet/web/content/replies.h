#pragma once

// Replies that say more than a body: Created, NoContent, Redirect, and to_reply() for types of the user's own.
//
//   return Created{"/users/7", user};          // 201, Location, the user as JSON
//   return NoContent();                        // 204
//   return Redirect("/login");                 // 303: the next request is a GET
//   Reply to_reply(const Picture& picture);    // found beside the type: handlers may return Picture
//
// Any other status with any of these bodies is an Answer<R>.

#include "violet/web/output/respond.h"

#include <string>
#include <string_view>
#include <utility>

namespace violet {

template <class R>
struct Created {
  std::string location;
  R body;
};
template <class R>
Created(const char*, R) -> Created<R>;
template <class R>
Created(std::string, R) -> Created<R>;

class NoContent {
 public:
  NoContent() noexcept {}
};

class Redirect {
 public:
  // 301, 302, 303, 307 or 308; `to` goes out as it is, so what a client sent belongs in it only after a check.
  explicit Redirect(std::string to, Status status = Status::SeeOther) noexcept : to_(std::move(to)), status_(status) {}
  [[nodiscard]] const std::string& to() const noexcept { return to_; }
  [[nodiscard]] Status status() const noexcept { return status_; }

 private:
  std::string to_;
  Status status_;
};

template <class R>
  requires requires(Exchange& exchange, R value) { Respond<R>::body(exchange, std::move(value)); }
struct Respond<Created<R>> {
  static constexpr auto replies = web::with_status(web::replies_of<R>(), 201, true);
  static void send(Exchange& exchange, Created<R>&& created) {
    Reply head(Status::Created);
    head.field("Location", created.location);
    if (!head.defect().empty()) {
      web::send_reply(exchange, head);
      return;
    }
    static_cast<void>(head.write(exchange));
    exchange.reply(Respond<R>::body(exchange, std::move(created.body)));
  }
};
template <>
struct Respond<NoContent> {
  static constexpr auto replies = web::replies({.status = 204});
  static void send(Exchange& exchange, NoContent) { web::send_status(exchange, Status::NoContent); }
};
template <>
struct Respond<Redirect> {
  static constexpr auto replies = web::replies({.status = web::ReplyShape::kSomeRedirect, .has_location = true});
  static void send(Exchange& exchange, Redirect&& redirect) {
    Reply reply = Reply::redirect(redirect.to(), redirect.status());
    web::send_reply(exchange, reply);
  }
};
template <class R>
  requires web::HasToReply<R>
struct Respond<R> {
  static void send(Exchange& exchange, R&& value) {
    Reply reply = to_reply(std::forward<R>(value));
    web::send_reply(exchange, reply);
  }
};

}  // namespace violet
