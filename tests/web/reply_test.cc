#include "violet/web/output/reply.h"

#include "tests/web/fake_wire.h"
#include "violet/base/log.h"
#include "violet/web/output/file.h"
#include "violet/web/output/generator.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

namespace violet::web {
namespace {

TEST(Respond, TextsAndNumbers) {
  FakeServer server;
  Router& router = server.router;
  router.get("/literal", [] { return "literal"; });
  router.get("/view", [] { return std::string_view("view"); });
  router.get("/string", [] { return std::string("string"); });
  router.get("/large", [] { return std::string(5000, 'x'); });
  router.get("/int", [] { return 404; });
  router.get("/negative", [] { return std::int64_t{-9'223'372'036'854'775'807 - 1}; });
  router.get("/unsigned", [] { return ~std::uint64_t{0}; });
  router.get("/double", [] { return 0.1; });
  router.get("/bool", [] { return true; });
  for (const char* name : {"literal", "view", "string"}) {
    const auto answer = server.get(std::string("/") + name);
    EXPECT_EQ(answer.body, name);
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.header("Content-Type"), "text/plain; charset=utf-8");
  }
  EXPECT_EQ(server.get("/large").body, std::string(5000, 'x'));
  EXPECT_EQ(server.get("/int").body, "404");
  EXPECT_EQ(server.get("/int").status, 200);
  EXPECT_EQ(server.get("/negative").body, "-9223372036854775808");
  EXPECT_EQ(server.get("/unsigned").body, "18446744073709551615");
  EXPECT_EQ(server.get("/double").body, "0.1");
  EXPECT_EQ(server.get("/bool").body, "true");
}

TEST(Respond, BytesAndBodies) {
  FakeServer server;
  server.router.get("/bytes", [] { return std::vector<std::byte>{std::byte{'a'}, std::byte{0}, std::byte{'b'}}; });
  server.router.get("/slice", [] { return Slice::literal("slice"); });
  server.router.get("/body", [] { return Body(Slice::literal("body")); });
  EXPECT_EQ(server.get("/bytes").body, std::string("a\0b", 3));
  EXPECT_EQ(server.get("/bytes").header("Content-Type"), "application/octet-stream");
  EXPECT_EQ(server.get("/slice").body, "slice");
  EXPECT_EQ(server.get("/body").body, "body");
}

TEST(Respond, NothingIs204) {
  FakeServer server;
  server.router.get("/", [] {});
  const auto answer = server.get("/");
  EXPECT_EQ(answer.status, 204);
  EXPECT_TRUE(answer.is_whole);
  EXPECT_TRUE(answer.fields.empty());
}

TEST(Respond, Statuses) {
  FakeServer server;
  server.router.get("/created", [] { return Status::Created; });
  server.router.get("/teapot", [] { return Status::Teapot; });
  server.router.get("/own", [] { return Status{299}; });
  EXPECT_EQ(server.get("/created").status, 201);
  EXPECT_EQ(server.get("/created").body, "");
  EXPECT_EQ(server.get("/teapot").status, 418);
  EXPECT_EQ(server.get("/teapot").body, "418 I'm a teapot\n");
  EXPECT_EQ(server.get("/own").status, 299);
}

TEST(Respond, OptionalsResultsAndAnswers) {
  FakeServer server;
  server.router.get("/some", [] { return std::optional<std::string>("some"); });
  server.router.get("/none", [] { return std::optional<std::string>(); });
  server.router.get("/good", []() -> Result<int> { return 7; });
  server.router.get("/bad", []() -> Result<int> { return fail(ErrorKind::Conflict); });
  server.router.get("/nothing", []() -> Result<void> { return {}; });
  server.router.get("/own", []() -> std::expected<int, Reply> {
    return std::unexpected(Reply("own error").status(Status::Conflict));
  });
  server.router.get("/answer", [] {
    return Answer<std::string>{
        .status = Status::Created, .fields = {{"Location", "/7"}, {"Content-Type", "text/x"}}, .body = "made"};
  });
  EXPECT_EQ(server.get("/some").body, "some");
  EXPECT_EQ(server.get("/none").status, 404);
  EXPECT_EQ(server.get("/good").body, "7");
  EXPECT_EQ(server.get("/bad").status, 409);
  EXPECT_EQ(server.get("/nothing").status, 204);
  EXPECT_EQ(server.get("/own").status, 409);
  EXPECT_EQ(server.get("/own").body, "own error");
  const auto answer = server.get("/answer");
  EXPECT_EQ(answer.status, 201);
  EXPECT_EQ(answer.header("Location"), "/7");
  EXPECT_EQ(answer.header("Content-Type"), "text/x");
  EXPECT_EQ(answer.body, "made");
}

TEST(ReplyBuilder, SetsStatusFieldsAndBody) {
  FakeServer server;
  server.router.get("/", [] {
    return Reply("page")
        .status(Status::Accepted)
        .field("X-Own", "1")
        .field("X-Own", "2")
        .content_type("text/html")
        .field("Link", std::string(300, 'l'));
  });
  server.router.get("/named", []() -> Reply {
    Reply reply;
    reply.status(Status::Created).field("ETag", "\"a\"");
    reply.body(std::string("named"));
    return reply;
  });
  server.router.get("/status", []() -> Reply { return Status::NotFound; });
  server.router.get("/slices", [] { return Reply().body(Body(Slice::literal("raw"))).content_type("image/png"); });
  auto answer = server.get("/");
  EXPECT_EQ(answer.status, 202);
  EXPECT_EQ(answer.body, "page");
  ASSERT_EQ(answer.fields.size(), 4u);
  EXPECT_EQ(answer.fields[1].second, "2");
  EXPECT_EQ(answer.header("Content-Type"), "text/html");
  EXPECT_EQ(answer.header("Link"), std::string(300, 'l'));
  answer = server.get("/named");
  EXPECT_EQ(answer.status, 201);
  EXPECT_EQ(answer.header("ETag"), "\"a\"");
  EXPECT_EQ(answer.body, "named");
  // A Reply is an answer of the handler's own, also with a bad status.
  answer = server.get("/status");
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.body, "");
  answer = server.get("/slices");
  EXPECT_EQ(answer.header("Content-Type"), "image/png");
  EXPECT_EQ(answer.body, "raw");
}

TEST(ReplyBuilder, DoesNotKeepTheFieldsOfTheLastAnswer) {
  FakeServer server;
  server.router.get("/a", [] { return Reply("a").field("X-A", "1"); });
  server.router.get("/b", [] { return Reply("b"); });
  EXPECT_EQ(server.get("/a").fields.size(), 2u);
  EXPECT_EQ(server.get("/b").fields.size(), 1u);
}

std::string last_log;
void keep_log(LogLevel, std::string_view text) noexcept { last_log = text; }

TEST(ReplyBuilder, NeverLetsMalformedFieldsOut) {
  FakeServer server;
  static const char* names[] = {"", "a b", "a:b", "a\r\nb", "x\n", "X-Good", "X-Good", "X-Good", "X-Good"};
  static const std::string values[] = {"v",  "v",    "v", "v", "v", "v\r\nSet-Cookie: a=b", std::string("a\0b", 3),
                                       "\n", "a\x7f"};
  static std::size_t which = 0;
  server.router.get("/field", [] { return Reply("x").field(names[which], values[which]); });
  server.router.get("/location", [] { return Reply::redirect("/x\r\nSet-Cookie: a=b"); });
  server.router.get("/redirect", [] { return Reply::redirect("/x", Status::Ok); });
  server.router.get("/type", [] { return Reply("x").content_type("text/html\n"); });
  server.router.get("/answer", [] { return Answer<std::string>{.fields = {{"X", "\r"}}, .body = "x"}; });
  server.router.get("/trailer", [] { return Reply("x").trailer("Content-Length", "5"); });
  set_log_sink(keep_log);
  for (which = 0; which < std::size(names); ++which) {
    last_log.clear();
    const auto answer = server.get("/field");
    EXPECT_EQ(answer.status, 500) << which;
    for (const auto& [name, value] : answer.fields) EXPECT_EQ(name, "Content-Type");
    EXPECT_NE(last_log.find("a reply cannot be sent"), std::string::npos) << which;
    EXPECT_EQ(last_log.find_first_of("\r\n"), std::string::npos);
  }
  for (const char* path : {"/location", "/redirect", "/type", "/answer", "/trailer"})
    EXPECT_EQ(server.get(path).status, 500) << path;
  set_log_sink(nullptr);
}

TEST(ReplyBuilder, Redirects) {
  FakeServer server;
  server.router.get("/", [] { return Reply::redirect("/there"); });
  server.router.get("/308", [] { return Reply::redirect("/there", Status::PermanentRedirect); });
  EXPECT_EQ(server.get("/").status, 302);
  EXPECT_EQ(server.get("/").header("Location"), "/there");
  EXPECT_EQ(server.get("/308").status, 308);
}

TEST(ReplyBuilder, SendsTrailers) {
  FakeServer server;
  server.router.get("/", [] { return Reply("body").trailer("X-Sum", "42").trailer("Server-Timing", "a"); });
  const auto answer = server.get("/");
  EXPECT_EQ(answer.body, "body");
  ASSERT_EQ(answer.trailers.size(), 2u);
  EXPECT_EQ(answer.trailers[0].second, "42");
}

TEST(CookieField, IsSafeUnlessSaidOtherwise) {
  EXPECT_EQ(*(Cookie{.name = "a", .value = "b"}).to_field(), "a=b; Path=/; Secure; HttpOnly; SameSite=Lax");
  EXPECT_EQ(*(Cookie{.name = "a",
                     .value = "b",
                     .path = "/x",
                     .domain = "example.com",
                     .max_age_seconds = 60,
                     .same_site = SameSite::Strict,
                     .secure = false,
                     .http_only = false})
                 .to_field(),
            "a=b; Path=/x; Domain=example.com; Max-Age=60; SameSite=Strict");
  EXPECT_EQ(*Cookie::removal("a").to_field(), "a=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Lax");
}

TEST(CookieField, RefusesMalformedParts) {
  const Cookie bad[] = {
      {.name = "", .value = "b"},
      {.name = "a b", .value = "b"},
      {.name = "a", .value = "b;c"},
      {.name = "a", .value = "b c"},
      {.name = "a", .value = "b\r\n"},
      {.name = "a", .value = "b", .path = "/;x"},
      {.name = "a", .value = "b", .path = "x"},
      {.name = "a", .value = "b", .domain = "x\n"},
      {.name = "a", .value = "b", .same_site = SameSite::None, .secure = false},
      {.name = "__Host-a", .value = "b", .path = "/x"},
      {.name = "__Host-a", .value = "b", .domain = "x"},
      {.name = "__Secure-a", .value = "b", .secure = false},
  };
  for (const Cookie& cookie : bad) EXPECT_FALSE(cookie.to_field()) << cookie.name << "=" << cookie.value;
  EXPECT_TRUE((Cookie{.name = "__Host-a", .value = "b"}).to_field());
  FakeServer server;
  server.router.get("/good", [] {
    return Reply(Status::Ok).cookie({.name = "a", .value = "1"}).cookie({.name = "b", .value = "2"});
  });
  server.router.get("/bad", [] { return Reply(Status::Ok).cookie({.name = "a", .value = "\r\n"}); });
  EXPECT_EQ(server.get("/good").fields.size(), 2u);
  EXPECT_EQ(server.get("/bad").status, 500);
}

TEST(FileBody, SendsARangeOfTheDescriptor) {
  char path[] = "/tmp/violet_file_XXXXXX";
  const int descriptor = ::mkstemp(path);
  ASSERT_GE(descriptor, 0);
  ASSERT_EQ(::write(descriptor, "0123456789", 10), 10);
  ::close(descriptor);
  FakeServer server;
  server.router.get("/file", [&] { return FileReply(path, "text/x"); });
  const std::string named = std::string(path) + ".css";
  ASSERT_EQ(::link(path, named.c_str()), 0);
  server.router.get("/named", [&] { return FileReply(named); });
  server.router.get("/unnamed", [&] { return FileReply(path); });
  server.router.get("/none", [] { return FileReply("/nonexistent/file"); });
  server.router.get("/folder", [] { return FileReply("/tmp"); });
  const auto answer = server.get("/file");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "<file 10>");
  EXPECT_EQ(answer.header("Content-Type"), "text/x");
  EXPECT_EQ(server.get("/named").header("Content-Type"), "text/css; charset=utf-8");
  EXPECT_EQ(server.get("/unnamed").header("Content-Type"), "application/octet-stream");
  EXPECT_EQ(server.get("/none").status, 404);
  EXPECT_EQ(server.get("/folder").status, 404);
  ::unlink(named.c_str());
  ::unlink(path);
}

}  // namespace
}  // namespace violet::web
