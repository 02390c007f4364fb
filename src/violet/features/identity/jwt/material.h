#pragma once

// JwtKey::Material: the key itself, in OpenSSL's terms or as a secret. For .cc files of this folder.

#include "violet/features/identity/jwt/key.h"

#include <openssl/bn.h>
#include <openssl/evp.h>

#include <memory>
#include <string>
#include <utility>

namespace violet {

namespace identity {

template <auto Free>
struct Freeing {
  template <class T>
  void operator()(T* object) const noexcept {
    Free(object);
  }
};
using KeyPtr = std::unique_ptr<EVP_PKEY, Freeing<EVP_PKEY_free>>;
using KeyContextPtr = std::unique_ptr<EVP_PKEY_CTX, Freeing<EVP_PKEY_CTX_free>>;
using DigestContextPtr = std::unique_ptr<EVP_MD_CTX, Freeing<EVP_MD_CTX_free>>;
using NumberPtr = std::unique_ptr<BIGNUM, Freeing<BN_clear_free>>;

enum class Family : std::uint8_t { Hmac, Rsa, Pss, Ec, EdDsa };
[[nodiscard]] Family family_of(JwtAlgorithm algorithm) noexcept;
// nullptr for EdDSA, which hashes by itself.
[[nodiscard]] const EVP_MD* digest_of(JwtAlgorithm algorithm) noexcept;
// Bytes of r, and of s.
[[nodiscard]] std::size_t coordinate_bytes(JwtAlgorithm algorithm) noexcept;
// What forbids that key for that algorithm; "" when nothing does.
[[nodiscard]] std::string unfit(JwtAlgorithm algorithm, EVP_PKEY* key);

// An ECDSA signature as JOSE has it, r and s of fixed size (RFC 7518 §3.4), and as OpenSSL has it, in DER. "" when it
// is none.
[[nodiscard]] std::string to_der(std::string_view raw);
[[nodiscard]] std::string from_der(std::string_view der, std::size_t size);

}  // namespace identity

struct JwtKey::Material {
  identity::KeyPtr key;
  std::string secret;  // of HMAC
  bool can_sign = false;

  Material() = default;
  Material(const Material&) = delete;
  Material& operator=(const Material&) = delete;
  ~Material() { OPENSSL_cleanse(secret.data(), secret.size()); }
};

}  // namespace violet
