#pragma once

// JwtKey: a key together with the one algorithm that it is used with, so that no token chooses how it is checked.
//
//   JwtKey::hmac(JwtAlgorithm::HS256, secret)                     // a secret of at least the hash's size
//   JwtKey::pem(JwtAlgorithm::RS256, text)                        // a public key or a certificate; a private key
//   signs, too JwtKey::jwk(text)                                             // RFC 7517: RSA, EC, OKP, oct
//   JwtKeys::load("jwks.json")                                    // a file with {"keys":[…]}
//
// A JWK that names no "alg" gets the one that its type leaves (EC, OKP); RSA and oct have to name it. RSA keys have
// 2,048 to 16,384 bits. Copies share one key. Any thread.

#include "violet/features/identity/jwt/algorithm.h"

#include <cstddef>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace violet {

namespace identity {
struct Jwk;
}

class JwtKey {
 public:
  struct Material;

  // What is wrong is said as a sentence.
  using Made = std::expected<JwtKey, std::string>;
  static Made hmac(JwtAlgorithm algorithm, std::string_view secret, std::string id = {});
  static Made pem(JwtAlgorithm algorithm, std::string_view text, std::string id = {});
  static Made jwk(std::string_view json);

  [[nodiscard]] JwtAlgorithm algorithm() const noexcept { return algorithm_; }
  // "kid"; "" for none.
  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  [[nodiscard]] bool can_sign() const noexcept;

  [[nodiscard]] bool verify(std::string_view text, std::string_view signature) const;
  // "" when it cannot.
  [[nodiscard]] std::string sign(std::string_view text) const;

 private:
  friend class JwtKeys;
  JwtKey(JwtAlgorithm algorithm, std::string id, std::shared_ptr<const Material> material) noexcept;
  static Made from(const identity::Jwk& jwk, JwtAlgorithm algorithm);

  JwtAlgorithm algorithm_;
  std::string id_;
  std::shared_ptr<const Material> material_;
};

class JwtKeys {
 public:
  JwtKeys() noexcept = default;
  JwtKeys(JwtKey key) { keys_.push_back(std::move(key)); }  // NOLINT(google-explicit-constructor)

  // {"keys":[…]} (RFC 7517 §5). Keys for encryption, of types that are not known, or without an algorithm are passed
  // over, as they have to be; a set without any that can be used is an error, and so is one with a key that is
  // malformed.
  static std::expected<JwtKeys, std::string> parse(std::string_view json);
  // A file of that, of at most 1 MiB.
  static std::expected<JwtKeys, std::string> load(const std::string& path);

  void add(JwtKey key) { keys_.push_back(std::move(key)); }
  [[nodiscard]] const std::vector<JwtKey>& list() const noexcept { return keys_; }

 private:
  std::vector<JwtKey> keys_;
};

}  // namespace violet
