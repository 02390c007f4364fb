#pragma once

// Reply: an answer built by hand.
//
//   return Reply("saved").status(Status::Created).field("Location", "/notes/7");
//   return Reply(Status::NoContent).cookie({.name = "session", .value = id});
//   return Reply::redirect("/login");
//
// Names and values of fields are checked when they are set. One that is malformed (CR, LF, NUL, another control, no
// token) is never sent and never silently left out: the whole reply becomes a 500 and the log names the field.
// Few and short fields are stored inside the Reply, so that most of them allocate nothing.

#include "violet/core/body.h"
#include "violet/http/field_id.h"
#include "violet/web/output/cookie.h"
#include "violet/web/output/status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace violet {

class Exchange;

namespace web {

// Field lines packed into one piece of memory.
class FieldPack {
 public:
  struct Line {
    http::FieldId id;
    bool is_trailer;
    std::string_view name;  // empty for known ids
    std::string_view value;
  };

  FieldPack() noexcept = default;
  FieldPack(FieldPack&& other) noexcept { take(other); }
  FieldPack& operator=(FieldPack&& other) noexcept {
    if (this != &other) take(other);
    return *this;
  }
  ~FieldPack() = default;

  void add(const Line& line);
  [[nodiscard]] bool is_empty() const noexcept { return size_ == 0; }
  // Takes the next line; `at` starts at 0. False at the end.
  bool next(std::uint32_t& at, Line& out) const noexcept;

 private:
  static constexpr std::uint32_t kRoom = 128;
  void take(FieldPack& other) noexcept;
  [[nodiscard]] const char* data() const noexcept { return more_ != nullptr ? more_.get() : room_; }

  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = kRoom;
  std::unique_ptr<char[]> more_;
  char room_[kRoom];
};

}  // namespace web

class Reply {
 public:
  Reply() noexcept = default;
  Reply(Status status) noexcept : status_(status), has_status_(true) {}  // NOLINT(google-explicit-constructor)
  Reply(std::string text) noexcept { set_text(std::move(text)); }        // NOLINT(google-explicit-constructor)
  Reply(std::string_view text) { set_text(std::string(text)); }          // NOLINT(google-explicit-constructor)
  template <std::size_t N>
  Reply(const char (&literal)[N]) noexcept {  // NOLINT(google-explicit-constructor)
    set_literal({literal, N - 1});
  }
  template <std::size_t N>
  Reply(char (&text)[N]) : Reply(std::string_view(text)) {}  // NOLINT(google-explicit-constructor)

  // 301, 302, 303, 307 or 308.
  static Reply redirect(std::string_view to, Status status = Status::Found);

  Reply& status(Status status) & noexcept {
    status_ = status;
    has_status_ = true;
    return *this;
  }
  // Adds a line; several may have one name.
  Reply& field(std::string_view name, std::string_view value) & {
    add_field(name, value, false);
    return *this;
  }
  Reply& content_type(std::string_view type) & { return field("Content-Type", type); }
  Reply& cookie(const Cookie& cookie) &;
  // A field behind the body (RFC 9110 §6.5); only for fields that a trailer section may have.
  Reply& trailer(std::string_view name, std::string_view value) & {
    add_field(name, value, true);
    return *this;
  }
  // Texts are sent as text/plain, everything else as application/octet-stream, unless content_type() says otherwise. A
  // string literal is not copied.
  Reply& body(std::string text) & noexcept {
    set_text(std::move(text));
    return *this;
  }
  Reply& body(std::string_view text) & { return body(std::string(text)); }
  template <std::size_t N>
  Reply& body(const char (&literal)[N]) & noexcept {
    set_literal({literal, N - 1});
    return *this;
  }
  template <std::size_t N>
  Reply& body(char (&text)[N]) & {
    return body(std::string(text));
  }
  Reply& body(Body body) & noexcept;

  Reply&& status(Status to) && noexcept { return std::move(status(to)); }
  Reply&& field(std::string_view name, std::string_view value) && { return std::move(field(name, value)); }
  Reply&& content_type(std::string_view type) && { return std::move(content_type(type)); }
  Reply&& cookie(const Cookie& value) && { return std::move(cookie(value)); }
  Reply&& trailer(std::string_view name, std::string_view value) && { return std::move(trailer(name, value)); }
  template <class T>
  Reply&& body(T&& value) && {
    return std::move(body(std::forward<T>(value)));
  }

  [[nodiscard]] Status status() const noexcept { return status_; }
  // It was said, not left at 200.
  [[nodiscard]] bool has_status() const noexcept { return has_status_; }
  // The first thing that makes this reply impossible to send; "" when there is none.
  [[nodiscard]] const std::string& defect() const noexcept { return defect_; }

  // Writes status and fields into exchange.response() and returns the body, which may borrow from this Reply.
  // REQUIRES: no defect.
  [[nodiscard]] Body write(Exchange& exchange);

 private:
  enum class Content : std::uint8_t { None, Literal, Text, Bytes };

  void set_text(std::string text) noexcept {
    content_ = Content::Text;
    text_ = std::move(text);
  }
  void set_literal(std::string_view text) noexcept {
    content_ = Content::Literal;
    literal_ = text;
  }
  void add_field(std::string_view name, std::string_view value, bool is_trailer);
  void set_defect(std::string_view what, std::string_view name);

  Status status_ = Status::Ok;
  Content content_ = Content::None;
  bool has_status_ = false;
  bool has_content_type_ = false;
  bool has_trailers_ = false;
  std::string_view literal_;
  std::string text_;
  Body body_;
  web::FieldPack fields_;
  std::string defect_;
};

}  // namespace violet
