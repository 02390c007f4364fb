#include "violet/tls/client_context.h"

#include "violet/base/address.h"
#include "violet/tls/certificate/credentials.h"
#include "violet/tls/openssl.h"

#include <openssl/err.h>

namespace violet::tls {
namespace {

std::unexpected<std::string> wrong(std::string text) { return std::unexpected(std::move(text)); }

// ALPN names as the wire has them: each behind its length (RFC 7301 §3.1). "" when one is empty or too long.
std::string wire_names(const std::vector<std::string>& names) {
  std::string wire;
  for (const std::string& name : names) {
    if (name.empty() || name.size() > 255) return {};
    wire += static_cast<char>(name.size());
    wire += name;
  }
  return wire;
}

Loaded<void> trust(SSL_CTX* context, const std::string& ca) {
  if (ca.empty()) {
    SSL_CTX_set_default_verify_paths(context);
    return {};
  }
  auto pem = read_pem(ca);
  if (!pem) return std::unexpected(std::move(pem.error()));
  auto authorities = parse_certificates(*pem, "the CA");
  if (!authorities) return std::unexpected(std::move(authorities.error()));
  for (const X509Ptr& authority : *authorities) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get()) != 1) {
      return wrong("the CA cannot be used: " + take_error_text());
    }
  }
  return {};
}

Loaded<void> present(SSL_CTX* context, const CertificateFiles& files) {
  if (files.certificate.empty()) return {};
  auto texts = read_texts(files);
  if (!texts) return std::unexpected(std::move(texts.error()));
  auto identity = Identity::parse(*texts);
  if (!identity) return std::unexpected(std::move(identity.error()));
  return identity->install(context);
}

}  // namespace

ClientContext::~ClientContext() { SSL_CTX_free(context_); }

Loaded<Ref<ClientContext>> ClientContext::make(const ClientSettings& settings) {
  auto context = Ref<ClientContext>::adopt(new ClientContext);
  if (auto done = context->configure(settings); !done) return std::unexpected(std::move(done.error()));
  return context;
}

Loaded<void> ClientContext::configure(const ClientSettings& settings) {
  ERR_clear_error();
  context_ = SSL_CTX_new(TLS_client_method());
  if (context_ == nullptr || SSL_CTX_set_min_proto_version(context_, TLS1_2_VERSION) != 1) {
    return wrong("OpenSSL refuses: " + take_error_text());
  }
  SSL_CTX_set_options(context_, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context_, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_read_ahead(context_, 1);
  const std::string names = wire_names(settings.protocols);
  if (names.empty() != settings.protocols.empty() ||
      SSL_CTX_set_alpn_protos(context_, reinterpret_cast<const unsigned char*>(names.data()),
                              static_cast<unsigned>(names.size())) != 0) {
    return wrong("a name of a protocol (ALPN) has to have 1 to 255 bytes");
  }
  verifies_ = settings.verifies;
  SSL_CTX_set_verify(context_, verifies_ ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  if (auto done = trust(context_, settings.ca); !done) return done;
  return present(context_, settings.certificate);
}

ssl_st* ClientContext::open(std::string_view host) noexcept {
  SslPtr ssl(SSL_new(context_));
  if (ssl == nullptr || host.empty() || host.size() > 255) return nullptr;
  char name[256];
  host.copy(name, host.size());
  name[host.size()] = '\0';
  SSL_set_connect_state(ssl.get());
  X509_VERIFY_PARAM* const rules = SSL_get0_param(ssl.get());
  if (Address::parse(host, 0)) {
    if (verifies_ && X509_VERIFY_PARAM_set1_ip_asc(rules, name) != 1) return nullptr;
  } else {
    // A star stands for one whole label and for nothing else (RFC 6125 §6.4.3).
    X509_VERIFY_PARAM_set_hostflags(rules, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (SSL_set_tlsext_host_name(ssl.get(), name) != 1) return nullptr;
    if (verifies_ && X509_VERIFY_PARAM_set1_host(rules, name, host.size()) != 1) return nullptr;
  }
  return ssl.release();
}

}  // namespace violet::tls
