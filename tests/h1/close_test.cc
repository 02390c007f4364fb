// The ends of connections and streams: by either side, at any time.

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

// A body whose rest nobody reads: the peer's close is noticed all the same.
TEST(H1Close, AClientThatLeavesBehindAnUnreadBodyIsNoticed) {
  Limits limits;
  limits.receive_bytes_max = 1000;
  for (const char* framing : {"Content-Length: 100000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n186a0\r\n"}) {
    H1Wire wire(limits);
    Hook hook;
    Sink sink;
    sink.gives_credit = false;
    wire.service.handler = [&](Exchange& exchange) {
      exchange.add_cancel_hook(hook);
      wire.service.hold(exchange);
      exchange.read(sink);
    };
    wire.send("POST / HTTP/1.1\r\nHost: a\r\n" + std::string(framing) + pattern(50'000));
    ASSERT_FALSE(wire.wire->wants_to_read());
    wire.wire->feed_end();
    wire.settle();
    EXPECT_EQ(hook.count, 1) << framing;
    EXPECT_EQ(sink.error_count, 1) << framing;
    EXPECT_EQ(sink.error.kind(), ErrorKind::Closed);
    EXPECT_TRUE(wire.is_gone());
    wire.service.held.clear();
  }
}

TEST(H1Close, NoByteOfAWholeBodyIsLostToTheCloseBehindIt) {
  Limits limits;
  limits.receive_bytes_max = 1000;
  const std::string text = pattern(50'000);
  for (const std::string& framed : {"Content-Length: 50000\r\n\r\n" + text,
                                    "Transfer-Encoding: chunked\r\n\r\nc350\r\n" + text + "\r\n0\r\n\r\n"}) {
    for (std::size_t step : {~std::size_t{0}, std::size_t{999}}) {
      H1Wire wire(limits);
      wire.wire->set_read_max(step);
      Sink sink;
      sink.gives_credit = false;
      sink.on_end = [](Exchange& exchange) { exchange.reply(Slice::literal("whole")); };
      wire.service.handler = [&](Exchange& exchange) {
        wire.service.hold(exchange);
        exchange.read(sink);
      };
      wire.wire->feed("POST / HTTP/1.1\r\nHost: a\r\n" + framed);
      wire.wire->feed_end();
      wire.settle();
      EXPECT_LT(sink.text.size(), text.size());
      for (int turn = 0; turn < 1000 && sink.end_count + sink.error_count == 0; ++turn) {
        wire.service.held[0]->credit(std::exchange(sink.owed, 0));
        wire.settle();
      }
      EXPECT_TRUE(sink.text == text);
      EXPECT_EQ(sink.end_count, 1);
      EXPECT_EQ(reply_of(wire.wire->take()).body, "whole");
      wire.service.held.clear();
      wire.settle();
      EXPECT_TRUE(wire.is_gone());
    }
  }
}

TEST(H1Close, AnHttp10AnswerThatFailsEndsWithAReset) {
  enum class Way { Fails, IsReset, ServerStops, ClientDoesNotRead, Ends };
  for (Way way : {Way::Fails, Way::IsReset, Way::ServerStops, Way::ClientDoesNotRead, Way::Ends}) {
    Limits limits;
    limits.write_stall_ms = 20;
    H1Wire wire(limits);
    PushSource::Watch watch;
    wire.service.handler = [&](Exchange& exchange) {
      wire.service.hold(exchange);
      exchange.reply(Body(SourcePtr(new PushSource(watch))));
    };
    wire.send("GET / HTTP/1.0\r\n\r\n");
    watch.source->push("the first half");
    watch.source->wake();
    wire.settle();
    if (way == Way::Fails) watch.source->fail();
    if (way == Way::Ends) watch.source->end();
    if (way == Way::Fails || way == Way::Ends) watch.source->wake();
    if (way == Way::IsReset) wire.service.held[0]->abort(Error(ErrorKind::Cancelled));
    if (way == Way::ServerStops) wire.session->abort(Error(ErrorKind::ShuttingDown));
    if (way == Way::ClientDoesNotRead) {
      // Everything is there, but not yet with the client.
      wire.wire->set_room(10);
      watch.source->push(pattern(1000));
      watch.source->end();
      watch.source->wake();
    }
    EXPECT_TRUE(wire.until([&] { return wire.is_gone(); }));
    EXPECT_EQ(wire.wire->is_reset(), way != Way::Ends) << static_cast<int>(way);
    wire.service.held.clear();
  }
  // An answer that says how long it is needs none: what has come of it is not taken away from the client.
  H1Wire wire;
  wire.service.handler = [](Exchange& exchange) {
    exchange.reply(Body(SourcePtr(new PatternSource(1000, 300, Pull::Failed))));
  };
  wire.send(kGet);
  EXPECT_TRUE(wire.is_gone());
  EXPECT_FALSE(wire.wire->is_reset());
}

// RFC 9112 §9.6: the last answer, framed before the drain began, could not say that the connection closes.
TEST(H1Close, ADrainThatCannotBeAnnouncedClosesInStages) {
  H1Wire wire;
  wire.service.handler = [&](Exchange& exchange) { wire.service.hold(exchange); };
  wire.send(kGet + kGet);
  wire.service.held[1]->reply(Slice::literal("second"));
  wire.session->drain();
  wire.settle();
  EXPECT_FALSE(wire.is_closed());
  wire.service.held[0]->reply(Slice::literal("first"));
  wire.service.held.clear();
  wire.wire->feed(kGet);
  wire.settle();
  const auto replies = replies_of(wire.wire->take());
  ASSERT_EQ(replies.size(), 2u);
  EXPECT_EQ(replies[1].body, "second");
  EXPECT_FALSE(replies[1].has("connection"));
  EXPECT_EQ(wire.service.call_count, 2u) << "no further request is taken";
  EXPECT_TRUE(wire.wire->is_shut_down());
  EXPECT_FALSE(wire.is_closed()) << "a close now would be a reset for who has sent more";
  EXPECT_EQ(wire.wire->unread_bytes(), 0u);
  wire.wire->feed_end();
  wire.settle();
  EXPECT_TRUE(wire.is_gone());
}

TEST(H1Close, ADrainAnswersWhatCameInTime) {
  H1Wire wire;
  wire.service.handler = [](Exchange& exchange) { exchange.reply(Slice::literal("x")); };
  EXPECT_EQ(reply_of(wire.ask(kGet)).body, "x");
  wire.wire->feed(kGet);
  wire.site.is_draining = true;
  wire.session->drain();
  wire.settle();
  const Reply reply = reply_of(wire.wire->take());
  EXPECT_EQ(reply.body, "x");
  EXPECT_EQ(reply.field("connection"), "close");
  wire.wire->feed_end();
  wire.settle();
  EXPECT_TRUE(wire.is_gone());
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
