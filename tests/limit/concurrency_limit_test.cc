// How many requests run at once, who waits, and who is sent away.

#include "violet/features/limit/concurrency_limit.h"

#include "tests/support/client.h"
#include "tests/support/counting_new.h"
#include "tests/web/fake_wire.h"
#include "violet/app/app.h"
#include "violet/event/wait.h"
#include "violet/features/limit/gate/gate.h"
#include "violet/web/input/body.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace violet {
namespace {

using limit::Gate;

TEST(Gate, LetsSoManyInAndNoMore) {
  Gate gate({.max = 2});
  EXPECT_TRUE(gate.try_enter());
  EXPECT_TRUE(gate.try_enter());
  EXPECT_FALSE(gate.try_enter());
  gate.leave(0);
  EXPECT_EQ(gate.inside_count(), 1u);
  EXPECT_TRUE(gate.try_enter());
}

TEST(Gate, HoldsWhateverThreadsDo) {
  Gate gate({.max = 3});
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 5'000; ++n) {
        if (!gate.try_enter()) continue;
        const int now = ++inside;
        int before = most.load();
        while (now > before && !most.compare_exchange_weak(before, now)) {
        }
        --inside;
        gate.leave(0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(most, 3);
  EXPECT_EQ(gate.inside_count(), 0u);
}

TEST(Gate, ShrinksOnceForThoseThatAreLateTogetherAndGrowsBackSlowly) {
  Gate gate({.max = 100, .min = 50, .latency_us = 1'000'000});
  std::vector<int> inside(60);
  for (int& one : inside) one = gate.try_enter();
  gate.leave(2'000'000);
  EXPECT_EQ(gate.room(), 90u);
  gate.leave(2'000'000);
  EXPECT_EQ(gate.room(), 90u) << "for the same reason";
  // Each that is in time adds its part; about a whole round of them one place.
  int count = 0;
  while (gate.room() < 91 && count < 1'000) {
    ASSERT_TRUE(gate.try_enter());
    gate.leave(1'000);
    ++count;
  }
  EXPECT_GE(count, 80);
  EXPECT_LE(count, 110);
  while (gate.inside_count() > 10) gate.leave(0);
  const std::uint32_t room = gate.room();
  for (int i = 0; i < 1'000; ++i) {
    ASSERT_TRUE(gate.try_enter());
    gate.leave(1'000);
  }
  EXPECT_EQ(gate.room(), room) << "who is not busy learns nothing";
}

TEST(Gate, StaysBetweenItsBounds) {
  Gate gate({.max = 4, .min = 3, .latency_us = 1});
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(gate.try_enter());
    gate.leave(1'000'000);
    std::this_thread::yield();
  }
  EXPECT_GE(gate.room(), 3u);
}

// --- through a router

class Concurrency : public testing::Test {
 protected:
  void use(const ConcurrencyOptions& options) {
    limit_ = std::make_unique<ConcurrencyLimit>(options);
    server_.router.use(*limit_);
    server_.router.get("/slow", [this]() -> Task<const char*> {
      ++running_;
      most_ = std::max(most_, running_);
      const Result<void> slept = co_await sleep_ms(20);
      --running_;
      co_return slept ? "slow" : "stopped";
    });
    server_.router.get("/never", []() -> Task<const char*> {
      static_cast<void>(co_await sleep_ms(60'000));
      co_return "never";
    });
    server_.router.get("/fast", [] { return "fast"; });
    server_.router.get("/throws", []() -> const char* { throw 1; });
  }
  std::unique_ptr<web::FakeCall> call(const char* path) {
    return std::make_unique<web::FakeCall>(server_.site(), server_.connection, web::FakeRequest{.target = path});
  }

  web::FakeServer server_;
  Loop::Scope scope_{server_.loop};
  std::unique_ptr<ConcurrencyLimit> limit_;
  int running_ = 0;
  int most_ = 0;
};

TEST_F(Concurrency, OthersWaitTheirTurn) {
  use({.max = 2, .queue_ms = 10'000});
  std::vector<std::unique_ptr<web::FakeCall>> calls;
  for (int i = 0; i < 6; ++i) calls.push_back(call("/slow"));
  EXPECT_EQ(limit_->running_count(), 2u);
  EXPECT_EQ(limit_->waiting_count(), 4u);
  calls.push_back(call("/fast"));
  EXPECT_EQ(calls.back()->stream.answer.status, 0) << "nobody goes past those who wait";
  for (const auto& one : calls) EXPECT_EQ(one->wait().status, 200);
  EXPECT_EQ(calls.back()->stream.answer.body, "fast");
  EXPECT_EQ(most_, 2);
  EXPECT_EQ(limit_->running_count(), 0u);
  EXPECT_EQ(limit_->waiting_count(), 0u);
}

TEST_F(Concurrency, BeyondTheQueueTheAnswerIs503AtOnce) {
  use({.max = 1, .queue_max = 1, .queue_ms = 2'500});
  const auto inside = call("/slow");
  const auto queued = call("/slow");
  const auto refused = call("/slow");
  server_.loop.step(0);
  EXPECT_EQ(refused->stream.answer.status, 503);
  EXPECT_EQ(refused->stream.answer.header("Retry-After"), "3");
  EXPECT_NE(refused->stream.answer.body.find("concurrency limit: 1 requests at once"), std::string::npos);
  EXPECT_EQ(inside->wait().body, "slow");
  EXPECT_EQ(queued->wait().body, "slow");
}

TEST_F(Concurrency, NobodyWaitsWhereThereIsNoQueue) {
  use({.max = 1, .queue_max = 0});
  const auto inside = call("/slow");
  EXPECT_EQ(call("/fast")->stream.answer.status, 503);
  EXPECT_EQ(inside->wait().body, "slow");
  EXPECT_EQ(call("/fast")->stream.answer.body, "fast");
}

TEST_F(Concurrency, WhoWaitsTooLongIsSentAway) {
  use({.max = 1, .queue_ms = 10});
  const auto inside = call("/never");
  const auto queued = call("/fast");
  EXPECT_EQ(queued->wait().status, 503);
  EXPECT_EQ(limit_->waiting_count(), 0u);
  inside->close(Error(ErrorKind::Reset));
  EXPECT_EQ(limit_->running_count(), 0u) << "who leaves makes room";
}

TEST_F(Concurrency, WhoLeavesWhileWaitingTakesNoPlace) {
  use({.max = 1, .queue_ms = 10'000});
  const auto inside = call("/slow");
  const auto leaves = call("/slow");
  const auto stays = call("/fast");
  EXPECT_EQ(limit_->waiting_count(), 2u);
  leaves->close(Error(ErrorKind::Reset));
  EXPECT_EQ(limit_->waiting_count(), 1u);
  EXPECT_EQ(stays->wait().body, "fast");
  EXPECT_EQ(inside->stream.answer.body, "slow");
  EXPECT_EQ(limit_->running_count(), 0u);
}

TEST_F(Concurrency, WhoLeavesWhenItsPlaceIsOnTheWayGivesItBack) {
  use({.max = 1, .queue_ms = 10'000});
  auto inside = call("/never");
  const auto leaves = call("/never");
  // Its place is handed over by a post that has not arrived yet.
  inside->close(Error(ErrorKind::Reset));
  EXPECT_EQ(limit_->running_count(), 1u);
  leaves->close(Error(ErrorKind::Reset));
  for (int i = 0; i < 100 && limit_->running_count() != 0; ++i) server_.loop.step(10);
  EXPECT_EQ(limit_->running_count(), 0u);
}

TEST_F(Concurrency, AStreamIsInsideUntilItEnds) {
  class Ticks final : public Source {
   public:
    explicit Ticks(bool* gone) : gone_(gone) {}
    ~Ticks() override { *gone_ = true; }
    Pull pull(Chain& out, std::size_t) override {
      out.append(Slice::literal("tick"));
      return Pull::Wait;
    }

   private:
    bool* gone_;
  };
  bool gone = false;
  use({.max = 1, .queue_max = 0});
  server_.router.get("/ticks", [&gone] { return Body(SourcePtr(new Ticks(&gone))); });
  const auto stream = call("/ticks");
  EXPECT_EQ(stream->stream.answer.status, 200);
  EXPECT_EQ(limit_->running_count(), 1u);
  EXPECT_EQ(call("/fast")->stream.answer.status, 503);
  stream->close();
  EXPECT_TRUE(gone);
  EXPECT_EQ(limit_->running_count(), 0u);
}

// Who sends its body byte by byte would otherwise keep its place for as long as the rate of bodies lets it.
TEST_F(Concurrency, ABodyThatDripsInLosesItsPlace) {
  use({.max = 1, .queue_max = 0, .body_ms = 10});
  server_.router.post("/text", [](Text text) { return *text; });
  const web::FakeRequest post{.method = http::Method::Post, .target = "/text", .body = ""};
  web::FakeCall slow(server_.site(), server_.connection, post);
  slow.send_data("a");
  EXPECT_EQ(call("/fast")->stream.answer.status, 503);
  EXPECT_EQ(slow.wait().status, 408);
  EXPECT_NE(slow.stream.answer.body.find("has to come within 10 ms"), std::string::npos) << slow.stream.answer.body;
  EXPECT_EQ(limit_->running_count(), 0u);
  slow.send_data("b");
  EXPECT_EQ(call("/fast")->stream.answer.body, "fast");
}

TEST_F(Concurrency, AHandlerMayTakeLongerThanItsBody) {
  use({.max = 1, .queue_max = 0, .body_ms = 5});
  server_.router.post("/slow", [](Text text) -> Task<std::string> {
    static_cast<void>(co_await sleep_ms(30));
    co_return std::string(*text);
  });
  web::FakeCall post(server_.site(), server_.connection, {.method = http::Method::Post, .target = "/slow", .body = ""});
  post.send_data("text");
  post.send_end();
  EXPECT_EQ(post.wait().body, "text");
  EXPECT_EQ(limit_->running_count(), 0u);
}

TEST_F(Concurrency, OneObjectHasOneNumberOfPlacesWhereverItIsUsed) {
  use({.max = 1, .queue_max = 0});
  Group first = server_.router.group("/first");
  first.use(*limit_);
  first.get("/never", []() -> Task<const char*> {
    static_cast<void>(co_await sleep_ms(60'000));
    co_return "never";
  });
  Group second = first.group("/second");
  second.use(*limit_);
  second.get("/fast", [] { return "fast"; });
  EXPECT_EQ(call("/first/second/fast")->stream.answer.body, "fast") << "it does not wait for itself";
  const auto inside = call("/first/never");
  EXPECT_EQ(limit_->running_count(), 1u);
  EXPECT_EQ(call("/first/second/fast")->stream.answer.status, 503);
  EXPECT_EQ(call("/fast")->stream.answer.status, 503);
  inside->close();
  EXPECT_EQ(limit_->running_count(), 0u);
}

TEST_F(Concurrency, APlaceIsGivenBackHoweverARequestEnds) {
  use({.max = 1, .queue_max = 0});
  server_.router.use([](Exchange& exchange) {
    if (exchange.request().query == "no") exchange.refuse(Error(ErrorKind::Invalid));
  });
  for (const char* path : {"/throws", "/none", "/fast?no", "/fast"}) {
    EXPECT_NE(call(path)->stream.answer.status, 503) << path;
    EXPECT_EQ(limit_->running_count(), 0u) << path;
  }
}

TEST_F(Concurrency, TakesNothingFromTheHeap) {
  if (!test::kCountsAllocations) GTEST_SKIP() << "allocations are not counted under sanitizers";
  use({.max = 1});
  Site& site = server_.site();
  std::size_t before = 0;
  for (int i = 0; i < 20; ++i) {
    if (i == 10) before = test::allocation_count();
    web::FakeStream stream(server_.connection);
    stream.keeps_answer = false;
    Exchange& exchange = site.exchanges.open(stream);
    http::Head& head = exchange.request();
    head.method_text = "GET";
    head.target = head.raw = "/fast";
    EXPECT_TRUE(http::split_target(head));
    exchange.on_head(head, false);
    EXPECT_EQ(stream.answer.status, 200);
    exchange.on_close({});
  }
  EXPECT_EQ(test::allocation_count() - before, 0u);
}

// Many connections on several loops: those who wait are let in wherever they are.
TEST(ConcurrencyOfLoops, IsCountedTogether) {
  App app;
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  app.use(concurrency_limit({.max = 2, .queue_ms = 20'000}));
  app.get("/", [&]() -> Task<const char*> {
    const int now = ++running;
    int before = most.load();
    while (now > before && !most.compare_exchange_weak(before, now)) {
    }
    static_cast<void>(co_await sleep_ms(1));
    --running;
    co_return "done";
  });
  ASSERT_TRUE(app.listen("http://127.0.0.1:0").loops(3).start());
  const auto endpoint = net::Endpoint::parse(app.urls().front());
  ASSERT_TRUE(endpoint);
  std::atomic<int> good = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([&] {
      test::Client client(*endpoint);
      for (int n = 0; n < 10; ++n) good += client.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n").body == "done";
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(good, 80);
  EXPECT_LE(most, 2);
  app.stop(1'000);
  app.wait();
}

}  // namespace
}  // namespace violet
