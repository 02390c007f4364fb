// Rate limits through a router: keys, fields, stores.

#include "violet/features/limit/rate_limit.h"

#include "tests/support/counting_new.h"
#include "tests/web/fake_wire.h"
#include "violet/base/log.h"
#include "violet/event/wait.h"
#include "violet/web/output/reply.h"
#include "violet/web/route/listing.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace violet {
namespace {

std::unique_ptr<web::FakeServer> server_with(RateLimitOptions options) {
  auto server = std::make_unique<web::FakeServer>();
  server->connection.peer = *Address::parse("192.0.2.1", 1);
  server->router.use(rate_limit(std::move(options)));
  server->router.get("/", [] { return "x"; });
  return server;
}

TEST(RateLimit, Answers429BeyondItsBurstAndSaysWhenToComeBack) {
  const auto server = server_with({.requests = 2, .per_s = 3'600});
  auto answer = server->get("/");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.header("RateLimit-Policy"), "\"default\";q=2;w=3600");
  EXPECT_EQ(answer.header("RateLimit"), "\"default\";r=1;t=1800");
  answer = server->get("/none");
  EXPECT_EQ(answer.status, 404) << "what no route has counts, too";
  EXPECT_EQ(answer.header("RateLimit"), "\"default\";r=0;t=3600");
  answer = server->get("/");
  EXPECT_EQ(answer.status, 429);
  EXPECT_EQ(answer.header("Retry-After"), "1800");
  EXPECT_EQ(answer.header("RateLimit"), "\"default\";r=0;t=3600");
  EXPECT_NE(answer.body.find("rate limit \"default\": 2 requests in 3600 s"), std::string::npos) << answer.body;
}

// What is left is part of the quota that is told, and the quota comes back in its window.
TEST(RateLimit, TellsTheBucketAsTheQuota) {
  const auto server = server_with({.requests = 10, .per_s = 60, .burst = 45});
  const auto answer = server->get("/");
  EXPECT_EQ(answer.header("RateLimit-Policy"), "\"default\";q=45;w=270");
  EXPECT_EQ(answer.header("RateLimit"), "\"default\";r=44;t=6");
  const auto small = server_with({.requests = 100, .per_s = 1, .burst = 3});
  EXPECT_EQ(small->get("/").header("RateLimit-Policy"), "\"default\";q=3;w=1");
}

TEST(RateLimit, CountsEachAddressByItself) {
  const auto server = server_with({.requests = 1, .per_s = 3'600});
  const auto status = [&](const char* peer) {
    server->connection.peer = *Address::parse(peer, 1);
    return server->get("/").status;
  };
  EXPECT_EQ(status("192.0.2.1"), 200);
  EXPECT_EQ(status("192.0.2.1"), 429);
  EXPECT_EQ(status("192.0.2.2"), 200);
  EXPECT_EQ(status("2001:db8::1"), 200);
  EXPECT_EQ(status("2001:db8::2"), 429);
}

TEST(RateLimit, CountsByAFieldAndThoseWithoutItByAddress) {
  const auto server = server_with({.requests = 1, .per_s = 3'600, .field = "X-API-Key"});
  const auto status = [&](const char* peer, std::vector<std::pair<std::string, std::string>> fields) {
    server->connection.peer = *Address::parse(peer, 1);
    return server->get("/", std::move(fields)).status;
  };
  EXPECT_EQ(status("192.0.2.1", {{"x-api-key", "one"}}), 200);
  EXPECT_EQ(status("192.0.2.2", {{"X-API-Key", "one"}}), 429) << "wherever it comes from";
  EXPECT_EQ(status("192.0.2.1", {{"X-API-Key", "two"}}), 200);
  EXPECT_EQ(status("192.0.2.1", {}), 200) << "not together with a key";
  EXPECT_EQ(status("192.0.2.2", {}), 200) << "nor with all others that have none";
  EXPECT_EQ(status("192.0.2.2", {}), 429);
}

TEST(RateLimit, CountsByWhatAFunctionSays) {
  const auto server = server_with(
      {.requests = 1, .per_s = 3'600, .key = [](Request request) { return request.query("user").value_or(""); }});
  EXPECT_EQ(server->get("/?user=a").status, 200);
  EXPECT_EQ(server->get("/?user=a").status, 429);
  EXPECT_EQ(server->get("/?user=b").status, 200);
  EXPECT_EQ(server->get("/").status, 200);
  EXPECT_EQ(server->get("/").status, 429);
}

TEST(RateLimit, SeveralStandOneBehindAnother) {
  web::FakeServer server;
  server.router.use(rate_limit({.requests = 10, .per_s = 60, .name = "all"}));
  Group group = server.router.group("/g");
  group.use(rate_limit({.requests = 1, .per_s = 60, .burst = 2, .name = "group"}),
            rate_limit({.requests = 5, .per_s = 60, .name = "silent", .tells = false}));
  group.get("/", [] { return "x"; });
  const auto answer = server.get("/g/");
  std::string states;
  std::string policies;
  for (const auto& [name, value] : answer.fields) {
    if (name == "RateLimit") states += value + " ";
    if (name == "RateLimit-Policy") policies += value + " ";
  }
  EXPECT_EQ(states, "\"group\";r=1;t=60 \"all\";r=9;t=6 ");
  EXPECT_EQ(policies, "\"group\";q=2;w=120 \"all\";q=10;w=60 ");
}

TEST(RateLimit, WhatMakesNoSenseKeepsTheAppFromStarting) {
  web::FakeServer server;
  server.router.use(rate_limit({.requests = 0}), rate_limit({.per_s = 0}), rate_limit({.name = "a\"b"}),
                    rate_limit({.field = "X", .key = [](Request) { return std::string_view(); }}),
                    rate_limit({.field = "X Y"}));
  EXPECT_EQ(server.router.freeze().size(), 5u);
}

TEST(RateLimit, TakesNothingFromTheHeap) {
  if (!test::kCountsAllocations) GTEST_SKIP() << "allocations are not counted under sanitizers";
  web::FakeServer server;
  server.router.use(rate_limit({.requests = 1'000, .field = "X-API-Key"}));
  server.router.get("/", [] { return "text"; });
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
    if (i % 2 == 0) head.fields.push({.name = "X-API-Key", .value = "0123456789abcdef0123456789abcdef"});
    EXPECT_TRUE(http::split_target(head));
    exchange.on_head(head, false);
    EXPECT_EQ(stream.answer.status, 200);
    exchange.on_close({});
  }
  EXPECT_EQ(test::allocation_count() - before, 0u);
}

// --- stores elsewhere

class Scripted final : public RateStore {
 public:
  Task<Result<RateDecision>> take(std::string key, RatePolicy policy) override {
    keys.push_back(key + " " + std::to_string(policy.burst));
    static_cast<void>(co_await sleep_ms(1));
    if (throws) throw std::runtime_error("gone");
    if (fails) co_return fail(ErrorKind::Timeout);
    const bool is_allowed = keys.size() < 2;
    co_return RateDecision{.is_allowed = is_allowed, .remaining = 0, .reset_ms = 500, .retry_ms = 1'200};
  }
  std::vector<std::string> keys;
  bool fails = false;
  bool throws = false;
};

TEST(SharedRateLimit, AsksItsStore) {
  auto store = std::make_shared<Scripted>();
  web::FakeServer server;
  server.connection.peer = *Address::parse("192.0.2.1", 1);
  server.router.use(rate_limit({.requests = 7, .name = "shared"}, store));
  server.router.get("/", [] { return "x"; });
  auto answer = server.get("/");
  EXPECT_EQ(answer.body, "x");
  EXPECT_EQ(answer.header("RateLimit"), "\"shared\";r=0;t=1");
  answer = server.get("/");
  EXPECT_EQ(answer.status, 429);
  EXPECT_EQ(answer.header("Retry-After"), "2");
  EXPECT_EQ(store->keys, std::vector<std::string>(2, "shared:a:192.0.2.1 7"));
}

TEST(SharedRateLimit, IsWhatSeveralProcessesNeed) {
  const auto note = [](auto middleware) {
    Router router;
    router.use(std::move(middleware));
    router.get("/", [] { return "x"; });
    return std::string(router.routes().front().hooks.front().process_note);
  };
  EXPECT_NE(note(rate_limit({.name = "keys"})).find("rate_limit() \"keys\" counts in the memory of one process"),
            std::string::npos);
  EXPECT_EQ(note(rate_limit({}, std::make_shared<Scripted>())), "");
}

TEST(SharedRateLimit, AStoreThatIsAwayStopsNobody) {
  set_log_level(LogLevel::Off);
  auto store = std::make_shared<Scripted>();
  web::FakeServer server;
  server.router.use(rate_limit({}, store));
  server.router.get("/", [] { return "x"; });
  store->fails = true;
  EXPECT_EQ(server.get("/").body, "x");
  store->throws = true;
  EXPECT_EQ(server.get("/").body, "x");
  set_log_level(LogLevel::Info);
}

}  // namespace
}  // namespace violet
