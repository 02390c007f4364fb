// JSON Web Keys (RFC 7517, RFC 7518 §6, RFC 8037 §2).

#include "violet/features/identity/jwt/material.h"
#include "violet/features/identity/secret.h"
#include "violet/json/reader.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/param_build.h>

#include <cstdio>
#include <memory>
#include <optional>

namespace violet {
namespace identity {

// Not in an unnamed namespace: the names of members are read off these types.
struct Jwk {
  std::string kty;
  std::optional<std::string> use;
  std::optional<std::string> alg;
  std::optional<std::string> kid;
  std::optional<std::string> crv;
  std::optional<std::string> k;
  std::optional<std::string> n;
  std::optional<std::string> e;
  std::optional<std::string> x;
  std::optional<std::string> y;
  std::optional<std::string> d;
};
struct JwkSet {
  std::vector<Jwk> keys;
};

namespace {

using BuilderPtr = std::unique_ptr<OSSL_PARAM_BLD, Freeing<OSSL_PARAM_BLD_free>>;
using ParametersPtr = std::unique_ptr<OSSL_PARAM, Freeing<OSSL_PARAM_free>>;
using Built = std::expected<KeyPtr, std::string>;

constexpr std::size_t kFileBytesMax = 1 << 20;
constexpr std::size_t kKeysMax = 256;

std::unexpected<std::string> malformed(const char* member) {
  return std::unexpected(std::string("a JWK whose \"") + member + "\" is malformed");
}

const unsigned char* octets(std::string_view text) noexcept {
  return reinterpret_cast<const unsigned char*>(text.data());
}

bool decode(const std::optional<std::string>& member, std::string& out) {
  return member && from_base64url(*member, out) && !out.empty();
}

NumberPtr number(std::string_view bytes) {
  return NumberPtr(BN_bin2bn(octets(bytes), static_cast<int>(bytes.size()), nullptr));
}

Built build(const char* type, OSSL_PARAM_BLD* builder, bool has_private) {
  const ParametersPtr parameters(OSSL_PARAM_BLD_to_param(builder));
  const KeyContextPtr context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  EVP_PKEY* key = nullptr;
  const int selection = has_private ? EVP_PKEY_KEYPAIR : EVP_PKEY_PUBLIC_KEY;
  if (parameters == nullptr || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &key, selection, parameters.get()) != 1) {
    return std::unexpected("a JWK that is no key");
  }
  KeyPtr owned(key);
  // A point that is not on its curve, and the like.
  const KeyContextPtr check(EVP_PKEY_CTX_new(key, nullptr));
  if (EVP_PKEY_public_check(check.get()) != 1) return std::unexpected("a JWK whose key is no valid one");
  if (has_private && EVP_PKEY_pairwise_check(check.get()) != 1) return std::unexpected("a JWK of two keys");
  return owned;
}

Built build_rsa(const Jwk& jwk) {
  std::string n;
  std::string e;
  std::string d;
  if (!decode(jwk.n, n)) return malformed("n");
  if (!decode(jwk.e, e)) return malformed("e");
  if (jwk.d && !decode(jwk.d, d)) return malformed("d");
  const NumberPtr modulus = number(n);
  const NumberPtr exponent = number(e);
  const NumberPtr secret = number(d);
  const BuilderPtr builder(OSSL_PARAM_BLD_new());
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, modulus.get());
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, exponent.get());
  if (jwk.d) OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_D, secret.get());
  return build("RSA", builder.get(), jwk.d.has_value());
}

Built build_ec(const Jwk& jwk, JwtAlgorithm algorithm) {
  const std::size_t size = coordinate_bytes(algorithm);
  std::string x;
  std::string y;
  std::string d;
  // Of full size, zeros in front included (RFC 7518 §6.2.1.2).
  if (!decode(jwk.x, x) || x.size() != size) return malformed("x");
  if (!decode(jwk.y, y) || y.size() != size) return malformed("y");
  if (jwk.d && (!decode(jwk.d, d) || d.size() != size)) return malformed("d");
  const char* const group = size == 32 ? "prime256v1" : size == 48 ? "secp384r1" : "secp521r1";
  const std::string point = "\x04" + x + y;
  const NumberPtr secret = number(d);
  const BuilderPtr builder(OSSL_PARAM_BLD_new());
  OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, group, 0);
  OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size());
  if (jwk.d) OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_PRIV_KEY, secret.get());
  return build("EC", builder.get(), jwk.d.has_value());
}

Built build_okp(const Jwk& jwk) {
  const bool is_25519 = jwk.crv == "Ed25519";
  std::string x;
  std::string d;
  if (!decode(jwk.x, x) || x.size() != (is_25519 ? 32U : 57U)) return malformed("x");
  if (jwk.d && (!decode(jwk.d, d) || d.size() != x.size())) return malformed("d");
  const int type = is_25519 ? EVP_PKEY_ED25519 : EVP_PKEY_ED448;
  KeyPtr key(jwk.d ? EVP_PKEY_new_raw_private_key(type, nullptr, octets(d), d.size())
                   : EVP_PKEY_new_raw_public_key(type, nullptr, octets(x), x.size()));
  if (key == nullptr) return std::unexpected("a JWK that is no key");
  std::string own(x.size(), '\0');
  std::size_t size = own.size();
  if (EVP_PKEY_get_raw_public_key(key.get(), reinterpret_cast<unsigned char*>(own.data()), &size) != 1 || own != x) {
    return std::unexpected("a JWK of two keys");
  }
  return key;
}

// Which algorithm the key is for; nothing: it is not for signatures that are known here.
std::optional<JwtAlgorithm> algorithm_of(const Jwk& jwk) {
  if (jwk.use && *jwk.use != "sig") return std::nullopt;
  std::optional<JwtAlgorithm> implied;
  if (jwk.kty == "EC" && jwk.crv == "P-256") implied = JwtAlgorithm::ES256;
  if (jwk.kty == "EC" && jwk.crv == "P-384") implied = JwtAlgorithm::ES384;
  if (jwk.kty == "EC" && jwk.crv == "P-521") implied = JwtAlgorithm::ES512;
  if (jwk.kty == "OKP" && (jwk.crv == "Ed25519" || jwk.crv == "Ed448")) implied = JwtAlgorithm::EdDSA;
  if (jwk.kty == "EC" || jwk.kty == "OKP") {
    return !jwk.alg || (implied && *jwk.alg == name(*implied)) ? implied : std::nullopt;
  }
  const auto named = jwk.alg ? find_jwt_algorithm(*jwk.alg) : std::nullopt;
  if (!named) return std::nullopt;
  const Family family = family_of(*named);
  const bool fits =
      jwk.kty == "RSA" ? family == Family::Rsa || family == Family::Pss : jwk.kty == "oct" && family == Family::Hmac;
  return fits ? named : std::nullopt;
}

Built build_key(const Jwk& jwk, JwtAlgorithm algorithm) {
  Built key = jwk.kty == "RSA" ? build_rsa(jwk) : jwk.kty == "EC" ? build_ec(jwk, algorithm) : build_okp(jwk);
  ERR_clear_error();
  if (!key) return key;
  if (std::string why = unfit(algorithm, key->get()); !why.empty()) return std::unexpected(std::move(why));
  return key;
}

}  // namespace
}  // namespace identity

JwtKey::Made JwtKey::jwk(std::string_view json) {
  auto jwk = json::read<identity::Jwk>(json);
  if (!jwk) return std::unexpected("the text is no JWK: " + jwk.error().to_string());
  const auto algorithm = identity::algorithm_of(*jwk);
  if (!algorithm) return std::unexpected("a JWK that does not say for which signatures it is");
  return from(*jwk, *algorithm);
}

JwtKey::Made JwtKey::from(const identity::Jwk& jwk, JwtAlgorithm algorithm) {
  const std::string id = jwk.kid.value_or("");
  if (jwk.kty == "oct") {
    std::string secret;
    if (!identity::decode(jwk.k, secret)) return identity::malformed("k");
    return hmac(algorithm, secret, id);
  }
  identity::Built key = identity::build_key(jwk, algorithm);
  if (!key) return std::unexpected(std::move(key.error()));
  auto material = std::make_shared<Material>();
  material->key = std::move(*key);
  material->can_sign = jwk.d.has_value();
  return JwtKey(algorithm, id, std::move(material));
}

std::expected<JwtKeys, std::string> JwtKeys::parse(std::string_view json) {
  auto set = json::read<identity::JwkSet>(json);
  if (!set) return std::unexpected("the text is no JWK set: " + set.error().to_string());
  if (set->keys.size() > identity::kKeysMax) return std::unexpected("a JWK set of too many keys");
  JwtKeys keys;
  for (const identity::Jwk& jwk : set->keys) {
    const auto algorithm = identity::algorithm_of(jwk);
    if (!algorithm) continue;
    auto key = JwtKey::from(jwk, *algorithm);
    if (!key) return std::unexpected(jwk.kid.value_or("a key without a name") + ": " + key.error());
    keys.add(std::move(*key));
  }
  if (keys.list().empty()) return std::unexpected("the JWK set has no key that can be used");
  return keys;
}

std::expected<JwtKeys, std::string> JwtKeys::load(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  if (file == nullptr) return std::unexpected(path + " cannot be opened");
  std::string text(identity::kFileBytesMax + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (text.size() > identity::kFileBytesMax) return std::unexpected(path + " is larger than 1 MiB");
  auto keys = parse(text);
  if (!keys) return std::unexpected(path + ": " + keys.error());
  return keys;
}

}  // namespace violet
