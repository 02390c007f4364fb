#pragma once

// Identity: one certificate with its chain, its key and perhaps a stapled OCSP response, parsed and checked against
// each other. Made from texts that were read before, see credentials.h; each loop parses its own, so that nothing is
// shared when it signs.

#include "violet/tls/openssl.h"
#include "violet/tls/settings.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace violet::tls {

// What the files of a certificate hold, and what they are called in messages.
struct CertificateTexts {
  CertificateFiles names;
  std::string certificate;
  std::string key;
  std::string ocsp;

  friend bool operator==(const CertificateTexts& a, const CertificateTexts& b) {
    return a.certificate == b.certificate && a.key == b.key && a.ocsp == b.ocsp;
  }
};

class Identity {
 public:
  // What is wrong is said with the names of the files: no certificate, no key, a key of another certificate, a staple
  // that is none.
  static Loaded<Identity> parse(const CertificateTexts& texts);

  // Adds certificate, chain and key to those of `context`.
  [[nodiscard]] Loaded<void> install(SSL_CTX* context) const;

  // The file it came from.
  [[nodiscard]] const std::string& what() const noexcept { return what_; }
  [[nodiscard]] X509* certificate() const noexcept { return certificate_.get(); }
  // DNS names of the certificate, wildcards as they are; the common name where there is none.
  [[nodiscard]] std::vector<std::string> names() const;
  // "RSA", "EC", "ED25519".
  [[nodiscard]] std::string_view key_type() const noexcept;
  // The response to staple, "" when there is none or it is not for `now_s`.
  [[nodiscard]] std::string_view staple(std::int64_t now_s) const noexcept;

 private:
  Loaded<void> parse_chain(const CertificateTexts& texts);
  Loaded<void> parse_key(const CertificateTexts& texts);
  Loaded<void> parse_ocsp(const CertificateTexts& texts);

  std::string what_;  // for messages
  X509Ptr certificate_;
  std::vector<X509Ptr> chain_;
  KeyPtr key_;
  std::string ocsp_;
  std::int64_t ocsp_from_s_ = 0;
  std::int64_t ocsp_until_s_ = 0;
};

// All certificates of a PEM text.
Loaded<std::vector<X509Ptr>> parse_certificates(std::string_view pem, std::string_view name);
// The subject alternative names as texts with their kind in front, "DNS:a.example", "URI:spiffe://…", "IP:10.0.0.1",
// "email:…"; names that hold control characters are left out.
std::vector<std::string> alternative_names(X509* certificate);

}  // namespace violet::tls
