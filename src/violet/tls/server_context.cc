#include "violet/tls/server_context.h"

#include "violet/base/ascii.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include <algorithm>
#include <ctime>

namespace violet::tls {
namespace {

// AES-128 first: it costs a sixth less than AES-256 and nobody can break either. ChaCha20 comes first for clients that
// put it first, because they have no AES in hardware.
constexpr const char* kCiphers13 = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
constexpr const char* kCiphers12 =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
    "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";
constexpr const char* kGroups = "X25519:P-256:P-384";
constexpr std::uint64_t kOptions =
    SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION;
constexpr int kSecurityLevel = 2;                 // 112 bits: RSA-2048 and up
constexpr long kClientChainBytesMax = 32 * 1024;  // of a client's certificates

std::uint64_t now_s() noexcept { return static_cast<std::uint64_t>(std::time(nullptr)); }

std::unexpected<std::string> wrong(std::string text) { return std::unexpected(std::move(text)); }

}  // namespace

struct ServerContext::Group {
  SslContextPtr context;
  std::vector<Identity> identities;
  std::vector<std::string> names;  // sorted
};

// What OpenSSL calls during handshakes.
struct ServerCallbacks {
  static ServerContext& of(SSL* ssl) noexcept {
    return *static_cast<ServerContext*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
  }

  // An application that has nothing but h2 can do nothing for a client without ALPN (RFC 9113 §3.2).
  static int on_client_hello(SSL* ssl, int* alert, void*) noexcept {
    const auto& protocols = of(ssl).credentials_.settings().protocols;
    if (protocols.empty() || std::find(protocols.begin(), protocols.end(), "http/1.1") != protocols.end()) {
      return SSL_CLIENT_HELLO_SUCCESS;
    }
    const unsigned char* data = nullptr;
    std::size_t size = 0;
    if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_application_layer_protocol_negotiation, &data, &size) == 1) {
      return SSL_CLIENT_HELLO_SUCCESS;
    }
    *alert = SSL_AD_NO_APPLICATION_PROTOCOL;
    return SSL_CLIENT_HELLO_ERROR;
  }

  static int on_server_name(SSL* ssl, int*, void*) noexcept {
    const char* const host = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    if (host == nullptr) return SSL_TLSEXT_ERR_NOACK;
    const ServerContext& context = of(ssl);
    const auto index = context.names_.find(host);
    if (!index) return SSL_TLSEXT_ERR_NOACK;
    if (*index > 0) SSL_set_SSL_CTX(ssl, context.groups_[*index]->context.get());
    return SSL_TLSEXT_ERR_OK;
  }

  // A session of one name is none of another (RFC 6066 §3). OpenSSL has not read the extensions yet.
  static SSL_TICKET_RETURN on_session(SSL* ssl, SSL_SESSION* session, const unsigned char*, std::size_t,
                                      SSL_TICKET_STATUS status, void*) noexcept {
    if (status != SSL_TICKET_SUCCESS && status != SSL_TICKET_SUCCESS_RENEW) return SSL_TICKET_RETURN_IGNORE_RENEW;
    const std::string_view asked = name_of_hello(ssl);
    const std::string_view known = of(ssl).names_.find(asked) ? asked : std::string_view();
    const char* const before = SSL_SESSION_get0_hostname(session);
    if (!ascii::equal_folded(known, before != nullptr ? before : "")) return SSL_TICKET_RETURN_IGNORE_RENEW;
    return status == SSL_TICKET_SUCCESS ? SSL_TICKET_RETURN_USE : SSL_TICKET_RETURN_USE_RENEW;
  }

  // The first name of the list, which is the only one (RFC 6066 §3); "" for none.
  static std::string_view name_of_hello(SSL* ssl) noexcept {
    constexpr std::size_t kHead = 5;  // bytes of the list, kind, bytes of the name
    const unsigned char* data = nullptr;
    std::size_t size = 0;
    if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_server_name, &data, &size) != 1 || size < kHead || data[2] != 0)
      return {};
    const std::size_t length = static_cast<std::size_t>(data[3]) << 8 | data[4];
    return length <= size - kHead ? std::string_view(reinterpret_cast<const char*>(data) + kHead, length)
                                  : std::string_view();
  }

  // Ours is the order; a client that offers nothing of it is refused (RFC 7301 §3.2). OpenSSL has checked the list.
  static int on_protocols(SSL*, const unsigned char** out, unsigned char* out_size, const unsigned char* offered,
                          unsigned size, void* argument) noexcept {
    for (const std::string& ours : static_cast<ServerContext*>(argument)->credentials_.settings().protocols) {
      for (unsigned at = 0; at < size; at += 1u + offered[at]) {
        const std::string_view theirs(reinterpret_cast<const char*>(offered) + at + 1, offered[at]);
        if (theirs != ours) continue;
        *out = offered + at + 1;
        *out_size = offered[at];
        return SSL_TLSEXT_ERR_OK;
      }
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }

  static int on_status(SSL* ssl, void*) noexcept {
    const ServerContext& context = of(ssl);
    X509* const used = SSL_get_certificate(ssl);
    for (const auto& group : context.groups_) {
      for (const Identity& identity : group->identities) {
        if (identity.certificate() != used) continue;
        const std::string_view staple = identity.staple(std::time(nullptr));
        if (staple.empty()) return SSL_TLSEXT_ERR_NOACK;
        void* const copy = OPENSSL_memdup(staple.data(), staple.size());  // it becomes OpenSSL's
        if (copy == nullptr) return SSL_TLSEXT_ERR_NOACK;
        SSL_set_tlsext_status_ocsp_resp(ssl, copy, static_cast<long>(staple.size()));
        return SSL_TLSEXT_ERR_OK;
      }
    }
    return SSL_TLSEXT_ERR_NOACK;
  }

  // 1: sealed or opened; 2: opened, and the client gets a new ticket; 0: do without; -1: the handshake fails.
  static int on_ticket(SSL* ssl, unsigned char* name, unsigned char* iv, EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac,
                       int is_sealing) noexcept {
    TicketKeys& keys = of(ssl).credentials_.tickets();
    TicketKeys::Key key;
    bool is_old = false;
    if (is_sealing != 0) {
      if (!keys.current(key, now_s()) || RAND_bytes(iv, EVP_CIPHER_get_iv_length(EVP_aes_256_cbc())) != 1) return 0;
      std::copy(key.name.begin(), key.name.end(), name);
    } else if (!keys.find(name, key, is_old, now_s())) {
      return 0;
    }
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, key.mac.data(), key.mac.size()),
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, const_cast<char*>("SHA256"), 0),
        OSSL_PARAM_construct_end(),
    };
    const bool is_set = EVP_MAC_CTX_set_params(mac, parameters) == 1 &&
                        EVP_CipherInit_ex(cipher, EVP_aes_256_cbc(), nullptr, key.cipher.data(), iv, is_sealing) == 1;
    OPENSSL_cleanse(&key, sizeof key);
    if (!is_set) return -1;
    return is_old ? 2 : 1;
  }
};

ServerContext::ServerContext(Credentials& credentials) : credentials_(credentials) {}
ServerContext::~ServerContext() = default;

Loaded<Ref<ServerContext>> ServerContext::make(Credentials& credentials, const Credentials::Texts& texts) {
  auto context = Ref<ServerContext>::adopt(new ServerContext(credentials));
  if (texts.certificates.empty()) return wrong("no certificate is given");
  for (const CertificateTexts& one : texts.certificates) {
    auto identity = Identity::parse(one);
    if (!identity) return std::unexpected(std::move(identity.error()));
    if (auto added = context->add(std::move(*identity)); !added) return std::unexpected(std::move(added.error()));
  }
  for (const auto& group : context->groups_) {
    if (auto done = context->configure(*group, texts.client_ca); !done) return std::unexpected(std::move(done.error()));
  }
  return context;
}

// To the certificates of the same names, if there are some.
Loaded<void> ServerContext::add(Identity identity) {
  std::vector<std::string> names = identity.names();
  std::sort(names.begin(), names.end());
  const auto found =
      std::find_if(groups_.begin(), groups_.end(), [&names](const auto& group) { return group->names == names; });
  if (found != groups_.end()) {
    for (const Identity& other : (*found)->identities) {
      if (other.key_type() == identity.key_type()) {
        return wrong(other.what() + " and " + identity.what() + " are for the same names and the same kind of key");
      }
    }
    (*found)->identities.push_back(std::move(identity));
    return {};
  }
  for (const std::string& name : names) names_.add(name, groups_.size());
  auto group = std::make_unique<Group>();
  group->names = std::move(names);
  group->identities.push_back(std::move(identity));
  groups_.push_back(std::move(group));
  return {};
}

Loaded<void> ServerContext::configure(Group& group, const std::string& client_ca) {
  ERR_clear_error();
  group.context.reset(SSL_CTX_new(TLS_server_method()));
  SSL_CTX* const context = group.context.get();
  if (context == nullptr || SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1 ||
      SSL_CTX_set_ciphersuites(context, kCiphers13) != 1 || SSL_CTX_set_cipher_list(context, kCiphers12) != 1 ||
      SSL_CTX_set1_groups_list(context, kGroups) != 1) {
    return wrong("OpenSSL refuses versions or ciphers: " + take_error_text());
  }
  SSL_CTX_set_app_data(context, this);
  SSL_CTX_set_options(context, kOptions);
  SSL_CTX_set_security_level(context, std::max(kSecurityLevel, SSL_CTX_get_security_level(context)));
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_max_cert_list(context, kClientChainBytesMax);
  // Sessions live in the tickets that clients keep; nothing is kept here.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_timeout(context, 2 * TicketKeys::kRotateSeconds);
  SSL_CTX_set_tlsext_ticket_key_evp_cb(context, &ServerCallbacks::on_ticket);
  SSL_CTX_set_session_ticket_cb(context, nullptr, &ServerCallbacks::on_session, nullptr);
  SSL_CTX_set_client_hello_cb(context, &ServerCallbacks::on_client_hello, nullptr);
  SSL_CTX_set_tlsext_servername_callback(context, &ServerCallbacks::on_server_name);
  SSL_CTX_set_tlsext_status_cb(context, &ServerCallbacks::on_status);
  if (!credentials_.settings().protocols.empty()) {
    SSL_CTX_set_alpn_select_cb(context, &ServerCallbacks::on_protocols, this);
  }
  for (const Identity& identity : group.identities) {
    if (auto done = identity.install(context); !done) return done;
  }
  return set_client_ca(group, client_ca);
}

Loaded<void> ServerContext::set_client_ca(Group& group, const std::string& client_ca) {
  SSL_CTX* const context = group.context.get();
  const ClientCertificate wanted = credentials_.settings().client_certificate;
  // A session is resumed without the client's certificate being verified again: only where the same rule holds.
  std::string rule = std::to_string(static_cast<int>(wanted)) + client_ca;
  unsigned char id[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(rule.data()), rule.size(), id);
  SSL_CTX_set_session_id_context(context, id, sizeof id);
  if (wanted == ClientCertificate::None) {
    if (!client_ca.empty()) return wrong("a client CA is given, but no client is asked for a certificate");
    return {};
  }
  if (client_ca.empty()) return wrong("clients are asked for certificates, but no client CA is given");
  auto authorities = parse_certificates(client_ca, credentials_.settings().client_ca);
  if (!authorities) return std::unexpected(std::move(authorities.error()));
  for (const X509Ptr& authority : *authorities) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get()) != 1 ||
        SSL_CTX_add_client_CA(context, authority.get()) != 1) {
      return wrong("the client CA cannot be used: " + take_error_text());
    }
  }
  SSL_CTX_set_verify(context,
                     SSL_VERIFY_PEER | (wanted == ClientCertificate::Required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0),
                     nullptr);
  return {};
}

ssl_st* ServerContext::open() noexcept {
  SSL* const ssl = SSL_new(groups_.front()->context.get());
  if (ssl != nullptr) SSL_set_accept_state(ssl);
  return ssl;
}

}  // namespace violet::tls
