// Tags made from the bytes of answers, and 304 for those who have them.

#include "violet/features/etag/etag.h"

#include "tests/support/counting_new.h"
#include "tests/web/fake_wire.h"
#include "violet/features/etag/digest.h"
#include "violet/web/output/generator.h"
#include "violet/web/output/reply.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace violet {
namespace {

using http::Method;
using Halves = std::array<std::uint64_t, 2>;

Halves digest(std::string_view text) {
  etags::Digest digest;
  digest.add(text);
  return digest.finish();
}

TEST(Digest, IsTheSameHoweverTheTextIsCut) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += static_cast<char>(i * 7);
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const std::string_view part = std::string_view(text).substr(0, size);
    const Halves whole = digest(part);
    for (std::size_t cut = 0; cut <= size; ++cut) {
      etags::Digest pieces;
      pieces.add(part.substr(0, cut));
      pieces.add(part.substr(cut));
      EXPECT_EQ(pieces.finish(), whole) << size << " " << cut;
    }
  }
  etags::Digest bytes;
  for (const char c : text) bytes.add({&c, 1});
  EXPECT_EQ(bytes.finish(), digest(text));
}

TEST(Digest, DiffersForTextsThatDifferInOneBit) {
  std::set<Halves> seen;
  std::size_t count = 0;
  for (const std::size_t size : {1, 15, 16, 17, 64, 200}) {
    const std::string zeros(size, '\0');
    EXPECT_TRUE(seen.insert(digest(zeros)).second) << "as many zeros are another text";
    ++count;
    for (std::size_t bit = 0; bit < size * 8; ++bit) {
      std::string text = zeros;
      text[bit / 8] = static_cast<char>(1 << bit % 8);
      EXPECT_TRUE(seen.insert(digest(text)).second);
      ++count;
    }
  }
  EXPECT_EQ(seen.size(), count);
  // Either half alone would do.
  std::set<std::uint64_t> first;
  std::set<std::uint64_t> second;
  for (const Halves& halves : seen) {
    first.insert(halves[0]);
    second.insert(halves[1]);
  }
  EXPECT_EQ(first.size(), count);
  EXPECT_EQ(second.size(), count);
}

TEST(Etag, IsMadeFromTheBytes) {
  web::FakeServer server;
  std::string text = "one";
  server.router.use(etag);
  server.router.get("/", [&text] { return text; });
  const std::string first = server.get("/").header("ETag");
  EXPECT_TRUE(first.starts_with("W/\"") && first.ends_with("\"")) << first;
  EXPECT_EQ(first.size(), 36u);
  EXPECT_EQ(server.get("/").header("ETag"), first);
  EXPECT_EQ(server.ask(Method::Head, "/").header("ETag"), first);
  text = "two";
  EXPECT_NE(server.get("/").header("ETag"), first);
}

// HEAD says what GET would, also where GET has no bytes.
TEST(Etag, IsThatOfNoBytes) {
  web::FakeServer server;
  server.router.use(etag);
  server.router.get("/empty", [] { return ""; });
  server.router.get("/by-hand", [] { return Reply("").field("Content-Length", "7"); });
  server.router.any("/any", [](Request request) { return request.method() == Method::Head ? "" : "bytes"; });
  const std::string tag = server.get("/empty").header("ETag");
  EXPECT_NE(tag, "");
  EXPECT_EQ(server.ask(Method::Head, "/empty").header("ETag"), tag);
  EXPECT_EQ(server.send({.method = Method::Head, .target = "/empty", .fields = {{"If-None-Match", tag}}}).status, 304);
  EXPECT_NE(server.get("/any").header("ETag"), "");
  EXPECT_EQ(server.ask(Method::Head, "/any").header("ETag"), "") << "it may have left out what GET has";
  EXPECT_EQ(server.ask(Method::Head, "/by-hand").header("ETag"), "");
}

TEST(Etag, WhoHasItAlreadyGets304) {
  web::FakeServer server;
  server.router.use(etag);
  server.router.get("/", [] { return Reply("body").field("Cache-Control", "max-age=5").field("Vary", "Accept"); });
  const std::string tag = server.get("/").header("ETag");
  for (const std::string& list : {tag, "\"other\", " + tag, tag.substr(2), std::string("*")}) {
    for (const Method method : {Method::Get, Method::Head}) {
      const auto answer = server.send({.method = method, .fields = {{"If-None-Match", list}}});
      EXPECT_EQ(answer.status, 304) << list;
      EXPECT_EQ(answer.body, "");
      EXPECT_EQ(answer.header("ETag"), tag);
      EXPECT_EQ(answer.header("Cache-Control"), "max-age=5");
      EXPECT_EQ(answer.header("Vary"), "Accept");
      EXPECT_EQ(answer.header("Content-Type"), "");
    }
  }
  for (const char* other : {"\"other\"", "W/\"x\"", "", "body"}) {
    const auto answer = server.get("/", {{"If-None-Match", other}});
    EXPECT_EQ(answer.status, 200) << other;
    EXPECT_EQ(answer.body, "body");
  }
  EXPECT_EQ(server.send({.fields = {{"If-None-Match", "\"a\""}, {"If-None-Match", tag}}}).status, 304);
}

TEST(Etag, IsStrongWhereAskedTo) {
  web::FakeServer server;
  server.router.use(etag({.strong = true}));
  server.router.get("/", [] { return "x"; });
  const std::string tag = server.get("/").header("ETag");
  EXPECT_TRUE(tag.starts_with('"'));
  EXPECT_EQ(tag.size(), 34u);
  EXPECT_EQ(server.get("/", {{"If-None-Match", "W/" + tag}}).status, 304) << "as compress has sent it";
}

TEST(Etag, LeavesAloneWhatItCannotTellOrMayNot) {
  web::FakeServer server;
  server.limits.etag_bytes_max = 10;
  server.router.use(etag);
  server.router.get("/large", [] { return std::string(11, 'a'); });
  server.router.get("/fits", [] { return std::string(10, 'a'); });
  server.router.get("/own", [] { return Reply("x").field("ETag", "\"own\""); });
  server.router.get("/secret", [] { return Reply("x").field("Cache-Control", "private, no-store"); });
  server.router.get("/created", [] { return Reply("x").status(Status::Created); });
  server.router.get("/stream", []() -> Generator<std::string> { co_yield std::string("x"); });
  server.router.post("/", [] { return "x"; });
  server.router.head("/head", [] { return ""; });
  for (const char* path : {"/large", "/secret", "/created", "/stream", "/none"}) {
    EXPECT_EQ(server.get(path).header("ETag"), "") << path;
  }
  EXPECT_NE(server.get("/fits").header("ETag"), "");
  EXPECT_EQ(server.get("/own").header("ETag"), "\"own\"");
  EXPECT_EQ(server.post("/", "").header("ETag"), "");
  EXPECT_EQ(server.ask(Method::Head, "/head").header("ETag"), "");
}

TEST(Etag, TakesNothingFromTheHeap) {
  if (!test::kCountsAllocations) GTEST_SKIP() << "allocations are not counted under sanitizers";
  web::FakeServer server;
  server.router.use(etag);
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
    EXPECT_TRUE(http::split_target(head));
    exchange.on_head(head, false);
    EXPECT_EQ(stream.answer.status, 200);
    exchange.on_close({});
  }
  EXPECT_EQ(test::allocation_count() - before, 0u);
}

}  // namespace
}  // namespace violet
