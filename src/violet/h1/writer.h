#pragma once

// Writing heads of HTTP/1.1 responses (RFC 9112 §4, §6, §9).

#include "violet/core/site.h"
#include "violet/http/head.h"
#include "violet/net/io/output.h"

#include <cstdint>
#include <string_view>

namespace violet::h1 {

using net::Output;

// How a response says where it ends and what becomes of the connection. The wire decides, not the handler.
struct AnswerFraming {
  enum class Kind : std::uint8_t {
    None,     // no body and no word about one (1xx, 204, CONNECT)
    Length,   // Content-Length
    Kept,     // a bodyless answer that may carry the handler's own Content-Length (304, HEAD)
    Chunked,  // Transfer-Encoding: chunked
    Close,    // the end of the connection is the end of the body (HTTP/1.0)
  };
  Kind kind = Kind::Length;
  std::uint64_t length = 0;
  bool closes = false;           // Connection: close
  bool says_keep_alive = false;  // Connection: keep-alive, for HTTP/1.0
};

// Status line, Date, Server, the head's fields but those that only the wire may write, framing, empty line. A 1xx head
// gets neither Date nor Server. `body`: a small body to go right behind it.
void write_head(Output& output, const http::Head& head, const AnswerFraming& framing, Site& site,
                std::string_view body = {});

// The same for the usual answer: 200 with `length` bytes on a connection that stays. REQUIRES: head.status == 200;
// `body` is all of them, or empty.
void write_plain_answer(Output& output, const http::Head& head, Site& site, std::uint64_t length,
                        std::string_view body);

// "1a\r\n"
void write_chunk_line(Output& output, std::uint64_t size);

// The last chunk and the trailer section (RFC 9112 §7.1.2); `trailers` may be nullptr.
void write_last_chunk(Output& output, const http::Fields* trailers);

}  // namespace violet::h1
