#pragma once

// Network: the addresses that begin with the same bits, "10.0.0.0/8", "2001:db8::/32", "192.0.2.7", or all Unix
// sockets, "unix". IPv4 addresses written as IPv6 ("::ffff:192.0.2.7", as sockets for both report them) count as what
// they are.

#include "violet/base/address.h"
#include "violet/base/error.h"

#include <string_view>

namespace violet::forwarded {

class Network {
 public:
  // Invalid: no address, more bits than it has, or bits set behind those that count.
  static Result<Network> parse(std::string_view text);
  [[nodiscard]] bool contains(const Address& address) const noexcept;

 private:
  Network(const Address& first, int bit_count) noexcept : first_(first), bit_count_(bit_count) {}

  Address first_;
  int bit_count_;
};

}  // namespace violet::forwarded
