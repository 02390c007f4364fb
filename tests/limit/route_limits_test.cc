// Limits of bodies and times for groups of routes.

#include "tests/web/fake_wire.h"
#include "violet/event/wait.h"
#include "violet/features/limit/body_limit.h"
#include "violet/features/limit/timeout.h"
#include "violet/web/content/context.h"
#include "violet/web/input/body.h"

#include <gtest/gtest.h>

#include <string>

namespace violet {
namespace {

TEST(BodyLimit, HoldsForAGroupAndItsInnerOnes) {
  web::FakeServer server;
  Group group = server.router.group("/g");
  Group inner = group.group("/inner");
  group.use(body_limit(4));
  inner.use(body_limit(6));
  const auto echo = [](Text text) { return *text; };
  group.post("/usual", echo);
  group.post("/own", echo).body_max(8);
  inner.post("/usual", echo);
  server.router.post("/free", echo);
  const auto status = [&](const char* path, std::size_t size) {
    return server.post(path, std::string(size, 'a')).status;
  };
  EXPECT_EQ(status("/g/usual", 4), 200);
  EXPECT_EQ(status("/g/usual", 5), 413);
  EXPECT_EQ(status("/g/inner/usual", 6), 200);
  EXPECT_EQ(status("/g/inner/usual", 7), 413);
  EXPECT_EQ(status("/g/own", 8), 200);
  EXPECT_EQ(status("/g/own", 9), 413);
  EXPECT_EQ(status("/free", 100), 200);
}

TEST(BodyLimit, RefusesADeclaredLengthBeforeTheBodyIsSentAndNamesTheLimit) {
  web::FakeServer server;
  server.router.use(body_limit(4));
  server.router.post("/", [](Text text) { return *text; });
  const auto answer = server.send(
      {.method = http::Method::Post, .fields = {{"Content-Length", "5"}, {"Expect", "100-continue"}}, .body = "12345"});
  EXPECT_EQ(answer.status, 413);
  EXPECT_TRUE(answer.informed.empty());
  EXPECT_NE(answer.body.find("body_bytes_max = 4"), std::string::npos) << answer.body;
  // Without a length, while it is read; a length that lies is held to what comes.
  EXPECT_EQ(server.send({.method = http::Method::Post, .body = "12345", .body_piece = 1}).status, 413);
  EXPECT_EQ(server.send({.method = http::Method::Post, .fields = {{"Content-Length", "4"}}, .body = "12345"}).status,
            413);
}

TEST(Timeout, StopsAHandlerAndSaysSo) {
  web::FakeServer server;
  bool was_stopped = false;
  server.router.use(timeout(20));
  const auto slow = [&was_stopped](StopToken token) -> Task<const char*> {
    const Result<void> slept = co_await sleep_ms(60'000);
    was_stopped = !slept && token.is_stopped();
    co_return "never";
  };
  server.router.get("/slow", slow);
  server.router.get("/fast", [] { return "fast"; });
  const auto answer = server.get("/slow");
  EXPECT_EQ(answer.status, 503);
  EXPECT_NE(answer.body.find("handler_ms = 20"), std::string::npos) << answer.body;
  EXPECT_TRUE(was_stopped);
  EXPECT_EQ(server.get("/fast").body, "fast");
}

TEST(Timeout, EndsStreamsThatHaveBegun) {
  class Endless final : public Source {
   public:
    Pull pull(Chain& out, std::size_t) override {
      out.append(Slice::literal("tick"));
      return Pull::Wait;
    }
  };
  web::FakeServer server;
  server.router.use(timeout(20));
  server.router.get("/ticks", [] { return Body(SourcePtr(new Endless)); });
  const auto answer = server.get("/ticks");
  EXPECT_EQ(answer.status, 200);
  EXPECT_FALSE(answer.is_whole);
  EXPECT_EQ(answer.reset.kind(), ErrorKind::Timeout);
}

TEST(Timeout, InnerOnesAndRoutesGoFirst) {
  web::FakeServer server;
  const auto times = [](Deadline deadline) { return std::to_string(deadline.handler_ms()); };
  server.router.use(timeout(1'000));
  Group inner = server.router.group("/inner");
  inner.use(timeout({.handler_ms = 30, .status = Status::GatewayTimeout}));
  server.router.get("/usual", times);
  server.router.get("/own", times).handler_ms(7);
  server.router.get("/none", times).no_deadline();
  inner.get("/usual", times);
  inner.get("/slow", []() -> Task<const char*> {
    static_cast<void>(co_await sleep_ms(60'000));
    co_return "never";
  });
  EXPECT_EQ(server.get("/usual").body, "1000");
  EXPECT_EQ(server.get("/own").body, "7");
  EXPECT_EQ(server.get("/none").body, "0");
  EXPECT_EQ(server.get("/inner/usual").body, "30");
  EXPECT_EQ(server.get("/inner/slow").status, 504);
}

}  // namespace
}  // namespace violet
