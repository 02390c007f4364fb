#pragma once

// resolve: the addresses of a host, by the system's resolver. It blocks: for worker threads (event/offload.h).

#include "violet/base/address.h"
#include "violet/base/error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace violet::net {

// In the order in which they should be tried (RFC 6724, as the system does it). `host` is a name, or an address without
// brackets. Address: no such name; detail: the resolver's code.
Result<std::vector<Address>> resolve(const std::string& host, std::uint16_t port);

}  // namespace violet::net
