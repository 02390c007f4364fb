#pragma once

// The PROXY header, versions 1 and 2 (HAProxy's proxy-protocol.txt), with which a load balancer says who its client is.
// Only for listeners that are told to expect it: whoever can reach one can claim any address.

#include "violet/base/address.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace violet {

struct ProxyHeader {
  enum class Verdict : std::uint8_t { More, Done, Bad };

  Verdict verdict = Verdict::More;
  std::size_t size = 0;  // of the header, when it is done
  // The client and the address it came to; Family::None where the header names none: the balancer speaks for itself
  // (LOCAL, UNKNOWN), or came by a socket that has no addresses.
  Address source;
  Address destination;
};

// Reads the header at the beginning of `bytes`; Bad as soon as they cannot become one of at most `bytes_max` bytes.
ProxyHeader parse_proxy_header(std::string_view bytes, std::size_t bytes_max) noexcept;

}  // namespace violet
