// SocketTransport over real connections: ends, resets, and what a peer leaves behind.

#include "violet/net/socket.h"

#include "violet/event/loop.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace violet::net {
namespace {

// A transport and its peer's end, connected through a listening socket of their own.
class Pair final : public Transport::Owner {
 public:
  Pair() {
    const Loop::Scope scope(loop);
    const int listening = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    SocketAddress name = socket_address(*Address::parse("127.0.0.1", 0));
    socklen_t size = name.size;
    auto* to = reinterpret_cast<sockaddr*>(name.storage);
    EXPECT_EQ(::bind(listening, to, name.size), 0);
    EXPECT_EQ(::listen(listening, 1), 0);
    EXPECT_EQ(::getsockname(listening, to, &size), 0);
    peer = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(::connect(peer, to, size), 0);
    const int accepted = ::accept4(listening, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    ::close(listening);
    transport = *SocketTransport::open(loop, accepted);
    transport->set_owner(*this);
  }
  ~Pair() {
    transport->close();
    ::close(peer);
  }
  bool until(const std::function<bool()>& is_true) {
    const std::uint64_t end_us = Loop::clock_us() + 5'000'000;
    while (!is_true()) {
      if (Loop::clock_us() > end_us) return false;
      loop.step(5);
    }
    return true;
  }
  void send(std::string_view bytes) const { EXPECT_EQ(::send(peer, bytes.data(), bytes.size(), 0), std::ssize(bytes)); }
  void write(std::string_view bytes) {
    const iovec piece{const_cast<char*>(bytes.data()), bytes.size()};
    EXPECT_EQ(transport->write(&piece, 1), std::ssize(bytes));
  }

  void on_readable() noexcept override {
    char bytes[100];
    const ssize_t n = transport->read(bytes, sizeof bytes);
    if (n > 0) got.append(bytes, static_cast<std::size_t>(n));
    if (n == 0) ++end_count;
    if (n == 0) transport->want(false, false);
  }
  void on_writable() noexcept override {}
  void on_peer_closed() noexcept override { ++peer_closed_count; }
  void on_broken() noexcept override { ++broken_count; }

  Loop loop;
  SocketTransport* transport = nullptr;
  int peer = -1;
  std::string got;
  int end_count = 0;
  int peer_closed_count = 0;
  int broken_count = 0;
};

TEST(SocketTransport, TellsOfTheClosedPeerWhileNobodyReadsAndWhatItLeft) {
  Pair pair;
  pair.transport->want(false, false);
  pair.send("seven..");
  ::shutdown(pair.peer, SHUT_WR);
  ASSERT_TRUE(pair.until([&] { return pair.peer_closed_count > 0; }));
  EXPECT_EQ(pair.transport->unread_bytes_max(), 7u);
  EXPECT_EQ(pair.got, "");
  for (int i = 0; i < 5; ++i) pair.loop.step(1);
  EXPECT_EQ(pair.peer_closed_count, 1) << "once";
  pair.transport->want(true, false);
  ASSERT_TRUE(pair.until([&] { return pair.end_count > 0; }));
  EXPECT_EQ(pair.got, "seven..") << "nothing is lost";
}

TEST(SocketTransport, TellsOfAResetWhileNobodyReads) {
  Pair pair;
  pair.transport->want(false, false);
  const linger now{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(pair.peer, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  ::close(std::exchange(pair.peer, -1));
  EXPECT_TRUE(pair.until([&] { return pair.broken_count > 0; }));
}

TEST(SocketTransport, ClosesByFinOrByReset) {
  for (bool by_reset : {false, true}) {
    Pair pair;
    pair.write("half");
    if (by_reset) {
      pair.transport->close_by_reset();
    } else {
      pair.transport->close();
    }
    char bytes[100];
    ssize_t n = ::recv(pair.peer, bytes, sizeof bytes, 0);
    if (n > 0) n = ::recv(pair.peer, bytes, sizeof bytes, 0);
    EXPECT_EQ(n, by_reset ? -1 : 0);
    if (by_reset) {
      EXPECT_EQ(errno, ECONNRESET);
    }
  }
}

TEST(SocketTransport, EndsOneDirectionAtATime) {
  Pair pair;
  pair.transport->want(true, false);
  pair.write("bye");
  pair.transport->shutdown();
  char bytes[100];
  EXPECT_EQ(::recv(pair.peer, bytes, sizeof bytes, 0), 3);
  EXPECT_EQ(::recv(pair.peer, bytes, sizeof bytes, 0), 0);
  pair.send("still here");
  ASSERT_TRUE(pair.until([&] { return pair.got.size() == 10; }));
  EXPECT_EQ(pair.end_count, 0);
  ::shutdown(pair.peer, SHUT_WR);
  EXPECT_TRUE(pair.until([&] { return pair.end_count == 1; }));
}

}  // namespace
}  // namespace violet::net
