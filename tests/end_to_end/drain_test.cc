// Draining over the real network.

#include "tests/server/running.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace violet::test {
namespace {

using namespace std::chrono_literals;

std::int64_t ms_of(auto&& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin).count();
}

TEST(Drain, ReadinessGoesOffFirstAndListenersStayForTheDelay) {
  ServerOptions options{.loops = 1};
  options.readiness_delay = 200ms;
  Running running(options);
  running.server.stop(5s);
  EXPECT_FALSE(running.server.is_ready());
  Client late(running.endpoint);
  EXPECT_EQ(late.ask(kGet).body, "hello") << "load balancers need time to see it";
  EXPECT_GE(ms_of([&] { EXPECT_TRUE(late.is_closed_within(5000)); }), 20);
  running.server.wait();
  EXPECT_FALSE(Client(running.endpoint).is_open());
}

TEST(Drain, IdleOnesCloseAtOnceBusyOnesFinish) {
  Running running({.loops = 2});
  std::vector<Client> idle;
  for (int i = 0; i < 10; ++i) {
    idle.emplace_back(running.endpoint);
    EXPECT_EQ(idle.back().ask(kGet).body, "hello");
  }
  Client busy(running.endpoint);
  busy.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nha");
  ASSERT_TRUE(eventually([&] { return running.service.call_count == 11; }));
  running.server.stop(10s);
  for (Client& client : idle) EXPECT_TRUE(client.is_closed_within(2000));
  EXPECT_FALSE(busy.is_closed_within(50));
  busy.send("lf");
  const Reply reply = busy.reply();
  EXPECT_EQ(reply.body, "half");
  EXPECT_EQ(reply.field("connection"), "close");
  EXPECT_TRUE(busy.is_closed_within(5000));
  busy.close();
  EXPECT_LT(ms_of([&] { running.server.wait(); }), 5000);
}

TEST(Drain, WhatIsLeftIsCutAtTheDeadline) {
  Running running({.loops = 1});
  Client busy(running.endpoint);
  busy.send(get("/never"));
  ASSERT_TRUE(eventually([&] { return running.service.call_count == 1; }));
  const std::int64_t took = ms_of([&] {
    running.server.stop(200ms);
    running.server.wait();
  });
  EXPECT_GE(took, 195);
  EXPECT_LT(took, 5000);
  EXPECT_TRUE(busy.is_closed_within(1000));
  EXPECT_EQ(running.service.gone_count, 1) << "whoever waits hears of it";
}

TEST(Drain, ASecondStopMayBeEarlier) {
  Running running({.loops = 1});
  Client busy(running.endpoint);
  busy.send(get("/never"));
  ASSERT_TRUE(eventually([&] { return running.service.call_count == 1; }));
  running.server.stop(60s);
  running.server.stop(0ms);
  EXPECT_LT(ms_of([&] { running.server.wait(); }), 5000);
}

TEST(Drain, AServerThatServedServesAgain) {
  Running running({.loops = 2});
  for (int round = 0; round < 5; ++round) {
    Client client(running.endpoint);
    ASSERT_EQ(client.ask(kGet).body, "hello");
    running.server.stop(1s);
    running.server.wait();
    EXPECT_TRUE(client.is_closed_within(1000));
    ASSERT_TRUE(running.server.start());
  }
}

}  // namespace
}  // namespace violet::test
