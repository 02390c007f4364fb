#include "tests/support/client.h"

#include "violet/net/socket.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace violet::test {

bool Client::connect(const net::Endpoint& endpoint) {
  close();
  const bool is_unix = endpoint.address.family == Address::Family::Unix;
  const bool is_ipv6 = endpoint.address.family == Address::Family::Ipv6;
  descriptor_ = ::socket(is_unix ? AF_UNIX : is_ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor_ < 0) return false;
  int result = 0;
  if (is_unix) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path, endpoint.path.data(), endpoint.path.size());
    result = ::connect(descriptor_, reinterpret_cast<const sockaddr*>(&name), sizeof name);
  } else {
    net::Endpoint target = endpoint;
    if (target.address.to_string().starts_with("[::]")) target.address = *Address::parse("::1", endpoint.address.port);
    const net::SocketAddress name = net::socket_address(target.address);
    result = ::connect(descriptor_, reinterpret_cast<const sockaddr*>(name.storage), name.size);
  }
  if (result != 0) {
    const int error = errno;
    close();
    errno = error;
  }
  return result == 0;
}

bool Client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

bool Client::wait_readable(int most_ms) {
  pollfd waiting{.fd = descriptor_, .events = POLLIN, .revents = 0};
  return ::poll(&waiting, 1, most_ms) == 1;
}

std::string Client::read_some(std::size_t most, int most_ms) {
  std::string bytes(most, '\0');
  if (descriptor_ < 0 || !wait_readable(most_ms)) return {};
  const ssize_t n = ::recv(descriptor_, bytes.data(), bytes.size(), 0);
  bytes.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return bytes;
}

Reply Client::reply(int most_ms, ReadAs as) {
  for (;;) {
    if (auto reply = reader_.next(as)) return std::move(*reply);
    if (!reader_.error().empty() || as.is_ended) return {};
    const std::string bytes = read_some(65'536, most_ms);
    as.is_ended = bytes.empty();
    reader_.add(bytes);
  }
}

bool Client::is_closed_within(int most_ms) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(most_ms);
  char bytes[4096];
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() < 0 || !wait_readable(static_cast<int>(left.count()))) return false;
    if (::recv(descriptor_, bytes, sizeof bytes, 0) <= 0) return true;
  }
}

void Client::half_close() { ::shutdown(descriptor_, SHUT_WR); }

void Client::reset() {
  const linger now{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close();
}

void Client::close() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

void Client::shrink_receive_buffer() {
  const int bytes = 4096;
  ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

int start_child(const std::function<int()>& body) {
  const int pid = ::fork();
  if (pid == 0) ::_exit(body());
  return pid;
}

int wait_child(int pid, int most_ms) {
  int status = 0;
  if (!eventually([&] { return ::waitpid(pid, &status, WNOHANG) == pid; }, most_ms)) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, &status, 0);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

int in_child(const std::function<int()>& body, int most_ms) { return wait_child(start_child(body), most_ms); }

bool eventually(const std::function<bool()>& is_true, int most_ms) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(most_ms);
  while (!is_true()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace violet::test
