#include "violet/net/listener.h"

#include "violet/base/ascii.h"
#include "violet/net/socket.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace violet::net {
namespace {

constexpr int kBurstMax = 64;  // connections taken before others get their turn
constexpr std::uint64_t kRetryMs = 100;
constexpr int kShedAfter = 10;  // retries without descriptors before waiting peers are turned away

std::unexpected<Error> system_error() { return fail(ErrorKind::System, errno); }

// Removes a socket file that nobody listens on any more.
Result<void> remove_stale(const sockaddr_un& name) {
  struct stat info{};
  if (::lstat(name.sun_path, &info) != 0) return {};
  if (!S_ISSOCK(info.st_mode)) return fail(ErrorKind::Conflict);
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (probe < 0) return system_error();
  const int error = ::connect(probe, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0 ? 0 : errno;
  ::close(probe);
  if (error != ECONNREFUSED) return fail(ErrorKind::Conflict);
  if (::unlink(name.sun_path) != 0) return system_error();
  return {};
}

Result<int> open_unix(const std::string& path, const ListenOptions& options) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof name.sun_path) return fail(ErrorKind::Address);
  std::memcpy(name.sun_path, path.data(), path.size());
  VIOLET_TRY_VOID(remove_stale(name));
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return system_error();
  // The mode is set between bind and listen: nobody can connect before it holds.
  if (::bind(descriptor, reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0 ||
      ::chmod(path.c_str(), static_cast<mode_t>(options.unix_mode)) != 0) {
    const Error error(ErrorKind::System, errno);
    ::close(descriptor);
    return fail(error);
  }
  return descriptor;
}

Result<int> open_tcp(const Endpoint& endpoint, const ListenOptions& options) {
  const SocketAddress name = socket_address(endpoint.address);
  const bool is_ipv6 = endpoint.address.family == Address::Family::Ipv6;
  const int descriptor = ::socket(is_ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return system_error();
  const int on = 1;
  // With SO_REUSEPORT a second server of the same user would share the port unnoticed. A bind without it tells whether
  // somebody else is there.
  if (options.reuse_port && options.is_first && endpoint.address.port != 0) {
    ListenOptions alone = options;
    alone.reuse_port = false;
    const Result<int> probe = open_tcp(endpoint, alone);
    if (!probe) {
      ::close(descriptor);
      return probe;
    }
    ::close(*probe);
  }
  const int only_ipv6 = endpoint.is_dual ? 0 : 1;
  // Accepted sockets inherit TCP_NODELAY on Linux, which saves a system call for each connection.
  if (::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      (options.reuse_port && ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) != 0) ||
      ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0 ||
      (is_ipv6 && ::setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &only_ipv6, sizeof only_ipv6) != 0) ||
      ::bind(descriptor, reinterpret_cast<const sockaddr*>(name.storage), name.size) != 0) {
    const Error error(ErrorKind::System, errno);
    ::close(descriptor);
    return fail(error);
  }
  return descriptor;
}

// The port that the kernel chose; 0 when it does not say.
std::uint16_t port_of(int descriptor) {
  SocketAddress name;
  socklen_t size = sizeof name.storage;
  if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(name.storage), &size) != 0) return 0;
  in_port_t port;
  // The port stands at the same place in both address families.
  std::memcpy(&port, name.storage + offsetof(sockaddr_in, sin_port), sizeof port);
  return ntohs(port);
}

}  // namespace

Result<Endpoint> Endpoint::parse(std::string_view url) {
  Endpoint endpoint;
  if (url.starts_with("unix:")) {
    endpoint.scheme = "http";
    endpoint.path = url.substr(5);
    endpoint.address.family = Address::Family::Unix;
    if (endpoint.path.empty()) return fail(ErrorKind::Address);
    return endpoint;
  }
  const std::size_t colon = url.find("://");
  if (colon == std::string_view::npos) return fail(ErrorKind::Address);
  endpoint.scheme = url.substr(0, colon);
  if (endpoint.scheme != "http" && endpoint.scheme != "https") return fail(ErrorKind::Address);
  std::string_view rest = url.substr(colon + 3);
  if (rest.ends_with('/')) rest.remove_suffix(1);
  std::string_view host;
  std::string_view port;
  if (rest.starts_with('[')) {
    const std::size_t close = rest.find(']');
    if (close == std::string_view::npos) return fail(ErrorKind::Address);
    host = rest.substr(1, close - 1);
    port = rest.substr(close + 1);
    // Brackets hold an IPv6 address and nothing else (RFC 3986 §3.2.2).
    if (host.find(':') == std::string_view::npos) return fail(ErrorKind::Address);
  } else {
    host = rest.substr(0, rest.find(':'));
    port = rest.substr(host.size());
  }
  std::uint16_t number = endpoint.scheme == "https" ? 443 : 80;
  if (!port.empty()) {
    const auto parsed = ascii::to_number<std::uint16_t>(port.substr(1));
    if (port.front() != ':' || !parsed) return fail(ErrorKind::Address);
    number = *parsed;
  }
  if (host == "localhost") host = "127.0.0.1";
  if (host == "*") {
    host = "::";
    endpoint.is_dual = true;
  }
  VIOLET_TRY(endpoint.address, Address::parse(host, number));
  if (endpoint.address.family == Address::Family::Ipv6 && host == "::") endpoint.is_dual = true;
  return endpoint;
}

std::string Endpoint::to_string() const {
  return address.family == Address::Family::Unix ? "unix:" + path : scheme + "://" + address.to_string();
}

Result<int> open_listening(Endpoint& endpoint, const ListenOptions& options) {
  const bool is_unix = endpoint.address.family == Address::Family::Unix;
  VIOLET_TRY(const int descriptor, is_unix ? open_unix(endpoint.path, options) : open_tcp(endpoint, options));
  if (::listen(descriptor, options.backlog) != 0) {
    const Error error(ErrorKind::System, errno);
    ::close(descriptor);
    return fail(error);
  }
  if (!is_unix && endpoint.address.port == 0) endpoint.address.port = port_of(descriptor);
  return descriptor;
}

Listener::Listener(Loop& loop, Acceptor& acceptor) noexcept
    : loop_(loop), acceptor_(acceptor), retry_(&Listener::on_retry) {
  watcher_.listener = this;
  retry_.listener = this;
}

Listener::~Listener() { VIOLET_ASSERT(is_closed()); }

Result<void> Listener::open(const Endpoint& endpoint, const ListenOptions& options) {
  VIOLET_ASSERT(descriptor_ < 0);
  endpoint_ = endpoint;
  VIOLET_TRY(const int descriptor, open_listening(endpoint_, options));
  VIOLET_TRY_VOID(adopt(descriptor));
  owns_path_ = endpoint.address.family == Address::Family::Unix;
  return {};
}

Result<void> Listener::take(const Endpoint& endpoint, int descriptor) {
  VIOLET_ASSERT(descriptor_ < 0);
  endpoint_ = endpoint;
  return adopt(descriptor);
}

Result<void> Listener::share(const Listener& other) {
  VIOLET_ASSERT(descriptor_ < 0 && other.descriptor_ >= 0);
  endpoint_ = other.endpoint_;
  const int descriptor = ::fcntl(other.descriptor_, F_DUPFD_CLOEXEC, 0);
  if (descriptor < 0) return system_error();
  return adopt(descriptor);
}

Result<void> Listener::adopt(int descriptor) {
  if (const int error = watcher_.open(loop_, descriptor, kCalls); error != 0) {
    ::close(descriptor);
    return fail(ErrorKind::Uv, error);
  }
  descriptor_ = descriptor;
  reserve_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  return {};
}

void Listener::start() noexcept {
  is_started_ = true;
  if (!is_full_) watcher_.watch(Watcher::kRead);
}

void Listener::pause() noexcept {
  is_started_ = false;
  watcher_.watch(Watcher::kNone);
}

void Listener::close() noexcept {
  if (descriptor_ < 0) return;
  retry_.cancel();
  is_closing_ = true;
  is_started_ = is_full_ = false;
  watcher_.close();
  ::close(descriptor_);
  descriptor_ = -1;
  if (reserve_ >= 0) ::close(reserve_);
  reserve_ = -1;
  if (owns_path_) ::unlink(endpoint_.path.c_str());
}

constinit const Watcher::Calls Listener::kCalls{&Listener::on_events, &Listener::on_closed};

void Listener::on_closed(Watcher& watcher) noexcept { static_cast<Ready&>(watcher).listener->is_closing_ = false; }

void Listener::on_events(Watcher& watcher, int error, int) noexcept {
  if (error == 0) static_cast<Ready&>(watcher).listener->accept_burst();
}

void Listener::accept_burst() noexcept {
  for (int i = 0; i < kBurstMax && is_started_; ++i) {
    if (!acceptor_.has_room()) {
      wait_for_room(Error(ErrorKind::Busy));
      return;
    }
    SocketAddress name;
    socklen_t size = sizeof name.storage;
    const int descriptor =
        ::accept4(descriptor_, reinterpret_cast<sockaddr*>(name.storage), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor >= 0) {
      exhausted_count_ = 0;
      acceptor_.on_accept(descriptor, address_of(name.storage));
      continue;
    }
    switch (errno) {
      case EAGAIN: return;
      case EMFILE:
      case ENFILE:
      case ENOBUFS:
      case ENOMEM: {
        const Error why(ErrorKind::System, errno);
        if (++exhausted_count_ > kShedAfter) shed_one();
        wait_for_room(why);
        return;
      }
      default: break;  // EINTR, ECONNABORTED, and network errors of the new socket: the next one may be good
    }
  }
}

// Nothing is lost by waiting: peers stay in the backlog until there is room again.
void Listener::wait_for_room(Error why) noexcept {
  if (!is_full_) acceptor_.on_accept_paused(why);
  is_full_ = true;
  watcher_.watch(Watcher::kNone);
  loop_.timers().arm_after(retry_, kRetryMs);
}

// Descriptors have been used up for long: a peer that waits is told so by a close instead of silence.
void Listener::shed_one() noexcept {
  if (reserve_ < 0) return;
  ::close(reserve_);
  const int descriptor = ::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC);
  if (descriptor >= 0) ::close(descriptor);
  reserve_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}

void Listener::on_retry(Timer& timer) noexcept { static_cast<Retry&>(timer).listener->resume_slow(); }

void Listener::resume_slow() noexcept {
  if (!is_full_) return;
  retry_.cancel();
  is_full_ = false;
  if (is_started_) watcher_.watch(Watcher::kRead);
}

}  // namespace violet::net
