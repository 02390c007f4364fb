// JSON Web Tokens and keys.
//
//   byte 0: what the rest is      0 a token, 1 claims to be signed, 2 a JWK, 3 a JWK set, 4 a header and claims
//   byte 1: of claims, where one bit of the token is changed
//
// What must hold: nothing without the key's signature is good; what was signed is good exactly when its claims can be
// read, and never with another bit in it; what is read of a key can be used.

#include "fuzz/expect.h"
#include "fuzz/input.h"
#include "violet/features/identity/jwt/token.h"
#include "violet/features/identity/secret.h"

#include <string>
#include <string_view>

namespace {

using namespace violet;

constexpr std::int64_t kNow = 1000;

const JwtKey& key() {
  static const JwtKey made = *JwtKey::hmac(JwtAlgorithm::HS256, "a secret that no input of this target knows");
  return made;
}

bool is_good(std::string_view token) {
  static const JwtVerifier verifier(key(), {.needs_expiry = false});
  Arena arena;
  const auto claims = verifier.verify(token, kNow, arena);
  if (!claims) return false;
  static_cast<void>(claims->has_scope(claims->subject()));
  return true;
}

void check_signed(std::string_view claims, std::uint8_t at) {
  std::string token = sign_jwt_json(key(), claims);
  const bool was_good = is_good(token);
  const std::size_t place = at % token.size();
  token[place] = static_cast<char>(token[place] ^ 1);
  EXPECT(!is_good(token));
  token[place] = static_cast<char>(token[place] ^ 1);
  EXPECT(is_good(token) == was_good);
}

void check_header(std::string_view header, std::string_view claims) {
  const std::string text = identity::base64url(header) + "." + identity::base64url(claims);
  const std::string signature = identity::base64url(key().sign(text));
  if (is_good(text + "." + signature))
    EXPECT(header.find("HS256") != std::string_view::npos || header.find('\\') != std::string_view::npos);
}

void check_key(const JwtKey& made) {
  const std::string signature = made.sign("text");
  EXPECT(made.verify("text", signature) == !signature.empty());
  EXPECT(!made.verify("other", signature));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::uint8_t what = input.byte() % 5;
  if (what == 0) {
    EXPECT(!is_good(input.text(size)));
  } else if (what == 1) {
    const std::uint8_t at = input.byte();
    check_signed(input.text(size), at);
  } else if (what == 2) {
    const auto made = JwtKey::jwk(input.text(size));
    if (made) check_key(*made);
  } else if (what == 3) {
    static_cast<void>(JwtKeys::parse(input.text(size)));
  } else {
    const std::string_view header = input.sized_text();
    check_header(header, input.text(size));
  }
  return 0;
}
