#include "violet/net/io/connect.h"

#include <cerrno>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace violet::net {

Result<SocketTransport*> connect(Loop& loop, const Address& to) {
  const SocketAddress address = socket_address(to);
  const int family = to.family == Address::Family::Ipv6 ? AF_INET6 : AF_INET;
  const int descriptor = ::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return fail(ErrorKind::System, errno);
  const int on = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(descriptor, reinterpret_cast<const sockaddr*>(address.storage), address.size) != 0 &&
      errno != EINPROGRESS) {
    const int error = errno;
    ::close(descriptor);
    return fail(ErrorKind::System, error);
  }
  return SocketTransport::open(loop, descriptor);
}

}  // namespace violet::net
