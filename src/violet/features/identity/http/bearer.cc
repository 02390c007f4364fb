#include "violet/features/identity/http/bearer.h"

#include "violet/features/identity/http/credentials.h"

namespace violet {
namespace identity {
namespace {

std::string challenge_of(std::string_view realm, std::string_view error, std::string_view description) {
  std::string text = "Bearer realm=" + quoted(realm);
  if (!error.empty()) text.append(", error=").append(quoted(error));
  if (!description.empty()) text.append(", error_description=").append(quoted(description));
  return text;
}

Verdict refuse_token(Exchange& exchange, std::string_view realm, std::string_view why) {
  challenge(exchange, challenge_of(realm, "invalid_token", why), why);
  return Verdict::Answered;
}

}  // namespace

std::string bearer_challenge(std::string_view realm) { return challenge_of(realm, {}, {}); }

bool read_bearer(Exchange& exchange, std::string_view realm, std::string_view& token) {
  switch (find_credentials(exchange.request().fields, "Bearer", token)) {
    case Found::Good: return true;
    case Found::None: challenge(exchange, bearer_challenge(realm)); return false;
    case Found::Malformed:
      constexpr std::string_view kWhy = "the Authorization field is malformed";
      challenge(exchange, challenge_of(realm, "invalid_request", kWhy), kWhy, 400);
  }
  return false;
}

Verdict end_bearer(Exchange& exchange, std::string_view realm, const std::optional<std::string>& subject) {
  if (exchange.is_answered()) return Verdict::Answered;
  if (!subject) return refuse_token(exchange, realm, "the token is not known");
  set_identity(exchange, *subject, "bearer");
  return Verdict::Continue;
}

Verdict verify_bearer(Exchange& exchange, std::string_view realm, const JwtVerifier& verifier) {
  std::string_view token;
  if (!read_bearer(exchange, realm, token)) return Verdict::Answered;
  Arena& arena = exchange.arena();
  const auto claims = verifier.verify(token, exchange.loop().wall_seconds(), arena);
  if (!claims) return refuse_token(exchange, realm, message(claims.error()));
  set_identity(exchange, claims->subject(), "bearer", arena.make<JwtClaims>(*claims));
  return Verdict::Continue;
}

}  // namespace identity

Verdict RequireScope::on_request(Exchange& exchange) const {
  const auto* who = identity::find(exchange);
  if (who == nullptr) {
    challenge(exchange, "Bearer");
    return Verdict::Answered;
  }
  if (who->claims != nullptr && who->claims->has_scope(scope_)) return Verdict::Continue;
  challenge(exchange, "Bearer error=\"insufficient_scope\", scope=" + identity::quoted(scope_),
            "the token lacks the scope " + scope_, 403);
  return Verdict::Answered;
}

}  // namespace violet
