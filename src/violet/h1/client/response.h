#pragma once

// The HTTP/1.1 parser of responses: strict, in place, without state of its own (RFC 9112 §4-§7). It works like
// parse_head(): what is not all there is given again with more behind it, so it cannot matter how the bytes were split.
//
// What it refuses has been used to make a client, or a proxy's next client, read one message as two: bare CR or LF,
// folded lines, NUL, Content-Length that is no plain number or that comes twice, Transfer-Encoding that is not exactly
// "chunked" or that meets Content-Length or HTTP/1.0.

#include "violet/h1/parser.h"
#include "violet/http/head.h"

#include <cstdint>

namespace violet::h1::client {

// Where the body of a response ends (RFC 9112 §6.3), and what becomes of the connection.
struct ResponseFraming {
  enum class Kind : std::uint8_t {
    None,     // no body: 1xx, 204, 304, an answer to HEAD
    Length,   // content_length bytes, perhaps none
    Chunked,  // Transfer-Encoding: chunked
    Close,    // the end of the connection is the end of the body
    Raw,      // 101, or 2xx to CONNECT: no HTTP follows
  };
  Kind kind = Kind::None;
  std::uint64_t content_length = 0;
  bool keeps_alive = true;  // by version and Connection
};

// REQUIRES: kScanPadding readable bytes behind `end`; `head` new or cleared. `method`: of the request that is answered,
// which decides about the body. A head of more than limits.field_bytes_max bytes, status line included, is Bad.
Parsed parse_response(const char* begin, const char* end, const Limits& limits, http::Method method, http::Head& head,
                      ResponseFraming& framing);

}  // namespace violet::h1::client
