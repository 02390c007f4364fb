#include "violet/features/identity/jwt/algorithm.h"

#include <cstddef>

namespace violet {
namespace {

constexpr std::string_view kNames[] = {"HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "PS256",
                                       "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"};

}  // namespace

std::string_view name(JwtAlgorithm algorithm) noexcept { return kNames[static_cast<std::size_t>(algorithm)]; }

std::optional<JwtAlgorithm> find_jwt_algorithm(std::string_view name) noexcept {
  std::uint8_t at = 0;
  for (const std::string_view known : kNames) {
    if (known == name) return static_cast<JwtAlgorithm>(at);
    ++at;
  }
  return std::nullopt;
}

}  // namespace violet
