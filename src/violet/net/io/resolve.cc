#include "violet/net/io/resolve.h"

#include "violet/net/socket.h"

#include <netdb.h>
#include <sys/socket.h>

namespace violet::net {

Result<std::vector<Address>> resolve(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* found = nullptr;
  int status = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (status != 0) {
    // A host that has only loopback addresses is configured with none.
    hints.ai_flags = 0;
    status = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  }
  if (status != 0) return fail(ErrorKind::Address, status);
  std::vector<Address> addresses;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    if (one->ai_family != AF_INET && one->ai_family != AF_INET6) continue;
    Address address = address_of(one->ai_addr);
    address.port = port;
    addresses.push_back(address);
  }
  ::freeaddrinfo(found);
  if (addresses.empty()) return fail(ErrorKind::Address);
  return addresses;
}

}  // namespace violet::net
