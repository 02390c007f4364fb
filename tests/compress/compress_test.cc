// The middleware: what is encoded, how, and what is said of it.

#include "violet/features/compress/compress.h"

#include "tests/compress/decode.h"
#include "tests/support/counting_new.h"
#include "tests/web/fake_wire.h"
#include "violet/features/compress/eligible.h"
#include "violet/features/compress/spares.h"
#include "violet/features/etag/etag.h"

#include <gtest/gtest.h>

#include <string>

namespace violet::encoding {
namespace {

using http::Coding;
using http::Method;
using web::FakeCall;
using web::FakeServer;

struct Case {
  const char* accept;
  const char* coding;  // "": identity
};

TEST(Compress, TakesWhatTheClientLikesBest) {
  FakeServer server;
  server.router.use(compress);
  server.router.get("/", [] { return sample(5000); });
  const Case cases[] = {
      {"gzip", "gzip"},
      {"deflate", "deflate"},
      {"br", "br"},
      {"zstd", "zstd"},
      {"gzip, deflate, br, zstd", "zstd"},
      {"br, gzip", "gzip"},
      {"br;q=1, gzip;q=0.8", "br"},
      {"gzip;q=0.5, br;q=0.5", "gzip"},
      {"*", "zstd"},
      {"*;q=0.5, gzip;q=0.1", "zstd"},
      {"gzip;q=0, *", "zstd"},
      {"zstd;q=0, *", "gzip"},
      {"x-gzip", "gzip"},
      {"GZip", "gzip"},
      {"gzip;q=0", ""},
      {"identity", ""},
      {"identity, gzip;q=0.5", ""},
      {"identity;q=0.1, gzip;q=0.5", "gzip"},
      {"compress", ""},
      {"", ""},
  };
  for (const auto& [accept, coding] : cases) {
    const auto answer = server.get("/", {{"Accept-Encoding", accept}});
    EXPECT_EQ(answer.status, 200) << accept;
    EXPECT_EQ(answer.header("Content-Encoding"), coding) << accept;
    EXPECT_EQ(answer.header("Vary"), "Accept-Encoding") << accept;
    EXPECT_EQ(decode(http::find_coding(coding).value_or(Coding::Identity), answer.body), sample(5000)) << accept;
  }
  const auto answer = server.get("/");
  EXPECT_EQ(answer.header("Content-Encoding"), "");
  EXPECT_EQ(answer.header("Vary"), "Accept-Encoding");
}

TEST(Compress, OffersWhatItIsToldInThatOrder) {
  FakeServer server;
  server.router.use(compress({.order = {Coding::Brotli, Coding::Gzip}}));
  server.router.get("/", [] { return sample(5000); });
  EXPECT_EQ(server.get("/", {{"Accept-Encoding", "gzip, br, zstd"}}).header("Content-Encoding"), "br");
  EXPECT_EQ(server.get("/", {{"Accept-Encoding", "zstd"}}).header("Content-Encoding"), "");
}

TEST(Compress, RefusesWhoAcceptsNothing) {
  FakeServer server;
  server.router.use(compress);
  server.router.get("/", [] { return sample(5000); });
  server.router.get("/short", [] { return "short"; });
  server.router.get("/nothing", [] { return Reply(Status::NoContent); });
  server.router.get("/error", [] { return Reply(sample(5000)).status(Status::NotFound); });
  for (const char* accept : {"identity;q=0", "*;q=0", "identity;q=0, compress"}) {
    const auto answer = server.get("/", {{"Accept-Encoding", accept}});
    EXPECT_EQ(answer.status, 406) << accept;
    EXPECT_EQ(answer.header("Vary"), "Accept-Encoding") << accept;
    EXPECT_EQ(server.get("/nothing", {{"Accept-Encoding", accept}}).status, 204) << accept;
    EXPECT_EQ(server.get("/error", {{"Accept-Encoding", accept}}).status, 404) << accept;
  }
  // Not worth it, but nothing else is acceptable.
  const auto answer = server.get("/short", {{"Accept-Encoding", "identity;q=0, gzip"}});
  EXPECT_EQ(answer.header("Content-Encoding"), "gzip");
  EXPECT_EQ(decode(Coding::Gzip, answer.body), "short");
}

TEST(Compress, LeavesAloneWhatMustOrNeedNotBeEncoded) {
  FakeServer server;
  server.router.use(compress({.never = {"text/secret"}}));
  const std::string text = sample(5000);
  server.router.get("/short", [] { return sample(1023); });
  server.router.get("/image", [&] { return Reply(text).content_type("image/png"); });
  server.router.get("/untyped", [&] { return std::vector<std::byte>(5000); });
  server.router.get("/encoded", [&] { return Reply(text).field("Content-Encoding", "compress"); });
  server.router.get("/part", [&] { return Reply(text).status(Status::PartialContent); });
  server.router.get("/range", [&] { return Reply(text).field("Content-Range", "bytes 0-4999/5000"); });
  server.router.get("/forbidden", [&] { return Reply(text).field("Cache-Control", "private, No-Transform"); });
  server.router.get("/never", [&] { return Reply(text).content_type("text/secret; charset=utf-8"); });
  for (const char* target : {"/short", "/image", "/untyped", "/encoded", "/part", "/range", "/forbidden", "/never"}) {
    const auto answer = server.get(target, {{"Accept-Encoding", "gzip"}});
    EXPECT_NE(answer.header("Content-Encoding"), "gzip") << target;
    EXPECT_EQ(answer.header("Vary"), "") << target;
    EXPECT_GE(answer.body.size(), 1023u) << target;
  }
}

TEST(Compress, LeavesAloneWhatDoesNotShrink) {
  FakeServer server;
  server.router.use(compress);
  std::string noise;
  for (std::uint32_t x = 1; noise.size() < 3000; x = x * 1664525 + 1013904223) noise += static_cast<char>(x >> 24);
  server.router.get("/", [&] { return Reply(noise); });
  const auto answer = server.get("/", {{"Accept-Encoding", "gzip"}});
  EXPECT_EQ(answer.header("Content-Encoding"), "");
  EXPECT_EQ(answer.body, noise);
}

TEST(Compress, KnowsTheTypesThatAreWorthIt) {
  const CompressOptions options{.types = {"model/*"}, .never = {"text/never"}};
  for (const char* type : {"text/plain", "TEXT/HTML; charset=utf-8", "application/json ;a=b",
                           "application/problem+json", "image/svg+xml", "application/wasm", "model/gltf"}) {
    EXPECT_TRUE(is_worth_it(type, options)) << type;
  }
  for (const char* type : {"", "image/png", "application/octet-stream", "application/zip", "video/mp4", "font/woff2",
                           "text", "text/never", "+json"}) {
    EXPECT_FALSE(is_worth_it(type, options)) << type;
  }
}

TEST(Compress, TellsCachesAndValidatorsWhatHappened) {
  FakeServer server;
  server.router.use(compress);
  server.router.get("/", [] {
    return Reply(sample(5000)).field("ETag", "\"v1\"").field("Vary", "Origin").field("Accept-Ranges", "bytes");
  });
  server.router.get("/weak", [] { return Reply(sample(5000)).field("ETag", "W/\"v1\"").field("Vary", "*"); });
  auto answer = server.get("/", {{"Accept-Encoding", "gzip"}});
  EXPECT_EQ(answer.header("ETag"), "W/\"v1\"");
  EXPECT_EQ(answer.header("Accept-Ranges"), "");
  std::string vary;
  for (const auto& [name, value] : answer.fields) {
    if (name == "Vary") vary += value + ";";
  }
  EXPECT_EQ(vary, "Origin;Accept-Encoding;");
  answer = server.get("/");
  EXPECT_EQ(answer.header("ETag"), "\"v1\"");
  EXPECT_EQ(answer.header("Accept-Ranges"), "bytes");
  answer = server.get("/weak", {{"Accept-Encoding", "gzip"}});
  EXPECT_EQ(answer.header("ETag"), "W/\"v1\"");
  EXPECT_EQ(answer.header("Vary"), "*");
}

TEST(Compress, ANotModifiedSaysWhatTheWholeWould) {
  FakeServer server;
  server.router.use(compress);
  server.router.use(etag({.strong = true}));
  server.router.get("/", [] { return sample(5000); });
  server.router.get("/small", [] { return sample(500); });
  for (const char* target : {"/", "/small"}) {
    for (const char* accept : {"gzip", "", "identity;q=0, br"}) {
      const auto whole = server.get(target, {{"Accept-Encoding", accept}});
      const auto again = server.get(target, {{"Accept-Encoding", accept}, {"If-None-Match", whole.header("ETag")}});
      EXPECT_EQ(again.status, 304) << target << accept;
      EXPECT_EQ(again.header("ETag"), whole.header("ETag")) << target << accept;
      EXPECT_EQ(again.header("Vary"), whole.header("Vary")) << target << accept;
    }
  }
}

TEST(Compress, AnswersHeadAsGet) {
  FakeServer server;
  server.router.use(compress);
  server.router.get("/", [] { return Reply(sample(5000)).field("ETag", "\"v1\""); });
  server.router.get("/large", [] { return Reply(sample(500'000)).field("ETag", "\"v1\""); });
  for (const char* target : {"/", "/large"}) {
    const std::vector<std::pair<std::string, std::string>> accept = {{"Accept-Encoding", "gzip"}};
    const auto get = server.get(target, accept);
    const auto head = server.send({.method = Method::Head, .target = target, .fields = accept});
    EXPECT_EQ(head.fields, get.fields) << target;
  }
}

TEST(Compress, AllocatesNothingWhenWarm) {
  if (!test::kCountsAllocations) GTEST_SKIP() << "allocations cannot be counted in this build";
  FakeServer server;
  server.router.use(compress);
  static const std::string text = sample(8400);
  server.router.get("/", [] { return std::string_view(text); });
  const Loop::Scope scope(server.loop);
  const auto count = [&](const char* coding) {
    const web::FakeRequest request{.fields = {{"Accept-Encoding", coding}}};
    const std::size_t before = test::allocation_count();
    FakeCall call(server.site(), server.connection, request,
                  [](web::FakeStream& stream) { stream.keeps_answer = false; });
    const std::size_t allocations = test::allocation_count() - before;
    EXPECT_EQ(call.stream.kept_bytes < 4000, std::string_view(coding) != "none") << coding;
    return allocations;
  };
  count("none");
  const std::size_t outside = count("none");  // the request's own text
  for (const char* coding : {"gzip", "br", "zstd"}) {
    count(coding);
    EXPECT_EQ(count(coding), outside) << coding;
  }
  EXPECT_EQ(server.loop.local<Spares>().made_count(), 3u);
}

TEST(Compress, KeepsWhatHasATag) {
  FakeServer server;
  server.router.use(compress);
  int calls = 0;
  server.router.get("/{tag}", [&](Exchange& exchange) {
    exchange.cache_tag = exchange.arena().copy(exchange.request().path.substr(1));
    exchange.response().fields.push(http::FieldId::ContentType, "text/plain");
    // A tag that lies shows what was kept.
    exchange.reply(Slice::of(sample(4000) + std::to_string(++calls)));
  });
  const auto get = [&](const char* target, const char* coding) {
    return decode(*http::find_coding(coding), server.get(target, {{"Accept-Encoding", coding}}).body).substr(4000);
  };
  EXPECT_EQ(get("/v1", "gzip"), "1");
  EXPECT_EQ(get("/v1", "gzip"), "1");
  EXPECT_EQ(get("/v1", "br"), "3");
  EXPECT_EQ(get("/v2", "gzip"), "4");
  EXPECT_EQ(get("/v1?a", "gzip"), "5");
  EXPECT_EQ(get("/v1", "gzip"), "1");
  EXPECT_EQ(get("/v1", "br"), "3");
}

}  // namespace
}  // namespace violet::encoding
