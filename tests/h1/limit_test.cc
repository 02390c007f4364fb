// Every limit and timer of core/limits.h that a session enforces: the status it gives, and that the connection closes.
// Time limits are made small and the loop is stepped until the effect is there.

#include "tests/support/h1_wire.h"
#include "tests/support/reply.h"
#include "violet/base/log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace violet::test {
namespace {

const std::string kGet = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

struct Timed {
  explicit Timed(const Limits& limits) : wire(limits), begin_us(Loop::clock_us()) {
    wire.service.handler = Echo::serve;
  }
  // Steps until the session answers or ends; returns the milliseconds that took.
  std::uint64_t wait() {
    EXPECT_TRUE(wire.until([this] { return !wire.wire->written().empty() || wire.is_closed(); }));
    return (Loop::clock_us() - begin_us) / 1000;
  }
  void expect_gone() {
    EXPECT_TRUE(wire.until([this] { return wire.is_gone(); }));
  }

  H1Wire wire;
  std::uint64_t begin_us;
};

TEST(H1Limit, ASilentNewConnectionIsClosedAfterTheHeaderTime) {
  Limits limits;
  limits.header_ms = 40;
  Timed t(limits);
  EXPECT_GE(t.wait() + 2, 40u);
  EXPECT_TRUE(t.wire.is_closed());
  EXPECT_EQ(t.wire.wire->take(), "");
  t.expect_gone();
}

TEST(H1Limit, ADrippingHeadIsA408) {
  Limits limits;
  limits.header_ms = 60;
  limits.linger_ms = 30;
  Timed t(limits);
  const std::string head = "GET /" + std::string(10'000, 'a');
  std::size_t at = 0;
  ASSERT_TRUE(t.wire.until([&] {
    if (at < head.size()) t.wire.wire->feed(head.substr(at++, 1));
    return !t.wire.wire->written().empty();
  }));
  EXPECT_GE((Loop::clock_us() - t.begin_us) / 1000 + 2, 60u);
  const Reply reply = reply_of(t.wire.wire->take());
  EXPECT_EQ(reply.status, 408);
  EXPECT_EQ(reply.field("connection"), "close");
  EXPECT_NE(reply.body.find("header_ms = 60"), std::string::npos);
  EXPECT_EQ(t.wire.site.counters.timeouts, 1u);
  t.expect_gone();
}

TEST(H1Limit, AnIdleConnectionIsClosedAfterKeepAlive) {
  Limits limits;
  limits.keep_alive_ms = 50;
  Timed t(limits);
  EXPECT_EQ(reply_of(t.wire.ask(kGet)).status, 200);
  t.begin_us = Loop::clock_us();
  EXPECT_GE(t.wait() + 2, 49u);
  EXPECT_TRUE(t.wire.is_closed());
  EXPECT_EQ(t.wire.wire->take(), "");
}

TEST(H1Limit, ALimitThatBitIsLoggedOnceASecond) {
  static std::string logged;
  logged.clear();
  set_log_sink([](LogLevel, std::string_view text) noexcept { logged.append(text).append("\n"); });
  Limits limits;
  limits.body_bytes_max = 3;
  Timed t(limits);
  for (int i = 0; i < 5; ++i) {
    t.wire.connect();
    EXPECT_EQ(reply_of(t.wire.ask("POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n")).status, 413);
  }
  set_log_sink(nullptr);
  EXPECT_NE(logged.find("413 for "), std::string::npos) << logged;
  EXPECT_NE(logged.find("POST /upload: limit body_bytes_max = 3"), std::string::npos) << logged;
  EXPECT_LE(std::count(logged.begin(), logged.end(), '\n'), 2) << logged;
}

TEST(H1Limit, AHeldUpLoopDoesNotCloseOnWhoHasSentInTime) {
  Limits limits;
  limits.keep_alive_ms = 20;
  Timed t(limits);
  EXPECT_EQ(reply_of(t.wire.ask(kGet)).status, 200);
  t.wire.wire->feed(kGet);
  const std::uint64_t until_us = Loop::clock_us() + 40'000;
  while (Loop::clock_us() < until_us) {
    // The handler of somebody else takes its time.
  }
  t.wire.settle();
  EXPECT_EQ(reply_of(t.wire.wire->take()).status, 200);
}

TEST(H1Limit, AClientThatStillReadsAnAnswerIsNotIdle) {
  Limits limits;
  limits.keep_alive_ms = limits.header_ms = 30;
  Timed t(limits);
  t.wire.service.handler = [](Exchange& exchange) { exchange.reply(Slice::of(pattern(100'000))); };
  t.wire.wire->set_room(1000);
  t.wire.send(kGet + "GET /par");
  EXPECT_FALSE(t.wire.until([&] { return t.wire.is_closed(); }, 120));
  t.wire.wire->add_room(1'000'000);
  t.wire.settle();
  EXPECT_TRUE(reply_of(t.wire.wire->take()).body == pattern(100'000));
  EXPECT_TRUE(t.wire.until([&] { return t.wire.is_closed() || t.wire.wire->is_shut_down(); })) << "from here on it is";
}

TEST(H1Limit, AnEmptyLineBetweenRequestsCountsAsIdle) {
  Limits limits;
  limits.header_ms = 20;
  limits.keep_alive_ms = 150;
  Timed t(limits);
  t.wire.ask(kGet);
  t.begin_us = Loop::clock_us();
  t.wire.send("\r\n");
  EXPECT_GE(t.wait() + 2, 140u);
  EXPECT_EQ(t.wire.wire->take(), "") << "no 408 for nobody's request";
}

TEST(H1Limit, ABodyThatNeverComesIsA408AfterTheGrace) {
  Limits limits;
  limits.body_grace_ms = 50;
  limits.linger_ms = 20;
  Timed t(limits);
  t.wire.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n");
  EXPECT_GE(t.wait() + 2, 50u);
  const Reply reply = reply_of(t.wire.wire->take());
  EXPECT_EQ(reply.status, 408);
  EXPECT_EQ(reply.field("connection"), "close");
  t.expect_gone();
}

TEST(H1Limit, ADrippingBodyIsA408AndAQuickOneIsNot) {
  for (bool is_quick : {false, true}) {
    Limits limits;
    limits.body_grace_ms = 60;
    limits.body_rate_min = 10'000;
    limits.linger_ms = 20;
    Timed t(limits);
    t.wire.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 40000\r\n\r\n");
    std::size_t sent = 0;
    const std::size_t piece = is_quick ? 1000 : 1;
    ASSERT_TRUE(t.wire.until([&] {
      if (sent < 40'000) t.wire.wire->feed(std::string(piece, 'b'));
      sent += piece;
      return !t.wire.wire->written().empty();
    }));
    EXPECT_EQ(reply_of(t.wire.wire->take()).status, is_quick ? 200 : 408);
  }
}

TEST(H1Limit, ABodyThatStopsAfterABurstIsA408) {
  Limits limits;
  limits.body_grace_ms = 30;
  limits.body_stall_ms = 60;
  limits.body_rate_min = 1;
  Timed t(limits);
  t.wire.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 50000\r\n\r\n" + std::string(40'000, 'b'));
  const std::uint64_t took = t.wait() + 2;
  EXPECT_GE(took, 59u);
  EXPECT_LT(took, 3000u) << "what came before buys no more than the stall";
  EXPECT_EQ(reply_of(t.wire.wire->take()).status, 408);
}

TEST(H1Limit, ABodysTimeStandsStillWhileWeDoNotRead) {
  Limits limits;
  limits.body_grace_ms = limits.body_stall_ms = 30;
  limits.receive_bytes_max = 1000;
  Timed t(limits);
  t.wire.service.handler = [&](Exchange& exchange) { t.wire.service.hold(exchange); };
  t.wire.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 50000\r\n\r\n" + std::string(2'000, 'b'));
  EXPECT_FALSE(t.wire.until([&] { return t.wire.is_closed() || !t.wire.wire->written().empty(); }, 120));
  Echo::serve(*t.wire.service.held[0]);
  ASSERT_TRUE(t.wire.until([&] { return !t.wire.wire->written().empty(); }));
  EXPECT_EQ(reply_of(t.wire.wire->take()).status, 408);
}

TEST(H1Limit, AClientThatReadsNothingIsCut) {
  Limits limits;
  limits.write_stall_ms = 50;
  Timed t(limits);
  t.wire.wire->set_room(10);
  t.wire.send(kGet);
  EXPECT_TRUE(t.wire.until([&] { return t.wire.is_closed(); }));
  EXPECT_GE((Loop::clock_us() - t.begin_us) / 1000 + 2, 50u);
  EXPECT_EQ(t.wire.site.counters.timeouts, 1u);
  t.expect_gone();
}

TEST(H1Limit, AClientThatReadsDropByDropIsCutAndAQuickOneIsNot) {
  for (bool is_quick : {false, true}) {
    Limits limits;
    limits.write_stall_ms = 80;
    limits.write_rate_min = 100'000;
    Timed t(limits);
    t.wire.service.handler = [](Exchange& exchange) { exchange.reply(Slice::of(pattern(300'000))); };
    t.wire.wire->set_room(1000);
    t.wire.send(kGet);
    EXPECT_TRUE(t.wire.until([&] {
      t.wire.wire->add_room(is_quick ? 20'000 : 10);
      return t.wire.is_closed() || t.wire.wire->written().size() > 300'000;
    }));
    EXPECT_EQ(t.wire.is_closed(), !is_quick);
  }
}

TEST(H1Limit, AHandlerThatNeverAnswersIsA503) {
  Limits limits;
  limits.handler_ms = 50;
  Timed t(limits);
  Hook hook;
  t.wire.service.handler = [&](Exchange& exchange) {
    if (t.wire.service.call_count == 1) {
      t.wire.service.hold(exchange);
    } else {
      exchange.reply(Slice::literal("next"));
    }
  };
  t.wire.send(kGet);
  EXPECT_GE(t.wait() + 2, 50u);
  const Reply reply = reply_of(t.wire.wire->take());
  EXPECT_EQ(reply.status, 503);
  EXPECT_NE(reply.body.find("handler_ms = 50"), std::string::npos);
  EXPECT_FALSE(t.wire.service.held[0]->reply(Slice::literal("late")));
  t.wire.service.held.clear();
  EXPECT_EQ(reply_of(t.wire.ask(kGet)).body, "next") << "the connection is as good as before";
}

TEST(H1Limit, AStreamMaySetItsOwnTimeOrNone) {
  Limits limits;
  limits.handler_ms = 20;
  Timed t(limits);
  t.wire.service.handler = [&](Exchange& exchange) {
    exchange.disable_deadline();
    t.wire.service.hold(exchange);
  };
  t.wire.send(kGet);
  EXPECT_FALSE(t.wire.until([&] { return !t.wire.wire->written().empty(); }, 80));
  t.wire.service.held[0]->reply(Slice::literal("x"));
  t.wire.service.held.clear();
}

TEST(H1Limit, AHandlerThatHasAnsweredAndUsesNothingOfItsBodyIsLetGo) {
  for (bool is_slow : {false, true}) {
    Limits limits;
    limits.receive_bytes_max = 1000;
    limits.body_unused_ms = 60;
    limits.linger_ms = 20;
    Sink sink;
    sink.gives_credit = false;
    Timed t(limits);
    t.wire.service.handler = [&](Exchange& exchange) {
      t.wire.service.hold(exchange);
      exchange.read(sink);
      exchange.reply(Slice::literal("thank you"));
    };
    t.wire.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 50000\r\n\r\n" + std::string(49'999, 'b'));
    EXPECT_EQ(reply_of(t.wire.wire->take()).body, "thank you");
    EXPECT_FALSE(t.wire.wire->wants_to_read());
    const std::size_t before = sink.text.size();
    t.begin_us = Loop::clock_us();
    EXPECT_EQ(t.wire.until(
                  [&] {
                    // Never so much that reading goes on.
                    if (is_slow && sink.owed > 1500) t.wire.service.held[0]->credit(1), --sink.owed;
                    return sink.error_count > 0;
                  },
                  is_slow ? 150 : 5000),
              !is_slow);
    EXPECT_GE((Loop::clock_us() - t.begin_us) / 1000 + 2, 58u);
    if (!is_slow) {
      EXPECT_EQ(sink.text.size(), before);
      EXPECT_EQ(sink.error.kind(), ErrorKind::Timeout);
      EXPECT_EQ(sink.error.detail(), static_cast<std::int32_t>(LimitId::body_unused_ms));
      EXPECT_EQ(t.wire.site.counters.timeouts, 1u);
      EXPECT_TRUE(t.wire.wire->is_shut_down()) << "the client may read its answer";
      t.expect_gone();
    }
    t.wire.service.held.clear();
  }
}

TEST(H1Limit, LingeringEndsAfterItsTime) {
  Limits limits;
  limits.linger_ms = 50;
  Timed t(limits);
  EXPECT_EQ(reply_of(t.wire.ask("BAD\r\n\r\n")).status, 400);
  EXPECT_TRUE(t.wire.wire->is_shut_down());
  EXPECT_FALSE(t.wire.is_closed());
  t.begin_us = Loop::clock_us();
  ASSERT_TRUE(t.wire.until([&] {
    t.wire.wire->feed("more and more");
    return t.wire.is_closed();
  }));
  EXPECT_GE((Loop::clock_us() - t.begin_us) / 1000 + 2, 45u);
  EXPECT_EQ(t.wire.wire->take(), "");
}

TEST(H1Limit, AZeroTimeIsNoLimit) {
  Limits limits;
  limits.header_ms = limits.keep_alive_ms = limits.body_grace_ms = limits.handler_ms = limits.write_stall_ms = 0;
  Timed t(limits);
  t.wire.send("GE");
  EXPECT_FALSE(t.wire.until([&] { return t.wire.is_closed() || !t.wire.wire->written().empty(); }, 50));
  EXPECT_EQ(reply_of(t.wire.ask(kGet.substr(2))).status, 200);
  EXPECT_FALSE(t.wire.until([&] { return t.wire.is_closed(); }, 50));
}

TEST(H1Limit, SizesOfHeadsAnswerTheirStatusAndClose) {
  struct Case {
    std::string bytes;
    int status;
    const char* limit;
  };
  Limits limits;
  limits.request_line_bytes_max = 1000;
  limits.field_bytes_max = 2000;
  limits.field_count_max = 10;
  limits.trailer_bytes_max = 500;
  limits.linger_ms = 20;
  std::string many = "GET / HTTP/1.1\r\nHost: a\r\n";
  for (int i = 0; i < 10; ++i) many += "X: 1\r\n";
  const std::string chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const Case& c :
       {Case{"GET /" + std::string(1000, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n", 414, "request_line_bytes_max"},
        Case{"GET /" + std::string(100'000, 'a'), 414, "request_line_bytes_max"},
        Case{"GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(2000, 'v') + "\r\n\r\n", 431, "field_bytes_max"},
        Case{"GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(100'000, 'v'), 431, "field_bytes_max"},
        Case{many + "\r\n", 431, "field_count_max"},
        Case{chunked + "0\r\nX: " + std::string(100'000, 'v'), 431, "trailer_bytes_max"},
        Case{chunked + "1;" + std::string(100'000, 'v'), 413, "chunk_extension_bytes_max"}}) {
    for (std::size_t step : {~std::size_t{0}, std::size_t{7}}) {
      Timed t(limits);
      t.wire.wire->set_read_max(step);
      const Reply reply = reply_of(t.wire.ask(c.bytes));
      EXPECT_EQ(reply.status, c.status) << c.limit;
      EXPECT_EQ(reply.field("connection"), "close") << c.limit;
      EXPECT_NE(reply.body.find(c.limit), std::string::npos) << reply.body;
      t.expect_gone();
    }
  }
}

TEST(H1Limit, AnEndlessHeadIsRefusedWhileItArrives) {
  Limits limits;
  Timed t(limits);
  std::size_t sent = 0;
  for (; sent < 10'000'000 && t.wire.wire->written().empty(); sent += 100) t.wire.send(std::string(100, 'G'));
  EXPECT_LE(sent, limits.request_line_bytes_max + 4096 + 100);
  EXPECT_EQ(reply_of(t.wire.wire->take()).status, 414);
}

}  // namespace
}  // namespace violet::test
