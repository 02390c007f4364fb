#include "violet/features/identity/jwt/key.h"

#include "violet/features/identity/jwt/material.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

namespace violet {
namespace identity {
namespace {

using BioPtr = std::unique_ptr<BIO, Freeing<BIO_free_all>>;
using CertificatePtr = std::unique_ptr<X509, Freeing<X509_free>>;

constexpr int kRsaBitsMin = 2048;  // RFC 7518 §3.3
constexpr int kRsaBitsMax = 16384;

// No passphrase is ever asked for.
int no_passphrase(char*, int, int, void*) { return -1; }

BioPtr reader_of(std::string_view text) { return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }

KeyPtr read_public(std::string_view text) {
  if (text.find("-----BEGIN CERTIFICATE-----") != std::string_view::npos) {
    const BioPtr bio = reader_of(text);
    const CertificatePtr certificate(PEM_read_bio_X509(bio.get(), nullptr, no_passphrase, nullptr));
    return KeyPtr(certificate != nullptr ? X509_get_pubkey(certificate.get()) : nullptr);
  }
  const BioPtr bio = reader_of(text);
  return KeyPtr(PEM_read_bio_PUBKEY(bio.get(), nullptr, no_passphrase, nullptr));
}

std::string wanted_curve(JwtAlgorithm algorithm) {
  if (algorithm == JwtAlgorithm::ES256) return "prime256v1";
  return algorithm == JwtAlgorithm::ES384 ? "secp384r1" : "secp521r1";
}

std::string unfit_curve(JwtAlgorithm algorithm, EVP_PKEY* key) {
  char curve[64] = {};
  std::size_t size = 0;
  if (EVP_PKEY_get_group_name(key, curve, sizeof curve, &size) == 1 && wanted_curve(algorithm) == curve) return {};
  return std::string(name(algorithm)) + " needs a key on " + wanted_curve(algorithm);
}

}  // namespace

Family family_of(JwtAlgorithm algorithm) noexcept {
  if (algorithm <= JwtAlgorithm::HS512) return Family::Hmac;
  if (algorithm <= JwtAlgorithm::RS512) return Family::Rsa;
  if (algorithm <= JwtAlgorithm::PS512) return Family::Pss;
  return algorithm <= JwtAlgorithm::ES512 ? Family::Ec : Family::EdDsa;
}

const EVP_MD* digest_of(JwtAlgorithm algorithm) noexcept {
  if (algorithm == JwtAlgorithm::EdDSA) return nullptr;
  switch (static_cast<int>(algorithm) % 3) {
    case 0: return EVP_sha256();
    case 1: return EVP_sha384();
    default: return EVP_sha512();
  }
}

std::size_t coordinate_bytes(JwtAlgorithm algorithm) noexcept {
  switch (algorithm) {
    case JwtAlgorithm::ES256: return 32;
    case JwtAlgorithm::ES384: return 48;
    case JwtAlgorithm::ES512: return 66;
    default: return 0;
  }
}

std::string unfit(JwtAlgorithm algorithm, EVP_PKEY* key) {
  switch (family_of(algorithm)) {
    case Family::Hmac: return std::string(name(algorithm)) + " needs a secret";
    case Family::Rsa:
    case Family::Pss: {
      const int bits = EVP_PKEY_get_bits(key);
      const bool is_rsa =
          EVP_PKEY_is_a(key, "RSA") == 1 || (family_of(algorithm) == Family::Pss && EVP_PKEY_is_a(key, "RSA-PSS") == 1);
      if (!is_rsa) return std::string(name(algorithm)) + " needs an RSA key";
      if (bits < kRsaBitsMin || bits > kRsaBitsMax)
        return "an RSA key has 2048 to 16384 bits here, this one " + std::to_string(bits);
      return {};
    }
    case Family::Ec:
      if (EVP_PKEY_is_a(key, "EC") != 1) return std::string(name(algorithm)) + " needs an EC key";
      return unfit_curve(algorithm, key);
    case Family::EdDsa:
      if (EVP_PKEY_is_a(key, "ED25519") == 1 || EVP_PKEY_is_a(key, "ED448") == 1) return {};
      return "EdDSA needs a key for Ed25519 or Ed448";
  }
  return "an algorithm that is not known";
}

}  // namespace identity

JwtKey::JwtKey(JwtAlgorithm algorithm, std::string id, std::shared_ptr<const Material> material) noexcept
    : algorithm_(algorithm), id_(std::move(id)), material_(std::move(material)) {}

JwtKey::Made JwtKey::hmac(JwtAlgorithm algorithm, std::string_view secret, std::string id) {
  using identity::Family;
  const std::string what(name(algorithm));
  if (identity::family_of(algorithm) != Family::Hmac) return std::unexpected(what + " does not take a secret");
  // RFC 7518 §3.2: a key as long as the hash, or longer.
  const auto least = static_cast<std::size_t>(EVP_MD_get_size(identity::digest_of(algorithm)));
  if (secret.size() < least) {
    return std::unexpected(what + " needs a secret of at least " + std::to_string(least) + " bytes");
  }
  auto material = std::make_shared<Material>();
  material->secret = secret;
  material->can_sign = true;
  return JwtKey(algorithm, std::move(id), std::move(material));
}

JwtKey::Made JwtKey::pem(JwtAlgorithm algorithm, std::string_view text, std::string id) {
  auto material = std::make_shared<Material>();
  const identity::BioPtr bio = identity::reader_of(text);
  material->key.reset(PEM_read_bio_PrivateKey(bio.get(), nullptr, identity::no_passphrase, nullptr));
  material->can_sign = material->key != nullptr;
  if (!material->can_sign) material->key = identity::read_public(text);
  ERR_clear_error();
  if (material->key == nullptr) return std::unexpected("the text is no PEM of a key or a certificate");
  if (std::string why = identity::unfit(algorithm, material->key.get()); !why.empty())
    return std::unexpected(std::move(why));
  return JwtKey(algorithm, std::move(id), std::move(material));
}

}  // namespace violet
