#pragma once

// bearer_auth: tokens in the Authorization field (RFC 6750), either JWTs or texts that only the program knows.
//
//   auto keys = JwtKeys::load("jwks.json");
//   app.use(bearer_auth("api", JwtVerifier(*keys, {.issuer = "https://id.example", .audience = "api"})));
//   app.use(bearer_auth("api", [](std::string_view token) -> std::optional<std::string> {     // the subject
//     return tokens.find(token);
//   }));                                                                                      // or a Task of it
//   admin.use(require_scope("users:write"));
//
// Without a token the answer is 401 with a challenge alone, with a wrong one also error="invalid_token"; what is
// malformed is a 400, a scope that is missing a 403 (RFC 6750 §3). A token is never looked for in bodies or queries.

#include "violet/event/task.h"
#include "violet/features/identity/identity.h"
#include "violet/features/identity/jwt/token.h"
#include "violet/web/middleware.h"

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace violet {

namespace identity {

[[nodiscard]] std::string bearer_challenge(std::string_view realm);
// False: it has answered.
bool read_bearer(Exchange& exchange, std::string_view realm, std::string_view& token);
Verdict end_bearer(Exchange& exchange, std::string_view realm, const std::optional<std::string>& subject);
Verdict verify_bearer(Exchange& exchange, std::string_view realm, const JwtVerifier& verifier);

}  // namespace identity

template <class Check>
class BearerAuth {
 public:
  static constexpr std::string_view security = "bearer";

  BearerAuth(std::string realm, Check check) : realm_(std::move(realm)), check_(std::move(check)) {}

  [[nodiscard]] std::string challenge() const { return identity::bearer_challenge(realm_); }

  auto on_request(Exchange& exchange) const {
    if constexpr (std::is_same_v<Check, JwtVerifier>) {
      return identity::verify_bearer(exchange, realm_, check_);
    } else if constexpr (std::is_same_v<std::invoke_result_t<const Check&, std::string_view>,
                                        std::optional<std::string>>) {
      std::string_view token;
      if (!identity::read_bearer(exchange, realm_, token)) return Verdict::Answered;
      return identity::end_bearer(exchange, realm_, check_(token));
    } else {
      return wait(exchange);
    }
  }

 private:
  Task<Verdict> wait(Exchange& exchange) const {
    std::string_view token;
    if (!identity::read_bearer(exchange, realm_, token)) co_return Verdict::Answered;
    const std::optional<std::string> subject = co_await check_(token);
    co_return identity::end_bearer(exchange, realm_, subject);
  }

  std::string realm_;
  Check check_;
};

template <class Check>
BearerAuth<Check> bearer_auth(std::string realm, Check check) {
  return BearerAuth<Check>(std::move(realm), std::move(check));
}

// Behind bearer_auth with JWTs: the claim "scope" has to hold this one.
class RequireScope {
 public:
  static constexpr auto replies = web::replies({.status = 403, .is_problem = true});

  explicit RequireScope(std::string scope) noexcept : scope_(std::move(scope)) {}
  Verdict on_request(Exchange& exchange) const;

 private:
  std::string scope_;
};
inline RequireScope require_scope(std::string scope) { return RequireScope(std::move(scope)); }

}  // namespace violet
