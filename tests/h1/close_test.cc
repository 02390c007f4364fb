// The ends of connections, streams and tunnels: by either side, at any time.

#include "tests/support/h1_wire.h"
#include "tests/support/reply.h"
#include "violet/base/log.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace violet::test {
namespace {

const std::string kGet = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";
const std::string kUpgrade = "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n";

// Echoes what comes on a tunnel; counts what it hears.
class Tunnel final : public Receiver {
 public:
  void on_head(http::Head&, bool) override { ADD_FAILURE() << "a tunnel gets no head"; }
  void on_data(Slice data) override {
    EXPECT_EQ(close_count, 0);
    text += data.text();
    owed += data.size();
    if (echoes && watch.source != nullptr) {
      watch.source->push(data.text());
      watch.source->wake();
    }
    if (gives_credit) stream->credit(std::exchange(owed, 0));
  }
  void on_end(const http::Fields*) override { ++end_count; }
  void on_close(Error why) noexcept override {
    ++close_count;
    last = why;
    stream = nullptr;
  }
  void accept(Exchange& exchange, int status = 101) {
    exchange.response().status = static_cast<std::uint16_t>(status);
    if (status == 101) {
      ASSERT_TRUE(exchange.response().fields.add("Upgrade", "echo"));
    }
    stream = exchange.accept_upgrade(*this, Body(SourcePtr(new PushSource(watch))));
    ASSERT_NE(stream, nullptr);
  }

  Stream* stream = nullptr;
  PushSource::Watch watch;
  std::string text;
  std::size_t owed = 0;
  bool echoes = true;
  bool gives_credit = true;
  int end_count = 0;
  int close_count = 0;
  Error last;
};

TEST(H1Tunnel, AnUpgradeTakesTheBytesBehindTheRequest) {
  for (std::size_t step : {~std::size_t{0}, std::size_t{1}, std::size_t{50}}) {
    Tunnel tunnel;
    H1Wire wire;
    wire.wire->set_read_max(step);
    wire.service.handler = [&](Exchange& exchange) { tunnel.accept(exchange); };
    ReplyReader reader;
    reader.add(wire.ask(kUpgrade + "early GET / HTTP/1.1\r\n\r\n"));
    const auto reply = reader.next();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 101);
    EXPECT_EQ(reply->field("upgrade"), "echo");
    EXPECT_EQ(reply->field("connection"), "Upgrade");
    EXPECT_EQ(reader.rest(), "early GET / HTTP/1.1\r\n\r\n");
    EXPECT_EQ(wire.ask("more"), "more");
    EXPECT_EQ(wire.ask(std::string("\0\xff", 2)), std::string("\0\xff", 2));
    wire.wire->break_off();
    wire.settle();
    EXPECT_EQ(tunnel.close_count, 1);
    EXPECT_TRUE(tunnel.last);
    EXPECT_EQ(tunnel.watch.death_count, 1);
  }
}

TEST(H1Tunnel, AnUpgradeDecidedLaterGetsTheBytesThen) {
  Tunnel tunnel;
  H1Wire wire;
  wire.service.handler = [&](Exchange& exchange) { wire.service.hold(exchange); };
  EXPECT_EQ(wire.ask(kUpgrade + "early"), "");
  EXPECT_EQ(wire.ask("later"), "");
  EXPECT_FALSE(wire.wire->wants_to_read()) << "until it is decided nothing more is read";
  tunnel.accept(*wire.service.held[0]);
  wire.service.held.clear();
  wire.settle();
  EXPECT_EQ(tunnel.text, "earlylater");
  ReplyReader reader;
  reader.add(wire.wire->take());
  EXPECT_EQ(reader.next()->status, 101);
  EXPECT_EQ(reader.rest(), "earlylater");
}

TEST(H1Tunnel, ADeclinedUpgradeGoesOnAsHttp) {
  for (bool later : {false, true}) {
    H1Wire wire;
    wire.service.handler = [&](Exchange& exchange) {
      if (later && wire.service.call_count == 1) {
        wire.service.hold(exchange);
      } else {
        exchange.reply(Slice::borrowed(exchange.request().path));
      }
    };
    std::string bytes = wire.ask(kUpgrade + kGet);
    if (later) {
      EXPECT_EQ(bytes, "");
      wire.service.held[0]->reply(Slice::literal("/ws"));
      wire.service.held.clear();
      wire.settle();
      bytes = wire.wire->take();
    }
    const auto replies = replies_of(bytes);
    ASSERT_EQ(replies.size(), 2u) << later;
    EXPECT_EQ(replies[0].body, "/ws");
    EXPECT_EQ(replies[1].body, "/x");
    EXPECT_EQ(reply_of(wire.ask(kGet)).body, "/x");
  }
}

TEST(H1Tunnel, ConnectWith2xxIsATunnelAndOtherwiseAnAnswer) {
  const std::string connect = "CONNECT b:1 HTTP/1.1\r\nHost: b:1\r\n\r\n";
  Tunnel tunnel;
  H1Wire wire;
  wire.service.handler = [&](Exchange& exchange) { tunnel.accept(exchange, 200); };
  ReplyReader reader;
  reader.add(wire.ask(connect + "hello"));
  const auto reply = reader.next({.is_connect = true});
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 200);
  EXPECT_FALSE(reply->has("content-length"));
  EXPECT_FALSE(reply->has("transfer-encoding"));
  EXPECT_EQ(reader.rest(), "hello");

  H1Wire other;
  other.service.handler = [&](Exchange& exchange) { exchange.refuse(Error(ErrorKind::Unsupported)); };
  EXPECT_EQ(replies_of(other.ask(connect + kGet)).size(), 2u);
}

TEST(H1Tunnel, BackpressureHoldsForATunnelToo) {
  Limits limits;
  limits.receive_bytes_max = 10'000;
  Tunnel tunnel;
  tunnel.gives_credit = tunnel.echoes = false;
  H1Wire wire(limits);
  wire.service.handler = [&](Exchange& exchange) { tunnel.accept(exchange); };
  wire.send(kUpgrade);
  wire.send(pattern(200'000));
  EXPECT_FALSE(wire.wire->wants_to_read());
  EXPECT_LE(tunnel.text.size(), 10'000 + Block::capacity());
  while (tunnel.text.size() < 200'000) {
    ASSERT_GT(tunnel.owed, 0u);
    tunnel.stream->credit(std::exchange(tunnel.owed, 0));
    wire.settle();
  }
  EXPECT_TRUE(tunnel.text == pattern(200'000));
}

TEST(H1Tunnel, OurEndLetsWhatWasWrittenLeave) {
  Tunnel tunnel;
  H1Wire wire;
  wire.service.handler = [&](Exchange& exchange) { tunnel.accept(exchange); };
  wire.send(kUpgrade);
  tunnel.watch.source->push("last words");
  tunnel.watch.source->end();
  tunnel.watch.source->wake();
  wire.settle();
  EXPECT_TRUE(wire.wire->written().ends_with("last words"));
  EXPECT_TRUE(wire.is_closed() || wire.wire->is_shut_down());
  wire.wire->feed_end();
  wire.settle();
  EXPECT_EQ(tunnel.close_count, 1);
}

TEST(H1Tunnel, APipelinedUpgradeWaitsForItsTurn) {
  Tunnel tunnel;
  H1Wire wire;
  wire.service.handler = [&](Exchange& exchange) {
    if (wire.service.call_count == 1) {
      wire.service.hold(exchange);
    } else {
      tunnel.accept(exchange);
    }
  };
  EXPECT_EQ(wire.ask(kGet + kUpgrade + "data"), "");
  wire.service.held[0]->reply(Slice::literal("first"));
  wire.service.held.clear();
  wire.settle();
  ReplyReader reader;
  reader.add(wire.wire->take());
  EXPECT_EQ(reader.next()->body, "first");
  EXPECT_EQ(reader.next()->status, 101);
  EXPECT_EQ(reader.rest(), "data");
}

TEST(H1Close, AbortEndsTheConnectionWithoutAnAnswer) {
  H1Wire wire;
  Hook hook;
  wire.service.handler = [&](Exchange& exchange) {
    exchange.add_cancel_hook(hook);
    exchange.abort(Error(ErrorKind::Cancelled));
    EXPECT_EQ(hook.count, 0) << "nothing comes up from inside a call down";
    EXPECT_FALSE(exchange.reply(Slice::literal("too late")));
  };
  EXPECT_EQ(wire.ask(kGet), "");
  EXPECT_TRUE(wire.is_gone());
  EXPECT_EQ(hook.count, 1);
  EXPECT_EQ(hook.last.kind(), ErrorKind::Cancelled);
}

TEST(H1Close, AnswersBeforeAnAbortedOneStillLeave) {
  // In one turn, answered first; in one turn, aborted first; and over a wire without room.
  for (int order = 0; order < 4; ++order) {
    H1Wire wire;
    Hook hook;
    if (order == 3) wire.wire->set_room(10);
    wire.service.handler = [&](Exchange& exchange) {
      if (order == 0) {
        if (wire.service.call_count == 1) exchange.reply(Slice::literal("first"));
        if (wire.service.call_count == 2) {
          exchange.add_cancel_hook(hook);
          exchange.abort(Error(ErrorKind::Busy));
        }
      } else {
        if (wire.service.call_count == 2) exchange.add_cancel_hook(hook);
        wire.service.hold(exchange);
      }
    };
    wire.send(kGet + kGet);
    if (order != 0) {
      if (order != 2) wire.service.held[1]->abort(Error(ErrorKind::Busy));
      wire.settle();
      EXPECT_FALSE(wire.is_closed());
      wire.service.held[0]->reply(Slice::literal("first"));
      if (order == 2) wire.service.held[1]->abort(Error(ErrorKind::Busy));
    }
    wire.settle();
    wire.wire->add_room(1'000'000);
    wire.settle();
    EXPECT_EQ(reply_of(wire.wire->take()).body, "first") << order;
    EXPECT_TRUE(wire.is_gone());
    EXPECT_EQ(hook.count, 1);
    EXPECT_EQ(hook.last.kind(), ErrorKind::Busy) << "the reason is not lost";
    wire.service.held.clear();
  }
}

TEST(H1Close, AClientThatVanishesIsHeardOnceByEverybody) {
  // RST, FIN; while held, while a body is being read, while an answer is being sent.
  for (int way = 0; way < 6; ++way) {
    H1Wire wire;
    Hook hook;
    Sink sink;
    PushSource::Watch watch;
    wire.service.handler = [&](Exchange& exchange) {
      exchange.add_cancel_hook(hook);
      if (way / 2 == 0) wire.service.hold(exchange);
      if (way / 2 == 1) exchange.read(sink);
      if (way / 2 == 2) exchange.reply(Body(SourcePtr(new PushSource(watch))));
    };
    wire.send(way / 2 == 1 ? "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc" : kGet);
    if (way % 2 == 0) {
      wire.wire->break_off();
    } else {
      wire.wire->feed_end();
    }
    wire.settle();
    if (way == 5) {
      // Half-closed: the answer under way is finished.
      EXPECT_FALSE(wire.is_closed());
      watch.source->push("rest");
      watch.source->end();
      watch.source->wake();
      wire.settle();
      EXPECT_EQ(reply_of(wire.wire->take()).body, "rest");
    }
    EXPECT_TRUE(wire.is_gone()) << way;
    EXPECT_EQ(hook.count, 1) << way;
    if (way / 2 == 1) {
      EXPECT_EQ(sink.error_count, 1);
      EXPECT_EQ(sink.end_count, 0);
    }
    if (way / 2 == 2) {
      EXPECT_EQ(watch.detach_count, 1);
      EXPECT_EQ(watch.death_count, 1);
    }
    if (way / 2 == 0) {
      Exchange& late = *wire.service.held[0];
      EXPECT_FALSE(late.is_open());
      EXPECT_TRUE(late.reply(Slice::literal("into nothing")));
      late.credit(5);
      late.abort(Error(ErrorKind::Cancelled));
      EXPECT_EQ(late.request().path, "/x") << "a held request stays readable";
      wire.service.held.clear();
    }
    EXPECT_LE(wire.site.exchanges.used_count(), 1u) << way;
  }
}

TEST(H1Close, AHalfClosedClientStillGetsTheAnswerThatIsUnderWay) {
  H1Wire wire;
  wire.service.handler = [&](Exchange& exchange) {
    if (wire.service.call_count == 1) {
      exchange.reply(Slice::of(pattern(20'000)));
    } else {
      wire.service.hold(exchange);
    }
  };
  wire.wire->set_room(1000);
  wire.send(kGet + kGet);
  ASSERT_EQ(wire.service.call_count, 2u);
  wire.wire->feed_end();
  wire.settle();
  wire.wire->add_room(1'000'000);
  EXPECT_TRUE(wire.until([&] { return wire.is_gone(); }));
  EXPECT_TRUE(reply_of(wire.wire->take()).body == pattern(20'000));
}

TEST(H1Close, AnUnfinishedHeadIsForgottenWithItsClient) {
  H1Wire wire;
  wire.service.handler = [](Exchange&) { FAIL(); };
  wire.send("GET / HTTP/1.1\r\nHos");
  wire.wire->feed_end();
  wire.settle();
  EXPECT_TRUE(wire.is_gone());
  EXPECT_EQ(wire.wire->take(), "");
}

TEST(H1Close, DrainClosesIdleAtOnceAndBusyAfterTheAnswer) {
  H1Wire idle;
  idle.session->drain();
  idle.settle();
  EXPECT_TRUE(idle.is_gone());

  H1Wire busy;
  busy.service.handler = [&](Exchange& exchange) { busy.service.hold(exchange); };
  busy.send(kGet + kGet);
  busy.session->drain();
  busy.send(kGet);
  EXPECT_FALSE(busy.is_closed());
  EXPECT_EQ(busy.service.call_count, 2u) << "no further request is taken";
  for (const auto& held : busy.service.held) held->reply(Slice::literal("x"));
  busy.service.held.clear();
  busy.settle();
  const auto replies = replies_of(busy.wire->take());
  ASSERT_EQ(replies.size(), 2u);
  EXPECT_FALSE(replies[0].has("connection"));
  EXPECT_EQ(replies[1].field("connection"), "close");
  EXPECT_TRUE(busy.is_closed() || busy.wire->is_shut_down());
}

// Whatever happens at whatever moment of a conversation, everything is heard once and given back.
TEST(H1Close, TheEndMayComeAtAnyMoment) {
  set_log_level(LogLevel::Off);
  const std::string bytes = kGet +
                            "POST /body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"
                            "5\r\nworld\r\n0\r\nX: 1\r\n\r\n" +
                            kGet + kGet + "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody";
  for (int way = 0; way < 5; ++way) {
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
      H1Wire wire;
      std::vector<std::unique_ptr<Hook>> hooks;
      std::vector<std::unique_ptr<Sink>> sinks;
      std::vector<std::unique_ptr<PushSource::Watch>> watches;
      wire.service.handler = [&](Exchange& exchange) {
        hooks.push_back(std::make_unique<Hook>());
        exchange.add_cancel_hook(*hooks.back());
        switch (wire.service.call_count % 4) {
          case 0: exchange.reply(Slice::literal("now")); break;
          case 1:
            watches.push_back(std::make_unique<PushSource::Watch>());
            exchange.reply(Body(SourcePtr(new PushSource(*watches.back()))));
            watches.back()->source->push("part");
            break;
          case 2:
            sinks.push_back(std::make_unique<Sink>());
            wire.service.hold(exchange);
            exchange.read(*sinks.back());
            break;
          default: wire.service.hold(exchange);
        }
      };
      wire.send(std::string_view(bytes).substr(0, cut));
      switch (way) {
        case 0: wire.wire->break_off(); break;
        case 1: wire.wire->feed_end(); break;
        case 2:
          if (wire.session != nullptr) wire.session->abort(Error(ErrorKind::ShuttingDown));
          break;
        case 3:
          if (wire.session != nullptr) wire.session->drain();
          break;
        default:
          for (auto& held : wire.service.held) held->abort(Error(ErrorKind::Cancelled));
          for (auto& watch : watches) {
            if (watch->source == nullptr) continue;
            watch->source->fail();
            watch->source->wake();
          }
      }
      wire.settle();
      wire.service.held.clear();
      wire.settle();
      if (wire.session != nullptr) wire.session->abort(Error(ErrorKind::ShuttingDown));
      wire.settle();
      ASSERT_TRUE(wire.is_gone()) << way << " at " << cut;
      for (const auto& hook : hooks) ASSERT_EQ(hook->count, 1) << way << " at " << cut;
      for (const auto& sink : sinks) ASSERT_EQ(sink->end_count + sink->error_count, 1) << way << " at " << cut;
      for (const auto& watch : watches) {
        ASSERT_EQ(watch->death_count, 1) << way << " at " << cut;
        ASSERT_EQ(watch->detach_count, watch->attach_count) << way << " at " << cut;
      }
      ASSERT_LE(wire.site.exchanges.used_count(), 1u) << way << " at " << cut;
      ASSERT_LE(wire.shared.streams.used_count(), 1u);
    }
  }
  set_log_level(LogLevel::Info);
}

}  // namespace
}  // namespace violet::test
