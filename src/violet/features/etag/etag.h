#pragma once

// etag: middleware that gives answers an ETag made from their bytes, and answers 304 to a client that has them already
// (RFC 9110 §8.8.3, §13.1.2).
//
//   app.use(compress, etag);
//   app.use(etag({.strong = true}));
//
// For 200 to GET and HEAD, where the whole body is there and no larger than etag_bytes_max; what has an ETag already
// (files do), or forbids to be stored (Cache-Control: no-store), is left alone. The handler runs all the same: bytes on
// the wire are saved, not work. Tags are weak unless asked for strong ones: a weak one says that the content is the
// same, a strong one that each byte is (which compress, standing before it, takes back for what it encodes).

#include "violet/core/exchange.h"

namespace violet {

struct EtagOptions {
  bool strong = false;
};

class Etag {
 public:
  constexpr Etag() noexcept = default;
  constexpr explicit Etag(const EtagOptions& options) noexcept : options_(options) {}
  [[nodiscard]] constexpr Etag operator()(const EtagOptions& options) const noexcept { return Etag(options); }

  void on_reply(Exchange& exchange, http::Head& head, Body& body) const;

 private:
  EtagOptions options_;
};

inline constexpr Etag etag;

}  // namespace violet
