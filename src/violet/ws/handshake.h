#pragma once

// The opening handshake (RFC 6455 §4, RFC 8441 §5): what a request must be, and what answers it. Texts only; sockets
// are made elsewhere.

#include "violet/core/exchange.h"
#include "violet/ws/deflate/params.h"
#include "violet/ws/settings.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace violet::ws {

inline constexpr std::size_t kKeyBytes = 24;     // base64 of 16 octets
inline constexpr std::size_t kAcceptBytes = 28;  // base64 of 20

// Sec-WebSocket-Accept for a key (RFC 6455 §4.2.2).
std::array<char, kAcceptBytes> accept_value(std::string_view key) noexcept;
// Base64 of exactly 16 octets.
bool is_key(std::string_view key) noexcept;
// Base64 of 16 octets.
std::array<char, kKeyBytes> key_of(std::span<const std::uint8_t, 16> nonce) noexcept;

// Whether a page of `origin` may open a socket on the host `authority`: its own, one of `allowed`, or any for "*".
bool is_origin_allowed(std::string_view origin, std::string_view authority,
                       const std::vector<std::string>& allowed) noexcept;

// The first of the client's subprotocols that `known` has; "" when there is none.
std::string_view choose_protocol(const http::Fields& fields, const std::vector<std::string>& known) noexcept;

// Looks at a request. When it cannot become a WebSocket it is answered (400, 403, 405, 426, 503) and false returned.
bool check_request(Exchange& exchange, const Options& options);
// Status and fields of the answer that accepts, into exchange.response(), and what was agreed upon. REQUIRES:
// check_request().
struct Accepted {
  DeflateParams deflate;
  std::string_view protocol;  // one of the options'
};
Accepted accept_request(Exchange& exchange, const Options& options);

}  // namespace violet::ws
