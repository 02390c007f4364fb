// Who the client is, behind proxies that are trusted and those that are not.

#include "violet/features/forwarded/trusted_proxies.h"

#include "tests/support/counting_new.h"
#include "tests/web/fake_wire.h"
#include "violet/web/content/context.h"
#include "violet/web/output/reply.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace violet {
namespace {

using Lines = std::vector<std::pair<std::string, std::string>>;

// What a handler sees: "address scheme host secure".
class TrustedProxiesTest : public testing::Test {
 protected:
  std::string seen(TrustedProxyOptions options, const char* peer, Lines fields) {
    web::FakeServer server;
    if (std::string_view(peer) == "unix") {
      server.connection.peer.family = Address::Family::Unix;
    } else {
      server.connection.peer = *Address::parse(peer, 999);
    }
    server.router.use(trusted_proxies(std::move(options)));
    server.router.get("/", [](Request request, PeerAddress address) {
      std::string left;
      for (const char* name : {"Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host"}) {
        if (request.fields().has(name)) left += std::string(" ") + name;
      }
      return address->host() + " " + std::string(request.scheme()) + " " + std::string(request.authority()) +
             (request.is_secure() ? " safe" : " open") + left;
    });
    return server.get("/", std::move(fields)).body;
  }
};

const TrustedProxyOptions kTen{.networks = {"10.0.0.0/8", "fd00::/8"}};
const TrustedProxyOptions kTenForwarded{.networks = {"10.0.0.0/8", "fd00::/8"}, .by = ForwardedBy::Forwarded};

TEST_F(TrustedProxiesTest, TheClientIsTheFirstFromTheEndThatIsNoProxy) {
  const auto client = [&](const char* list) {
    const std::string all = seen(kTen, "10.0.0.1", {{"X-Forwarded-For", list}});
    return all.substr(0, all.find(' '));
  };
  EXPECT_EQ(client("192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(client("203.0.113.9, 192.0.2.1"), "192.0.2.1") << "what the client claims stays out";
  EXPECT_EQ(client("203.0.113.9, 192.0.2.1, 10.1.1.1, fd00::2"), "192.0.2.1");
  EXPECT_EQ(client("10.3.3.3, 10.2.2.2"), "10.3.3.3") << "all are proxies: the first one began it";
  EXPECT_EQ(client("192.0.2.1:4711"), "192.0.2.1");
  EXPECT_EQ(client("[2001:db8::1]:4711"), "2001:db8::1");
  EXPECT_EQ(client("2001:db8::1, ::ffff:10.9.9.9"), "2001:db8::1");
  EXPECT_EQ(client("192.0.2.1, unknown, 10.1.1.1"), "10.1.1.1") << "hidden: the last proxy that is known";
  EXPECT_EQ(client("unknown"), "10.0.0.1");
  EXPECT_EQ(client("<script>"), "10.0.0.1");
  EXPECT_EQ(client(""), "10.0.0.1");
}

TEST_F(TrustedProxiesTest, OthersAreNotBelievedAndTheirFieldsAreTakenOff) {
  const Lines claims = {{"X-Forwarded-For", "192.0.2.1"},
                        {"X-Forwarded-Proto", "https"},
                        {"X-Forwarded-Host", "evil.example"},
                        {"Forwarded", "for=192.0.2.1;proto=https;host=evil.example"}};
  EXPECT_EQ(seen(kTen, "11.0.0.1", claims), "11.0.0.1   open");
  EXPECT_EQ(seen(kTenForwarded, "11.0.0.1", claims), "11.0.0.1   open");
  EXPECT_EQ(seen(kTen, "unix", claims), "unix   open");
  // Of a proxy that is trusted, only the kind that it sets.
  EXPECT_EQ(seen(kTen, "10.0.0.1", claims), "192.0.2.1 https  safe X-Forwarded-For X-Forwarded-Proto");
  EXPECT_EQ(seen(kTenForwarded, "10.0.0.1", claims), "192.0.2.1 https evil.example safe Forwarded");
}

TEST_F(TrustedProxiesTest, SchemeAndHostAreThoseThatTheClientUsed) {
  TrustedProxyOptions with_host = kTen;
  with_host.x_forwarded_host = true;
  EXPECT_EQ(
      seen(with_host, "10.0.0.1",
           {{"X-Forwarded-For", "192.0.2.1"}, {"X-Forwarded-Proto", "HTTPS"}, {"X-Forwarded-Host", "a.example:8443"}}),
      "192.0.2.1 https a.example:8443 safe X-Forwarded-For X-Forwarded-Proto X-Forwarded-Host");
  // Each proxy has added its word: that of the proxy to which the client came counts.
  EXPECT_EQ(seen(kTen, "10.0.0.1", {{"X-Forwarded-For", "192.0.2.1, 10.1.1.1"}, {"X-Forwarded-Proto", "https, http"}}),
            "192.0.2.1 https  safe X-Forwarded-For X-Forwarded-Proto");
  // A list that not all have kept: the nearest one's.
  EXPECT_EQ(seen(kTen, "10.0.0.1", {{"X-Forwarded-For", "192.0.2.1, 10.1.1.1"}, {"X-Forwarded-Proto", "a, b, http"}}),
            "192.0.2.1 http  open X-Forwarded-For X-Forwarded-Proto");
  EXPECT_EQ(seen(kTen, "10.0.0.1", {{"X-Forwarded-For", "192.0.2.1"}, {"X-Forwarded-Proto", "gopher"}}),
            "192.0.2.1   open X-Forwarded-For X-Forwarded-Proto");
  EXPECT_EQ(seen(with_host, "10.0.0.1", {{"X-Forwarded-Host", "a b/../"}}), "10.0.0.1   open X-Forwarded-Host");
  EXPECT_EQ(seen(kTen, "10.0.0.1", {{"X-Forwarded-Proto", "https"}}), "10.0.0.1 https  safe X-Forwarded-Proto");
}

TEST_F(TrustedProxiesTest, ForwardedIsReadLikeTheOthers) {
  const auto client = [&](const char* list) { return seen(kTenForwarded, "10.0.0.1", {{"Forwarded", list}}); };
  EXPECT_EQ(client("for=\"[2001:db8::1]:47\";proto=https;host=a.example"),
            "2001:db8::1 https a.example safe Forwarded");
  EXPECT_EQ(client("for=203.0.113.9;proto=https;host=x.example, for=192.0.2.1;proto=http;host=b.example, "
                   "for=10.1.1.1;proto=https"),
            "192.0.2.1 http b.example open Forwarded");
  EXPECT_EQ(client("for=_hidden;proto=https;host=h.example, for=10.1.1.1;proto=http"),
            "10.1.1.1 https h.example safe Forwarded");
  EXPECT_EQ(client("for=\"192.0.2.1, for=198.51.100.1"), "10.0.0.1   open Forwarded") << "a quote that a client opened";
}

TEST_F(TrustedProxiesTest, UnixSocketsAreTrustedByName) {
  EXPECT_EQ(seen({.networks = {"unix"}}, "unix", {{"X-Forwarded-For", "192.0.2.1"}}),
            "192.0.2.1   open X-Forwarded-For");
}

TEST_F(TrustedProxiesTest, AnEndlessListIsReadFromItsEndAndNoFurther) {
  web::FakeServer server;
  server.limits.forwarded_hops_max = 4;
  server.connection.peer = *Address::parse("10.0.0.1", 1);
  server.router.use(trusted_proxies({.networks = {"10.0.0.0/8"}}));
  server.router.get("/", [](PeerAddress address) { return address->host(); });
  std::string list = "192.0.2.1";
  for (int i = 0; i < 100; ++i) list += ", 10.0.0." + std::to_string(i);
  EXPECT_EQ(server.get("/", {{"X-Forwarded-For", list}}).body, "10.0.0.96");
}

TEST_F(TrustedProxiesTest, AnAppWithAWrongNetworkDoesNotStart) {
  web::FakeServer server;
  server.router.use(trusted_proxies({.networks = {"10.0.0.0/8", "example.com"}}), trusted_proxies({}));
  const auto errors = server.router.freeze();
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_NE(errors[0].find("\"example.com\" is no network"), std::string::npos) << errors[0];
  EXPECT_NE(errors[1].find("no network is given"), std::string::npos) << errors[1];
}

TEST_F(TrustedProxiesTest, TakesNothingFromTheHeap) {
  if (!test::kCountsAllocations) GTEST_SKIP() << "allocations are not counted under sanitizers";
  web::FakeServer server;
  server.connection.peer = *Address::parse("10.0.0.1", 1);
  server.router.use(trusted_proxies({.networks = {"10.0.0.0/8"}}));
  server.router.get("/", [](Request request) { return static_cast<int>(request.peer().bytes[0]); });
  const Loop::Scope scope(server.loop);
  Site& site = server.site();
  std::size_t before = 0;
  for (int i = 0; i < 20; ++i) {
    if (i == 10) before = test::allocation_count();
    web::FakeStream stream(server.connection);
    stream.keeps_answer = false;
    Exchange& exchange = site.exchanges.open(stream);
    http::Head& head = exchange.request();
    head.method_text = "GET";
    head.target = head.raw = "/";
    head.fields.push(http::FieldId::XForwardedFor, "203.0.113.1, 2001:db8:1234:5678:9abc:def0:1234:5678");
    head.fields.push(http::FieldId::XForwardedProto, "https");
    EXPECT_TRUE(http::split_target(head));
    exchange.on_head(head, false);
    EXPECT_EQ(stream.answer.status, 200);
    exchange.on_close({});
  }
  EXPECT_EQ(test::allocation_count() - before, 0u);
}

}  // namespace
}  // namespace violet
