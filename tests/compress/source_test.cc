#include "violet/features/compress/stream/source.h"

#include "tests/compress/decode.h"
#include "tests/web/fake_wire.h"
#include "violet/event/wait.h"
#include "violet/features/compress/compress.h"
#include "violet/features/compress/spares.h"
#include "violet/web/output/file.h"
#include "violet/web/output/generator.h"

#include <gtest/gtest.h>

#include <algorithm>
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

// What it was asked for, and how often.
struct Asked {
  int count = 0;
  std::size_t least_bytes = ~std::size_t{0};
};

// A text that is read as it is asked for, as a file is.
class Reader final : public Source {
 public:
  Reader(Asked& asked, std::string text) : asked_(asked), text_(std::move(text)) {}
  Pull pull(Chain& out, std::size_t max) override {
    ++asked_.count;
    asked_.least_bytes = std::min(asked_.least_bytes, max);
    out.append(Slice::of(text_.substr(at_, max)));
    at_ += std::min(max, text_.size() - at_);
    return at_ < text_.size() ? Pull::More : Pull::End;
  }

 private:
  Asked& asked_;
  std::string text_;
  std::size_t at_ = 0;
};

TEST(EncodedSource, ReadsWholePiecesHoweverLittleRoomThereIs) {
  const std::string text = sample(1'000'000);
  constexpr void (*kRooms[])(web::FakeStream&) = {
      [](web::FakeStream& stream) { stream.pull_max = 1; },
      [](web::FakeStream& stream) { stream.pull_max = 16'384; },
  };
  for (const char* coding : {"gzip", "deflate", "br", "zstd"}) {
    for (const auto room : kRooms) {
      FakeServer server;
      server.router.use(compress);
      Asked asked;
      server.router.get("/", [&] {
        return Reply().content_type("text/plain").body(Body(SourcePtr(new Reader(asked, text)), text.size()));
      });
      const Loop::Scope scope(server.loop);
      FakeCall call(server.site(), server.connection, {.fields = {{"Accept-Encoding", coding}}}, room);
      EXPECT_EQ(decode(*http::find_coding(coding), call.wait().body), text) << coding;
      EXPECT_GE(asked.least_bytes, 65'536u) << coding;
      EXPECT_LE(asked.count, 17) << coding;
    }
  }
}

TEST(EncodedSource, GivesNoMoreThanThereIsRoomFor) {
  FakeServer server;
  server.router.use(compress);
  server.router.get("/", [] { return sample(500'000); });
  const Loop::Scope scope(server.loop);
  FakeCall call(server.site(), server.connection, {.fields = {{"Accept-Encoding", "br"}}}, [](web::FakeStream& stream) {
    stream.is_held = true;
    stream.pull_max = 1;
  });
  std::size_t before = 0;
  for (int i = 0; i < 300; ++i) {
    server.loop.step(1);
    call.stream.pull();
    EXPECT_LE(call.stream.answer.body.size(), before + 1);
    before = call.stream.answer.body.size();
  }
  EXPECT_GT(before, 100u);
}

// Its bytes vanish when they are encoded, so that the wire always has room for more.
TEST(EncodedSource, ReadsNoMoreInOneCallThanMayBeEncodedOnTheLoop) {
  FakeServer server;
  server.router.use(compress({.loop_bytes_max = 10'000}));
  std::size_t yielded_bytes = 0;
  server.router.get("/", [&]() -> Generator<std::string> {
    while (yielded_bytes < 1'000'000) {
      yielded_bytes += 1000;
      co_yield std::string(1000, 'a');
    }
  });
  const Loop::Scope scope(server.loop);
  FakeCall call(server.site(), server.connection, {.fields = {{"Accept-Encoding", "zstd"}}});
  EXPECT_FALSE(call.is_done()) << "all in one turn";
  EXPECT_LE(yielded_bytes, 200'000u);
  EXPECT_EQ(decode(Coding::Zstd, call.wait().body), std::string(1'000'000, 'a'));
}

TEST(EncodedSource, TakesNoEncoderBeforeAnybodyAsks) {
  FakeServer server;
  server.router.use(compress);
  server.router.get("/", [] { return sample(100'000); });
  const Loop::Scope scope(server.loop);
  const web::FakeRequest request{.fields = {{"Accept-Encoding", "br"}}};
  FakeCall asleep(server.site(), server.connection, request,
                  [](web::FakeStream& stream) { stream.keeps_answer = false; });
  EXPECT_EQ(server.loop.local<Spares>().made_count(), 0u);
  FakeCall awake(server.site(), server.connection, request);
  EXPECT_EQ(server.loop.local<Spares>().made_count(), 1u);
  EXPECT_EQ(decode(Coding::Brotli, awake.wait().body), sample(100'000));
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
