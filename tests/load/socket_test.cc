// Runs of messages against WebSockets whose behaviour is known, plain and over TLS; and HTTP/2 over TLS.

#include "load/engine/run.h"
#include "load/result/report.h"
#include <violet/violet.h>

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

namespace violet::load {
namespace {

class LoadSocket : public testing::Test {
 protected:
  LoadSocket() {
    app.loops(1).listen("http://127.0.0.1:0").listen("https://127.0.0.1:0");
    app.websocket("/echo", [this](WebSocket socket) -> Task<> {
      ++opened;
      while (auto message = co_await socket.read()) {
        if (message->is_text()) ++texts;
        if (auto sent = co_await socket.send(*message); !sent) co_return;
      }
    });
    app.websocket("/other", [](WebSocket socket) -> Task<> {
      static_cast<void>(socket.send("hello, whoever you are"));
      while (auto message = co_await socket.read()) static_cast<void>(socket.send("other"));
    });
    app.websocket("/silent", [](WebSocket socket) -> Task<> {
      while (auto message = co_await socket.read()) continue;
    });
    app.websocket("/leaving", [](WebSocket socket) -> Task<> { static_cast<void>(co_await socket.read()); });
    app.get("/page", [] { return "page"; });
    EXPECT_TRUE(app.start());
  }
  ~LoadSocket() override {
    app.stop(0);
    app.wait();
  }
  Result run_with(Options options, const std::string& path, bool is_secure = false) {
    options.url = (is_secure ? "wss" + app.urls().back().substr(5) : "ws" + app.urls().front().substr(4)) + path;
    options.is_quiet = true;
    const auto plan = make_plan(options);
    EXPECT_TRUE(plan);
    return run(options, *plan, 0);
  }

  App app;
  std::atomic<std::uint64_t> opened = 0;
  std::atomic<std::uint64_t> texts = 0;
};

TEST_F(LoadSocket, ACountOfMessagesIsKeptExactly) {
  for (const int depth : {1, 16}) {
    texts = 0;
    const Result result =
        run_with({.connections = 3, .threads = 2, .depth = depth, .count = 3000, .verifies = true}, "/echo");
    EXPECT_EQ(result.tally.answers, 3000u);
    EXPECT_EQ(result.tally.latency.count(), 3000u);
    EXPECT_EQ(result.tally.failure_count(), 0u);
    EXPECT_GE(texts, 3000u);
    EXPECT_EQ(result.tally.bytes, 3000u * 5) << "hello";
  }
}

TEST_F(LoadSocket, SizeKindAndTextAreWhatWasAskedFor) {
  const Result binary = run_with(
      {.size = 100'000, .is_binary = true, .connections = 2, .depth = 20, .count = 200, .verifies = true}, "/echo");
  EXPECT_EQ(binary.tally.answers, 200u);
  EXPECT_EQ(binary.tally.bytes, 200u * 100'000);
  EXPECT_EQ(binary.tally.failure_count(), 0u);
  EXPECT_EQ(texts, 0u);
  Options options{.body = "gr\xc3\xbc\xc3\x9f", .connections = 1, .count = 20, .verifies = true};
  EXPECT_EQ(run_with(options, "/echo").tally.failure_count(), 0u);
  EXPECT_EQ(texts, 20u);
}

TEST_F(LoadSocket, SocketsAreMadeAnewAfterTheirShare) {
  const Result result = run_with({.connections = 2, .per_connection = 10, .count = 200, .verifies = true}, "/echo");
  EXPECT_EQ(result.tally.answers, 200u);
  EXPECT_EQ(result.tally.failure_count(), 0u);
  EXPECT_GE(opened, 20u);
  EXPECT_GE(result.tally.connects, 20u);
}

TEST_F(LoadSocket, AnEchoThatIsNoneIsSeen) {
  // The greeting is the first answer.
  EXPECT_EQ(run_with({.connections = 1, .count = 50, .verifies = true}, "/other").tally.wrong_bodies, 50u);
}

TEST_F(LoadSocket, AHandshakeThatIsRefusedIsCounted) {
  const Result result = run_with({.connections = 2, .count = 4}, "/page");
  EXPECT_EQ(result.tally.answers, 0u);
  EXPECT_GE(result.tally.handshake_errors, 4u);
}

TEST_F(LoadSocket, ASocketWithoutAnswersIsGivenUp) {
  const Result result = run_with({.connections = 2, .count = 2, .timeout = 0.2}, "/silent");
  EXPECT_EQ(result.tally.answers, 0u);
  EXPECT_EQ(result.tally.timeouts, 2u);
}

TEST_F(LoadSocket, ASocketThatEndsTooSoonIsBroken) {
  const Result result = run_with({.connections = 1, .count = 3}, "/leaving");
  EXPECT_EQ(result.tally.answers, 0u);
  EXPECT_GE(result.tally.failure_count(), 3u);
}

TEST_F(LoadSocket, OverTlsToo) {
  Options options{.connections = 2, .depth = 4, .per_connection = 25, .count = 200, .verifies = true};
  options.verifies_certificate = false;
  const Result result = run_with(options, "/echo", true);
  EXPECT_EQ(result.tally.answers, 200u);
  EXPECT_EQ(result.tally.failure_count(), 0u);
  EXPECT_GE(result.tally.handshakes, 8u);
  options.verifies_certificate = true;
  options.per_connection = 0;
  EXPECT_GE(run_with(options, "/echo", true).tally.handshake_errors, 1u) << "nobody knows the certificate";
}

TEST_F(LoadSocket, Http2OverTlsIsAskedAndAnswered) {
  Options options{.url = app.urls().back() + "/page", .connections = 2, .protocol = Protocol::Http2, .depth = 8};
  options.count = 400;
  options.is_quiet = options.verifies = true;
  options.verifies_certificate = false;
  const auto plan = make_plan(options);
  ASSERT_TRUE(plan);
  const Result result = run(options, *plan, 0);
  EXPECT_EQ(result.tally.answers, 400u);
  EXPECT_EQ(result.tally.status[2], 400u);
  EXPECT_EQ(result.tally.handshakes, 2u);
  EXPECT_EQ(result.tally.failure_count(), 0u);
}

TEST(LoadSocketOptions, AreRefusedWhereTheySayNothing) {
  const auto status = [](std::vector<std::string> words) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    Options options;
    testing::internal::CaptureStderr();
    const int found = parse(arguments, options);
    static_cast<void>(testing::internal::GetCapturedStderr());
    return found;
  };
  EXPECT_EQ(status({"-p", "16", "--size", "100", "--binary", "ws://127.0.0.1:1/echo"}), -1);
  EXPECT_EQ(status({"--h2", "ws://127.0.0.1:1/echo"}), 2);
  EXPECT_EQ(status({"--size", "100", "http://127.0.0.1:1/echo"}), 2);
  EXPECT_EQ(status({"-X", "PUT", "wss://127.0.0.1:1/echo"}), 2);
  EXPECT_NE(describe({.url = "ws://127.0.0.1/", .depth = 16}).find("WebSocket, text, 16 in flight each"),
            std::string::npos);
}

}  // namespace
}  // namespace violet::load
