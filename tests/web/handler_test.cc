#include "violet/web/handler.h"

#include "tests/web/fake_wire.h"
#include "violet/event/wait.h"
#include "violet/web/input/body.h"
#include "violet/web/input/fields.h"
#include "violet/web/input/path.h"
#include "violet/web/input/query.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace violet::web {
namespace {

using http::Method;

std::string free_function(Path<int> id) { return "free " + std::to_string(*id); }

TEST(Handler, IsAnyCallable) {
  FakeServer server;
  server.router.get("/lambda", [] { return "lambda"; });
  server.router.get("/free/{id}", free_function);
  struct Object {
    std::string text;
    std::string operator()() const { return text; }
  };
  server.router.get("/object", Object{"object"});
  auto owned = std::make_unique<int>(7);
  server.router.get("/owner", [owned = std::move(owned)] { return *owned; });
  EXPECT_EQ(server.get("/lambda").body, "lambda");
  EXPECT_EQ(server.get("/free/3").body, "free 3");
  EXPECT_EQ(server.get("/object").body, "object");
  EXPECT_EQ(server.get("/owner").body, "7");
}

TEST(Handler, TakesParametersInAnyOrder) {
  struct Page {
    int limit = 20;
  };
  FakeServer server;
  server.router.get("/{a}/{b}", [](Query<Page> page, Path<int> a, const Request& request, Header<"Host"> host,
                                   Path<std::string> b, RawQuery raw) {
    return std::to_string(*a) + "," + *b + "," + std::to_string(page->limit) + "," + std::string(*host) + "," +
           std::string(*raw) + "," + std::string(request.param("b"));
  });
  EXPECT_EQ(server.get("/12/x%20y?limit=5", {{"Host", "example.com"}}).body, "12,x y,5,example.com,limit=5,x y");
}

TEST(HandlerPath, ChecksRangesAndNames) {
  FakeServer server;
  server.router.get("/i8/{n}", [](Path<std::int8_t> n) { return static_cast<int>(*n); });
  server.router.get("/u64/{n}", [](Path<std::uint64_t> n) { return *n; });
  server.router.get("/i64/{n}", [](Path<std::int64_t> n) { return *n; });
  server.router.get("/d/{n}", [](Path<double> n) { return *n; });
  server.router.get("/b/{n}", [](Path<bool> n) { return *n; });
  server.router.get("/t/{text}", [](Path<std::string_view> text) { return text; });
  EXPECT_EQ(server.get("/i8/127").body, "127");
  EXPECT_EQ(server.get("/i8/-128").body, "-128");
  EXPECT_EQ(server.get("/u64/18446744073709551615").body, "18446744073709551615");
  EXPECT_EQ(server.get("/i64/-9223372036854775808").body, "-9223372036854775808");
  EXPECT_EQ(server.get("/i64/9223372036854775807").body, "9223372036854775807");
  EXPECT_EQ(server.get("/d/-1.5e3").body, "-1500");
  EXPECT_EQ(server.get("/b/true").body, "true");
  EXPECT_EQ(server.get("/b/0").body, "false");
  for (const char* path : {"/i8/128", "/i8/-129", "/i8/", "/u64/18446744073709551616", "/u64/-1",
                           "/u64/00000000000000000000x", "/i64/9223372036854775808", "/i64/+1", "/i64/1%20", "/i64/0x1",
                           "/d/x", "/d/inf", "/d/nan", "/d/1e999", "/b/yes"}) {
    const auto answer = server.get(path);
    if (std::string_view(path) == "/i8/") {
      EXPECT_EQ(answer.status, 404) << path;
    } else {
      EXPECT_EQ(answer.status, 400) << path;
      EXPECT_NE(answer.body.find("path parameter n: has to be "), std::string::npos) << answer.body;
    }
  }
}

TEST(HandlerPath, BindsAggregatesByName) {
  struct Day {
    int year;
    unsigned month;
    std::string note;
  };
  FakeServer server;
  server.router.get("/{month}/{note}/{year}", [](Path<Day> day) {
    return std::to_string(day->year) + "-" + std::to_string(day->month) + day->note;
  });
  EXPECT_EQ(server.get("/11/x/2026").body, "2026-11x");
  const auto answer = server.get("/a/x/b");
  EXPECT_EQ(answer.status, 400);
  EXPECT_NE(answer.body.find("path parameter month"), std::string::npos);
  EXPECT_NE(answer.body.find("path parameter year"), std::string::npos);
}

TEST(HandlerPath, MissingParametersAreErrorsAtStart) {
  struct Day {
    int day;
  };
  FakeServer server;
  server.router.get("/a/{x}", [](Path<int>, Path<int>) { return ""; });
  server.router.get("/b/{x}", [](Path<Day>) { return ""; });
  const auto errors = server.router.freeze();
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_NE(errors[0].find("handler_test.cc:"), std::string::npos) << errors[0];
  EXPECT_NE(errors[0].find("GET /a/{x}"), std::string::npos) << errors[0];
  EXPECT_NE(errors[1].find("{day}"), std::string::npos) << errors[1];
}

struct Search {
  int a;
  int limit = 20;
  std::optional<int> age;
  std::vector<std::string> tag;
  std::string name = "nobody";
  std::string_view view;
  bool verbose = false;
  double ratio = 0.5;
  std::optional<std::string> maybe;
  std::vector<std::uint8_t> bytes;
};

std::string show(const Search& s) {
  std::string text =
      std::to_string(s.a) + "|" + std::to_string(s.limit) + "|" + (s.age ? std::to_string(*s.age) : "-") + "|";
  for (const std::string& tag : s.tag) text += tag + ",";
  text += "|" + s.name + "|" + std::string(s.view) + "|" + (s.verbose ? "v" : "q") + "|" +
          std::to_string(s.ratio).substr(0, 4);
  text += "|" + s.maybe.value_or("-") + "|";
  for (int byte : s.bytes) text += std::to_string(byte) + ",";
  return text;
}

TEST(HandlerQuery, FillsAggregates) {
  FakeServer server;
  server.router.get("/", [](Query<Search> search) { return show(*search); });
  EXPECT_EQ(server.get("/?a=1").body, "1|20|-||nobody||q|0.50|-|");
  EXPECT_EQ(server
                .get("/?a=1&limit=-5&age=7&tag=x&tag=y+z&tag=&name=J%C3%BCrgen&view=a%26b&verbose&ratio=2.25&maybe=&"
                     "bytes=1&bytes=255")
                .body,
            "1|-5|7|x,y z,,|Jürgen|a&b|v|2.25||1,255,");
  // Names are decoded, unknown ones ignored, the first of several counts, empty pairs mean nothing.
  EXPECT_EQ(server.get("/?&&%61=1&a=2&b=3&=4&limit=6&limit=x&&").body, "1|6|-||nobody||q|0.50|-|");
  EXPECT_EQ(server.get("/?a=1&verbose=false").body, "1|20|-||nobody||q|0.50|-|");
  EXPECT_EQ(server.get("/?a=1&%zz=1").body, "1|20|-||nobody||q|0.50|-|");
}

TEST(HandlerQuery, NamesEverythingThatIsWrong) {
  FakeServer server;
  server.router.get("/", [](Query<Search> search) { return show(*search); });
  const auto answer = server.get("/?limit=x&age=&verbose=maybe&ratio=1,5&bytes=1&bytes=256&name=%zz");
  EXPECT_EQ(answer.status, 400);
  for (const char* field :
       {"query field a: is missing", "query field limit: has to be a whole number from -2147483648 to 2147483647",
        "query field age: has to be", "query field verbose: has to be true or false",
        "query field ratio: has to be a number", "query field bytes: has to be a whole number from 0 to 255",
        "query field name: is badly encoded"}) {
    EXPECT_NE(answer.body.find(field), std::string::npos) << field << "\n" << answer.body;
  }
}

TEST(HandlerRequest, ShowsTheRequest) {
  FakeServer server;
  server.connection.peer = *Address::parse("192.0.2.7", 4711);
  server.router.get("/x/{name}", [](const Request& request, Cookies cookies) {
    std::string text(request.method_text());
    text += " ";
    text.append(request.path()).append(" ").append(request.pattern()).append(" ").append(request.param("name"));
    text.append(" ").append(request.query("q").value_or("-")).append(" ").append(request.query("none").value_or("-"));
    text.append(" ").append(request.header(http::FieldId::UserAgent)).append(" ").append(request.header("x-own"));
    text.append(" ").append(request.cookie("b").value_or("-")).append(" ").append(request.peer().to_string());
    cookies.for_each([&](std::string_view name, std::string_view value) {
      text.append(" ").append(name).append("=").append(value);
    });
    return text;
  });
  EXPECT_EQ(server
                .get("/x/a%2Fb?q=1+2&q=3",
                     {{"User-Agent", "test"}, {"X-Own", "yes"}, {"Cookie", "a=1; b=\"2\";c"}, {"Cookie", "d=4"}})
                .body,
            "GET /x/a%2Fb /x/{name} a/b 1 2 - test yes 2 192.0.2.7:4711 a=1 b=2 d=4");
}

TEST(HandlerHeader, IsTyped) {
  FakeServer server;
  server.router.get("/int", [](Header<"X-Count", int> count) { return *count; });
  server.router.get("/optional", [](Header<"X-Count", std::optional<int>> count) { return count->value_or(-1); });
  EXPECT_EQ(server.get("/int", {{"x-count", "5"}}).body, "5");
  EXPECT_EQ(server.get("/int").status, 400);
  EXPECT_EQ(server.get("/int", {{"x-count", "five"}}).status, 400);
  EXPECT_EQ(server.get("/optional").body, "-1");
  EXPECT_EQ(server.get("/optional", {{"X-COUNT", "9"}}).body, "9");
  EXPECT_EQ(server.get("/optional", {{"x-count", "x"}}).status, 400);
}

TEST(HandlerBody, AndQueriesAreViewsWhereAViewIsWanted) {
  const Text text{"some text"};
  EXPECT_EQ(std::string_view(text), "some text");
  EXPECT_EQ(text->size(), 9u);
  const RawQuery query{"a=1"};
  EXPECT_EQ(std::string_view(query), "a=1");
  EXPECT_EQ(query->size(), 3u);
  const std::byte bytes[2] = {};
  EXPECT_EQ(std::span<const std::byte>(Bytes{bytes}).size(), 2u);
}

TEST(HandlerBody, IsCollectedFirst) {
  FakeServer server;
  server.router.post("/text", [](Text text) { return "got " + std::string(*text); });
  server.router.post("/bytes", [](Bytes bytes) { return bytes->size(); });
  server.router.post("/task/{id}", [](Path<std::string_view> id, Text text) -> Task<std::string> {
    static_cast<void>(co_await sleep_ms(1));
    co_return std::string(*id) + ":" + std::string(*text);
  });
  EXPECT_EQ(server.post("/text", "hello").body, "got hello");
  EXPECT_EQ(server.post("/text", "").body, "got ");
  EXPECT_EQ(server.get("/text").status, 405);
  EXPECT_EQ(server.send({.method = Method::Post, .target = "/text"}).body, "got ");
  EXPECT_EQ(server.post("/bytes", "12345").body, "5");
  std::string big(100'000, 'x');
  EXPECT_EQ(server.send({.method = Method::Post, .target = "/task/seven", .body = big, .body_piece = 777}).body,
            "seven:" + big);
}

TEST(HandlerBody, LimitIsTheRoutes) {
  FakeServer server;
  server.limits.body_bytes_max = 10;
  server.router.post("/small", [](Text text) { return *text; });
  server.router.post("/large", [](Text text) { return *text; }).body_max(20);
  EXPECT_EQ(server.post("/small", std::string(10, 'x')).status, 200);
  const auto answer = server.post("/small", std::string(11, 'x'));
  EXPECT_EQ(answer.status, 413);
  EXPECT_NE(answer.body.find("body_bytes_max"), std::string::npos);
  EXPECT_EQ(server.post("/large", std::string(20, 'x')).status, 200);
  EXPECT_EQ(server.post("/large", std::string(21, 'x')).status, 413);
}

TEST(HandlerTask, WaitsWithPinnedTexts) {
  FakeServer server;
  server.router.get("/{name}",
                    [](Path<std::string_view> name, const Request& request, RawQuery raw) -> Task<std::string> {
                      const std::string_view agent = request.header("User-Agent");
                      if (auto slept = co_await sleep_ms(2); !slept) co_return "stopped";
                      co_return std::string(*name) + " " + std::string(agent) + " " + std::string(*raw) + " " +
                          std::string(request.path());
                    });
  EXPECT_EQ(server.get("/plain?a=b", {{"User-Agent", "me"}}).body, "plain me a=b /plain");
  EXPECT_EQ(server.get("/enc%20oded?a=b", {{"User-Agent", "me"}}).body, "enc oded me a=b /enc%20oded");
}

TEST(HandlerTask, AnswersAsTheSynchronousOneDoes) {
  FakeServer server;
  server.router.get("/void", []() -> Task<> { co_return; });
  server.router.get("/optional", []() -> Task<std::optional<int>> { co_return std::nullopt; });
  server.router.get("/throws", []() -> Task<int> {
    static_cast<void>(co_await sleep_ms(1));
    throw std::runtime_error("secret");
  });
  server.router.get("/error", []() -> Task<Result<int>> { co_return fail(ErrorKind::Busy); });
  EXPECT_EQ(server.get("/void").status, 204);
  EXPECT_EQ(server.get("/optional").status, 404);
  const auto thrown = server.get("/throws");
  EXPECT_EQ(thrown.status, 500);
  EXPECT_EQ(thrown.body.find("secret"), std::string::npos);
  EXPECT_EQ(server.get("/error").status, 503);
}

TEST(HandlerTask, TimeIsLimitedByRouteOrTable) {
  FakeServer server;
  server.limits.handler_ms = 20;
  const auto slow = []() -> Task<std::string> {
    for (int i = 0; i < 10; ++i) {
      if (auto slept = co_await sleep_ms(10); !slept) co_return "stopped";
    }
    co_return "done";
  };
  server.router.get("/table", slow);
  server.router.get("/own", slow).handler_ms(5'000);
  server.router.get("/none", slow).no_deadline();
  const auto answer = server.get("/table");
  EXPECT_EQ(answer.status, 503);
  EXPECT_NE(answer.body.find("handler_ms"), std::string::npos);
  EXPECT_EQ(server.get("/own").body, "done");
  EXPECT_EQ(server.get("/none").body, "done");
}

TEST(HandlerTask, IsStoppedWhenTheClientLeaves) {
  FakeServer server;
  std::string end;
  server.router.get("/", [&end]() -> Task<std::string> {
    const Result<void> slept = co_await sleep_ms(60'000);
    end = slept ? "slept" : name(slept.error().kind());
    co_return "late";
  });
  const Loop::Scope scope(server.loop);
  FakeCall call(server.site(), server.connection, {});
  EXPECT_EQ(server.site().exchanges.used_count(), 1u);
  call.close(Error(ErrorKind::Reset));
  EXPECT_EQ(end, name(ErrorKind::Reset));
  EXPECT_EQ(server.site().exchanges.used_count(), 0u);
}

// What must be finished although the client has left is: the exchange outlives its stream.
TEST(HandlerTask, CleansUpAfterTheClientHasLeft) {
  FakeServer server;
  bool is_undone = false;
  const auto undo = [&is_undone]() -> Task<> {
    static_cast<void>(co_await sleep_ms(5));
    is_undone = true;
  };
  server.router.get("/", [&]() -> Task<std::string> {
    static_cast<void>(co_await sleep_ms(60'000));
    auto undoing = undo();
    static_cast<void>(co_await shielded(std::move(undoing), 1'000));
    co_return "late";
  });
  const Loop::Scope scope(server.loop);
  FakeCall call(server.site(), server.connection, {});
  call.close(Error(ErrorKind::Reset));
  EXPECT_EQ(server.site().exchanges.used_count(), 1u);
  for (int i = 0; i < 100 && !is_undone; ++i) server.loop.step(10);
  EXPECT_TRUE(is_undone);
  EXPECT_EQ(server.site().exchanges.used_count(), 0u);
}

TEST(HandlerExchange, AnswersByHand) {
  FakeServer server;
  Ref<Exchange> held;
  server.router.get("/now", [](Exchange& exchange) {
    exchange.response().status = 202;
    exchange.reply(Slice::literal("by hand"));
  });
  server.router.get("/later", [&held](Exchange& exchange) { held = exchange.hold(); });
  server.router.get("/never", [](Exchange&) {});
  server.router.get("/never/task", [](Exchange&) -> Task<> { co_return; });
  EXPECT_EQ(server.get("/now").body, "by hand");
  EXPECT_EQ(server.get("/now").status, 202);
  EXPECT_EQ(server.get("/never").status, 500);
  EXPECT_EQ(server.get("/never/task").status, 500);
  const Loop::Scope scope(server.loop);
  FakeCall call(server.site(), server.connection, {.target = "/later"});
  EXPECT_EQ(call.stream.answer.status, 0);
  held->reply(Slice::literal("later"));
  held = nullptr;
  EXPECT_EQ(call.stream.answer.body, "later");
}

TEST(HandlerProvided, IsFoundByType) {
  struct Db {
    std::string name;
  };
  struct Clock {
    int now = 5;
  };
  FakeServer server;
  EXPECT_TRUE(server.router.provide(Db{"main"}));
  EXPECT_FALSE(server.router.provide(Db{"second"}));
  EXPECT_TRUE(server.router.provide(std::make_unique<Clock>()));
  server.router.get("/", [](Db& db, const Clock& clock) { return db.name + std::to_string(clock.now); });
  EXPECT_EQ(server.get("/").body, "main5");
}

struct Absent {};

TEST(HandlerProvided, IsMissedAtStart) {
  FakeServer server;
  const int line = __LINE__ + 1;
  server.router.get("/x", [](Absent&) { return ""; });
  const auto errors = server.router.freeze();
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].find("handler_test.cc:" + std::to_string(line)), std::string::npos) << errors[0];
  EXPECT_NE(errors[0].find("Absent"), std::string::npos) << errors[0];
}

TEST(Handler, ExceptionsBecomeAnIdOnly) {
  FakeServer server;
  server.router.get("/std", []() -> std::string { throw std::runtime_error("secret"); });
  server.router.get("/int", []() -> std::string { throw 7; });
  server.router.post("/body", [](Text) -> std::string { throw std::runtime_error("secret"); });
  for (const FakeAnswer& answer : {server.get("/std"), server.get("/int"), server.post("/body", "x")}) {
    EXPECT_EQ(answer.status, 500);
    EXPECT_NE(answer.body.find("error id "), std::string::npos);
    EXPECT_EQ(answer.body.find("secret"), std::string::npos);
  }
}

}  // namespace

// A parameter type of the user's own.
struct User {
  std::string_view name;
};

}  // namespace violet::web

template <>
struct violet::Extract<violet::web::User> : violet::Extractor {
  static web::User from(Fetch& fetch) {
    const auto name = fetch.request().cookie("user");
    if (!name) fetch.refuse(Error(ErrorKind::Invalid, 0, 401), "log in first");
    return {name.value_or("")};
  }
};

namespace violet::web {
namespace {

TEST(HandlerExtract, CanBeExtended) {
  FakeServer server;
  server.router.get("/me", [](User user) { return user.name; });
  EXPECT_EQ(server.get("/me", {{"Cookie", "user=ada"}}).body, "ada");
  const auto answer = server.get("/me");
  EXPECT_EQ(answer.status, 401);
  EXPECT_NE(answer.body.find("log in first"), std::string::npos);
}

}  // namespace
}  // namespace violet::web
