#pragma once

// decompress: middleware that decodes the bodies of requests with a Content-Encoding (RFC 9110 §8.4), so that handlers
// get what the client meant: gzip, deflate, brotli, zstd.
//
//   app.use(decompress);
//
// The limits of bodies count decoded bytes, and body_ratio_max how much a body may grow by. An unknown coding, or more
// than one, is answered 415 with the codings that are known (RFC 9110 §15.5.16), a malformed body 400. What is decoded
// loses its Content-Encoding and Content-Length. Without this middleware, handlers get bodies as they came.

#include "violet/core/exchange.h"

namespace violet {

class Decompress {
 public:
  void on_request(Exchange& exchange) const;
};

inline constexpr Decompress decompress;

}  // namespace violet
