// Bodies that come and go piece by piece: BodyStream, sources and generators.

#include "tests/web/fake_wire.h"
#include "violet/event/wait.h"
#include "violet/web/input/body.h"
#include "violet/web/input/path.h"
#include "violet/web/output/generator.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace violet::web {
namespace {

using http::Method;

Task<std::string> read_all(BodyStream body) {
  std::string text;
  for (;;) {
    Result<Slice> piece = co_await body.read();
    if (!piece) co_return "failed: " + std::string(name(piece.error().kind()));
    if (piece->is_empty()) break;
    text += piece->text();
    text += '.';
  }
  co_return text;
}

TEST(BodyStreamRead, GivesPiecesAsTheyCome) {
  FakeServer server;
  server.router.post("/", [](BodyStream body) { return read_all(std::move(body)); });
  EXPECT_EQ(server.send({.method = Method::Post, .body = "abcdefg", .body_piece = 3}).body, "abc.def.g.");
  EXPECT_EQ(server.post("/", "").body, "");
  EXPECT_EQ(server.send({.method = Method::Post}).body, "");
}

TEST(BodyStreamRead, GivesCreditOnlyForWhatWasUsed) {
  FakeServer server;
  server.router.post("/", [](BodyStream body) -> Task<std::string> {
    std::string text;
    for (;;) {
      Result<Slice> piece = co_await body.read();
      if (!piece || piece->is_empty()) break;
      text += piece->text();
      static_cast<void>(co_await sleep_ms(5));
    }
    co_return text;
  });
  const Loop::Scope scope(server.loop);
  FakeCall call(server.site(), server.connection, {.method = Method::Post, .body = ""});
  call.send_data("aaaa");
  call.send_data("bbbb");
  call.send_data("cccc");
  EXPECT_EQ(call.stream.answer.credit, 0u);
  for (int i = 0; i < 50 && call.stream.answer.credit == 0; ++i) server.loop.step(5);
  EXPECT_EQ(call.stream.answer.credit, 4u);
  call.send_end();
  EXPECT_EQ(call.wait().body, "aaaabbbbcccc");
  EXPECT_EQ(call.stream.answer.credit, 12u);
}

TEST(BodyStreamRead, AsksForContinueOnlyWhenItReads) {
  FakeServer server;
  server.router.post("/reads", [](BodyStream body) { return read_all(std::move(body)); });
  server.router.post("/ignores", [](BodyStream) -> Task<std::string> { co_return "ignored"; });
  const std::vector<std::pair<std::string, std::string>> expects = {{"Expect", "100-continue"}};
  auto answer = server.send({.method = Method::Post, .target = "/reads", .fields = expects, .body = "x"});
  EXPECT_EQ(answer.informed, std::vector<int>{100});
  EXPECT_EQ(answer.body, "x.");
  answer = server.send({.method = Method::Post, .target = "/ignores", .fields = expects, .body = "x"});
  EXPECT_TRUE(answer.informed.empty());
  EXPECT_EQ(answer.body, "ignored");
  EXPECT_EQ(answer.credit, 1u);
}

TEST(BodyStreamRead, WhatIsLeftUnreadIsReadAway) {
  FakeServer server;
  server.router.post("/", [](BodyStream body) -> Task<std::string> {
    Result<Slice> piece = co_await body.read();
    co_return piece ? std::string(piece->text()) : "failed";
  });
  const Loop::Scope scope(server.loop);
  FakeCall call(server.site(), server.connection, {.method = Method::Post, .body = ""});
  call.send_data("first");
  EXPECT_EQ(call.stream.answer.body, "first");
  call.send_data("second");
  call.send_end();
  EXPECT_EQ(call.stream.answer.credit, 11u);
}

TEST(BodyStreamRead, FailsWhenTheClientLeaves) {
  FakeServer server;
  std::string end;
  server.router.post("/", [&end](BodyStream body) -> Task<> { end = co_await read_all(std::move(body)); });
  {
    const Loop::Scope scope(server.loop);
    FakeCall call(server.site(), server.connection, {.method = Method::Post, .body = ""});
    call.send_data("x");
    call.close(Error(ErrorKind::Reset));
  }
  EXPECT_EQ(end, "failed: " + std::string(name(ErrorKind::Reset)));
  EXPECT_EQ(server.site().exchanges.used_count(), 0u);
}

TEST(BodyStreamRead, FailsAtTheLimit) {
  FakeServer server;
  std::string end;
  server.router.post("/", [&end](BodyStream body) -> Task<> { end = co_await read_all(std::move(body)); }).body_max(5);
  server.send({.method = Method::Post, .body = "0123456789", .body_piece = 4});
  EXPECT_EQ(end, "failed: " + std::string(name(ErrorKind::TooLarge)));
}

TEST(Respond, Sources) {
  class Count final : public Source {
   public:
    Pull pull(Chain& out, std::size_t) override {
      if (left_ == 0) return Pull::End;
      out.append(Slice::of(std::to_string(left_--)));
      return Pull::More;
    }

   private:
    int left_ = 5;
  };
  FakeServer server;
  server.router.get("/unique", [] { return std::make_unique<Count>(); });
  server.router.get("/source", [] { return SourcePtr(new Count); });
  EXPECT_EQ(server.get("/unique").body, "54321");
  EXPECT_EQ(server.get("/source").body, "54321");
}

Generator<std::string> count_to(int n) {
  for (int i = 1; i <= n; ++i) co_yield std::to_string(i) + ",";
}

TEST(GeneratorBody, YieldsPieces) {
  FakeServer server;
  server.router.get("/{n}", [](Path<int> n) { return count_to(*n); });
  server.router.get("/literals/x", []() -> Generator<const char*> {
    co_yield "a";
    co_yield "";
    co_yield "b";
  });
  server.router.get("/slices/x", []() -> Generator<Slice> { co_yield Slice::literal("slice"); });
  auto answer = server.get("/3");
  EXPECT_EQ(answer.body, "1,2,3,");
  EXPECT_TRUE(answer.is_whole);
  EXPECT_EQ(answer.header("Content-Type"), "text/plain; charset=utf-8");
  answer = server.get("/0");
  EXPECT_EQ(answer.body, "");
  EXPECT_TRUE(answer.is_whole);
  EXPECT_EQ(server.get("/literals/x").body, "ab");
  EXPECT_EQ(server.get("/slices/x").body, "slice");
}

TEST(GeneratorBody, WaitsBetweenPieces) {
  FakeServer server;
  server.router.get("/{name}", [](Path<std::string_view> name) -> Generator<std::string> {
    for (int i = 0; i < 3; ++i) {
      co_yield std::string(*name) + std::to_string(i);
      static_cast<void>(co_await sleep_ms(2));
    }
  });
  const auto answer = server.get("/x");
  EXPECT_EQ(answer.body, "x0x1x2");
  EXPECT_TRUE(answer.is_whole);
}

TEST(GeneratorBody, GoesOnOnlyWhenThereIsRoom) {
  FakeServer server;
  int made = 0;
  server.router.get("/", [&made]() -> Generator<std::string> {
    for (;;) {
      ++made;
      co_yield std::string(100, 'x');
    }
  });
  const Loop::Scope scope(server.loop);
  Site& site = server.site();
  // One pull gives about as much as was asked for.
  FakeCall held(site, server.connection, {}, [](FakeStream& stream) {
    stream.is_held = true;
    stream.pull_max = 250;
  });
  EXPECT_EQ(made, 3);
  for (int i = 0; i < 20; ++i) server.loop.step();
  EXPECT_EQ(made, 3);
  held.stream.pull();
  EXPECT_EQ(made, 6);
  held.close(Error(ErrorKind::Reset));
  EXPECT_EQ(site.exchanges.used_count(), 0u);
}

struct Mark {
  bool& is_gone;
  ~Mark() { is_gone = true; }
};

TEST(GeneratorBody, EndsWhenTheClientLeaves) {
  FakeServer server;
  bool is_gone = false;
  std::string end;
  server.router.get("/sleeping", [&]() -> Generator<std::string> {
    const Mark mark{is_gone};
    co_yield "a";
    const Result<void> slept = co_await sleep_ms(60'000);
    end = slept ? "slept" : name(slept.error().kind());
    for (;;) co_yield "never read";
  });
  server.router.get("/parked", [&]() -> Generator<std::string> {
    const Mark mark{is_gone};
    for (;;) co_yield "b";
  });
  const Loop::Scope scope(server.loop);
  {
    FakeCall call(server.site(), server.connection, {.target = "/sleeping"});
    EXPECT_EQ(call.stream.answer.body, "a");
    // As a wire may: the exchange hears first, then the body goes.
    call.exchange().task().stop(Error(ErrorKind::Reset));
    EXPECT_EQ(end, name(ErrorKind::Reset));
    EXPECT_TRUE(is_gone);
    call.close(Error(ErrorKind::Reset));
  }
  is_gone = false;
  {
    FakeCall call(server.site(), server.connection, {.target = "/parked"}, [](FakeStream& stream) {
      stream.is_held = true;
      stream.pull_max = 1;
    });
    EXPECT_EQ(call.stream.answer.body, "b");
    EXPECT_FALSE(is_gone);
    call.close(Error(ErrorKind::Reset));
    EXPECT_TRUE(is_gone);
  }
  EXPECT_EQ(server.site().exchanges.used_count(), 0u);
}

TEST(GeneratorBody, ExceptionsCutTheAnswerOff) {
  FakeServer server;
  server.router.get("/", []() -> Generator<std::string> {
    co_yield "a";
    throw std::runtime_error("secret");
  });
  const auto answer = server.get("/");
  EXPECT_FALSE(answer.is_whole);
  EXPECT_TRUE(answer.reset);
}

TEST(GeneratorBody, MayResetItsOwnStream) {
  FakeServer server;
  server.router.get("/", [](Exchange& exchange) -> Generator<std::string> {
    co_yield "a";
    static_cast<void>(co_await sleep_ms(1));
    exchange.abort(Error(ErrorKind::Cancelled));
    co_yield "b";
  });
  const auto answer = server.get("/");
  EXPECT_EQ(answer.body, "a");
  EXPECT_TRUE(answer.reset);
  EXPECT_EQ(server.site().exchanges.used_count(), 0u);
}

TEST(GeneratorBody, IsNotStartedWhenNobodyPulls) {
  FakeServer server;
  server.router.get("/", []() -> Generator<std::string> { co_yield "a"; });
  const Loop::Scope scope(server.loop);
  {
    FakeCall call(server.site(), server.connection, {}, [](FakeStream& stream) { stream.keeps_answer = false; });
    EXPECT_EQ(call.stream.answer.status, 200);
  }
  EXPECT_EQ(server.site().exchanges.used_count(), 0u);
}

}  // namespace
}  // namespace violet::web
