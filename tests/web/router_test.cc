#include "violet/web/router.h"

#include "tests/web/fake_wire.h"
#include "violet/event/wait.h"
#include "violet/web/error_pages.h"
#include "violet/web/input/body.h"
#include "violet/web/input/fields.h"
#include "violet/web/input/path.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace violet::web {
namespace {

using http::Method;

TEST(RouterAnswers, HeadAndOptionsByItself) {
  FakeServer server;
  server.router.get("/a", [] { return "a"; });
  server.router.post("/a", [] { return "posted"; });
  server.router.del("/a/{x}", [] { return "deleted"; });
  EXPECT_EQ(server.ask(Method::Head, "/a").status, 200);
  auto answer = server.ask(Method::Options, "/a");
  EXPECT_EQ(answer.status, 204);
  EXPECT_EQ(answer.header("Allow"), "GET, HEAD, POST, OPTIONS");
  EXPECT_EQ(server.ask(Method::Options, "/a/b").header("Allow"), "DELETE, OPTIONS");
  EXPECT_EQ(server.ask(Method::Options, "/none").status, 404);
  answer = server.ask(Method::Options, "*");
  EXPECT_EQ(answer.status, 204);
  EXPECT_EQ(answer.header("Allow"), "GET, HEAD, POST, DELETE, OPTIONS");
}

TEST(RouterAnswers, OwnHeadAndOptionsGoFirst) {
  FakeServer server;
  server.router.get("/a", [] { return "get"; });
  server.router.head("/a", [] { return Status::Accepted; });
  server.router.options("/a", [] { return "options"; });
  EXPECT_EQ(server.ask(Method::Head, "/a").status, 202);
  EXPECT_EQ(server.ask(Method::Options, "/a").body, "options");
}

TEST(RouterAnswers, RefusesWithTheRightStatus) {
  FakeServer server;
  server.router.get("/a/{x}", [] { return "a"; });
  server.router.put("/a/b", [] { return "b"; });
  auto answer = server.ask(Method::Post, "/a/b");
  EXPECT_EQ(answer.status, 405);
  EXPECT_EQ(answer.header("Allow"), "GET, HEAD, PUT, OPTIONS");
  EXPECT_EQ(answer.body, "405 Method Not Allowed\n");
  EXPECT_EQ(server.get("/none").status, 404);
  EXPECT_EQ(server.get("/a/%zz").status, 400);
  EXPECT_EQ(server.get("/a/%00").status, 404);
  EXPECT_EQ(server.send({.method = Method::Other, .target = "/a/b", .method_text = "BREW"}).status, 501);
  EXPECT_EQ(server.send({.method = Method::Other, .target = "/none", .method_text = "BREW"}).status, 501);
  EXPECT_EQ(server.send({.method = Method::Connect, .target = "example.com:443"}).status, 501);
}

TEST(RouterAnswers, AnyTakesEveryMethod) {
  FakeServer server;
  server.router.any("/any", [](const Request& request) { return std::string(request.method_text()); });
  server.router.get("/any", [] { return "get"; });
  EXPECT_EQ(server.get("/any").body, "get");
  EXPECT_EQ(server.ask(Method::Post, "/any").body, "POST");
  EXPECT_EQ(server.ask(Method::Options, "/any").body, "OPTIONS");
  EXPECT_EQ(server.send({.method = Method::Other, .target = "/any", .method_text = "BREW"}).body, "BREW");
}

TEST(RouterAnswers, QueryTakesNoPart) {
  FakeServer server;
  server.router.get("/a", [](const Request& request) { return request.raw_query(); });
  EXPECT_EQ(server.get("/a?x=/b").body, "x=/b");
  EXPECT_EQ(server.get("/a%3Fx").status, 404);
}

TEST(RouterAnswers, EmptyRouterIs404) {
  FakeServer server;
  EXPECT_EQ(server.get("/").status, 404);
  EXPECT_EQ(server.ask(Method::Options, "*").status, 204);
}

TEST(RouterErrors, NameBothLines) {
  Router router;
  const int line = __LINE__ + 1;
  router.get("/a/{x}", [] { return ""; });
  router.get("/a/{y}", [] { return ""; });
  router.get("b", [] { return ""; });
  const auto errors = router.freeze();
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_NE(errors[0].find("router_test.cc:" + std::to_string(line)), std::string::npos) << errors[0];
  EXPECT_NE(errors[0].find("router_test.cc:" + std::to_string(line + 1)), std::string::npos) << errors[0];
  EXPECT_NE(errors[0].find("/a/{x}"), std::string::npos);
  EXPECT_NE(errors[0].find("/a/{y}"), std::string::npos);
  EXPECT_NE(errors[1].find("router_test.cc:" + std::to_string(line + 2)), std::string::npos) << errors[1];
}

TEST(RouterErrors, GroupsAreChecked) {
  for (const char* prefix : {"api", "", "/api/", "/{rest...}", "/{x"}) {
    Router router;
    static_cast<void>(router.group(prefix));
    EXPECT_EQ(router.freeze().size(), 1u) << prefix;
  }
  Router router;
  Group group = router.group("/{x}");
  group.get("/{x}", [] { return ""; });
  EXPECT_EQ(router.freeze().size(), 1u);
}

TEST(RouterErrors, MoreCanBeRegisteredAndFrozenAgain) {
  Router router;
  router.get("/a", [] { return ""; });
  EXPECT_TRUE(router.freeze().empty());
  router.get("/b", [] { return ""; });
  EXPECT_TRUE(router.freeze().empty());
  router.get("/a", [] { return ""; });
  EXPECT_EQ(router.freeze().size(), 1u);
}

// --- groups and middleware

struct Trace {
  std::string* log;
  std::string name;
  Verdict verdict = Verdict::Continue;

  Verdict on_request(Exchange& exchange) {
    *log += name + " ";
    if (verdict == Verdict::Answered) {
      exchange.response().status = 403;
      exchange.reply();
    }
    return verdict;
  }
  void on_reply(Exchange&, http::Head& head, Body&) {
    *log += name + "<" + std::to_string(head.status) + " ";
    head.fields.push({.name = "X-Trace", .value = "1"});
  }
};

TEST(Middleware, RunsOuterFirstAndRepliesInnerFirst) {
  FakeServer server;
  std::string log;
  Group api = server.router.group("/api");
  Group v1 = api.group("/v1");
  v1.get("/x", [&log] {
    log += "handler ";
    return "x";
  });
  v1.use(Trace{&log, "v1"});
  api.use(Trace{&log, "api"});
  server.router.use(Trace{&log, "app1"}, Trace{&log, "app2"});
  server.router.get("/api/other", [] { return ""; });
  const auto answer = server.get("/api/v1/x");
  EXPECT_EQ(log, "app1 app2 api v1 handler v1<200 api<200 app2<200 app1<200 ");
  EXPECT_EQ(answer.fields.size(), 5u);
  log.clear();
  server.get("/api/other");
  EXPECT_EQ(log, "app1 app2 app2<200 app1<200 ");
}

TEST(Middleware, SeesTheRoutersOwnAnswers) {
  FakeServer server;
  std::string log;
  server.router.use(Trace{&log, "app"});
  server.router.post("/a", [] { return ""; });
  EXPECT_EQ(server.get("/none").header("X-Trace"), "1");
  server.get("/a");
  server.get("/%z");
  server.ask(Method::Options, "/a");
  EXPECT_EQ(log, "app app<404 app app<405 app app<400 app app<204 ");
}

TEST(Middleware, AnsweredStopsTheRest) {
  FakeServer server;
  std::string log;
  server.router.use(Trace{&log, "first"}, Trace{&log, "stop", Verdict::Answered}, Trace{&log, "never"});
  server.router.get("/", [&log] {
    log += "handler";
    return "";
  });
  EXPECT_EQ(server.get("/").status, 403);
  // Every hook of the route sees the answer, whoever made it.
  EXPECT_EQ(log, "first stop never<403 stop<403 first<403 ");
}

TEST(Middleware, EachIsNamedByItsOwnLine) {
  struct Missing {};
  const auto needs = [](Missing&) {};
  Router router;
  Group group = router.group("/g");
  const auto line = static_cast<std::size_t>(std::source_location::current().line());
  router.use(needs);
  group.use(
      needs,  // one a line
      [] {},  //
      needs);
  const auto errors = router.freeze();
  ASSERT_EQ(errors.size(), 3u);
  EXPECT_NE(errors[0].find("router_test.cc:" + std::to_string(line + 1) + ":"), std::string::npos) << errors[0];
  EXPECT_NE(errors[1].find("router_test.cc:" + std::to_string(line + 3) + ":"), std::string::npos) << errors[1];
  EXPECT_NE(errors[2].find("router_test.cc:" + std::to_string(line + 5) + ":"), std::string::npos) << errors[2];
}

TEST(Middleware, OneUseTakesUpToEight) {
  FakeServer server;
  std::string log;
  const auto say = [&log](char c) { return [&log, c] { log += c; }; };
  server.router.use(say('1'), say('2'), say('3'), say('4'), say('5'), say('6'), say('7'), say('8'));
  server.router.get("/", [] { return ""; });
  EXPECT_EQ(server.get("/").status, 200);
  EXPECT_EQ(log, "12345678");
}

TEST(Middleware, CallablesTakeWhatHandlersTake) {
  FakeServer server;
  struct Secret {
    std::string text;
  };
  server.router.provide(Secret{"open"});
  Group group = server.router.group("/users/{id}");
  group.use([](Header<"Authorization"> who, Secret& secret) -> std::optional<Status> {
    if (*who != secret.text) return Status::Unauthorized;
    return {};
  });
  group.use([](Path<int> id) -> Result<void> {
    if (*id == 13) return fail(ErrorKind::NotFound);
    return {};
  });
  int seen = 0;
  group.use([&seen](Exchange&) { ++seen; });
  group.use([](const Request&) { return Verdict::Continue; });
  group.get("/name", [](Path<int> id) { return *id; });
  EXPECT_EQ(server.get("/users/7/name").status, 401);
  EXPECT_EQ(server.get("/users/13/name", {{"Authorization", "open"}}).status, 404);
  EXPECT_EQ(server.get("/users/x/name", {{"Authorization", "open"}}).status, 400);
  EXPECT_EQ(seen, 0);
  EXPECT_EQ(server.get("/users/7/name", {{"Authorization", "open"}}).body, "7");
  EXPECT_EQ(seen, 1);
}

TEST(Middleware, MayWait) {
  FakeServer server;
  std::string log;
  server.router.use([&log](Header<"X-User"> user) -> Task<std::optional<Reply>> {
    log += "ask ";
    static_cast<void>(co_await sleep_ms(2));
    log += std::string(*user) + " ";
    if (user->empty()) co_return Reply("who?").status(Status::Unauthorized);
    co_return std::nullopt;
  });
  server.router.use(Trace{&log, "sync"});
  server.router.use([]() -> Task<Verdict> { co_return Verdict::Continue; });
  server.router.get("/{x}", [](Path<std::string_view> x) { return *x; });
  server.router.post("/{x}", [](Path<std::string_view> x, Text text) -> Task<std::string> {
    static_cast<void>(co_await sleep_ms(1));
    co_return std::string(*x).append(*text);
  });
  EXPECT_EQ(server.get("/a", {{"X-User", "ada"}}).body, "a");
  EXPECT_EQ(log, "ask ada sync sync<200 ");
  log.clear();
  const auto answer = server.get("/a");
  EXPECT_EQ(answer.status, 401);
  EXPECT_EQ(answer.body, "who?");
  EXPECT_EQ(log, "ask  sync<401 ");
  EXPECT_EQ(server.send({.method = Method::Post, .target = "/b", .fields = {{"X-User", "ada"}}, .body = "body"}).body,
            "bbody");
  EXPECT_EQ(server.site().exchanges.used_count(), 0u);
}

TEST(Middleware, MayThrow) {
  FakeServer server;
  Group sync = server.router.group("/sync");
  sync.use([](Exchange&) { throw 1; });
  sync.get("/x", [] { return ""; });
  Group task = server.router.group("/task");
  task.use([](Exchange&) -> Task<> {
    static_cast<void>(co_await sleep_ms(1));
    throw 1;
  });
  task.get("/x", [] { return ""; });
  EXPECT_EQ(server.get("/sync/x").status, 500);
  EXPECT_EQ(server.get("/task/x").status, 500);
}

TEST(Middleware, RunsBeforeTheBodyIsRead) {
  FakeServer server;
  server.router.use([](Exchange&) -> std::optional<Status> { return Status::Forbidden; });
  server.router.post("/", [](Text text) { return *text; });
  const auto answer =
      server.send({.method = Method::Post, .fields = {{"Expect", "100-continue"}}, .body = "never wanted"});
  EXPECT_EQ(answer.status, 403);
  EXPECT_TRUE(answer.informed.empty());
}

TEST(Middleware, MayWrapTheBody) {
  class Upper final : public Source {
   public:
    explicit Upper(Body body) : body_(std::move(body)) { body_.chain().make_owned(); }
    Pull pull(Chain& out, std::size_t) override {
      std::string text = body_.chain().to_string();
      for (char& c : text) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
      out.append(Slice::of(text));
      return Pull::End;
    }

   private:
    Body body_;
  };
  struct Shout {
    void on_reply(Exchange&, http::Head&, Body& body) const { body = Body(SourcePtr(new Upper(std::move(body)))); }
  };
  FakeServer server;
  server.router.use(Shout{});
  server.router.get("/", [] { return "quiet"; });
  EXPECT_EQ(server.get("/").body, "QUIET");
}

// --- error pages

TEST(ErrorPagesHook, ShapesEveryAnswerOfTheServer) {
  FakeServer server;
  ErrorPages pages;
  pages.set_hook([](const ErrorInfo& error) {
    return Reply("<" + std::to_string(error.status()) + " " + std::string(error.reason()) + "|" +
                 std::string(error.detail()) + "|" + std::string(error.limit()) + "|" +
                 (error.id().empty() ? "" : "id") + "|" + std::string(error.request().path()) + ">")
        .content_type("text/html");
  });
  server.error_page = &pages;
  server.limits.body_bytes_max = 3;
  server.router.get("/bad/{n}", [](Path<int> n) { return *n; });
  server.router.get("/throw", []() -> int { throw 1; });
  server.router.post("/text", [](Text text) { return *text; });
  EXPECT_EQ(server.get("/none").body, "<404 Not Found||||/none>");
  EXPECT_EQ(server.get("/none").header("Content-Type"), "text/html");
  EXPECT_EQ(server.get("/throw").body, "<500 Internal Server Error|||id|/throw>");
  EXPECT_NE(server.get("/bad/x").body.find("<400 Bad Request|path parameter n: has to be"), std::string::npos);
  EXPECT_EQ(server.post("/text", "abcd").body, "<413 Content Too Large||body_bytes_max||/text>");
  const auto answer = server.ask(Method::Put, "/throw");
  EXPECT_EQ(answer.status, 405);
  EXPECT_EQ(answer.header("Allow"), "GET, HEAD, OPTIONS");
}

TEST(ErrorPagesHook, FailingHookFallsBack) {
  FakeServer server;
  ErrorPages pages;
  server.error_page = &pages;
  pages.set_hook([](const ErrorInfo& error) -> Reply {
    if (error.request().path() == "/throw") throw 1;
    return Reply("x").field("bad name", "x");
  });
  EXPECT_EQ(server.get("/throw").body, "404 Not Found\n");
  EXPECT_EQ(server.get("/field").body, "404 Not Found\n");
}

TEST(ErrorPagesHook, ShowsExceptionsOnlyInDevelopment) {
  FakeServer server;
  ErrorPages pages;
  server.error_page = &pages;
  server.router.get("/", []() -> int { throw std::runtime_error("the secret"); });
  EXPECT_EQ(server.get("/").body.find("secret"), std::string::npos);
  EXPECT_NE(server.get("/").body.find("error id "), std::string::npos);
  pages.set_dev(true);
  EXPECT_NE(server.get("/").body.find("the secret"), std::string::npos);
}

TEST(ErrorPagesHook, MayChangeTheStatus) {
  FakeServer server;
  ErrorPages pages;
  server.error_page = &pages;
  pages.set_hook([](const ErrorInfo&) { return Reply("gone").status(Status::Gone); });
  EXPECT_EQ(server.get("/").status, 410);
}

}  // namespace
}  // namespace violet::web
