#pragma once

// Address: where a socket is bound or comes from: IPv4, IPv6 or a Unix socket. A small value without a socket.

#include "violet/base/error.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace violet {

struct Address {
  enum class Family : std::uint8_t { None, Ipv4, Ipv6, Unix };

  Family family = Family::None;
  std::uint16_t port = 0;
  std::array<std::uint8_t, 16> bytes{};  // network order; IPv4 uses the first four

  // "127.0.0.1", "::1", "unix"; no port.
  [[nodiscard]] std::string host() const;
  // "127.0.0.1:8080", "[::1]:8080", "unix".
  [[nodiscard]] std::string to_string() const;
  [[nodiscard]] bool is_loopback() const noexcept;
  // IPv4 where it is IPv4 in the form of IPv6 (RFC 4291 §2.5.5.2), as sockets for both report it.
  [[nodiscard]] Address plain() const noexcept;

  // An IP literal, without brackets. Invalid for anything else: no name is looked up.
  static Result<Address> parse(std::string_view host, std::uint16_t port);

  friend bool operator==(const Address&, const Address&) noexcept = default;
};
static_assert(sizeof(Address) == 20);

}  // namespace violet
