// What TLS costs beside OpenSSL: heap of an idle connection, allocations, reads, writes and copies of a request.

#include "tests/support/counting_new.h"
#include "tests/support/reply.h"
#include "tests/support/script.h"
#include "tests/support/tls_wire.h"
#include "tests/tls/counting.h"
#include "violet/core/site.h"
#include "violet/h1/session.h"
#include "violet/net/socket.h"

#include <gtest/gtest.h>

#include <list>
#include <string>

namespace violet::test {
namespace {

const std::string kGet = "GET /baseline11?a=13&b=42 HTTP/1.1\r\nHost: a:8080\r\nUser-Agent: test\r\n\r\n";

// HTTP/1.1 on the server's end of a TlsWire.
class SecureWire final : h1::Session::Host {
 public:
  SecureWire() : site(wire.loop, service, Limits()), shared(site) {
    service.handler = Echo::serve;
    EXPECT_TRUE(wire.shake());
    session_ = new h1::Session(shared, *this, *std::exchange(wire.server.transport, nullptr), Connection());
    session_->open();
    reserve(*wire.server.below);
    wire.client.received.reserve(1 << 20);
  }
  SecureWire(const SecureWire&) = delete;
  SecureWire& operator=(const SecureWire&) = delete;
  ~SecureWire() {
    if (session_ != nullptr) session_->abort({});
    wire.settle();
  }

  struct Cost {
    std::size_t allocations = 0;
    std::size_t openssl_allocations = 0;
    std::size_t copied = 0;  // the transport below left out, which stands for the kernel
    std::size_t reads = 0;
    std::size_t writes = 0;
    std::string answer;
  };
  Cost ask(const std::string& request) {
    net::MemoryTransport& below = *wire.server.below;
    wire.client.send(request);
    const std::string sealed = wire.client.below->take();
    below.feed(sealed);
    Cost cost{allocation_count(), openssl_allocation_count(), copied_bytes(),
              below.read_count(), below.write_count(),        {}};
    wire.settle();
    cost = {allocation_count() - cost.allocations, openssl_allocation_count() - cost.openssl_allocations,
            copied_bytes() - cost.copied,          below.read_count() - cost.reads,
            below.write_count() - cost.writes,     {}};
    cost.copied -= sealed.size() + below.written().size();
    wire.client.below->feed(below.written());
    reserve(below);
    wire.settle();
    cost.answer = std::exchange(wire.client.received, {});
    return cost;
  }

  TlsWire wire{usual_settings()};
  ScriptService service;
  Site site;
  h1::Shared shared;

 private:
  // So that what is written allocates and moves nothing for the test's sake.
  static void reserve(net::MemoryTransport& below) {
    auto& written = const_cast<std::string&>(below.written());
    written.clear();
    written.reserve(1 << 20);
  }
  void on_session_closed(h1::Session& session) noexcept override {
    delete &session;
    session_ = nullptr;
  }
  h1::Session* session_ = nullptr;
};

std::string post(std::size_t size) {
  return "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" + pattern(size);
}

TEST(TlsCost, ARequestAfterTheFirstAllocatesNothing) {
  if (!kCountsAllocations) GTEST_SKIP() << "allocations are not counted under sanitizers";
  SecureWire secure;
  EXPECT_GT(secure.ask(kGet).allocations, 0u) << "the control: the first one is seen to allocate";
  for (const std::string& request : {kGet, post(5), post(10'240)}) {
    secure.ask(request);
    secure.ask(request);
    for (int i = 0; i < 20; ++i) {
      const auto cost = secure.ask(request);
      EXPECT_EQ(reply_of(cost.answer).status, 200);
      EXPECT_EQ(cost.allocations, 0u);
      EXPECT_EQ(cost.openssl_allocations, 0u);
    }
  }
}

TEST(TlsCost, ARequestIsOneReadAndOneWriteBelow) {
  SecureWire secure;
  for (const std::string& request : {kGet, post(10'240), kGet + kGet + kGet + kGet}) {
    secure.ask(request);
    const auto cost = secure.ask(request);
    EXPECT_EQ(cost.reads, 1u);
    EXPECT_EQ(cost.writes, 1u);
  }
}

TEST(TlsCost, AnEchoOfTenKilobytesIsCopiedAtMostTwice) {
  if (!kCountsAllocations) GTEST_SKIP() << "copies are not counted under sanitizers";
  constexpr std::size_t kBody = 10'240;
  SecureWire secure;
  for (int i = 0; i < 5; ++i) {
    const auto cost = secure.ask(post(kBody));
    EXPECT_EQ(reply_of(cost.answer).body, pattern(kBody));
    EXPECT_LE(cost.copied, 2 * kBody);
    EXPECT_GE(cost.copied, kBody / 2) << "the control: an echo of borrowed bytes is copied once into the output";
    std::printf("an echo of %zu bytes: %zu copied beyond the record layer\n", kBody, cost.copied);
  }
}

// Ends of servers that have been asked once and are at rest.
class IdleServers {
 public:
  IdleServers() { EXPECT_TRUE(wire_.shake()); }  // what is made once is made
  ~IdleServers() {
    for (TlsEnd& server : servers_) server.drop();
    wire_.settle();
  }
  IdleServers(const IdleServers&) = delete;
  IdleServers& operator=(const IdleServers&) = delete;

  // Heap bytes of OpenSSL that each of `count` more has added.
  std::size_t add(std::size_t count) {
    const std::size_t before = openssl_bytes();
    for (std::size_t i = 0; i < count; ++i) add_one();
    wire_.settle();
    return (openssl_bytes() - before) / count;
  }
  [[nodiscard]] std::size_t context_count() const { return wire_.shared.ciphers.context_count(); }

 private:
  void add_one() {
    TlsEnd& server = servers_.emplace_back();
    TlsEnd client;
    server.below = net::MemoryTransport::make(wire_.loop);
    client.below = net::MemoryTransport::make(wire_.loop);
    server.transport = tls::Transport::accept(wire_.shared, *wire_.server_context, *server.below, server);
    client.transport = tls::Transport::connect(wire_.shared, *wire_.client_context, "a.example", *client.below, client);
    const auto carry = [&] {
      for (int round = 0; round < 6; ++round) {
        wire_.settle();
        server.below->feed(client.below->take());
        client.below->feed(server.below->take());
      }
    };
    carry();
    ASSERT_EQ(server.secure_count, 1);
    client.send("ping");
    server.send("pong");
    carry();
    ASSERT_EQ(server.received, "ping");
    ASSERT_EQ(client.received, "pong");
    client.drop();
    wire_.settle();
  }

  TlsWire wire_{usual_settings()};
  std::list<TlsEnd> servers_;
};

// TLS 1.3, after a request, both directions at rest: two sets of keys, and nothing of OpenSSL but the contexts that all
// connections of a loop share. OpenSSL's own object would take 14 KB.
TEST(TlsCost, AnIdleConnectionHoldsNothingOfOpenSsl) {
  if (!kCountsAllocations) GTEST_SKIP() << "sanitizers have a heap of their own";
  constexpr std::size_t kOurs = sizeof(tls::Transport) + sizeof(tls::RecordLayer) + sizeof(h1::Session) +
                                net::SocketTransport::kBytes + sizeof(Security);
  IdleServers servers;
  const std::size_t busy = servers.add(tls::CipherPool::kContextsMax / 2);
  EXPECT_GE(busy, 1'500u) << "the control: those that were used last have contexts";
  EXPECT_LE(busy, 3'000u);
  EXPECT_EQ(servers.context_count(), tls::CipherPool::kContextsMax);
  const std::size_t more = servers.add(50);
  std::printf("an idle TLS 1.3 connection: %zu bytes of OpenSSL, %zu of violet; %zu in contexts of a busy one\n", more,
              kOurs, busy);
  EXPECT_LE(more, 64u);
  EXPECT_LE(kOurs, 1'280u);
}

}  // namespace
}  // namespace violet::test
