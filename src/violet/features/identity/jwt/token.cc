#include "violet/features/identity/jwt/token.h"

#include "violet/base/ascii.h"
#include "violet/features/identity/secret.h"

#include <optional>
#include <variant>
#include <vector>

namespace violet {
namespace identity {

// A member that may hold anything, null as well: all that counts is whether it is there.
struct Presence {
  bool is_there = false;
};

}  // namespace identity

template <>
struct data::TypeOf<identity::Presence> {
  static bool read(std::string_view, void* out) { return static_cast<identity::Presence*>(out)->is_there = true; }
  static constexpr json::Dynamic table{&read, nullptr};
  static consteval Type make() {
    Type type(Kind::Dynamic);
    type.dynamic = &table;
    return type;
  }
};

namespace identity {

// Not in an unnamed namespace: the names of members are read off these types.
struct JoseHeader {
  std::string_view alg;
  std::optional<std::string_view> kid;
  std::optional<std::string_view> typ;
  Presence crit;
};
struct RegisteredClaims {
  std::optional<std::string_view> iss;
  std::optional<std::string_view> sub;
  std::optional<std::variant<std::string_view, std::vector<std::string_view>>> aud;
  std::optional<double> exp;
  std::optional<double> nbf;
  std::optional<double> iat;
  std::optional<std::string_view> jti;
  std::optional<std::string_view> scope;
};

namespace {

// What a token says of itself is small and flat.
constexpr json::ReadOptions kHeaderOptions{.depth_max = 8};
constexpr json::ReadOptions kClaimOptions{.depth_max = 32};
// Seconds that a double holds exactly.
constexpr double kSecondsMax = 9007199254740992.0;

struct Parts {
  std::string_view signed_text;  // header "." payload
  std::string_view header;
  std::string_view payload;
  std::string_view signature;
};

// Exactly two dots (RFC 7515 §7.1).
bool split(std::string_view token, Parts& out) noexcept {
  const std::size_t first = token.find('.');
  const std::size_t second = first == std::string_view::npos ? first : token.find('.', first + 1);
  if (second == std::string_view::npos || token.find('.', second + 1) != std::string_view::npos) return false;
  out.signed_text = token.substr(0, second);
  out.header = token.substr(0, first);
  out.payload = token.substr(first + 1, second - first - 1);
  out.signature = token.substr(second + 1);
  return true;
}

bool is_type(std::string_view given, std::string_view wanted) noexcept {
  // "application/" may be left out (RFC 7515 §4.1.9).
  constexpr std::string_view kPrefix = "application/";
  if (given.size() > kPrefix.size() && ascii::equal_folded(given.substr(0, kPrefix.size()), kPrefix)) {
    given.remove_prefix(kPrefix.size());
  }
  return ascii::equal_folded(given, wanted);
}

bool has_audience(const RegisteredClaims& claims, std::string_view wanted) {
  if (!claims.aud) return false;
  if (const auto* one = std::get_if<std::string_view>(&*claims.aud)) return *one == wanted;
  for (const std::string_view each : std::get<std::vector<std::string_view>>(*claims.aud)) {
    if (each == wanted) return true;
  }
  return false;
}

bool is_time(const std::optional<double>& seconds) noexcept {
  return !seconds || (*seconds > -kSecondsMax && *seconds < kSecondsMax);
}

std::optional<JwtFault> check_claims(const RegisteredClaims& claims, const JwtOptions& options, std::int64_t now) {
  if (!is_time(claims.exp) || !is_time(claims.nbf)) return JwtFault::Claims;
  if (!claims.exp && options.needs_expiry) return JwtFault::Claims;
  const auto leeway = static_cast<double>(options.leeway_seconds);
  const auto at = static_cast<double>(now);
  if (claims.exp && at >= *claims.exp + leeway) return JwtFault::Expired;
  if (claims.nbf && at + leeway < *claims.nbf) return JwtFault::Early;
  if (!options.issuer.empty() && claims.iss != options.issuer) return JwtFault::Issuer;
  const bool fits = options.audience.empty() ? !claims.aud : has_audience(claims, options.audience);
  return fits ? std::nullopt : std::optional(JwtFault::Audience);
}

// The key whose signature it is, or why there is none.
std::optional<JwtFault> check_signature(const JwtKeys& keys, const JoseHeader& header, const Parts& parts) {
  std::string signature;
  if (!from_base64url(parts.signature, signature)) return JwtFault::Malformed;
  std::optional<JwtFault> fault = JwtFault::Key;
  for (const JwtKey& key : keys.list()) {
    if (header.kid && !key.id().empty() && *header.kid != key.id()) continue;
    if (header.alg != name(key.algorithm())) {
      if (fault == JwtFault::Key) fault = JwtFault::Algorithm;
      continue;
    }
    if (key.verify(parts.signed_text, signature)) return std::nullopt;
    fault = JwtFault::Signature;
  }
  return fault;
}

}  // namespace
}  // namespace identity

std::string_view message(JwtFault fault) noexcept {
  switch (fault) {
    case JwtFault::TooLarge: return "the token is too large";
    case JwtFault::Malformed: return "the token is malformed";
    case JwtFault::Algorithm: return "the algorithm of the token is not that of its key";
    case JwtFault::Key: return "the key of the token is not known";
    case JwtFault::Signature: return "the signature of the token is wrong";
    case JwtFault::Claims: return "a claim of the token is missing or malformed";
    case JwtFault::Expired: return "the token has expired";
    case JwtFault::Early: return "the token is not valid yet";
    case JwtFault::Issuer: return "the token is of another issuer";
    case JwtFault::Audience: return "the token is for another audience";
  }
  return "the token is wrong";
}

bool JwtClaims::has_scope(std::string_view scope) const noexcept {
  std::string_view rest = scope_;
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find(' '));
    rest.remove_prefix(one.size() < rest.size() ? one.size() + 1 : one.size());
    if (!one.empty() && one == scope) return true;
  }
  return false;
}

std::expected<JwtClaims, JwtFault> JwtVerifier::verify(std::string_view token, std::int64_t now, Arena& arena) const {
  if (token.size() > options_.bytes_max) return std::unexpected(JwtFault::TooLarge);
  identity::Parts parts;
  std::string header_json;
  std::string payload;
  if (!identity::split(token, parts) || !identity::from_base64url(parts.header, header_json)) {
    return std::unexpected(JwtFault::Malformed);
  }
  const auto header = json::read<identity::JoseHeader>(header_json, arena, identity::kHeaderOptions);
  // No extension is understood here (RFC 7515 §4.1.11).
  if (!header || header->crit.is_there) return std::unexpected(JwtFault::Malformed);
  if (const auto fault = identity::check_signature(keys_, *header, parts)) return std::unexpected(*fault);
  const auto& type = header->typ;
  if (!options_.type.empty() && (!type || !identity::is_type(*type, options_.type))) {
    return std::unexpected(JwtFault::Claims);
  }
  if (!identity::from_base64url(parts.payload, payload)) return std::unexpected(JwtFault::Malformed);
  JwtClaims claims;
  claims.json_ = arena.copy(payload);
  const auto known = json::read<identity::RegisteredClaims>(claims.json_, arena, identity::kClaimOptions);
  if (!known) return std::unexpected(JwtFault::Claims);
  if (const auto fault = identity::check_claims(*known, options_, now)) return std::unexpected(*fault);
  claims.subject_ = known->sub.value_or("");
  claims.issuer_ = known->iss.value_or("");
  claims.id_ = known->jti.value_or("");
  claims.scope_ = known->scope.value_or("");
  claims.expires_ = static_cast<std::int64_t>(known->exp.value_or(0));
  return claims;
}

std::string sign_jwt_json(const JwtKey& key, std::string_view claims, std::string_view type) {
  json::StringWriter writer;
  writer.raw("{\"alg\":").text(name(key.algorithm())).raw(",\"typ\":").text(type);
  if (!key.id().empty()) writer.raw(",\"kid\":").text(key.id());
  writer.raw("}");
  std::string token = identity::base64url(std::move(writer).text()) + "." + identity::base64url(claims);
  const std::string signature = key.sign(token);
  return signature.empty() ? std::string() : token + "." + identity::base64url(signature);
}

}  // namespace violet
