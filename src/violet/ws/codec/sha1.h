#pragma once

// SHA-1 (FIPS 180-4) for the one thing WebSocket wants it for: showing that the handshake was understood (RFC 6455
// §4.2.2). Not for secrets.

#include <array>
#include <cstdint>
#include <string_view>

namespace violet::ws {

std::array<std::uint8_t, 20> sha1(std::string_view text) noexcept;

}  // namespace violet::ws
