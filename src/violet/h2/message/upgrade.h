#pragma once

// The way from HTTP/1.1 to HTTP/2 by Upgrade: h2c (RFC 7540 §3.2): a request that was read by HTTP/1.1 becomes
// stream 1.

#include "violet/http/head.h"

#include <optional>
#include <string>
#include <string_view>

namespace violet::h2 {

// The payload of SETTINGS that HTTP2-Settings holds in base64url without padding. nullopt: it is none.
[[nodiscard]] std::optional<std::string> decode_settings(std::string_view text);

// Copies a request into the arena of `to`, without what belonged to the connection that it came on.
void copy_request(const http::Head& from, http::Head& to);

}  // namespace violet::h2
