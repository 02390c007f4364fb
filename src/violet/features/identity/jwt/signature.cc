#include "violet/features/identity/jwt/material.h"

#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/hmac.h>
#include <openssl/rsa.h>

namespace violet {
namespace identity {
namespace {

using SignaturePtr = std::unique_ptr<ECDSA_SIG, Freeing<ECDSA_SIG_free>>;

const unsigned char* octets(std::string_view text) noexcept {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* octets(std::string& text) noexcept { return reinterpret_cast<unsigned char*>(text.data()); }

std::string hmac(JwtAlgorithm algorithm, std::string_view secret, std::string_view text) {
  std::string mac(EVP_MAX_MD_SIZE, '\0');
  unsigned size = 0;
  if (HMAC(digest_of(algorithm), secret.data(), static_cast<int>(secret.size()), octets(text), text.size(), octets(mac),
           &size) == nullptr) {
    return {};
  }
  mac.resize(size);
  return mac;
}

// RFC 7518 §3.5: the salt is as long as the hash, and MGF1 uses the same hash.
bool set_padding(JwtAlgorithm algorithm, EVP_PKEY_CTX* context) {
  if (family_of(algorithm) != Family::Pss) return true;
  return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1 &&
         EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) == 1 &&
         EVP_PKEY_CTX_set_rsa_mgf1_md(context, digest_of(algorithm)) == 1;
}

bool verify_with(JwtAlgorithm algorithm, EVP_PKEY* key, std::string_view text, std::string_view signature) {
  const DigestContextPtr context(EVP_MD_CTX_new());
  EVP_PKEY_CTX* of_key = nullptr;
  if (EVP_DigestVerifyInit(context.get(), &of_key, digest_of(algorithm), nullptr, key) != 1) return false;
  if (!set_padding(algorithm, of_key)) return false;
  return EVP_DigestVerify(context.get(), octets(signature), signature.size(), octets(text), text.size()) == 1;
}

std::string sign_with(JwtAlgorithm algorithm, EVP_PKEY* key, std::string_view text) {
  const DigestContextPtr context(EVP_MD_CTX_new());
  EVP_PKEY_CTX* of_key = nullptr;
  if (EVP_DigestSignInit(context.get(), &of_key, digest_of(algorithm), nullptr, key) != 1) return {};
  std::size_t size = 0;
  if (!set_padding(algorithm, of_key)) return {};
  if (EVP_DigestSign(context.get(), nullptr, &size, octets(text), text.size()) != 1) return {};
  std::string signature(size, '\0');
  if (EVP_DigestSign(context.get(), octets(signature), &size, octets(text), text.size()) != 1) return {};
  signature.resize(size);
  return signature;
}

}  // namespace

std::string to_der(std::string_view raw) {
  const std::size_t half = raw.size() / 2;
  const SignaturePtr signature(ECDSA_SIG_new());
  NumberPtr r(BN_bin2bn(octets(raw), static_cast<int>(half), nullptr));
  NumberPtr s(BN_bin2bn(octets(raw) + half, static_cast<int>(half), nullptr));
  if (signature == nullptr || r == nullptr || s == nullptr) return {};
  if (ECDSA_SIG_set0(signature.get(), r.get(), s.get()) != 1) return {};
  static_cast<void>(r.release());
  static_cast<void>(s.release());
  const int size = i2d_ECDSA_SIG(signature.get(), nullptr);
  if (size <= 0) return {};
  std::string der(static_cast<std::size_t>(size), '\0');
  unsigned char* at = octets(der);
  i2d_ECDSA_SIG(signature.get(), &at);
  return der;
}

std::string from_der(std::string_view der, std::size_t size) {
  const unsigned char* at = octets(der);
  const SignaturePtr signature(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())));
  if (signature == nullptr) return {};
  std::string raw(size * 2, '\0');
  const int part = static_cast<int>(size);
  if (BN_bn2binpad(ECDSA_SIG_get0_r(signature.get()), octets(raw), part) != part) return {};
  if (BN_bn2binpad(ECDSA_SIG_get0_s(signature.get()), octets(raw) + size, part) != part) return {};
  return raw;
}

}  // namespace identity

using identity::Family;

bool JwtKey::can_sign() const noexcept { return material_->can_sign; }

bool JwtKey::verify(std::string_view text, std::string_view signature) const {
  bool is_good = false;
  if (identity::family_of(algorithm_) == Family::Hmac) {
    const std::string wanted = identity::hmac(algorithm_, material_->secret, text);
    is_good = !wanted.empty() && wanted.size() == signature.size() &&
              CRYPTO_memcmp(wanted.data(), signature.data(), wanted.size()) == 0;
  } else if (const std::size_t size = identity::coordinate_bytes(algorithm_); size > 0) {
    const std::string der = signature.size() == size * 2 ? identity::to_der(signature) : std::string();
    is_good = !der.empty() && identity::verify_with(algorithm_, material_->key.get(), text, der);
  } else {
    is_good = identity::verify_with(algorithm_, material_->key.get(), text, signature);
  }
  // What OpenSSL noted about it is nobody's business.
  if (!is_good) ERR_clear_error();
  return is_good;
}

std::string JwtKey::sign(std::string_view text) const {
  if (!can_sign()) return {};
  if (identity::family_of(algorithm_) == Family::Hmac) return identity::hmac(algorithm_, material_->secret, text);
  std::string signature = identity::sign_with(algorithm_, material_->key.get(), text);
  const std::size_t size = identity::coordinate_bytes(algorithm_);
  if (size > 0 && !signature.empty()) signature = identity::from_der(signature, size);
  if (signature.empty()) ERR_clear_error();
  return signature;
}

}  // namespace violet
