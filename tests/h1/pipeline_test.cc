// Several requests in flight on one connection.

#include "tests/support/h1_wire.h"
#include "tests/support/reply.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace violet::test {
namespace {

std::string get(int number) { return "GET /" + std::to_string(number) + " HTTP/1.1\r\nHost: a\r\n\r\n"; }

std::string gets(int from, int to) {
  std::string bytes;
  for (int i = from; i < to; ++i) bytes += get(i);
  return bytes;
}

void answer_path(const Ref<Exchange>& exchange) { exchange->reply(Slice::borrowed(exchange->request().path)); }

TEST(H1Pipeline, AnswersSixteenRequestsWithOneReadAndOneWrite) {
  H1Wire wire;
  wire.service.handler = [](Exchange& exchange) { exchange.reply(Slice::borrowed(exchange.request().path)); };
  const auto replies = replies_of(wire.ask(gets(0, 16)));
  ASSERT_EQ(replies.size(), 16u);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(replies[static_cast<std::size_t>(i)].body, "/" + std::to_string(i));
  EXPECT_EQ(wire.wire->read_count(), 1u);
  EXPECT_EQ(wire.wire->write_count(), 1u);
}

TEST(H1Pipeline, AnswersInOrderWhenHandlersFinishOutOfOrder) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    H1Wire wire;
    wire.service.handler = [&](Exchange& exchange) { wire.service.hold(exchange); };
    wire.send(gets(0, 20));
    ASSERT_EQ(wire.service.held.size(), 20u);
    EXPECT_EQ(wire.wire->take(), "");
    std::vector<std::size_t> order(20);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    std::string bytes;
    for (std::size_t i : order) {
      answer_path(wire.service.held[i]);
      if (i % 3 == 0) wire.settle();
      bytes += wire.wire->take();
    }
    wire.settle();
    const auto replies = replies_of(bytes + wire.wire->take());
    ASSERT_EQ(replies.size(), 20u);
    for (int i = 0; i < 20; ++i) ASSERT_EQ(replies[static_cast<std::size_t>(i)].body, "/" + std::to_string(i));
    wire.service.held.clear();
  }
}

TEST(H1Pipeline, KeepsTheOrderOfEveryKindOfAnswer) {
  // Small, large, from a source, empty, refused, informational: each answered before the first one.
  H1Wire wire;
  wire.service.handler = [&](Exchange& exchange) { wire.service.hold(exchange); };
  wire.send(gets(0, 7));
  auto& held = wire.service.held;
  ASSERT_EQ(held.size(), 7u);
  PushSource::Watch watch;
  {
    std::string gone = "borrowed";
    held[6]->reply(Slice::borrowed(gone));
    gone = "overwritten";
  }
  held[5]->refuse(Error(ErrorKind::NotFound));
  held[4]->reply();
  held[3]->reply(Body(SourcePtr(new PushSource(watch))));
  watch.source->push("pushed");
  held[2]->reply(Slice::of(pattern(100'000)));
  http::Head hints(held[1]->arena());
  hints.status = 103;
  held[1]->inform(hints);
  held[1]->reply(Slice::literal("one"));
  wire.settle();
  EXPECT_EQ(wire.wire->take(), "");
  EXPECT_EQ(watch.pull_count, 0u);
  held[0]->reply(Slice::literal("zero"));
  wire.settle();
  watch.source->end();
  watch.source->wake();
  wire.settle();
  const auto replies = replies_of(wire.wire->take());
  ASSERT_EQ(replies.size(), 8u);
  EXPECT_EQ(replies[0].body, "zero");
  EXPECT_EQ(replies[1].status, 103);
  EXPECT_EQ(replies[2].body, "one");
  EXPECT_EQ(replies[3].body, pattern(100'000));
  EXPECT_EQ(replies[4].body, "pushed");
  EXPECT_EQ(replies[5].body, "");
  EXPECT_EQ(replies[6].status, 404);
  EXPECT_EQ(replies[7].body, "borrowed");
  held.clear();
}

TEST(H1Pipeline, PausesReadingAtTheCapAndRefusesNobody) {
  for (int cap : {1, 2, 8, 64}) {
    Limits limits;
    limits.pipeline_max = static_cast<std::uint64_t>(cap);
    H1Wire wire(limits);
    wire.service.handler = [&](Exchange& exchange) { wire.service.hold(exchange); };
    wire.send(gets(0, cap));
    EXPECT_EQ(wire.service.call_count, static_cast<std::uint64_t>(cap));
    EXPECT_TRUE(wire.wire->wants_to_read()) << "at the cap itself nothing has to wait yet";
    wire.send(gets(cap, cap + 3));
    EXPECT_EQ(wire.service.call_count, static_cast<std::uint64_t>(cap)) << "one above the cap is not started";
    EXPECT_FALSE(wire.wire->wants_to_read());
    wire.send(gets(cap + 3, 3 * cap + 10));
    EXPECT_GT(wire.wire->unread_bytes(), 0u) << "the rest waits in the socket";
    std::size_t next = 0;
    for (int turn = 0; turn < 100'000 && next < static_cast<std::size_t>(3 * cap + 10); ++turn) {
      ASSERT_LE(wire.session->stream_count(), static_cast<std::size_t>(cap));
      answer_path(wire.service.held.at(next));
      wire.service.held[next++] = {};
      wire.settle();
    }
    const auto replies = replies_of(wire.wire->take());
    ASSERT_EQ(replies.size(), static_cast<std::size_t>(3 * cap + 10));
    for (std::size_t i = 0; i < replies.size(); ++i) {
      EXPECT_EQ(replies[i].status, 200);
      EXPECT_EQ(replies[i].body, "/" + std::to_string(i));
    }
    EXPECT_TRUE(wire.wire->wants_to_read());
  }
}

TEST(H1Pipeline, AnswersMoreThanTheCapInOneTurnWhenHandlersAreQuick) {
  Limits limits;
  limits.pipeline_max = 4;
  H1Wire wire(limits);
  wire.service.handler = [](Exchange& exchange) { exchange.reply(Slice::borrowed(exchange.request().path)); };
  EXPECT_EQ(replies_of(wire.ask(gets(0, 500))).size(), 500u);
}

TEST(H1Pipeline, ACapOfZeroDoesNotLockTheDoor) {
  Limits limits;
  limits.pipeline_max = 0;
  limits.flush_bytes_max = 0;
  limits.receive_bytes_max = 0;
  H1Wire wire(limits);
  wire.service.handler = Echo::serve;
  EXPECT_EQ(replies_of(wire.ask(gets(0, 5))).size(), 5u);
  EXPECT_EQ(reply_of(wire.ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")).body, "abc");
  wire.service.handler = [](Exchange& exchange) { exchange.reply(Body(SourcePtr(new PatternSource(10'000, 999)))); };
  EXPECT_EQ(reply_of(wire.ask(get(1))).body, pattern(10'000));
}

TEST(H1Pipeline, HoldsOrderWithBodiesBetween) {
  H1Wire wire;
  wire.service.handler = Echo::serve;
  std::string bytes;
  std::vector<std::string> expected;
  for (int i = 0; i < 40; ++i) {
    const std::string body = pattern(static_cast<std::size_t>(i * 97));
    if (i % 2 == 0) {
      bytes += "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    } else {
      char size[20];
      std::snprintf(size, sizeof size, "%zx", body.size());
      bytes += "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + std::string(size) + "\r\n" + body +
               "\r\n0\r\n\r\n";
    }
    expected.push_back(body);
  }
  const auto replies = replies_of(wire.ask(bytes));
  ASSERT_EQ(replies.size(), expected.size());
  for (std::size_t i = 0; i < replies.size(); ++i) EXPECT_EQ(replies[i].body, expected[i]) << i;
}

TEST(H1Pipeline, AnEndlessFlowThatNeverStopsAtARequestsEndIsNotTimedOut) {
  Limits limits;
  limits.header_ms = 60;
  H1Wire wire(limits);
  wire.service.handler = [](Exchange& exchange) { exchange.reply(Slice::literal("x")); };
  // Every read ends in the middle of a head.
  const std::string request = get(1);
  std::size_t sent = 1;
  wire.send(request.substr(0, 20));
  const std::uint64_t end_us = Loop::clock_us() + 200'000;
  while (Loop::clock_us() < end_us && !wire.is_closed()) {
    wire.wire->feed(request.substr(20) + request.substr(0, 20));
    wire.loop.step(5);
    ++sent;
  }
  wire.settle();
  ASSERT_FALSE(wire.is_closed());
  EXPECT_EQ(replies_of(wire.wire->take()).size(), sent - 1);
  EXPECT_EQ(wire.site.counters.timeouts, 0u);
}

TEST(H1Pipeline, StopsTakingRequestsWhileAnswersPileUpUnread) {
  Limits limits;
  limits.flush_bytes_max = 64 * 1024;
  H1Wire wire(limits);
  wire.wire->set_room(1000);
  wire.service.handler = [](Exchange& exchange) { exchange.reply(Slice::literal(std::string_view("0123456789"))); };
  std::string many;
  for (int i = 0; i < 100'000; ++i) many += get(1);
  wire.send(many);
  EXPECT_FALSE(wire.wire->wants_to_read());
  EXPECT_LT(wire.service.call_count * 100, 300'000u);
  std::size_t count = 0;
  ReplyReader reader;
  for (int turn = 0; turn < 100'000 && count < 100'000; ++turn) {
    wire.wire->add_room(100'000);
    wire.settle();
    reader.add(wire.wire->take());
    while (reader.next()) ++count;
  }
  EXPECT_EQ(count, 100'000u);
  EXPECT_EQ(reader.error(), "");
}

TEST(H1Pipeline, HeldAnswersThatPileUpBehindASlowOneStopTheReading) {
  Limits limits;
  limits.unsent_bytes_max = 100'000;
  H1Wire wire(limits);
  wire.service.handler = [&](Exchange& exchange) {
    if (exchange.request().path == "/0") {
      wire.service.hold(exchange);
    } else {
      exchange.reply(Slice::of(pattern(50'000)));
    }
  };
  wire.send(gets(0, 40));
  EXPECT_LE(wire.service.call_count, 4u);
  EXPECT_FALSE(wire.wire->wants_to_read());
  wire.service.held[0]->reply(Slice::literal("zero"));
  wire.service.held.clear();
  wire.settle();
  EXPECT_EQ(replies_of(wire.wire->take()).size(), 40u);
}

TEST(H1Pipeline, AnAnswerWithoutABodyDoesNotWaitForTheRequestsBody) {
  H1Wire wire;
  wire.service.handler = [&](Exchange& exchange) {
    if (wire.service.call_count == 1) return wire.service.hold(exchange);
    exchange.response().status = 204;
    exchange.reply();
  };
  wire.send("GET / HTTP/1.1\r\nHost: a\r\n\r\nPOST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nha");
  wire.service.held[0]->reply(Slice::literal("first"));
  wire.service.held.clear();
  wire.settle();
  const auto replies = replies_of(wire.wire->take());
  ASSERT_EQ(replies.size(), 2u);
  EXPECT_EQ(replies[1].status, 204);
  EXPECT_EQ(wire.ask("lf"), "");
  EXPECT_EQ(reply_of(wire.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n")).status, 204);
}

}  // namespace
}  // namespace violet::test
