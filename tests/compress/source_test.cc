#include "violet/features/compress/stream/source.h"

#include "tests/compress/decode.h"
#include "tests/web/fake_wire.h"
#include "violet/event/wait.h"
#include "violet/features/compress/compress.h"
#include "violet/web/output/file.h"
#include "violet/web/output/generator.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

namespace violet::encoding {
namespace {

using http::Coding;
using web::FakeCall;
using web::FakeServer;

using FieldLines = std::vector<std::pair<std::string, std::string>>;

// An unlinked file with that text.
int file_of(std::string_view text) {
  std::FILE* const file = std::tmpfile();
  const int descriptor = ::dup(::fileno(file));
  EXPECT_EQ(std::fwrite(text.data(), 1, text.size(), file), text.size());
  std::fclose(file);
  return descriptor;
}

TEST(EncodedSource, HandsOverEventsWhenTheyHappen) {
  FakeServer server;
  server.router.use(compress);
  server.router.get("/", []() -> Generator<std::string> {
    co_yield "event 1\n";
    static_cast<void>(co_await sleep_ms(20));
    co_yield "event 2\n";
  });
  const Loop::Scope scope(server.loop);
  FakeCall call(server.site(), server.connection, {.fields = {{"Accept-Encoding", "gzip"}}});
  EXPECT_FALSE(call.stream.answer.is_whole);
  EXPECT_EQ(decode_part(call.stream.answer.body), "event 1\n");
  EXPECT_EQ(decode(Coding::Gzip, call.wait().body), "event 1\nevent 2\n");
}

TEST(EncodedSource, EncodesLargeBodiesOnWorkers) {
  const std::string text = sample(700'000);
  for (const char* coding : {"gzip", "deflate", "br", "zstd"}) {
    FakeServer server;
    server.router.use(compress);
    server.router.get("/", [&] { return text; });
    const Loop::Scope scope(server.loop);
    FakeCall call(server.site(), server.connection, {.fields = {{"Accept-Encoding", coding}}});
    // It is not there yet: somebody else is at work.
    EXPECT_FALSE(call.stream.answer.is_whole);
    EXPECT_EQ(decode(*http::find_coding(coding), call.wait().body), text) << coding;
    EXPECT_EQ(call.stream.answer.header("Content-Length"), "");
  }
}

TEST(EncodedSource, EncodesFiles) {
  const std::string text = sample(300'000);
  FakeServer server;
  server.router.use(compress);
  server.router.get("/", [&] { return FileReply(file_of(text), "text/plain"); });
  const auto answer = server.get("/", {{"Accept-Encoding", "zstd"}});
  EXPECT_EQ(answer.header("Content-Encoding"), "zstd");
  EXPECT_EQ(decode(Coding::Zstd, answer.body), text);
}

TEST(EncodedSource, AFileThatShrinksEndsInAFailure) {
  FakeServer server;
  server.router.use(compress);
  int file = -1;
  server.router.get("/", [&] {
    FileReply reply(file = file_of(sample(300'000)), "text/plain");
    return reply;
  });
  const Loop::Scope scope(server.loop);
  FakeCall call(server.site(), server.connection, {.fields = {{"Accept-Encoding", "gzip"}}});
  ASSERT_EQ(::ftruncate(file, 1000), 0);
  call.wait();
  EXPECT_FALSE(call.stream.answer.is_whole);
  EXPECT_TRUE(call.stream.answer.reset);
}

TEST(EncodedSource, AClientMayLeaveAtAnyTime) {
  const std::string text = sample(700'000);
  FakeServer server;
  server.router.use(compress);
  server.router.get("/", [&] { return text; });
  const Loop::Scope scope(server.loop);
  for (int turns = 0; turns < 6; ++turns) {
    FakeCall call(server.site(), server.connection, {.fields = {{"Accept-Encoding", "br"}}});
    for (int i = 0; i < turns; ++i) server.loop.step(1);
    call.close(Error(ErrorKind::Closed));
  }
  EXPECT_EQ(server.site().exchanges.used_count(), 0u);
}

TEST(EncodedSource, FailsWhenTheBodyInsideFails) {
  FakeServer server;
  server.router.use(compress);
  server.router.get("/", []() -> Generator<std::string> {
    co_yield "beginning";
    throw std::runtime_error("broken");
  });
  const auto answer = server.get("/", {{"Accept-Encoding", "gzip"}});
  EXPECT_FALSE(answer.is_whole);
  EXPECT_TRUE(answer.reset);
}

// Gives nothing while something is queued before it, as the end of a file that the kernel sends does.
class Patient final : public Source {
 public:
  Pull pull(Chain& out, std::size_t) override {
    if (++asked_count_ < 4) return Pull::More;
    out.append(Slice::of(sample(2000)));
    return Pull::End;
  }

 private:
  int asked_count_ = 0;
};

TEST(EncodedSource, LeavesTheTurnToTheWireWhenTheBodyInsideGivesNothing) {
  FakeServer server;
  server.router.use(compress);
  server.router.get("/", [] { return Reply().content_type("text/plain").body(Body(SourcePtr(new Patient))); });
  const Loop::Scope scope(server.loop);
  FakeCall call(server.site(), server.connection, {.fields = {{"Accept-Encoding", "gzip"}}});
  EXPECT_EQ(decode(Coding::Gzip, call.wait().body), sample(2000));
  EXPECT_GE(call.stream.pull_count, 4);
}

TEST(EncodedSource, KeepsTrailers) {
  FakeServer server;
  server.router.use(compress);
  server.router.get("/", [] { return Reply(sample(100'000)).trailer("x-sum", "7"); });
  const auto answer = server.get("/", {{"Accept-Encoding", "gzip"}});
  EXPECT_EQ(decode(Coding::Gzip, answer.body), sample(100'000));
  ASSERT_EQ(answer.trailers.size(), 1u);
  EXPECT_EQ(answer.trailers[0].second, "7");
}

}  // namespace
}  // namespace violet::encoding
