#include "violet/app/app.h"

#include "violet/app/test_client.h"
#include "violet/base/log.h"
#include "violet/event/wait.h"
#include "violet/violet.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace violet {
namespace {

App make_app() {
  App app;
  app.get("/", [] { return "hello"; });
  app.get("/users/{id}", [](Path<int> id) { return "user " + std::to_string(*id); });
  app.post("/echo", [](Text text) { return *text; });
  app.get("/slow/{ms}", [](Path<unsigned> ms) -> Task<std::string> {
    static_cast<void>(co_await sleep_ms(*ms));
    co_return "slept " + std::to_string(*ms);
  });
  app.get("/count/{n}", [](Path<int> n) -> Generator<std::string> {
    for (int i = 0; i < *n; ++i) {
      co_yield std::to_string(i) + ",";
      static_cast<void>(co_await sleep_ms(1));
    }
  });
  app.get("/trailed", [] { return Reply("body").trailer("X-Sum", "9"); });
  return app;
}

TEST(TestClientRequests, GoThroughTheWholePipeline) {
  App app = make_app();
  TestClient client = app.test();
  TestReply reply = client.get("/");
  EXPECT_EQ(reply.status(), 200);
  EXPECT_EQ(reply.text(), "hello");
  EXPECT_EQ(reply.header("content-type"), "text/plain; charset=utf-8");
  EXPECT_EQ(reply.header("Content-Length"), "5");
  EXPECT_FALSE(reply.header("Date").empty());
  EXPECT_EQ(client.get("/users/7").text(), "user 7");
  EXPECT_EQ(client.get("/users/x").status(), 400);
  EXPECT_EQ(client.get("/none").status(), 404);
  EXPECT_EQ(client.post("/echo", "some text").text(), "some text");
  EXPECT_EQ(client.post("/echo", "").text(), "");
  const std::string large(300'000, 'x');
  EXPECT_EQ(client.post("/echo", large).text(), large);
  EXPECT_EQ(client.put("/echo", "").status(), 405);
  EXPECT_EQ(client.put("/echo", "").header("Allow"), "POST, OPTIONS");
}

TEST(TestClientRequests, OfEachKind) {
  App app = make_app();
  TestClient client = app.test();
  TestReply reply = client.head("/");
  EXPECT_EQ(reply.status(), 200);
  EXPECT_EQ(reply.header("Content-Length"), "5");
  EXPECT_EQ(reply.text(), "");
  EXPECT_EQ(client.options("/").status(), 204);
  EXPECT_EQ(client.options("*").status(), 204);
  EXPECT_EQ(client.request("BREW", "/").send().status(), 501);
  reply = client.request(http::Method::Post, "/echo").header("Expect", "100-continue").body("x").send();
  EXPECT_EQ(reply.text(), "x");
  reply = client.request(http::Method::Post, "/echo")
              .header("Transfer-Encoding", "chunked")
              .body("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
              .send();
  EXPECT_EQ(reply.text(), "abcde");
  EXPECT_EQ(client.get("/count/5").text(), "0,1,2,3,4,");
  reply = client.request(http::Method::Get, "/trailed").header("TE", "trailers").send();
  EXPECT_EQ(reply.text(), "body");
}

TEST(TestClientRequests, WaitForHandlersThatWait) {
  App app = make_app();
  EXPECT_EQ(app.test().get("/slow/30").text(), "slept 30");
}

TEST(TestClientRequests, EndAtTheirTimeout) {
  App app = make_app();
  const TestReply reply = app.test().timeout_ms(50).get("/slow/10000");
  EXPECT_EQ(reply.status(), 0);
  EXPECT_NE(reply.text().find("no whole answer in time"), std::string::npos) << reply.text();
}

TEST(TestClientRequests, TellWhatIsWrongWithTheApp) {
  App app = make_app();
  app.get("/users/{name}", [] { return ""; });
  const TestReply reply = app.test().get("/");
  EXPECT_EQ(reply.status(), 0);
  EXPECT_NE(reply.text().find("app_test.cc:"), std::string::npos) << reply.text();
}

TEST(TestClientRequests, RawBytesShowTheWire) {
  App app = make_app();
  TestClient client = app.test();
  const std::string answer = client.raw("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /users/1 HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(answer.substr(0, 17), "HTTP/1.1 200 OK\r\n");
  EXPECT_NE(answer.find("hello"), std::string::npos);
  EXPECT_NE(answer.find("user 1"), std::string::npos);
  EXPECT_EQ(client.raw("GET / HTTP/1.1\r\n\r\n").substr(0, 12), "HTTP/1.1 400");
}

void drop_log(LogLevel, std::string_view) noexcept {}

TEST(AppErrors, ShapeWhatTheWireRefuses) {
  App app = make_app();
  app.on_error([](const ErrorInfo& error) { return Reply("own " + std::to_string(error.status())); });
  TestClient client = app.test();
  EXPECT_NE(client.raw("GET / HTTP/1.1\r\n\r\n").find("own 400"), std::string::npos);
  EXPECT_EQ(client.get("/none").text(), "own 404");
  EXPECT_EQ(client.request(http::Method::Get, "/").header("Expect", "the unexpected").send().text(), "own 417");
}

TEST(AppSettings, AreUsed) {
  App app = make_app();
  Limits limits;
  limits.body_bytes_max = 4;
  app.limits(limits).name("violet-test");
  struct Clock {
    int now;
  };
  app.provide(Clock{7});
  app.get("/clock", [](const Clock& clock) { return clock.now; });
  TestClient client = app.test();
  EXPECT_EQ(client.post("/echo", "12345").status(), 413);
  EXPECT_EQ(client.get("/").header("Server"), "violet-test");
  EXPECT_EQ(client.get("/clock").text(), "7");
  app.provide(Clock{8});
  EXPECT_NE(app.test().get("/").text().find("called twice"), std::string::npos);
}

TEST(AppErrors, NameTheLimitThatTheRouteHasSet) {
  App app;
  app.post("/small", [](Text text) { return *text; }).body_max(4);
  const std::string page = "413 Content Too Large\nlimit body_bytes_max = 4\n";
  EXPECT_EQ(app.test().post("/small", "12345").text(), page);
  // Who develops it is told more.
  app.dev(true);
  EXPECT_EQ(app.test().post("/small", "12345").text(), page + "raised by body_max() of the route, or app.limits()\n");
  EXPECT_NE(app.test().get("/" + std::string(9000, 'x')).text().find("raised by app.limits()"), std::string::npos);
}

TestReply ask_as_browser(App& app, std::string_view target) {
  return app.test()
      .request(http::Method::Get, target)
      .header("Accept", "text/html,*/*;q=0.8")
      .header("Cookie", "session=hidden")
      .header("X-Tag", "<script>")
      .send();
}

TEST(AppErrors, ShowBrowsersWhatHappenedInDevelopment) {
  App app;
  app.use([](Request) {});
  app.get("/fails/{id}", [](Path<int>) -> int {
    try {
      throw std::runtime_error("the cause");
    } catch (...) {
      std::throw_with_nested(std::logic_error("<the failure>"));
    }
  });
  app.dev(true);
  const TestReply page = ask_as_browser(app, "/fails/7?x=1");
  EXPECT_EQ(page.status(), 500);
  EXPECT_EQ(page.header("Content-Type"), "text/html; charset=utf-8");
  const auto has = [&](std::string_view part) { return page.text().find(part) != std::string::npos; };
  EXPECT_TRUE(has("std::logic_error") && has("&lt;the failure&gt;")) << "what was thrown, escaped";
  EXPECT_TRUE(has("std::runtime_error") && has("the cause")) << "and why";
  EXPECT_TRUE(has("/fails/{id}") && has("app_test.cc:")) << "the route and its line";
  EXPECT_TRUE(has("<span class=here>") && has("app.get(&quot;/fails/{id}&quot;")) << "the source itself";
  EXPECT_TRUE(has("/fails/7?x=1") && has("&lt;script&gt;")) << "the request";
  EXPECT_FALSE(has("<script>"));
  EXPECT_FALSE(has("session=hidden")) << "secrets stay where they are";
  EXPECT_TRUE(has("error id"));
  const TestReply wrong = ask_as_browser(app, "/fails/x");
  EXPECT_EQ(wrong.status(), 400);
  EXPECT_NE(wrong.text().find("Wrong in the request"), std::string::npos);
  EXPECT_EQ(ask_as_browser(app, "/nothing").status(), 404);
}

TEST(AppErrors, ShowNothingOfItInProduction) {
  App app;
  app.get("/fails", []() -> int { throw std::runtime_error("the secret"); });
  EXPECT_EQ(ask_as_browser(app, "/fails").text().find("the secret"), std::string::npos);
  ::setenv("VIOLET_ENV", "production", 1);
  app.dev(true);
  ::unsetenv("VIOLET_ENV");
  const TestReply reply = ask_as_browser(app, "/fails");
  EXPECT_EQ(reply.text().find("the secret"), std::string::npos);
  EXPECT_EQ(reply.header("Content-Type"), "text/plain; charset=utf-8");
  const TestReply problem = app.test().request(http::Method::Get, "/fails").header("Accept", "application/json").send();
  EXPECT_EQ(problem.header("Content-Type"), "application/problem+json");
  EXPECT_EQ(problem.text().find("the secret"), std::string::npos);
}

TEST(AppErrors, LeaveThePageToTheHookInDevelopmentToo) {
  App app;
  app.dev(true);
  app.on_error([](const ErrorInfo&) { return Reply("mine"); });
  EXPECT_EQ(ask_as_browser(app, "/nothing").text(), "mine");
}

TEST(AppReplies, AreWhatHandlersTook) {
  App app;
  app.post("/bytes", [](Bytes bytes) { return bytes; });
  const TestReply reply = app.test().post("/bytes", std::string(3000, 'x'));
  EXPECT_EQ(reply.text(), std::string(3000, 'x'));
  EXPECT_EQ(reply.header("Content-Type"), "application/octet-stream");
}

TEST(AppErrors, RefuseADeclaredBodyBeforeItIsRead) {
  App app;
  int piece_count = 0;
  app.post("/upload",
           [&piece_count](BodyStream body) -> Task<Result<int>> {
             for (;;) {
               Result<Slice> piece = co_await body.read();
               if (!piece) co_return fail(piece.error());
               if (piece->is_empty()) co_return piece_count;
               ++piece_count;
             }
           })
      .body_max(4);
  const std::string head = "POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n";
  EXPECT_TRUE(app.test().raw(head + "Expect: 100-continue\r\n\r\n").starts_with("HTTP/1.1 413 "));
  EXPECT_TRUE(app.test().raw(head + "\r\n12345").starts_with("HTTP/1.1 413 "));
  EXPECT_EQ(piece_count, 0);
}

struct Stamp {
  void on_reply(Exchange& exchange, http::Head& head, Body&) {
    if (exchange.request().path == "/throw" && throw_count++ == 0) throw std::runtime_error("in the hook");
    head.fields.push(http::FieldId::XContentTypeOptions, "nosniff");
  }
  int throw_count = 0;
};

TEST(AppErrors, PassThroughTheReplyHooksAlsoWhenSomethingThrew) {
  set_log_sink(drop_log);
  App app;
  app.use(Stamp{});
  app.get("/crash", []() -> std::string { throw std::runtime_error("in the handler"); });
  app.get("/throw", [] { return "never seen"; });
  TestClient client = app.test();
  TestReply reply = client.get("/crash");
  EXPECT_EQ(reply.status(), 500);
  EXPECT_EQ(reply.header("X-Content-Type-Options"), "nosniff");
  // Whose hook throws is answered without them.
  reply = client.get("/throw");
  EXPECT_EQ(reply.status(), 500);
  EXPECT_NE(reply.text().find("error id"), std::string::npos);
  EXPECT_EQ(reply.header("X-Content-Type-Options"), "");
  set_log_sink(nullptr);
}

TEST(AppErrors, AreAnsweredWhenHandlerAndHookThrow) {
  set_log_sink(drop_log);
  App app;
  app.use(Stamp{});
  app.get("/throw", []() -> std::string { throw std::runtime_error("in the handler"); });
  EXPECT_EQ(app.test().get("/throw").status(), 500);
  set_log_sink(nullptr);
}

TEST(AppStart, TellsWhereItListens) {
  App app = make_app();
  std::vector<std::string> told;
  app.loops(1).listen("http://127.0.0.1:0").on_listen([&](const std::vector<std::string>& urls) { told = urls; });
  ASSERT_TRUE(app.start());
  EXPECT_EQ(told, app.urls());
  ASSERT_EQ(told.size(), 1u);
  EXPECT_FALSE(told[0].ends_with(":0"));
  app.stop();
  app.wait();
}

TEST(AppCounters, AreZeroWhileItDoesNotRunAndForAnyThread) {
  App app = make_app();
  app.loops(2).listen("http://127.0.0.1:0");
  EXPECT_EQ(app.counters().requests, 0u);
  ASSERT_TRUE(app.start());
  EXPECT_EQ(app.counters().connections_opened, 0u);
  app.stop();
  app.wait();
  EXPECT_EQ(app.counters().connections_opened, 0u);
}

TEST(AppIsAValue, MovesAndLivesManyTimes) {
  std::vector<App> apps;
  for (int i = 0; i < 3; ++i) {
    apps.push_back(make_app());
    apps.back().get("/number", [i] { return i; });
  }
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(apps[static_cast<std::size_t>(i)].test().get("/number").text(), std::to_string(i));
  }
}

TEST(AppRun, FailsOnConflictsAndBadListeners) {
  set_log_sink(drop_log);
  App conflicting = make_app();
  conflicting.get("/", [] { return ""; });
  EXPECT_EQ(conflicting.listen("http://127.0.0.1:0").run(), 1);
  ASSERT_EQ(conflicting.errors().size(), 1u);
  EXPECT_NE(conflicting.errors()[0].find("app_test.cc:"), std::string::npos);

  App deaf = make_app();
  EXPECT_EQ(deaf.run(), 1);

  App lost = make_app();
  EXPECT_EQ(lost.listen("http://127.0.0.1:0").listen("ftp://x").listen("http://192.0.2.1:1").run(), 1);
  EXPECT_EQ(lost.errors().size(), 2u);
  EXPECT_FALSE(lost.is_ready());
  set_log_sink(nullptr);
}

TEST(AppStart, CanBeStoppedAndStartedAgain) {
  App app = make_app();
  app.loops(2).listen("http://127.0.0.1:0");
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(app.start());
    EXPECT_TRUE(app.is_ready());
    ASSERT_EQ(app.urls().size(), 1u);
    EXPECT_FALSE(app.urls()[0].ends_with(":0"));
    app.stop(std::chrono::seconds(1));
    EXPECT_FALSE(app.is_ready());
    app.wait();
  }
  // Testing goes on beside it, also while it runs.
  ASSERT_TRUE(app.start());
  EXPECT_EQ(app.test().get("/").text(), "hello");
  app.stop();
  app.wait();
}

TEST(AppRun, EndsByAStopFromAnotherThread) {
  set_log_sink(drop_log);
  App app = make_app();
  std::size_t url_count = 0;
  app.loops(1).listen("http://127.0.0.1:0").on_listen([&](const std::vector<std::string>& urls) {
    url_count = urls.size();
  });
  std::atomic<bool> is_over{false};
  std::thread stopper([&] {
    while (!app.is_ready() && !is_over) std::this_thread::yield();
    app.stop(1'000);
  });
  EXPECT_EQ(app.run(), 0);
  EXPECT_EQ(url_count, 1u);
  is_over = true;
  stopper.join();
  set_log_sink(nullptr);
}

}  // namespace
}  // namespace violet
