// What middleware may do beside its hooks: wait now and then, set options of routes, see what a group's paths answer by
// themselves, keep notes.

#include "tests/web/fake_wire.h"
#include "violet/event/wait.h"
#include "violet/web/input/path.h"
#include "violet/web/output/reply.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace violet::web {
namespace {

using http::Method;

struct SometimesSlow {
  std::string* log;

  Verdict on_request(Exchange& exchange) {
    *log += "ask ";
    return exchange.request().fields.has("X-Slow") ? Verdict::Wait : Verdict::Continue;
  }
  Task<Verdict> on_wait(Exchange& exchange) {
    static_cast<void>(co_await sleep_ms(1));
    *log += "waited ";
    if (exchange.request().fields.get("X-Slow") == "no") {
      exchange.refuse(Error(ErrorKind::Busy));
      co_return Verdict::Answered;
    }
    co_return Verdict::Continue;
  }
};

TEST(MiddlewareThatWaitsNowAndThen, TakesATaskOnlyThen) {
  FakeServer server;
  std::string log;
  const auto say = [&log](Exchange&) { log += "next "; };
  server.router.use(SometimesSlow{&log}, say, SometimesSlow{&log});
  server.router.get("/{x}", [](Path<std::string_view> x) { return *x; });
  EXPECT_EQ(server.get("/a").body, "a");
  EXPECT_EQ(log, "ask next ask ");
  log.clear();
  EXPECT_EQ(server.get("/b", {{"X-Slow", "yes"}}).body, "b");
  EXPECT_EQ(log, "ask waited next ask waited ");
  log.clear();
  EXPECT_EQ(server.get("/b", {{"X-Slow", "no"}}).status, 503);
  EXPECT_EQ(log, "ask waited ");
  EXPECT_EQ(server.site().exchanges.used_count(), 0u);
}

struct BodyMax {
  std::uint64_t bytes;
  void on_route(Route& route) const { route.body_max(bytes); }
};

TEST(MiddlewareThatSetsOptions, InnerGroupsAndRoutesGoFirst) {
  FakeServer server;
  const auto limit = [](Exchange& exchange) { return std::to_string(exchange.body_limit()); };
  server.router.use(BodyMax{10});
  server.router.get("/outer", limit);
  Group group = server.router.group("/in");
  group.use(BodyMax{20});
  group.get("/group", limit);
  group.get("/route", limit).body_max(30);
  EXPECT_EQ(server.get("/outer").body, "10");
  EXPECT_EQ(server.get("/in/group").body, "20");
  EXPECT_EQ(server.get("/in/route").body, "30");
}

struct Named {
  std::string* log;
  std::string name;
  void on_request(Exchange&) const { *log += name + " "; }
};

TEST(MiddlewareOfGroups, SeesOptionsAndWrongMethodsOfItsPaths) {
  FakeServer server;
  std::string log;
  Group group = server.router.group("/users/{id}");
  group.use(Named{&log, "group"});
  group.use([&log](Path<int> id) { log += std::to_string(*id) + " "; });
  group.get("/name", [](Path<int> id) { return *id; });
  server.router.post("/users/{id}/name", [](Path<int> id) { return *id; });
  server.router.get("/users", [] { return ""; });
  EXPECT_EQ(server.ask(Method::Delete, "/users/7/name").status, 405);
  EXPECT_EQ(log, "group 7 ");
  log.clear();
  // A preflight is about one of the routes, and only its group has a say.
  const auto preflight = [&](const char* method) {
    return server.send(
        {.method = Method::Options, .target = "/users/7/name", .fields = {{"Access-Control-Request-Method", method}}});
  };
  EXPECT_EQ(preflight("GET").status, 204);
  EXPECT_EQ(log, "group 7 ");
  log.clear();
  EXPECT_EQ(preflight("POST").header("Allow"), "GET, HEAD, POST, OPTIONS");
  EXPECT_EQ(preflight("BREW").status, 204);
  EXPECT_EQ(server.ask(Method::Post, "/users").status, 405);
  EXPECT_EQ(log, "group 7 ") << "of the odd method's only";
}

TEST(Notes, BelongToOneRequest) {
  struct Count {
    int value;
  };
  FakeServer server;
  server.router.use([](Exchange& exchange) {
    EXPECT_EQ(exchange.note<Count>(), nullptr);
    exchange.add_note<std::string_view>("other");
    exchange.add_note<Count>(41).value++;
  });
  server.router.get(
      "/", [](Exchange& exchange) { exchange.reply(Slice::of(std::to_string(exchange.note<Count>()->value))); });
  EXPECT_EQ(server.get("/").body, "42");
  EXPECT_EQ(server.get("/").body, "42");
}

TEST(TheClient, IsThePeerUnlessAnotherWasNamed) {
  FakeServer server;
  server.connection.peer = *Address::parse("127.0.0.1", 80);
  server.router.use([](Exchange& exchange) {
    if (exchange.request().fields.has("X-Other")) exchange.set_client({*Address::parse("2001:db8::1", 0), true});
  });
  server.router.get("/",
                    [](Request request) { return request.peer().host() + (request.is_secure() ? " safe" : " open"); });
  EXPECT_EQ(server.get("/").body, "127.0.0.1 open");
  EXPECT_EQ(server.get("/", {{"X-Other", "1"}}).body, "2001:db8::1 safe");
  EXPECT_EQ(server.get("/").body, "127.0.0.1 open") << "nothing stays behind";
}

class Endless final : public Source {
 public:
  Pull pull(Chain& out, std::size_t) override {
    out.append(Slice::literal("tick "));
    return Pull::Wait;
  }
};

TEST(TheTimeOfAnAnswer, EndsWhatHasBegun) {
  FakeServer server;
  server.router.get("/ticks", [] { return Body(SourcePtr(new Endless)); }).answer_ms(20);
  server.router.get("/short", [] { return "short"; }).answer_ms(20);
  const auto answer = server.get("/ticks");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "tick ");
  EXPECT_FALSE(answer.is_whole);
  EXPECT_EQ(answer.reset.kind(), ErrorKind::Timeout);
  EXPECT_EQ(server.get("/short").body, "short");
  EXPECT_EQ(server.site().counters.timeouts, 1u);
  EXPECT_EQ(server.site().exchanges.used_count(), 0u);
}

TEST(TheTimeOfAHandler, EndsWithTheStatusThatWasAskedFor) {
  FakeServer server;
  const auto slow = []() -> Task<const char*> {
    static_cast<void>(co_await sleep_ms(5'000));
    co_return "never";
  };
  server.router.get("/usual", slow).handler_ms(10);
  server.router.get("/gateway", slow).handler_ms(10).timeout_status(Status::GatewayTimeout);
  EXPECT_EQ(server.get("/usual").status, 503);
  EXPECT_EQ(server.get("/gateway").status, 504);
}

}  // namespace
}  // namespace violet::web
