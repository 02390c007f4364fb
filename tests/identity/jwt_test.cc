// JSON Web Tokens: the vectors of the specifications, and what is refused.

#include "violet/features/identity/jwt/token.h"
#include "violet/features/identity/secret.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <string>
#include <string_view>

namespace violet {
namespace {

// RFC 7515, appendix A.
constexpr std::string_view kPayload =
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
constexpr std::int64_t kNow = 1300819379;
constexpr std::string_view kOct =
    R"({"kty":"oct","alg":"HS256","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"})";
constexpr std::string_view kHs256 = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
constexpr std::string_view kRsa =
    R"({"kty":"RSA","alg":"RS256","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ","e":"AQAB"})";
constexpr std::string_view kRs256 =
    "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_"
    "O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_"
    "nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-"
    "eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";
constexpr std::string_view kEc =
    R"({"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0","d":"jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"})";
constexpr std::string_view kEs256 =
    "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
// RFC 8037, appendix A.
constexpr std::string_view kOkp =
    R"({"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"})";
constexpr std::string_view kEdDsa =
    "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";

struct Claims {
  std::string sub = "ada";
  std::optional<std::string> iss;
  std::optional<std::string> aud;
  std::optional<std::int64_t> exp = 2000;
  std::optional<std::int64_t> nbf;
  std::optional<std::string> scope;
};

JwtKey key_of(std::string_view jwk) {
  auto key = JwtKey::jwk(jwk);
  EXPECT_TRUE(key) << key.error();
  return *key;
}
JwtKey secret(std::string id = {}, char fill = 's') {
  return *JwtKey::hmac(JwtAlgorithm::HS256, std::string(32, fill), std::move(id));
}
std::string token(std::string_view header, std::string_view payload, std::string_view signature) {
  return identity::base64url(header) + "." + std::string(payload) + "." + std::string(signature);
}

class Verified {
 public:
  Verified(const JwtKeys& keys, std::string_view token, std::int64_t now = 1000, JwtOptions options = {})
      : claims(JwtVerifier(keys, std::move(options)).verify(token, now, arena_)) {}
  [[nodiscard]] std::string fault() const { return claims ? "good" : std::string(message(claims.error())); }

 private:
  Arena arena_;

 public:
  std::expected<JwtClaims, JwtFault> claims;
};

std::string generated(const char* type, const char* option, std::size_t bits) {
  EVP_PKEY* key = option != nullptr ? EVP_PKEY_Q_keygen(nullptr, nullptr, type, option)
                  : bits > 0        ? EVP_PKEY_Q_keygen(nullptr, nullptr, type, bits)
                                    : EVP_PKEY_Q_keygen(nullptr, nullptr, type);
  BIO* bio = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string text(data, static_cast<std::size_t>(size));
  BIO_free(bio);
  EVP_PKEY_free(key);
  return text;
}

TEST(JwtVectors, OfRfc7515) {
  const std::string hs =
      std::string("eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.") + std::string(kPayload) + "." + std::string(kHs256);
  const Verified by_secret(key_of(kOct), hs, kNow);
  ASSERT_EQ(by_secret.fault(), "good");
  EXPECT_EQ(by_secret.claims->issuer(), "joe");
  EXPECT_EQ(by_secret.claims->expires(), 1300819380);
  EXPECT_EQ(Verified(key_of(kRsa), token(R"({"alg":"RS256"})", kPayload, kRs256), kNow).fault(), "good");
  EXPECT_EQ(Verified(key_of(kEc), token(R"({"alg":"ES256"})", kPayload, kEs256), kNow).fault(), "good");
}

TEST(JwtVectors, OfRfc7515Es512) {
  const JwtKey key = key_of(
      R"({"kty":"EC","crv":"P-521","x":"AekpBQ8ST8a8VcfVOTNl353vSrDCLLJXmPk06wTjxrrjcBpXp5EOnYG_NjFZ6OvLFV1jSfS9tsz4qUxcWceqwQGk","y":"ADSmRA43Z1DSNx_RvcLI87cdL07l6jQyyBXMoxVg_l2Th-x3S1WDhjDly79ajL4Kkd0AZMaZmh9ubmf63e3kyMj2"})");
  std::string signature;
  ASSERT_TRUE(identity::from_base64url(
      "AdwMgeerwtHoh-l192l60hp9wAHZFVJbLfD_UxMi70cwnZOYaRI1bKPWROc-mZZqwqT2SI-KGDKB34XO0aw_"
      "7XdtAG8GaSwFKdCAPZgoXD2YBJZCPEX3xKpRwcdOO8KpEHwJjyqOgzDO7iKvU8vcnwNrmxYbSW9ERBXukOXolLzeO_Jn",
      signature));
  EXPECT_TRUE(key.verify("eyJhbGciOiJFUzUxMiJ9.UGF5bG9hZA", signature));
  EXPECT_FALSE(key.verify("eyJhbGciOiJFUzUxMiJ9.UGF5bG9hZB", signature));
}

TEST(JwtVectors, OfRfc8037) {
  const std::string text = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc";
  const JwtKey key = key_of(kOkp);
  std::string signature;
  ASSERT_TRUE(identity::from_base64url(kEdDsa, signature));
  EXPECT_TRUE(key.verify(text, signature));
  EXPECT_EQ(identity::base64url(key.sign(text)), kEdDsa);  // it is deterministic
}

TEST(JwtVectors, AreRefusedWhenAnyBitIsOther) {
  std::string signature;
  ASSERT_TRUE(identity::from_base64url(kEs256, signature));
  const JwtKey key = key_of(kEc);
  const std::string text = "eyJhbGciOiJFUzI1NiJ9." + std::string(kPayload);
  EXPECT_TRUE(key.verify(text, signature));
  for (std::size_t i = 0; i < signature.size(); ++i) {
    signature[i] = static_cast<char>(signature[i] ^ 1);
    EXPECT_FALSE(key.verify(text, signature)) << i;
    signature[i] = static_cast<char>(signature[i] ^ 1);
  }
  EXPECT_FALSE(key.verify(text, signature.substr(1)));
  EXPECT_FALSE(key.verify(text, std::string(64, '\0')));
  EXPECT_FALSE(key.verify(text, ""));
}

TEST(JwtSigning, RoundTripsEveryAlgorithm) {
  const std::string rsa = generated("RSA", nullptr, 2048);
  std::vector<JwtKey> keys;
  for (const auto algorithm : {JwtAlgorithm::HS256, JwtAlgorithm::HS384, JwtAlgorithm::HS512}) {
    keys.push_back(*JwtKey::hmac(algorithm, std::string(64, 'k'), "h"));
  }
  for (const auto algorithm : {JwtAlgorithm::RS256, JwtAlgorithm::RS384, JwtAlgorithm::RS512, JwtAlgorithm::PS256,
                               JwtAlgorithm::PS384, JwtAlgorithm::PS512}) {
    keys.push_back(*JwtKey::pem(algorithm, rsa));
  }
  keys.push_back(*JwtKey::pem(JwtAlgorithm::ES256, generated("EC", "P-256", 0)));
  keys.push_back(*JwtKey::pem(JwtAlgorithm::ES384, generated("EC", "P-384", 0)));
  keys.push_back(*JwtKey::pem(JwtAlgorithm::ES512, generated("EC", "P-521", 0)));
  keys.push_back(*JwtKey::pem(JwtAlgorithm::EdDSA, generated("ED25519", nullptr, 0)));
  keys.push_back(*JwtKey::pem(JwtAlgorithm::EdDSA, generated("ED448", nullptr, 0)));
  for (const JwtKey& key : keys) {
    const std::string signed_token = sign_jwt(key, Claims{});
    const Verified verified(key, signed_token);
    ASSERT_EQ(verified.fault(), "good") << name(key.algorithm());
    EXPECT_EQ(verified.claims->subject(), "ada");
    // The signature of each other key, and of each other algorithm of the same key, is wrong.
    for (const JwtKey& other : keys) {
      if (&other != &key) EXPECT_NE(Verified(other, signed_token).fault(), "good") << name(other.algorithm());
    }
  }
}

TEST(JwtAlgorithms, AreTheKeysAndNeverTheTokens) {
  const std::string payload = identity::base64url(R"({"exp":2000})");
  EXPECT_EQ(Verified(secret(), token(R"({"alg":"none"})", payload, "")).fault(), message(JwtFault::Algorithm));
  EXPECT_EQ(Verified(secret(), token(R"({"alg":"None"})", payload, "")).fault(), message(JwtFault::Algorithm));
  EXPECT_EQ(Verified(secret(), token(R"({"alg":"HS512"})", payload, "AAAA")).fault(), message(JwtFault::Algorithm));
  // A public key taken for a secret.
  const JwtKey confused = *JwtKey::hmac(JwtAlgorithm::HS256, kRsa);
  EXPECT_EQ(Verified(key_of(kRsa), sign_jwt(confused, Claims{})).fault(), message(JwtFault::Algorithm));
  EXPECT_FALSE(JwtKey::jwk(R"({"kty":"RSA","alg":"HS256","n":"AQ","e":"AQAB"})"));
  EXPECT_FALSE(JwtKey::jwk(R"({"kty":"EC","crv":"P-256","alg":"ES384","x":"AQ","y":"AQ"})"));
}

TEST(JwtKeyNames, ChooseTheKey) {
  JwtKeys keys;
  keys.add(secret("a", 'a'));
  keys.add(secret("b", 'b'));
  EXPECT_EQ(Verified(keys, sign_jwt(secret("b", 'b'), Claims{})).fault(), "good");
  EXPECT_EQ(Verified(keys, sign_jwt(secret("", 'b'), Claims{})).fault(), "good");
  EXPECT_EQ(Verified(keys, sign_jwt(secret("a", 'b'), Claims{})).fault(), message(JwtFault::Signature));
  EXPECT_EQ(Verified(keys, sign_jwt(secret("c", 'b'), Claims{})).fault(), message(JwtFault::Key));
}

TEST(JwtClaimsCheck, HoldsTimesIssuersAndAudiences) {
  const auto fault = [](const Claims& claims, std::int64_t now, JwtOptions options = {}) {
    return Verified(secret(), sign_jwt(secret(), claims), now, std::move(options)).fault();
  };
  Claims claims;
  EXPECT_EQ(fault(claims, 2059), "good");
  EXPECT_EQ(fault(claims, 2060), message(JwtFault::Expired));
  EXPECT_EQ(fault(claims, 2000, {.leeway_seconds = 0}), message(JwtFault::Expired));
  claims.nbf = 1500;
  EXPECT_EQ(fault(claims, 1440), "good");
  EXPECT_EQ(fault(claims, 1439), message(JwtFault::Early));
  claims = {.exp = std::nullopt};
  EXPECT_EQ(fault(claims, 1), message(JwtFault::Claims));
  EXPECT_EQ(fault(claims, 1, {.needs_expiry = false}), "good");
  claims = {.iss = "https://a"};
  EXPECT_EQ(fault(claims, 1, {.issuer = "https://a"}), "good");
  EXPECT_EQ(fault(claims, 1, {.issuer = "https://b"}), message(JwtFault::Issuer));
  EXPECT_EQ(fault({}, 1, {.issuer = "https://b"}), message(JwtFault::Issuer));
  claims = {.aud = "api"};
  EXPECT_EQ(fault(claims, 1, {.audience = "api"}), "good");
  EXPECT_EQ(fault(claims, 1, {.audience = "other"}), message(JwtFault::Audience));
  EXPECT_EQ(fault({}, 1, {.audience = "api"}), message(JwtFault::Audience));
  // One that this verifier does not go by.
  EXPECT_EQ(fault(claims, 1), message(JwtFault::Audience));
}

TEST(JwtClaimsCheck, ReadsListsOfAudiencesScopesAndMore) {
  const std::string text =
      sign_jwt_json(secret(), R"({"sub":"x","aud":["a","api"],"exp":2000.5,"scope":"read write","n":7})", "at+jwt");
  const Verified verified(secret(), text, 1000, {.audience = "api", .type = "at+jwt"});
  ASSERT_EQ(verified.fault(), "good");
  EXPECT_TRUE(verified.claims->has_scope("read"));
  EXPECT_TRUE(verified.claims->has_scope("write"));
  EXPECT_FALSE(verified.claims->has_scope("rea"));
  EXPECT_FALSE(verified.claims->has_scope(""));
  struct Own {
    int n;
  };
  Arena arena;
  EXPECT_EQ(verified.claims->read<Own>(arena)->n, 7);
  EXPECT_EQ(Verified(secret(), text, 1000, {.audience = "api", .type = "JWT"}).fault(), message(JwtFault::Claims));
}

TEST(JwtParsing, RefusesWhatIsMalformed) {
  const JwtKey key = secret();
  const auto sign_raw = [&](std::string_view header, std::string_view payload) {
    const std::string text = identity::base64url(header) + "." + identity::base64url(payload);
    return text + "." + identity::base64url(key.sign(text));
  };
  const auto fault = [&](std::string_view text) { return Verified(key, text).fault(); };
  EXPECT_EQ(fault(sign_raw(R"({"alg":"HS256"})", R"({"exp":2000})")), "good");
  for (const std::string bad : {"", ".", "..", "a.b", "a.b.c.d", "!.e30.AA", "e30.e30.AA"})
    EXPECT_NE(fault(bad), "good") << bad;
  for (const char* header :
       {"", "{", "[]", "7", "{}", R"({"alg":7})", R"({"alg":"HS256","alg":"HS256"})",
        R"({"alg":"HS256","crit":["exp"]})", R"({"alg":"HS256","crit":[]})", R"({"alg":"HS256","crit":null})",
        R"({"crit":null,"alg":"HS256"})", R"({"alg":"HS256","crit":"exp"})", R"({"alg":"HS256","crit":{}})",
        R"({"alg":"HS256"} x)"}) {
    EXPECT_EQ(fault(sign_raw(header, R"({"exp":2000})")), message(JwtFault::Malformed)) << header;
  }
  for (const char* payload : {"", "[]", "{", R"({"exp":"2000"})", R"({"exp":1e300})", R"({"exp":2000,"exp":3000})",
                              R"({"exp":2000,"sub":7})"}) {
    EXPECT_EQ(fault(sign_raw(R"({"alg":"HS256"})", payload)), message(JwtFault::Claims)) << payload;
  }
  const std::string good = sign_raw(R"({"alg":"HS256"})", R"({"exp":2000})");
  EXPECT_EQ(fault(good + "="), message(JwtFault::Malformed));
  EXPECT_EQ(fault(" " + good), message(JwtFault::Malformed));
  EXPECT_EQ(fault(std::string(9000, 'a')), message(JwtFault::TooLarge));
}

TEST(Base64Url, HasOneTextForEachBytes) {
  std::string out;
  EXPECT_TRUE(identity::from_base64url("-_8", out));
  EXPECT_EQ(out, "\xfb\xff");
  for (const char* bad : {"A", "AAAAA", "AB==", "A+", "A/", "A B", "AB", "AAB", "AA\n"}) {
    EXPECT_FALSE(identity::from_base64url(bad, out)) << bad;
  }
  for (std::size_t size = 0; size < 40; ++size) {
    const std::string bytes(size, '\xa7');
    ASSERT_TRUE(identity::from_base64url(identity::base64url(bytes), out));
    EXPECT_EQ(out, bytes);
  }
}

TEST(JwtKeySets, TakeWhatTheyCanUse) {
  const std::string set = std::string(R"({"keys":[{"kty":"new"},{"kty":"RSA","use":"enc","n":"AQ","e":"AQ"},)") +
                          std::string(kEc) + "," + std::string(kOkp) + "]}";
  const auto keys = JwtKeys::parse(set);
  ASSERT_TRUE(keys) << keys.error();
  EXPECT_EQ(keys->list().size(), 2U);
  EXPECT_FALSE(JwtKeys::parse(R"({"keys":[]})"));
  EXPECT_FALSE(JwtKeys::parse("{}"));
  EXPECT_FALSE(JwtKeys::parse("no JSON"));
  EXPECT_FALSE(JwtKeys::load("/nowhere/jwks.json"));
}

TEST(JwtKeySets, RefuseKeysThatAreNone) {
  // A point that is not on the curve, coordinates of another size, a key that is too short, a secret that is.
  for (
      const char* bad :
      {R"({"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"})",
       R"({"kty":"EC","crv":"P-256","x":"AQ","y":"AQ"})",
       R"({"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"})",
       R"({"kty":"RSA","alg":"RS256","n":"AQAB","e":"AQAB"})", R"({"kty":"OKP","crv":"Ed25519","x":"AQAB"})",
       R"({"kty":"oct","alg":"HS256","k":"AQAB"})", R"({"kty":"oct","alg":"HS256"})",
       R"({"kty":"oct","alg":"none","k":"AQAB"})", R"({"kty":"RSA","n":"AQAB","e":"AQAB"})", "[]"}) {
    EXPECT_FALSE(JwtKey::jwk(bad)) << bad;
  }
  // The private half of another key.
  std::string two(kEc);
  two.replace(two.find("\"d\":\"") + 5, 1, "k");
  EXPECT_TRUE(JwtKey::jwk(kEc));
  EXPECT_FALSE(JwtKey::jwk(two));
  two = kOkp;
  two.replace(two.find("\"d\":\"") + 5, 1, "m");
  EXPECT_TRUE(JwtKey::jwk(kOkp));
  EXPECT_FALSE(JwtKey::jwk(two));
  EXPECT_FALSE(JwtKey::pem(JwtAlgorithm::RS256, generated("RSA", nullptr, 1024)));
  EXPECT_FALSE(JwtKey::pem(JwtAlgorithm::ES256, generated("EC", "P-384", 0)));
  EXPECT_FALSE(JwtKey::pem(JwtAlgorithm::RS256, generated("EC", "P-256", 0)));
  EXPECT_FALSE(JwtKey::pem(JwtAlgorithm::HS256, generated("ED25519", nullptr, 0)));
  EXPECT_FALSE(JwtKey::pem(JwtAlgorithm::RS256, "no PEM"));
  EXPECT_FALSE(JwtKey::hmac(JwtAlgorithm::HS512, std::string(63, 'x')));
  EXPECT_TRUE(JwtKey::hmac(JwtAlgorithm::HS512, std::string(64, 'x')));
}

}  // namespace
}  // namespace violet
