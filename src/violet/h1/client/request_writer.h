#pragma once

// Writing heads of HTTP/1.1 requests (RFC 9112 §3, §6, §9).

#include "violet/http/head.h"
#include "violet/net/io/output.h"

#include <cstdint>

namespace violet::h1::client {

// How a request says where its body ends. The wire decides, not the caller.
struct RequestFraming {
  enum class Kind : std::uint8_t {
    None,     // no body and no word about one
    Length,   // Content-Length
    Chunked,  // Transfer-Encoding: chunked
  };
  Kind kind = Kind::None;
  std::uint64_t length = 0;
};

// Request line, Host from head.authority, the head's fields but those that only the wire may write, framing, empty
// line. An Upgrade field goes with its connection option (RFC 9110 §7.8). REQUIRES: target and authority hold nothing
// that could end a line; see is_sendable().
void write_request_head(net::Output& output, const http::Head& head, const RequestFraming& framing);

// Whether method, target and authority can stand in a request line and a Host field: a token, no white space or
// control, an authority (RFC 9112 §3).
[[nodiscard]] bool is_sendable(const http::Head& head) noexcept;

}  // namespace violet::h1::client
