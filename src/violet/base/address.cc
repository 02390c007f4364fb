#include "violet/base/address.h"

#include <arpa/inet.h>
#include <cstring>

namespace violet {

std::string Address::host() const {
  if (family == Family::Unix) return "unix";
  if (family == Family::None) return "unknown";
  char text[INET6_ADDRSTRLEN];
  ::inet_ntop(family == Family::Ipv4 ? AF_INET : AF_INET6, bytes.data(), text, sizeof text);
  return text;
}

std::string Address::to_string() const {
  if (family == Family::Ipv4) return host() + ":" + std::to_string(port);
  if (family == Family::Ipv6) return "[" + host() + "]:" + std::to_string(port);
  return host();
}

bool Address::is_loopback() const noexcept {
  if (family == Family::Ipv4) return bytes[0] == 127;
  if (family != Family::Ipv6) return family == Family::Unix;
  for (std::size_t i = 0; i < 15; ++i) {
    if (bytes[i] != 0) return false;
  }
  return bytes[15] == 1;
}

Address Address::plain() const noexcept {
  static constexpr std::uint8_t kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (family != Family::Ipv6 || std::memcmp(bytes.data(), kMapped, sizeof kMapped) != 0) return *this;
  Address ipv4{.family = Family::Ipv4, .port = port};
  std::memcpy(ipv4.bytes.data(), bytes.data() + sizeof kMapped, 4);
  return ipv4;
}

Result<Address> Address::parse(std::string_view host, std::uint16_t port) {
  // A NUL would end the text for inet_pton(), whatever stands behind it.
  char text[INET6_ADDRSTRLEN];
  if (host.size() >= sizeof text || host.find('\0') != std::string_view::npos) return fail(ErrorKind::Address);
  std::memcpy(text, host.data(), host.size());
  text[host.size()] = 0;
  Address address{.port = port};
  if (::inet_pton(AF_INET, text, address.bytes.data()) == 1) {
    address.family = Family::Ipv4;
  } else if (::inet_pton(AF_INET6, text, address.bytes.data()) == 1) {
    address.family = Family::Ipv6;
  } else {
    return fail(ErrorKind::Address);
  }
  return address;
}

}  // namespace violet
