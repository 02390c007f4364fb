#pragma once

// Shape: what a route takes and how it may answer, as data. One constant table for each handler's type, made from its
// parameters (Extract<P>::input) and its result (Respond<R>::replies), so that whatever documents routes is compiled
// once in the library (features/openapi).
//
// Parameters and results of the user's own tell by the same members; both are optional:
//
//   template <>
//   struct violet::Extract<Session> : violet::Extractor {
//     static constexpr web::Input input{.kind = web::Input::Kind::Cookie, .name = "session"};
//     …
//   template <>
//   struct violet::Respond<Picture> {
//     static constexpr std::array replies{web::ReplyShape{.status = 200, .media = "image/png"}};
//     …

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace violet::data {
struct Type;
}

namespace violet::web {

// What one parameter of a handler takes from the request.
struct Input {
  enum class Kind : std::uint8_t {
    None,         // nothing that a client has to know
    Path,         // the next {name} of the pattern
    PathMembers,  // several of them, by the members of `type`
    Query,        // the members of `type`
    Header,       // `name`
    Cookie,       // `name`
    Body,         // `media`, and `other_media` if there is one
    Security,     // `name` of a security scheme
    Events,       // nothing; the answer is server-sent events
    Exchange,     // nothing; whoever takes it answers as it likes
    Socket,       // nothing; the connection becomes a WebSocket
    Several,      // `inputs`
  };
  Kind kind = Kind::None;
  bool is_required = true;
  // Who does not fit `type` is told by a problem: 422 in a body, 400 elsewhere.
  bool is_checked = false;
  std::string_view name = {};
  std::string_view media = {};
  std::string_view other_media = {};
  const data::Type* type = nullptr;
  // Of a body: its members come beside those of `type`.
  const data::Type* beside = nullptr;
  std::span<const Input> inputs = {};
  // What it refuses by a status of its own; 0: nothing.
  std::uint16_t refused_status = 0;
};

// One way to answer.
struct ReplyShape {
  static constexpr std::uint16_t kSomeRedirect = 3;

  std::uint16_t status = 0;          // 0: it is decided when the handler answers
  std::string_view media = {};       // "": no body, or an unknown one
  const data::Type* type = nullptr;  // of the body
  bool has_location = false;
  bool is_problem = false;  // an error page
};

struct Shape {
  std::span<const Input> inputs;
  std::span<const ReplyShape> replies;
};

// --- tables out of tables

template <class... More>
consteval auto replies(const ReplyShape& first, const More&... more) {
  return std::array<ReplyShape, 1 + sizeof...(More)>{first, more...};
}
template <std::size_t N, std::size_t M>
consteval auto joined(const std::array<ReplyShape, N>& first, const std::array<ReplyShape, M>& second) {
  std::array<ReplyShape, N + M> all{};
  for (std::size_t i = 0; i < N; ++i) all[i] = first[i];
  for (std::size_t i = 0; i < M; ++i) all[N + i] = second[i];
  return all;
}
// The same with another status, where the first one is 200.
template <std::size_t N>
consteval auto with_status(std::array<ReplyShape, N> all, std::uint16_t status, bool has_location) {
  for (ReplyShape& one : all) {
    if (one.status != 200) continue;
    one.status = status;
    one.has_location = has_location;
  }
  return all;
}

}  // namespace violet::web
