#include "tests/support/tls_client.h"

#include "violet/tls/openssl.h"

#include <openssl/err.h>
#include <openssl/pem.h>

#include <sys/socket.h>
#include <sys/time.h>

namespace violet::test {
namespace {

void bound_in_time(int descriptor) {
  const timeval most{.tv_sec = 10, .tv_usec = 0};
  ::setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
  ::setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
}

void present(SSL* ssl, const std::string& certificate, const std::string& key) {
  const tls::BioPtr first = tls::reader_of(certificate);
  const tls::BioPtr second = tls::reader_of(key);
  const tls::X509Ptr x509(PEM_read_bio_X509(first.get(), nullptr, nullptr, nullptr));
  const tls::KeyPtr pkey(PEM_read_bio_PrivateKey(second.get(), nullptr, nullptr, nullptr));
  SSL_use_certificate(ssl, x509.get());
  SSL_use_PrivateKey(ssl, pkey.get());
}

}  // namespace

TlsClient::TlsClient(const net::Endpoint& endpoint, const Options& options)
    : context_(SSL_CTX_new(TLS_client_method())), ssl_(SSL_new(context_)) {
  if (!client_.connect(endpoint)) return;
  bound_in_time(client_.descriptor());
  if (!options.before.empty()) client_.send(options.before);
  SSL_set_fd(ssl_, client_.descriptor());
  if (!options.host.empty()) SSL_set_tlsext_host_name(ssl_, options.host.c_str());
  if (!options.protocol.empty()) {
    const std::string wire = static_cast<char>(options.protocol.size()) + options.protocol;
    SSL_set_alpn_protos(ssl_, reinterpret_cast<const unsigned char*>(wire.data()), static_cast<unsigned>(wire.size()));
  }
  if (!options.certificate.empty()) present(ssl_, options.certificate, options.key);
  if (options.session != nullptr) SSL_set_session(ssl_, options.session);
  if (options.version != 0) {
    SSL_set_min_proto_version(ssl_, options.version);
    SSL_set_max_proto_version(ssl_, options.version);
  }
  is_open_ = SSL_connect(ssl_) == 1;
  ERR_clear_error();
}

TlsClient::~TlsClient() {
  if (is_open_) SSL_shutdown(ssl_);
  SSL_free(ssl_);
  SSL_CTX_free(context_);
  ERR_clear_error();
}

bool TlsClient::send(std::string_view bytes) {
  return is_open_ && SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size())) == static_cast<int>(bytes.size());
}

Reply TlsClient::reply() {
  for (;;) {
    if (auto reply = reader_.next()) return *reply;
    char bytes[16'384];
    const int n = SSL_read(ssl_, bytes, sizeof bytes);
    if (n <= 0) return {};
    reader_.add({bytes, static_cast<std::size_t>(n)});
  }
}

bool TlsClient::ends_well() {
  char bytes[16'384];
  int n = 1;
  while (n > 0) n = SSL_read(ssl_, bytes, sizeof bytes);
  const bool is_end = SSL_get_error(ssl_, n) == SSL_ERROR_ZERO_RETURN;
  ERR_clear_error();
  return is_end;
}

bool TlsClient::is_resumed() const { return SSL_session_reused(ssl_) == 1; }

std::string TlsClient::server() const {
  char text[64] = "";
  if (X509* const shown = SSL_get0_peer_certificate(ssl_)) {
    X509_NAME_get_text_by_NID(X509_get_subject_name(shown), NID_commonName, text, sizeof text);
  }
  return text;
}

ssl_session_st* TlsClient::session() const { return SSL_get1_session(ssl_); }

}  // namespace violet::test
