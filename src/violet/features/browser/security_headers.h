#pragma once

// security_headers: middleware that tells browsers what pages of this app may not do.
//
//   app.use(security_headers);
//   app.use(security_headers({.content_security_policy = "default-src 'self' https://cdn.example"}));
//
// A field that a handler has set by itself stays. "" leaves a field out. Strict-Transport-Security goes only to those
// who came over TLS (RFC 6797 §7.2), behind a proxy as trusted_proxies tells.

#include "violet/core/exchange.h"
#include "violet/web/endpoint.h"

#include <memory>
#include <string>
#include <utility>

namespace violet {

struct SecurityHeaderOptions {
  std::string content_security_policy =
      "default-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'; object-src 'none'";
  std::string strict_transport_security = "max-age=31536000; includeSubDomains";
  std::string content_type_options = "nosniff";
  std::string frame_options = "DENY";
  std::string referrer_policy = "no-referrer";
  std::string cross_origin_opener_policy = "same-origin";
  std::string cross_origin_resource_policy = "same-origin";
  std::string cross_origin_embedder_policy = {};
  std::string permissions_policy = {};
};

class SecurityHeaders {
 public:
  constexpr SecurityHeaders() noexcept = default;
  explicit SecurityHeaders(SecurityHeaderOptions options)
      : options_(std::make_shared<const SecurityHeaderOptions>(std::move(options))) {}
  [[nodiscard]] SecurityHeaders operator()(SecurityHeaderOptions options) const {
    return SecurityHeaders(std::move(options));
  }

  void on_use();
  void bind(web::Binding& binding) const;
  void on_reply(Exchange& exchange, http::Head& head, Body& body) const;

 private:
  std::shared_ptr<const SecurityHeaderOptions> options_;
};

inline constinit const SecurityHeaders security_headers;

}  // namespace violet
