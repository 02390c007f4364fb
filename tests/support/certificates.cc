#include "tests/support/certificates.h"

#include "violet/base/check.h"
#include "violet/tls/openssl.h"

#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <atomic>

namespace violet::test {
namespace {

constexpr long kDay = 24 * 3600;

// One RSA key serves all certificates of a process: making one takes a tenth of a second.
EVP_PKEY* new_key(bool is_rsa) {
  if (!is_rsa) return EVP_EC_gen("P-256");
  static EVP_PKEY* const kRsa = EVP_RSA_gen(2048);
  EVP_PKEY_up_ref(kRsa);
  return kRsa;
}

void add_extension(X509* certificate, X509* issuer, int id, const std::string& value) {
  X509V3_CTX about;
  X509V3_set_ctx_nodb(&about);
  X509V3_set_ctx(&about, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &about, id, value.c_str());
  VIOLET_CHECK(extension != nullptr);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

X509* new_certificate(const Wanted& wanted, EVP_PKEY* key, X509* issuer, EVP_PKEY* issuer_key) {
  static std::atomic<long> serial = 1000;
  X509* const certificate = X509_new();
  X509_set_version(certificate, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial++);
  X509_gmtime_adj(X509_getm_notBefore(certificate), wanted.from_days * kDay);
  X509_gmtime_adj(X509_getm_notAfter(certificate), wanted.until_days * kDay);
  X509_set_pubkey(certificate, key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(wanted.common_name.c_str()), -1, -1, 0);
  X509* const signer = issuer != nullptr ? issuer : certificate;
  X509_set_issuer_name(certificate, X509_get_subject_name(signer));
  add_extension(certificate, signer, NID_basic_constraints, wanted.is_authority ? "critical,CA:TRUE" : "CA:FALSE");
  if (!wanted.names.empty()) add_extension(certificate, signer, NID_subject_alt_name, wanted.names);
  VIOLET_CHECK(X509_sign(certificate, issuer_key, EVP_sha256()) > 0);
  return certificate;
}

std::string text_of(BIO* bio) {
  const char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

std::string pem_of(X509* certificate) {
  const tls::BioPtr out(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(out.get(), certificate);
  return text_of(out.get());
}

std::string pem_of(EVP_PKEY* key) {
  const tls::BioPtr out(BIO_new(BIO_s_mem()));
  PEM_write_bio_PrivateKey(out.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  return text_of(out.get());
}

}  // namespace

Authority::Authority(const std::string& name) : key_(new_key(false)) {
  certificate_ = new_certificate({.common_name = name, .is_authority = true}, key_, nullptr, key_);
  certificate_pem_ = pem_of(certificate_);
}

Authority::~Authority() {
  EVP_PKEY_free(key_);
  X509_free(certificate_);
}

Pem Authority::issue(const Wanted& wanted) const {
  const tls::KeyPtr key(new_key(wanted.is_rsa));
  const tls::X509Ptr certificate(new_certificate(wanted, key.get(), certificate_, key_));
  return {pem_of(certificate.get()), pem_of(key.get())};
}

std::unique_ptr<Authority> Authority::issue_authority(const std::string& name) const {
  std::unique_ptr<Authority> below(new Authority);
  below->key_ = new_key(false);
  below->certificate_ = new_certificate({.common_name = name, .is_authority = true}, below->key_, certificate_, key_);
  below->certificate_pem_ = pem_of(below->certificate_);
  return below;
}

std::string Authority::ocsp_response(const Pem& pem, long days, bool is_good) const {
  const tls::BioPtr reader = tls::reader_of(pem.certificate);
  const tls::X509Ptr certificate(PEM_read_bio_X509(reader.get(), nullptr, nullptr, nullptr));
  OCSP_CERTID* const id = OCSP_cert_to_id(EVP_sha1(), certificate.get(), certificate_);
  const tls::OcspBasicPtr basic(OCSP_BASICRESP_new());
  ASN1_TIME* const from = X509_gmtime_adj(nullptr, -2 * kDay);
  ASN1_TIME* const until = X509_gmtime_adj(nullptr, days * kDay);
  ASN1_TIME* const revoked = is_good ? nullptr : X509_gmtime_adj(nullptr, -kDay);
  OCSP_basic_add1_status(basic.get(), id, is_good ? V_OCSP_CERTSTATUS_GOOD : V_OCSP_CERTSTATUS_REVOKED, 0, revoked,
                         from, until);
  OCSP_basic_sign(basic.get(), certificate_, key_, EVP_sha256(), nullptr, 0);
  const tls::OcspPtr response(OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic.get()));
  unsigned char* der = nullptr;
  const int size = i2d_OCSP_RESPONSE(response.get(), &der);
  std::string bytes(reinterpret_cast<const char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  ASN1_TIME_free(from);
  ASN1_TIME_free(until);
  ASN1_TIME_free(revoked);
  OCSP_CERTID_free(id);
  return bytes;
}

Pem self_signed(const Wanted& wanted) {
  const tls::KeyPtr key(new_key(wanted.is_rsa));
  const tls::X509Ptr certificate(new_certificate(wanted, key.get(), nullptr, key.get()));
  return {pem_of(certificate.get()), pem_of(key.get())};
}

}  // namespace violet::test
