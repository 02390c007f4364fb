#include "violet/tls/certificate/identity.h"

#include "violet/base/address.h"

#include <openssl/err.h>
#include <openssl/pem.h>

#include <algorithm>
#include <ctime>
#include <utility>

namespace violet::tls {
namespace {

std::unexpected<std::string> wrong(std::string text) { return std::unexpected(std::move(text)); }

// A key with a passphrase is refused instead of asking at the terminal.
int no_passphrase(char*, int, int, void*) { return -1; }

std::string_view text_of(const ASN1_STRING* string) noexcept {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(string)),
          static_cast<std::size_t>(ASN1_STRING_length(string))};
}

bool is_printable(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

std::string address_text(std::string_view bytes) {
  Address address;
  if (bytes.size() != 4 && bytes.size() != 16) return {};
  address.family = bytes.size() == 4 ? Address::Family::Ipv4 : Address::Family::Ipv6;
  std::copy(bytes.begin(), bytes.end(), address.bytes.begin());
  return address.host();
}

// One alternative name; "" for kinds that nobody asks for.
std::string name_text(const GENERAL_NAME& name) {
  std::string_view kind;
  std::string text;
  switch (name.type) {
    case GEN_DNS: kind = "DNS:", text = text_of(name.d.dNSName); break;
    case GEN_URI: kind = "URI:", text = text_of(name.d.uniformResourceIdentifier); break;
    case GEN_EMAIL: kind = "email:", text = text_of(name.d.rfc822Name); break;
    case GEN_IPADD: kind = "IP:", text = address_text(text_of(name.d.iPAddress)); break;
    default: return {};
  }
  // A NUL inside a name has fooled others into reading only what stands before it.
  return !text.empty() && is_printable(text) ? std::string(kind) + text : std::string();
}

std::int64_t seconds_of(const ASN1_GENERALIZEDTIME* time) noexcept {
  std::tm parts{};
  if (time == nullptr || ASN1_TIME_to_tm(time, &parts) != 1) return 0;
  return timegm(&parts);
}

}  // namespace

Loaded<std::vector<X509Ptr>> parse_certificates(std::string_view pem, std::string_view name) {
  std::vector<X509Ptr> found;
  const BioPtr reader = reader_of(pem);
  while (X509* certificate = PEM_read_bio_X509(reader.get(), nullptr, &no_passphrase, nullptr)) {
    found.emplace_back(certificate);
  }
  const bool is_at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  const std::string why = take_error_text();
  if (found.empty()) return wrong("no certificate in " + std::string(name) + (is_at_end ? "" : ": " + why));
  if (!is_at_end) return wrong("a certificate in " + std::string(name) + " cannot be read: " + why);
  return found;
}

std::vector<std::string> alternative_names(X509* certificate) {
  std::vector<std::string> found;
  const GeneralNamesPtr names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    if (std::string text = name_text(*sk_GENERAL_NAME_value(names.get(), i)); !text.empty()) found.push_back(text);
  }
  return found;
}

Loaded<Identity> Identity::parse(const CertificateTexts& texts) {
  ERR_clear_error();  // others on this thread may have left something, and only ours is to be told
  Identity identity;
  identity.what_ = texts.names.certificate;
  if (auto done = identity.parse_chain(texts); !done) return std::unexpected(done.error());
  if (auto done = identity.parse_key(texts); !done) return std::unexpected(done.error());
  if (auto done = identity.parse_ocsp(texts); !done) return std::unexpected(done.error());
  return identity;
}

Loaded<void> Identity::parse_chain(const CertificateTexts& texts) {
  auto found = parse_certificates(texts.certificate, texts.names.certificate);
  if (!found) return std::unexpected(found.error());
  certificate_ = std::move(found->front());
  found->erase(found->begin());
  chain_ = std::move(*found);
  return {};
}

Loaded<void> Identity::parse_key(const CertificateTexts& texts) {
  const bool is_joined = texts.names.key.empty();
  const std::string& name = is_joined ? texts.names.certificate : texts.names.key;
  const BioPtr reader = reader_of(is_joined ? texts.certificate : texts.key);
  key_.reset(PEM_read_bio_PrivateKey(reader.get(), nullptr, &no_passphrase, nullptr));
  const std::string why = take_error_text();
  if (key_ == nullptr) return wrong("no private key in " + name + " (" + why + ")");
  if (X509_check_private_key(certificate_.get(), key_.get()) != 1) {
    ERR_clear_error();
    return wrong("the key in " + name + " is not that of the certificate in " + texts.names.certificate);
  }
  return {};
}

// Only a successful response about a good certificate is worth a staple; which one it is about, the client checks.
Loaded<void> Identity::parse_ocsp(const CertificateTexts& texts) {
  if (texts.ocsp.empty()) return {};
  const auto* data = reinterpret_cast<const unsigned char*>(texts.ocsp.data());
  const OcspPtr response(d2i_OCSP_RESPONSE(nullptr, &data, static_cast<long>(texts.ocsp.size())));
  const OcspBasicPtr basic(response != nullptr &&
                                   OCSP_response_status(response.get()) == OCSP_RESPONSE_STATUS_SUCCESSFUL
                               ? OCSP_response_get1_basic(response.get())
                               : nullptr);
  ERR_clear_error();
  if (basic == nullptr || OCSP_resp_count(basic.get()) < 1) {
    return wrong(texts.names.ocsp + " is no successful OCSP response");
  }
  ASN1_GENERALIZEDTIME* from = nullptr;
  ASN1_GENERALIZEDTIME* until = nullptr;
  const int status = OCSP_single_get0_status(OCSP_resp_get0(basic.get(), 0), nullptr, nullptr, &from, &until);
  if (status != V_OCSP_CERTSTATUS_GOOD) return wrong(texts.names.ocsp + " does not say that the certificate is good");
  ocsp_ = texts.ocsp;
  ocsp_from_s_ = seconds_of(from);
  ocsp_until_s_ = until != nullptr ? seconds_of(until) : INT64_MAX;
  return {};
}

Loaded<void> Identity::install(SSL_CTX* context) const {
  ERR_clear_error();
  bool is_done = SSL_CTX_use_certificate(context, certificate_.get()) == 1 &&
                 SSL_CTX_use_PrivateKey(context, key_.get()) == 1 && SSL_CTX_clear_chain_certs(context) == 1;
  for (const X509Ptr& link : chain_) is_done = is_done && SSL_CTX_add1_chain_cert(context, link.get()) == 1;
  if (!is_done) return wrong(what_ + " cannot be used: " + take_error_text());
  return {};
}

std::vector<std::string> Identity::names() const {
  std::vector<std::string> found;
  for (const std::string& name : alternative_names(certificate_.get())) {
    if (name.starts_with("DNS:")) found.push_back(name.substr(4));
  }
  if (!found.empty()) return found;
  X509_NAME* const subject = X509_get_subject_name(certificate_.get());
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at < 0) return found;
  const std::string_view common = text_of(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
  if (!common.empty() && is_printable(common)) found.emplace_back(common);
  return found;
}

std::string_view Identity::key_type() const noexcept { return EVP_PKEY_get0_type_name(key_.get()); }

std::string_view Identity::staple(std::int64_t now_s) const noexcept {
  return now_s >= ocsp_from_s_ && now_s <= ocsp_until_s_ ? std::string_view(ocsp_) : std::string_view();
}

}  // namespace violet::tls
