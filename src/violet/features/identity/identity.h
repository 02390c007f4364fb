#pragma once

// Identity: who sends a request, as middleware has found out: basic_auth, bearer_auth, sessions, or one of your own by
// set_identity().
//
//   app.use(basic_auth("staff", check));
//   app.get("/me", [](Identity who) { return std::string(who.subject()); });      // 401 where nobody has said who
//   app.get("/", [](MaybeIdentity who) { return who ? "hello" : "log in"; });
//
// That 401 has the challenges of all middleware before the handler, as a 401 must (RFC 9110 §11.6.1); middleware of
// your own that lets strangers pass says its one by a member `std::string challenge() const`. Where none says how one
// could be known, credentials would be of no use and the answer is 403.
//
// Valid as long as the request, and follows what changes during it: a login, a logout. A pointer wide.

#include "violet/web/input/extract.h"

#include <string_view>

namespace violet {

class JwtClaims;

namespace identity {

// In the exchange's arena.
struct Note {
  std::string_view subject;
  std::string_view scheme;
  const JwtClaims* claims = nullptr;
  bool is_known = false;
};
// nullptr: nobody has said who it is.
[[nodiscard]] inline const Note* find(const Exchange& exchange) noexcept {
  const auto* note = exchange.note<Note>();
  return note != nullptr && note->is_known ? note : nullptr;
}

}  // namespace identity

class Identity {
 public:
  explicit Identity(const identity::Note& note) noexcept : note_(&note) {}

  // The user, as the scheme calls him.
  [[nodiscard]] std::string_view subject() const noexcept { return note_->subject; }
  // "basic", "bearer", "session"
  [[nodiscard]] std::string_view scheme() const noexcept { return note_->scheme; }
  // What a JWT says; nullptr where there was none.
  [[nodiscard]] const JwtClaims* claims() const noexcept { return note_->claims; }

 private:
  const identity::Note* note_;
};

class MaybeIdentity {
 public:
  explicit MaybeIdentity(const identity::Note* note) noexcept : note_(note) {}
  explicit operator bool() const noexcept { return note_ != nullptr && note_->is_known; }
  // REQUIRES: there is one.
  [[nodiscard]] Identity operator*() const noexcept { return Identity(*note_); }

 private:
  const identity::Note* note_;
};

// The texts are copied. The last one counts, whole: what stands nearest to the handler has asked for its own
// credentials, and no cookie of a session that was read before may stand in for them.
void set_identity(Exchange& exchange, std::string_view subject, std::string_view scheme,
                  const JwtClaims* claims = nullptr);
// From now on nobody is known.
void clear_identity(Exchange& exchange) noexcept;
// Answers 401 with the challenge: "Basic realm=\"staff\"".
void challenge(Exchange& exchange, std::string_view challenge, std::string_view detail = "authentication is needed",
               int status = 401);

template <>
struct Extract<Identity> : Extractor {
  static constexpr web::Input input{.refused_status = 401};
  static void bind(web::Binding& binding, web::ParameterSlot& slot, std::size_t at);
  static Identity from(Fetch& fetch, const web::ParameterSlot& slot, std::size_t at);
};
template <>
struct Extract<MaybeIdentity> : Extractor {
  static MaybeIdentity from(Fetch& fetch) noexcept { return MaybeIdentity(identity::find(fetch.exchange())); }
};

}  // namespace violet
