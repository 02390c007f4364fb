#pragma once

// JwtAlgorithm: the signatures of JSON Web Algorithms (RFC 7518 §3.1, RFC 8037). "none" is not among them.

#include <cstdint>
#include <optional>
#include <string_view>

namespace violet {

enum class JwtAlgorithm : std::uint8_t {
  HS256,
  HS384,
  HS512,  // HMAC
  RS256,
  RS384,
  RS512,  // RSASSA-PKCS1-v1_5
  PS256,
  PS384,
  PS512,  // RSASSA-PSS
  ES256,
  ES384,
  ES512,  // ECDSA on P-256, P-384, P-521
  EdDSA,  // Ed25519 or Ed448
};

// "HS256"; case-sensitive.
[[nodiscard]] std::string_view name(JwtAlgorithm algorithm) noexcept;
[[nodiscard]] std::optional<JwtAlgorithm> find_jwt_algorithm(std::string_view name) noexcept;

}  // namespace violet
