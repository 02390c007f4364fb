// Whole runs against servers whose behaviour is known.

#include "load/engine/run.h"

#include "load/result/report.h"
#include <violet/violet.h>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <unistd.h>

namespace violet::load {
namespace {

class LoadRun : public testing::Test {
 protected:
  LoadRun() {
    app.loops(1).listen("http://127.0.0.1:0");
    app.get("/hello", [this] {
      ++asked;
      return "hello";
    });
    app.get("/slow", []() -> Task<std::string> {
      static_cast<void>(co_await sleep_ms(20));
      co_return "slow";
    });
    app.get("/never", []() -> Task<std::string> {
      static_cast<void>(co_await sleep_ms(60'000));
      co_return "never";
    });
    app.get("/changing", [this] { return std::to_string(asked++); });
    app.post("/echo", [](Text body) { return std::string(*body); });
  }
  ~LoadRun() override {
    app.stop(0);
    app.wait();
  }

  Result run_with(Options options, const std::string& path) {
    EXPECT_TRUE(app.start());
    options.url = app.urls().front() + path;
    options.is_quiet = true;
    const auto plan = make_plan(options);
    EXPECT_TRUE(plan);
    return run(options, *plan, ::getpid());
  }

  App app;
  std::atomic<std::uint64_t> asked = 0;
};

TEST_F(LoadRun, ACountIsKeptExactly) {
  const Result result = run_with({.connections = 3, .threads = 2, .count = 1000, .verifies = true}, "/hello");
  EXPECT_EQ(result.tally.answers, 1000u);
  EXPECT_EQ(result.tally.status[2], 1000u);
  EXPECT_EQ(result.tally.failure_count(), 0u);
  EXPECT_EQ(result.tally.latency.count(), 1000u);
  EXPECT_EQ(asked, 1000u);
  EXPECT_TRUE(result.server.has_value());
}

TEST_F(LoadRun, PipelinedRequestsAreAllAnswered) {
  const Result result = run_with({.connections = 2, .depth = 16, .count = 3200, .verifies = true}, "/hello");
  EXPECT_EQ(result.tally.answers, 3200u);
  EXPECT_EQ(result.tally.failure_count(), 0u);
}

TEST_F(LoadRun, ConnectionsAreMadeAnewAfterTheirShare) {
  const Result result = run_with({.connections = 1, .per_connection = 10, .count = 100}, "/hello");
  EXPECT_EQ(result.tally.answers, 100u);
  EXPECT_EQ(result.tally.connects, 10u);
  EXPECT_EQ(result.tally.failure_count(), 0u);
}

TEST_F(LoadRun, BodiesThatChangeAreSeen) {
  const Result result = run_with({.connections = 1, .count = 50, .verifies = true}, "/changing");
  EXPECT_GE(result.tally.wrong_bodies, 49u);
}

TEST_F(LoadRun, BodiesAreComparedWithTheExpectedOne) {
  Options options{.connections = 1, .count = 20, .verifies = true, .has_expected = true, .expected = "hello"};
  EXPECT_EQ(run_with(options, "/hello").tally.wrong_bodies, 0u);
  for (const char* wrong : {"hell", "hellO", "hello!", ""}) {
    options.expected = wrong;
    app.stop(0);
    app.wait();
    EXPECT_EQ(run_with(options, "/hello").tally.wrong_bodies, 20u) << wrong;
  }
}

TEST_F(LoadRun, BodiesAreSent) {
  Options options{
      .body = std::string(100'000, 'x'), .connections = 2, .count = 50, .verifies = true, .has_expected = true};
  options.expected = options.body;
  const Result result = run_with(options, "/echo");
  EXPECT_EQ(result.tally.answers, 50u);
  EXPECT_EQ(result.tally.failure_count(), 0u);
}

TEST_F(LoadRun, StatusClassesAreCounted) {
  EXPECT_EQ(run_with({.connections = 1, .count = 10}, "/nothing").tally.status[4], 10u);
}

// One connection, a request of 20 ms, 200 due each second: in a second 50 are answered and the rest wait. Counted from
// when they were due, latencies grow to most of a second; counted from when they were sent they would all be 20 ms.
TEST_F(LoadRun, AnOpenLoopCountsFromWhenARequestWasDue) {
  const Result result = run_with({.connections = 1, .rate = 200, .seconds = 1}, "/slow");
  EXPECT_LE(result.tally.answers, 60u);
  EXPECT_GE(result.tally.answers, 10u);
  EXPECT_GT(result.tally.latency.most(), 300'000'000u);
}

TEST_F(LoadRun, AnOpenLoopKeepsItsRate) {
  const Result result = run_with({.connections = 4, .rate = 500, .seconds = 1, .warm_up = 0.1}, "/hello");
  EXPECT_NEAR(result.rate(), 500, 60);
  EXPECT_EQ(result.tally.failure_count(), 0u);
}

TEST_F(LoadRun, AServerThatDoesNotAnswerIsGivenUp) {
  const Result result = run_with({.connections = 2, .count = 2, .timeout = 0.2}, "/never");
  EXPECT_EQ(result.tally.answers, 0u);
  EXPECT_EQ(result.tally.timeouts, 2u);
}

TEST(LoadRunAlone, TlsIsHandshakesAndAnswers) {
  App app;
  app.loops(1).listen("https://127.0.0.1:0");
  app.get("/hello", [] { return "hello"; });
  ASSERT_TRUE(app.start());
  Options options{.url = app.urls().front() + "/hello", .connections = 2, .per_connection = 10, .count = 100};
  options.is_quiet = options.verifies = true;
  for (const bool verifies_certificate : {false, true}) {
    options.verifies_certificate = verifies_certificate;
    const auto plan = make_plan(options);
    ASSERT_TRUE(plan);
    const Result result = run(options, *plan, 0);
    // A certificate that nobody knows is good enough only for those who ask for that.
    EXPECT_EQ(result.tally.answers, verifies_certificate ? 0u : 100u);
    EXPECT_EQ(result.tally.handshake_errors, verifies_certificate ? 100u : 0u);
    if (!verifies_certificate) {
      EXPECT_GE(result.tally.handshakes, 10u);
    }
  }
  app.stop(0);
  app.wait();
}

TEST(LoadRunAlone, NobodyListening) {
  const Options options{.url = "http://127.0.0.1:1/", .connections = 2, .count = 4, .is_quiet = true};
  const auto plan = make_plan(options);
  ASSERT_TRUE(plan);
  const Result result = run(options, *plan, 0);
  EXPECT_EQ(result.tally.answers, 0u);
  EXPECT_EQ(result.tally.connect_errors, 4u);
  EXPECT_FALSE(result.server.has_value());
}

TEST_F(LoadRun, ReportsAreForPeopleAndPrograms) {
  const Options options{.url = "http://a/\"", .connections = 1, .count = 10};
  const Result result = run_with({.connections = 1, .count = 10}, "/hello");
  const std::string text = summary(options, result);
  for (const char* part : {"answers      10 in", "p99.99", "2xx 10", "errors       none", "server ", "load "}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  const std::string json = as_json(options, result);
  for (const char* part :
       {"\"url\": \"http://a/\\\"\"", "\"answers\": 10", "\"2xx\": 10", "\"p99.9\": ", "\"timeout\": 0"}) {
    EXPECT_NE(json.find(part), std::string::npos) << part << "\n" << json;
  }
  EXPECT_TRUE(as_csv(result).starts_with("second,answers,errors,bytes,mean_us\n"));
}

}  // namespace
}  // namespace violet::load
