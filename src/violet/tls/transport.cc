#include "violet/tls/transport.h"

#include "violet/tls/certificate/identity.h"
#include "violet/tls/error.h"
#include "violet/tls/openssl.h"

#include <openssl/err.h>

#include <algorithm>
#include <cerrno>
#include <new>

namespace violet::tls {
namespace {

// What RecordLayer can go on with; false: OpenSSL has to.
bool suite_of(const SSL* ssl, Suite& suite) noexcept {
  switch (SSL_CIPHER_get_id(SSL_get_current_cipher(ssl))) {
    case TLS1_3_CK_AES_128_GCM_SHA256: suite = Suite::Aes128Gcm; return true;
    case TLS1_3_CK_AES_256_GCM_SHA384: suite = Suite::Aes256Gcm; return true;
    case TLS1_3_CK_CHACHA20_POLY1305_SHA256: suite = Suite::ChaCha20Poly1305; return true;
    default: return false;
  }
}

std::string_view name_of(Suite suite) noexcept {
  switch (suite) {
    case Suite::Aes128Gcm: return TLS1_3_RFC_AES_128_GCM_SHA256;
    case Suite::Aes256Gcm: return TLS1_3_RFC_AES_256_GCM_SHA384;
    case Suite::ChaCha20Poly1305: return TLS1_3_RFC_CHACHA20_POLY1305_SHA256;
  }
  return {};
}

}  // namespace

// What OpenSSL reads records from and writes them to. It never refuses to take a record: what does not leave is kept,
// so that no call of OpenSSL has to be made twice.
struct RecordBio {
  static Transport& of(BIO* bio) noexcept { return *static_cast<Transport*>(BIO_get_data(bio)); }

  static int read(BIO* bio, char* to, int size) noexcept {
    BIO_clear_retry_flags(bio);
    const ssize_t n = of(bio).feed_openssl(to, static_cast<std::size_t>(size));
    if (n == -EAGAIN) BIO_set_retry_read(bio);
    return n < 0 ? -1 : static_cast<int>(n);
  }

  static int write(BIO* bio, const char* data, int size) noexcept {
    BIO_clear_retry_flags(bio);
    of(bio).take_records(data, static_cast<std::size_t>(size));
    return size;
  }

  static long control(BIO* bio, int command, long, void*) noexcept {
    switch (command) {
      case BIO_CTRL_FLUSH: return 1;
      case BIO_CTRL_EOF: return of(bio).below_error_ == 0 && !of(bio).is_blocked_ ? 1 : 0;
      default: return 0;
    }
  }

  // Each step of OpenSSL's state machine, and alerts. A message behind the handshake begins in the state "ok".
  static void on_step(const SSL* ssl, int where, int) noexcept {
    const bool is_message = (where & SSL_CB_LOOP) != 0 && SSL_get_state(ssl) == TLS_ST_OK;
    if (is_message || (where & SSL_CB_ALERT) != 0) of(SSL_get_rbio(ssl)).count_upkeep();
  }

  // Each record and each message of a handshake, before it is sealed. Behind EncryptedExtensions, which is under the
  // keys of the handshake, come the secrets that are wanted.
  static void on_message(int is_sent, int, int type, const void* data, std::size_t size, SSL* ssl, void*) noexcept {
    if (is_sent == 0) return;
    Transport& transport = of(SSL_get_rbio(ssl));
    if (type == SSL3_RT_HEADER && transport.secrets_ != nullptr) transport.secrets_->count_sent();
    if (type != SSL3_RT_HANDSHAKE || size == 0) return;
    if (*static_cast<const unsigned char*>(data) != SSL3_MT_ENCRYPTED_EXTENSIONS) return;
    transport.secrets_.reset(new (std::nothrow) Secrets);
    transport.listen_for_secrets(true);
  }

  static void on_secret(const SSL* ssl, const char* line) noexcept {
    if (Secrets* const secrets = of(SSL_get_rbio(ssl)).secrets_.get()) secrets->note(line);
  }

  static BIO_METHOD* make_method() noexcept {
    BIO_METHOD* const method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "violet records");
    VIOLET_CHECK(method != nullptr);
    BIO_meth_set_read(method, &RecordBio::read);
    BIO_meth_set_write(method, &RecordBio::write);
    BIO_meth_set_ctrl(method, &RecordBio::control);
    return method;
  }

  static BIO* make(Transport& transport) noexcept {
    static const BIO_METHOD* const kMethod = make_method();
    BIO* const bio = BIO_new(kMethod);
    if (bio == nullptr) return nullptr;
    BIO_set_data(bio, &transport);
    BIO_set_init(bio, 1);
    return bio;
  }
};

class Transport::Event {
 public:
  explicit Event(Transport& transport) noexcept : transport_(transport) { ++transport_.depth_; }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() {
    if (--transport_.depth_ == 0 && transport_.is_closed_) delete &transport_;
  }

 private:
  Transport& transport_;
};

// --- its life

Transport::Transport(Shared& shared, Ref<ServerContext> context, ssl_st* ssl, net::Transport& below,
                     Handshake& handshake)
    : shared_(shared), context_(std::move(context)), ssl_(ssl), below_(below), handshake_(&handshake) {}

Transport::~Transport() { VIOLET_ASSERT(is_closed_ && depth_ == 0); }

Transport* Transport::open(Shared& shared, Ref<ServerContext> context, ssl_st* ssl, net::Transport& below,
                           Handshake& handshake) {
  if (ssl == nullptr) return nullptr;
  auto* transport = new Transport(shared, std::move(context), ssl, below, handshake);
  BIO* const bio = RecordBio::make(*transport);
  if (bio == nullptr) {
    transport->is_closed_ = true;
    SSL_free(ssl);
    delete transport;
    return nullptr;
  }
  SSL_set_bio(ssl, bio, bio);
  SSL_set_info_callback(ssl, &RecordBio::on_step);
  below.set_owner(*transport);
  return transport;
}

Transport* Transport::accept(Shared& shared, ServerContext& context, net::Transport& below, Handshake& handshake) {
  Transport* const transport = open(shared, Ref<ServerContext>(&context), context.open(), below, handshake);
  if (transport == nullptr) return nullptr;
  // What comes behind the handshake must not end up in OpenSSL's hands: it gets what it asks for, and no more.
  SSL_set_read_ahead(transport->ssl_, 0);
  SSL_set_msg_callback(transport->ssl_, &RecordBio::on_message);
  below.want(true, false);
  return transport;
}

Transport* Transport::connect(Shared& shared, ClientContext& context, std::string_view host, net::Transport& below,
                              Handshake& handshake) {
  Transport* const transport = open(shared, {}, context.open(host), below, handshake);
  if (transport != nullptr) below.want(true, true);  // the client speaks first
  return transport;
}

void Transport::close() noexcept {
  if (is_closed_) return;
  say_goodbye();
  release(&net::Transport::close);
}

void Transport::close_by_reset() noexcept {
  if (!is_closed_) release(&net::Transport::close_by_reset);
}

void Transport::release(void (net::Transport::*close_below)() noexcept) noexcept {
  is_closed_ = true;
  (below_.*close_below)();
  SSL_free(std::exchange(ssl_, nullptr));
  pending_ = {};
  ready_.unlink();
  if (depth_ == 0) delete this;
}

// close_notify, once, where the connection is in order (RFC 8446 §6.1).
void Transport::say_goodbye() noexcept {
  if (!is_open_ || error_ || below_error_ != 0 || std::exchange(has_said_goodbye_, true)) return;
  if (layer_ != nullptr) {
    char alert[RecordLayer::kMessageBytesMax];
    send_message(alert, layer_->seal_alert(SSL_AD_CLOSE_NOTIFY, alert));
    return;
  }
  sends_at_once_ = true;
  SSL_shutdown(ssl_);
  sends_at_once_ = false;
}

void Transport::shutdown() noexcept {
  if (is_closed_) return;
  say_goodbye();
  is_ending_ = has_pending();
  if (is_ending_) {
    update_interest();
  } else {
    below_.shutdown();
  }
}

// --- events

void Transport::on_readable() noexcept {
  const Event event(*this);
  if (handshake_ != nullptr) {
    step();
  } else {
    owner_->on_readable();
  }
}

void Transport::on_writable() noexcept {
  const Event event(*this);
  // What write() has not said it took is flushed by write(), which tells how much it was.
  if (owed_ == 0 && has_pending()) {
    flush_pending();
    if (!has_pending() && is_ending_) {
      is_ending_ = false;
      below_.shutdown();
    }
    if (handshake_ == nullptr) update_interest();
  }
  if (handshake_ != nullptr) {
    step();
  } else if (wants_write_) {
    owner_->on_writable();
  }
}

void Transport::on_peer_closed() noexcept {
  const Event event(*this);
  if (handshake_ != nullptr) {
    step();
  } else {
    owner_->on_peer_closed();
  }
}

void Transport::on_broken() noexcept {
  const Event event(*this);
  below_error_ = ECONNRESET;
  if (handshake_ != nullptr) {
    refuse(Error(ErrorKind::Closed));
  } else {
    owner_->on_broken();
  }
}

// Bytes that were read below already, or an end that read() has seen behind bytes.
void Transport::on_ready() noexcept {
  if (is_closed_ || !wants_read_ || handshake_ != nullptr) return;
  const Event event(*this);
  owner_->on_readable();
}

void Transport::want(bool read, bool write) noexcept {
  if (is_closed_) return;
  wants_read_ = read;
  wants_write_ = write;
  update_interest();
  if (read && (end_ != kOpen || (is_open_ && has_unread()))) shared_.loop.defer(ready_);
}

void Transport::update_interest() noexcept { below_.want(wants_read_, wants_write_ || has_pending()); }

// --- the handshake

void Transport::step() noexcept {
  is_drained_ = is_blocked_ = false;
  restore_input();
  listen_for_secrets(true);
  const int result = SSL_do_handshake(ssl_);
  listen_for_secrets(false);
  keep_input();
  flush_gathered();
  if (result == 1) {
    is_open_ = true;
    take_over();
    std::exchange(handshake_, nullptr)->on_secure(*this);
    if (layer_ != nullptr) leave_openssl();
  } else if (is_blocked_ && below_error_ == 0) {
    below_.want(true, has_pending());
  } else {
    refuse(below_error_ != 0 ? Error(ErrorKind::System, below_error_) : take_error());
  }
}

// The context is that of all connections of the loop, but they shake hands one at a time.
void Transport::listen_for_secrets(bool is_on) noexcept {
  if (secrets_ != nullptr) SSL_CTX_set_keylog_callback(SSL_get_SSL_CTX(ssl_), is_on ? &RecordBio::on_secret : nullptr);
}

// Where all is as it is meant to be, the connection goes on without OpenSSL's object; otherwise it stays there.
void Transport::take_over() noexcept {
  const std::unique_ptr<Secrets> secrets = std::move(secrets_);
  if (!context_) return;
  SSL_set_msg_callback(ssl_, nullptr);
  SSL_set_read_ahead(ssl_, 1);
  Suite suite{};
  const bool can_leave =
      secrets != nullptr && SSL_version(ssl_) == TLS1_3_VERSION && suite_of(ssl_, suite) &&
      SSL_has_pending(ssl_) == 0 &&
      SSL_SESSION_get_max_fragment_length(SSL_get_session(ssl_)) == TLSEXT_max_fragment_length_DISABLED;
  if (!can_leave) return;
  layer_.reset(new (std::nothrow) RecordLayer(shared_.ciphers, suite));
  if (layer_ != nullptr && !layer_->start(secrets->client(), secrets->server(), secrets->sent_count()))
    layer_ = nullptr;
  ERR_clear_error();
}

void Transport::leave_openssl() noexcept {
  SSL_free(std::exchange(ssl_, nullptr));
  context_ = {};
}

void Transport::refuse(Error why) noexcept {
  error_ = why;
  std::exchange(handshake_, nullptr)->on_refused(*this, why);
}

void Transport::answer_plainly(std::string_view text) noexcept {
  const iovec piece{const_cast<char*>(text.data()), text.size()};
  [[maybe_unused]] const ssize_t sent = below_.write(&piece, 1);
}

std::string_view Transport::protocol() const noexcept {
  const unsigned char* data = nullptr;
  unsigned size = 0;
  if (ssl_ != nullptr) SSL_get0_alpn_selected(ssl_, &data, &size);
  return {reinterpret_cast<const char*>(data), size};
}

std::string_view Transport::version() const noexcept {
  return layer_ != nullptr ? std::string_view("TLSv1.3") : std::string_view(SSL_get_version(ssl_));
}

std::string_view Transport::cipher() const noexcept {
  return layer_ != nullptr ? name_of(layer_->suite()) : SSL_CIPHER_get_name(SSL_get_current_cipher(ssl_));
}

std::string_view Transport::server_name() const noexcept {
  const char* const name = ssl_ != nullptr ? SSL_get_servername(ssl_, TLSEXT_NAMETYPE_host_name) : nullptr;
  return name != nullptr ? name : std::string_view();
}

bool Transport::is_resumed() const noexcept { return ssl_ != nullptr && SSL_session_reused(ssl_) == 1; }

bool Transport::peer_certificate(PeerCertificate& certificate) const {
  const X509* const shown = ssl_ != nullptr ? SSL_get0_peer_certificate(ssl_) : nullptr;
  if (shown == nullptr || SSL_get_verify_result(ssl_) != X509_V_OK) return false;
  const BioPtr text(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(text.get(), X509_get_subject_name(shown), 0, XN_FLAG_RFC2253);
  const char* data = nullptr;
  const long size = BIO_get_mem_data(text.get(), &data);
  certificate.subject.assign(data, static_cast<std::size_t>(std::max(size, 0L)));
  certificate.names = alternative_names(const_cast<X509*>(shown));
  return true;
}

}  // namespace violet::tls
