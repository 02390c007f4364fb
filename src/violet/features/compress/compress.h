#pragma once

// compress: middleware that encodes the bodies of answers as the client accepts it (RFC 9110 §12.5.3): gzip, deflate,
// brotli, zstd, on every wire.
//
//   app.use(compress);
//   app.use(compress({.order = {http::Coding::Brotli, http::Coding::Gzip}, .min_bytes = 256}));
//
// Register it first, so that what other middleware does to an answer is done before it is encoded. Left alone are: what
// is not worth it by type or size, 1xx, 204, 206 and 304, what has a Content-Encoding already or forbids it
// (Cache-Control: no-transform). Strong ETags become weak, because the bytes are others (RFC 9110 §8.8.1); answers that
// would be encoded for another client carry Vary: Accept-Encoding. A client that accepts neither identity nor any
// coding offered gets 406.
//
// A secret and a client's own text in one encoded body can be guessed from its length (BREACH): leave such pages out
// by `never`, or by Cache-Control: no-transform.

#include "violet/core/exchange.h"
#include "violet/features/compress/options.h"

#include <memory>

namespace violet {

class Compress {
 public:
  constexpr Compress() noexcept = default;
  explicit Compress(CompressOptions options);

  [[nodiscard]] Compress operator()(CompressOptions options) const { return Compress(std::move(options)); }

  void on_reply(Exchange& exchange, http::Head& head, Body& body) const;

 private:
  std::shared_ptr<const CompressOptions> options_;  // nullptr: the defaults
};

inline constinit const Compress compress;

}  // namespace violet
