#include "violet/server/opening.h"

#include "violet/server/proxy_header.h"
#include "violet/tls/error.h"

#include <algorithm>
#include <cerrno>

namespace violet {
namespace {

// For a browser or script that has forgotten the "s" of https.
constexpr std::string_view kPlainAnswer =
    "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 46\r\nConnection: close\r\n\r\n"
    "This port speaks TLS; the URL has to be https\n";
static_assert(kPlainAnswer.size() - kPlainAnswer.find("\r\n\r\n") - 4 == 46);

Ref<Security> security_of(const tls::Transport& transport) {
  auto security = Ref<Security>::adopt(new Security);
  security->version = transport.version();
  security->cipher = transport.cipher();
  security->server_name = transport.server_name();
  security->is_resumed = transport.is_resumed();
  tls::PeerCertificate certificate;
  security->has_client_certificate = transport.peer_certificate(certificate);
  security->client_subject = std::move(certificate.subject);
  security->client_names = std::move(certificate.names);
  return security;
}

}  // namespace

Opening::Opening(Loop& loop, const Limits& limits, Host& host, net::Transport& transport,
                 Connection connection) noexcept
    : loop_(loop), limits_(limits), host_(host), transport_(&transport), connection_(std::move(connection)) {}

Opening::~Opening() { VIOLET_ASSERT(transport_ == nullptr); }

void Opening::start(const Way& way) noexcept {
  way_ = way;
  if (limits_.handshake_ms > 0) loop_.timers().arm(timer_, loop_.now_ms() + limits_.handshake_ms);
  if (!way_.expects_proxy) {
    begin_handshake();
    return;
  }
  transport_->set_owner(*this);
  transport_->want(true, false);
}

void Opening::abort(Error why) noexcept {
  timer_.cancel();
  std::exchange(transport_, nullptr)->close();
  host_.on_not_opened(*this, why);
}

void Opening::on_timer() noexcept {
  abort(Error(ErrorKind::Timeout, static_cast<std::int32_t>(LimitId::handshake_ms)));
}

void Opening::on_peer_closed() noexcept { abort(Error(ErrorKind::Closed)); }
void Opening::on_broken() noexcept { abort(Error(ErrorKind::Closed)); }

// --- the PROXY header

// Looks first and takes then, so that nothing behind the header is taken from whoever reads on.
void Opening::on_readable() noexcept {
  char piece[1024];
  const std::size_t before = header_.size();
  const ssize_t n = transport_->peek(piece, sizeof piece);
  if (n == -EAGAIN) return;
  if (n <= 0) {
    abort(Error(ErrorKind::Closed));
    return;
  }
  header_.append(piece, static_cast<std::size_t>(n));
  const ProxyHeader header = parse_proxy_header(header_, limits_.proxy_header_bytes_max);
  if (header.verdict == ProxyHeader::Verdict::Bad) {
    abort(Error(ErrorKind::Protocol));
    return;
  }
  const bool is_done = header.verdict == ProxyHeader::Verdict::Done;
  const std::size_t wanted = is_done ? header.size - before : static_cast<std::size_t>(n);
  if (transport_->read(piece, wanted) != static_cast<ssize_t>(wanted)) {
    abort(Error(ErrorKind::Closed));
    return;
  }
  if (is_done) take_proxy_header(header.source);
}

void Opening::take_proxy_header(const Address& source) noexcept {
  if (source.family != Address::Family::None) connection_.peer = source;
  header_ = {};
  if (way_.context != nullptr) {
    begin_handshake();
  } else {
    end(way_.protocol);
  }
}

// --- TLS

void Opening::begin_handshake() noexcept {
  tls::Transport* const secure = tls::Transport::accept(*way_.shared, *way_.context, *transport_, *this);
  if (secure == nullptr) {
    abort(Error(ErrorKind::Busy));
  } else {
    transport_ = secure;
  }
}

void Opening::on_secure(tls::Transport& transport) noexcept {
  connection_.is_secure = true;
  connection_.security = security_of(transport);
  end(transport.protocol());
}

void Opening::on_refused(tls::Transport& transport, Error why) noexcept {
  if (tls::is_plain_http(why)) transport.answer_plainly(kPlainAnswer);
  abort(why);
}

void Opening::end(std::string_view protocol) noexcept {
  timer_.cancel();
  host_.on_opened(*this, *std::exchange(transport_, nullptr), connection_, protocol);
}

}  // namespace violet
