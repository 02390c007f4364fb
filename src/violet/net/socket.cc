#include "violet/net/socket.h"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

namespace violet::net {
namespace {

// recv(), send() and sendmsg() are cancellation points of pthreads, which costs glibc 60 instructions in each call of a
// process with threads. Nobody cancels our threads, so the system calls are made without that.
#if defined(__linux__)
ssize_t receive(int descriptor, void* to, std::size_t size, int flags = 0) noexcept {
  return ::syscall(SYS_recvfrom, descriptor, to, size, flags, nullptr, nullptr);
}
ssize_t send_piece(int descriptor, const void* from, std::size_t size) noexcept {
  return ::syscall(SYS_sendto, descriptor, from, size, MSG_NOSIGNAL, nullptr, 0);
}
ssize_t send_message(int descriptor, const msghdr& message) noexcept {
  return ::syscall(SYS_sendmsg, descriptor, &message, MSG_NOSIGNAL);
}
#else
ssize_t receive(int descriptor, void* to, std::size_t size, int flags = 0) noexcept {
  return ::recv(descriptor, to, size, flags);
}
ssize_t send_piece(int descriptor, const void* from, std::size_t size) noexcept {
  return ::send(descriptor, from, size, MSG_NOSIGNAL);
}
ssize_t send_message(int descriptor, const msghdr& message) noexcept {
  return ::sendmsg(descriptor, &message, MSG_NOSIGNAL);
}
#endif

}  // namespace

static_assert(sizeof(SocketAddress::storage) >= sizeof(sockaddr_un));

SocketTransport& SocketTransport::of(Watcher& watcher) noexcept { return static_cast<SocketTransport&>(watcher); }

void SocketTransport::on_closed(Watcher& watcher) noexcept { delete &of(watcher); }

constinit const net::Watcher::Calls SocketTransport::kCalls{&SocketTransport::on_events, &SocketTransport::on_closed};

Result<SocketTransport*> SocketTransport::open(Loop& loop, int descriptor) {
  auto* transport = new SocketTransport(descriptor);
  if (const int error = transport->Watcher::open(loop, descriptor, kCalls); error != 0) {
    ::close(descriptor);
    delete transport;
    return fail(ErrorKind::Uv, error);
  }
  return transport;
}

Result<SocketTransport*> SocketTransport::connect(Loop& loop, const Address& address) {
  const int family = address.family == Address::Family::Ipv4 ? AF_INET : AF_INET6;
  const int descriptor = ::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return fail(ErrorKind::System, errno);
  const int yes = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  const SocketAddress target = socket_address(address);
  if (::connect(descriptor, reinterpret_cast<const sockaddr*>(target.storage), target.size) != 0 &&
      errno != EINPROGRESS) {
    const int error = errno;
    ::close(descriptor);
    return fail(ErrorKind::System, error);
  }
  return open(loop, descriptor);
}

void SocketTransport::on_events(Watcher& watcher, int error, int events) noexcept {
  SocketTransport& transport = of(watcher);
  Owner* owner = transport.owner_;
  if (error != 0) {
    owner->on_broken();
    return;
  }
  // Each call may close us, after which the watcher is no longer open.
  if ((events & Watcher::kWrite) != 0) owner->on_writable();
  if (!transport.is_open()) return;
  if ((events & Watcher::kRead) != 0) {
    owner->on_readable();
  } else if ((events & Watcher::kHangup) != 0 && !transport.is_peer_closed_) {
    transport.is_peer_closed_ = true;
    transport.watch(transport.watched() & ~Watcher::kHangup);
    owner->on_peer_closed();
  }
}

ssize_t SocketTransport::read(char* to, std::size_t size) noexcept {
  ssize_t n;
  do {
    n = receive(descriptor_, to, size);
  } while (n < 0 && errno == EINTR);
  return n < 0 ? -errno : n;
}

ssize_t SocketTransport::peek(char* to, std::size_t size) noexcept {
  ssize_t n;
  do {
    n = receive(descriptor_, to, size, MSG_PEEK);
  } while (n < 0 && errno == EINTR);
  return n < 0 ? -errno : n;
}

ssize_t SocketTransport::write(const iovec* pieces, int count) noexcept {
  ssize_t n;
  do {
    if (count == 1) {
      n = send_piece(descriptor_, pieces->iov_base, pieces->iov_len);
    } else {
      msghdr message{};
      message.msg_iov = const_cast<iovec*>(pieces);
      message.msg_iovlen = static_cast<std::size_t>(count);
      n = send_message(descriptor_, message);
    }
  } while (n < 0 && errno == EINTR);
  return n < 0 ? -errno : n;
}

ssize_t SocketTransport::send_file(int descriptor, std::uint64_t offset, std::size_t size) noexcept {
  auto position = static_cast<off_t>(offset);
  ssize_t n;
  do {
    n = ::sendfile(descriptor_, descriptor, &position, size);
  } while (n < 0 && errno == EINTR);
  return n < 0 ? -errno : n;
}

std::uint64_t SocketTransport::unread_bytes_max() const noexcept {
  int bytes = 0;
  return ::ioctl(descriptor_, FIONREAD, &bytes) == 0 ? static_cast<std::uint64_t>(bytes) : ~std::uint64_t{0};
}

void SocketTransport::want(bool read, bool write) noexcept {
  if (!is_open()) return;
  int events = (read ? Watcher::kRead : 0) | (write ? Watcher::kWrite : 0);
  // A closed peer is seen by reading; without that the kernel has to say it, and would say it again and again.
  if (!read && !is_peer_closed_) events |= Watcher::kHangup;
  watch(events);
}

void SocketTransport::shutdown() noexcept { ::shutdown(descriptor_, SHUT_WR); }

void SocketTransport::close() noexcept {
  if (!is_open()) return;
  Watcher::close();
  ::close(descriptor_);
}

void SocketTransport::close_by_reset() noexcept {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close();
}

Address SocketTransport::local() const noexcept {
  SocketAddress address;
  socklen_t size = sizeof address.storage;
  if (::getsockname(descriptor_, reinterpret_cast<sockaddr*>(address.storage), &size) != 0) return {};
  return address_of(address.storage);
}

Address address_of(const void* storage) noexcept {
  Address address;
  sa_family_t family;
  std::memcpy(&family, static_cast<const char*>(storage) + offsetof(sockaddr, sa_family), sizeof family);
  if (family == AF_INET) {
    sockaddr_in in;
    std::memcpy(&in, storage, sizeof in);
    address.family = Address::Family::Ipv4;
    address.port = ntohs(in.sin_port);
    std::memcpy(address.bytes.data(), &in.sin_addr, 4);
  } else if (family == AF_INET6) {
    sockaddr_in6 in;
    std::memcpy(&in, storage, sizeof in);
    address.port = ntohs(in.sin6_port);
    // A client of a dual-stack listener that speaks IPv4 is shown as what it is.
    if (IN6_IS_ADDR_V4MAPPED(&in.sin6_addr)) {
      address.family = Address::Family::Ipv4;
      std::memcpy(address.bytes.data(), reinterpret_cast<const char*>(&in.sin6_addr) + 12, 4);
    } else {
      address.family = Address::Family::Ipv6;
      std::memcpy(address.bytes.data(), &in.sin6_addr, 16);
    }
  } else if (family == AF_UNIX) {
    address.family = Address::Family::Unix;
  }
  return address;
}

SocketAddress socket_address(const Address& address) noexcept {
  SocketAddress result;
  if (address.family == Address::Family::Ipv4) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(address.port);
    std::memcpy(&in.sin_addr, address.bytes.data(), 4);
    std::memcpy(result.storage, &in, sizeof in);
    result.size = sizeof in;
  } else {
    VIOLET_ASSERT(address.family == Address::Family::Ipv6);
    sockaddr_in6 in{};
    in.sin6_family = AF_INET6;
    in.sin6_port = htons(address.port);
    std::memcpy(&in.sin6_addr, address.bytes.data(), 16);
    std::memcpy(result.storage, &in, sizeof in);
    result.size = sizeof in;
  }
  return result;
}

}  // namespace violet::net
