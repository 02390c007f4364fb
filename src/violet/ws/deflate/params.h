#pragma once

// The parameters of permessage-deflate (RFC 7692 §7.1): what a client offers, what a server takes of it, and what both
// then keep to.

#include "violet/http/fields.h"
#include "violet/ws/settings.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace violet::ws {

// As one end sees them. zlib cannot compress with a window of 8 bits (it can inflate one), so own_bits is 9 to 15.
struct DeflateParams {
  bool is_on : 1 = false;
  bool keeps_own : 1 = false;   // our window lives on from message to message
  bool keeps_peer : 1 = false;  // and the peer's
  std::uint8_t own_bits : 4 = 15;
  std::uint8_t peer_bits : 4 = 15;
  friend bool operator==(const DeflateParams&, const DeflateParams&) = default;
};

// A server's choice: the first of the request's offers that can be kept to. `answer` becomes the value of
// Sec-WebSocket-Extensions; is_on is false when there is none.
DeflateParams choose_deflate(const http::Fields& request, const Compression& wanted, std::string& answer);

// A client's offer.
std::string deflate_offer(const Compression& wanted);
// What a server made of it; nullopt when the answer is not within the offer, and the handshake fails (§7.1).
std::optional<DeflateParams> read_deflate_answer(const http::Fields& response, const Compression& wanted);

}  // namespace violet::ws
