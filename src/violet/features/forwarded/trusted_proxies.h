#pragma once

// trusted_proxies: middleware for an app behind proxies: handlers, logs and limits see the client's address, scheme and
// host instead of the nearest proxy's.
//
//   app.use(trusted_proxies({.networks = {"10.0.0.0/8", "fd00::/8"}}));
//   app.use(trusted_proxies({.networks = {"unix"}, .by = ForwardedBy::Forwarded}));
//
// Only what a proxy of these networks says counts: the list is read from its end, where the nearest proxy has added who
// came to it, as long as those are proxies of these networks themselves; the first one that is not is the client. An
// address that is hidden ("unknown", "_secret") or none at all ends the walk: then the last proxy that is known counts.
// Fields of other peers, and of the kind that is not read, are taken off the request, so that nobody believes them.
//
// Request::peer(), PeerAddress, is_secure(), scheme() and authority() change; connection() and security() stay those of
// the connection. Use it before everything that asks who the client is.

#include "violet/core/exchange.h"
#include "violet/web/endpoint.h"

#include <memory>
#include <string>
#include <vector>

namespace violet {

enum class ForwardedBy : std::uint8_t {
  XForwarded,  // X-Forwarded-For, X-Forwarded-Proto
  Forwarded,   // RFC 7239
};

struct TrustedProxyOptions {
  // "10.0.0.0/8", "2001:db8::/32", "192.0.2.7"; "unix" for peers on Unix sockets.
  std::vector<std::string> networks;
  // The fields that these proxies set. Others pass on what a client has made up.
  ForwardedBy by = ForwardedBy::XForwarded;
  // Believes X-Forwarded-Host, too: only for proxies that set or remove it on every request.
  bool x_forwarded_host = false;
};

class TrustedProxies {
 public:
  explicit TrustedProxies(TrustedProxyOptions options);

  void bind(web::Binding& binding) const;
  void on_request(Exchange& exchange) const;

 private:
  struct Trust;
  std::shared_ptr<const Trust> trust_;
};

[[nodiscard]] inline TrustedProxies trusted_proxies(TrustedProxyOptions options) {
  return TrustedProxies(std::move(options));
}

}  // namespace violet
