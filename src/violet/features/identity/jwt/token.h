#pragma once

// JSON Web Tokens (RFC 7519, signed as RFC 7515 compact): checked and made.
//
//   JwtVerifier verifier(*JwtKeys::load("jwks.json"), {.issuer = "https://id.example", .audience = "api"});
//   auto claims = verifier.verify(token, now, arena);
//   if (!claims) … message(claims.error()) …
//   claims->subject();  claims->read<MyClaims>(arena)
//
//   std::string token = sign_jwt(key, MyClaims{.sub = "ada", .exp = now + 600});
//
// A token is believed only after its signature: with the key that its "kid" names, or each without a name, and always
// by that key's own algorithm; what the token says of it has to be the same. "none" is no algorithm; "crit" is refused,
// for no extension is known (RFC 7515 §4.1.11). "exp" has to come unless the options say otherwise. An "aud" that this
// verifier does not go by is refused (RFC 7519 §4.1.3). Any thread.

#include "violet/features/identity/jwt/key.h"
#include "violet/json/reader.h"
#include "violet/json/writer.h"
#include "violet/memory/arena.h"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace violet {

enum class JwtFault : std::uint8_t {
  TooLarge,
  Malformed,
  Algorithm,  // none of the key's
  Key,        // no key of that name
  Signature,
  Claims,  // malformed, or one that has to come is missing
  Expired,
  Early,
  Issuer,
  Audience,
};
// "the token has expired"
[[nodiscard]] std::string_view message(JwtFault fault) noexcept;

// Texts in the arena that verify() was given.
class JwtClaims {
 public:
  // "" where there is none.
  [[nodiscard]] std::string_view subject() const noexcept { return subject_; }
  [[nodiscard]] std::string_view issuer() const noexcept { return issuer_; }
  [[nodiscard]] std::string_view id() const noexcept { return id_; }
  // Seconds since 1970, 0 where there is none.
  [[nodiscard]] std::int64_t expires() const noexcept { return expires_; }
  // One of the scopes in "scope", between blanks (RFC 8693 §4.2).
  [[nodiscard]] bool has_scope(std::string_view scope) const noexcept;
  // All of them, as JSON.
  [[nodiscard]] std::string_view json() const noexcept { return json_; }
  template <class T>
  [[nodiscard]] std::expected<T, json::ReadError> read(Arena& arena) const {
    return json::read<T>(json_, arena);
  }

 private:
  friend class JwtVerifier;
  std::string_view subject_;
  std::string_view issuer_;
  std::string_view id_;
  std::string_view scope_;
  std::string_view json_;
  std::int64_t expires_ = 0;
};

struct JwtOptions {
  std::string issuer = {};    // "": any
  std::string audience = {};  // "": a token with an audience is refused
  std::string type = {};      // of the header, "at+jwt"; "": any
  bool needs_expiry = true;
  std::int64_t leeway_seconds = 60;  // how far clocks may differ
  std::size_t bytes_max = 8192;      // of a token
};

class JwtVerifier {
 public:
  explicit JwtVerifier(JwtKeys keys, JwtOptions options = {}) noexcept
      : keys_(std::move(keys)), options_(std::move(options)) {}

  // `now` in seconds since 1970.
  [[nodiscard]] std::expected<JwtClaims, JwtFault> verify(std::string_view token, std::int64_t now, Arena& arena) const;

 private:
  JwtKeys keys_;
  JwtOptions options_;
};

// The claims as a token; "" when the key cannot sign. The header has "alg", "typ" and, where the key has one, "kid".
[[nodiscard]] std::string sign_jwt_json(const JwtKey& key, std::string_view claims, std::string_view type = "JWT");
template <class T>
[[nodiscard]] std::string sign_jwt(const JwtKey& key, const T& claims, std::string_view type = "JWT") {
  json::StringWriter writer;
  writer.write(claims);
  return sign_jwt_json(key, std::move(writer).text(), type);
}

}  // namespace violet
