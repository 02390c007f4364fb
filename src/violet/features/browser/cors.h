#pragma once

// cors: middleware that tells browsers which pages of other origins may read the answers (Fetch Standard, CORS
// protocol).
//
//   app.use(cors({.origins = {"https://app.example", "https://*.app.example"}, .credentials = true}));
//   api.use(cors({.origins = {"*"}, .headers = {"Content-Type"}, .exposed = {"X-Request-ID"}}));
//
// A preflight (OPTIONS with Origin and Access-Control-Request-Method) for a path of its routes is answered here, 204 or
// 403; use it before what asks for credentials, because browsers send preflights without. Other requests run as ever,
// and their answers, errors included, get the fields that the origin may have. Answers that depend on the origin say so
// by Vary. CORS keeps pages from reading answers; it keeps no request away.
//
// What could not mean what it says keeps the app from starting: credentials for every origin ("*"), an origin with a
// path.

#include "violet/base/function.h"
#include "violet/core/exchange.h"
#include "violet/web/endpoint.h"
#include "violet/web/middleware.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace violet {

struct CorsOptions {
  // "https://a.example:8443", "https://*.a.example" for all hosts below, "null" for pages without an origin, "*" for
  // all.
  std::vector<std::string> origins = {};
  // Asked about origins that are not in the list; called by all loops at once.
  Function<bool(std::string_view origin)> allows = {};
  // What preflights may ask for, beside the methods and fields that need none; "*" for everything.
  std::vector<std::string> methods = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"};
  std::vector<std::string> headers = {};
  // Fields of answers that pages may read, beside the safe ones.
  std::vector<std::string> exposed = {};
  // Cookies, client certificates and Authorization may be sent by pages of these origins.
  bool credentials = false;
  // For how long a browser may keep the answer to a preflight. Browsers have bounds of their own.
  std::optional<std::uint32_t> max_age_s = 600;
  // Pages of public networks may ask a server in a private one (Private Network Access).
  bool private_network = false;
};

class Cors {
 public:
  explicit Cors(CorsOptions options);

  void bind(web::Binding& binding) const;
  Verdict on_request(Exchange& exchange) const;
  void on_reply(Exchange& exchange, http::Head& head, Body& body) const;

 private:
  struct Policy;
  std::shared_ptr<Policy> policy_;
};

[[nodiscard]] inline Cors cors(CorsOptions options) { return Cors(std::move(options)); }

}  // namespace violet
