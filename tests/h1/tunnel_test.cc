// Tunnels: what a stream becomes after 101, or 2xx to CONNECT.

#include "tests/support/h1_wire.h"
#include "tests/support/reply.h"

#include <gtest/gtest.h>

#include <string>

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

// Carried by the session, and by an h1::Tunnel in its place.
class H1Tunnel : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Carriers, H1Tunnel, testing::Bool(), [](const testing::TestParamInfo<bool>& info) {
  return info.param ? std::string("InPlaceOfTheSession") : std::string("BySession");
});

TEST_P(H1Tunnel, AnUpgradeTakesTheBytesBehindTheRequest) {
  for (std::size_t step : {~std::size_t{0}, std::size_t{1}, std::size_t{50}}) {
    Tunnel tunnel;
    H1Wire wire({}, GetParam());
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

TEST_P(H1Tunnel, AnUpgradeDecidedLaterGetsTheBytesThen) {
  Tunnel tunnel;
  H1Wire wire({}, GetParam());
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

TEST_P(H1Tunnel, ADeclinedUpgradeGoesOnAsHttp) {
  for (bool later : {false, true}) {
    H1Wire wire({}, GetParam());
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

TEST_P(H1Tunnel, ConnectWith2xxIsATunnelAndOtherwiseAnAnswer) {
  const std::string connect = "CONNECT b:1 HTTP/1.1\r\nHost: b:1\r\n\r\n";
  Tunnel tunnel;
  H1Wire wire({}, GetParam());
  wire.service.handler = [&](Exchange& exchange) { tunnel.accept(exchange, 200); };
  ReplyReader reader;
  reader.add(wire.ask(connect + "hello"));
  const auto reply = reader.next({.is_connect = true});
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 200);
  EXPECT_FALSE(reply->has("content-length"));
  EXPECT_FALSE(reply->has("transfer-encoding"));
  EXPECT_EQ(reader.rest(), "hello");

  H1Wire other({}, GetParam());
  other.service.handler = [&](Exchange& exchange) { exchange.refuse(Error(ErrorKind::Unsupported)); };
  EXPECT_EQ(replies_of(other.ask(connect + kGet)).size(), 2u);
}

TEST_P(H1Tunnel, BackpressureHoldsForATunnelToo) {
  Limits limits;
  limits.receive_bytes_max = 10'000;
  Tunnel tunnel;
  tunnel.gives_credit = tunnel.echoes = false;
  H1Wire wire(limits, GetParam());
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

TEST_P(H1Tunnel, OurEndLetsWhatWasWrittenLeave) {
  Tunnel tunnel;
  H1Wire wire({}, GetParam());
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

TEST_P(H1Tunnel, APipelinedUpgradeWaitsForItsTurn) {
  Tunnel tunnel;
  H1Wire wire({}, GetParam());
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

TEST_P(H1Tunnel, StandsAloneOnceTheSwitchHasBeenAnswered) {
  Tunnel tunnel;
  H1Wire wire({}, GetParam());
  wire.service.handler = [&](Exchange& exchange) { tunnel.accept(exchange); };
  wire.send(kUpgrade);
  EXPECT_EQ(wire.session == nullptr, GetParam());
  EXPECT_EQ(wire.tunnel.is_open(), GetParam());
  EXPECT_EQ(wire.closed_count, 0u);
  static_cast<void>(wire.wire->take());
  EXPECT_EQ(wire.ask("echo"), "echo");
}

TEST_P(H1Tunnel, KnowsItsConnectionAndMayBeGivenOn) {
  Tunnel tunnel;
  Tunnel next;
  H1Wire wire({}, GetParam());
  wire.service.handler = [&](Exchange& exchange) {
    tunnel.accept(exchange);
    EXPECT_EQ(tunnel.stream->local_address(), wire.wire->local()) << "also in the turn of the switch";
  };
  wire.send(kUpgrade);
  EXPECT_NE(tunnel.stream->connection().id, 0u);
  EXPECT_EQ(tunnel.stream->local_address(), wire.wire->local());
  // Too late for either.
  Arena arena;
  http::Head late(arena);
  tunnel.stream->inform(late);
  tunnel.stream->start(late, Body());
  static_cast<void>(wire.wire->take());
  next.stream = tunnel.stream;
  next.echoes = false;
  tunnel.stream->set_receiver(next);
  EXPECT_EQ(wire.ask("more"), "");
  EXPECT_EQ(next.text, "more");
  wire.wire->break_off();
  wire.settle();
  EXPECT_EQ(next.close_count, 1);
}

TEST_P(H1Tunnel, AResetInTheTurnOfTheSwitchEndsIt) {
  Tunnel tunnel;
  H1Wire wire({}, GetParam());
  wire.service.handler = [&](Exchange& exchange) {
    tunnel.accept(exchange);
    tunnel.stream->reset(Error(ErrorKind::Handler));
    EXPECT_EQ(tunnel.close_count, 0) << "never from inside a call";
  };
  wire.send(kUpgrade + "early");
  EXPECT_EQ(tunnel.close_count, 1);
  EXPECT_EQ(tunnel.last.kind(), ErrorKind::Handler);
  EXPECT_EQ(tunnel.text, "");
  EXPECT_TRUE(wire.is_gone());
}

TEST_P(H1Tunnel, AConnectionThatEndsInTheTurnOfTheSwitchEndsIt) {
  Tunnel tunnel;
  H1Wire wire({}, GetParam());
  wire.service.handler = [&](Exchange& exchange) {
    tunnel.accept(exchange);
    wire.session->abort(Error(ErrorKind::ShuttingDown));
  };
  wire.send(kUpgrade + "early");
  EXPECT_EQ(tunnel.close_count, 1);
  EXPECT_EQ(tunnel.last.kind(), ErrorKind::ShuttingDown);
  EXPECT_EQ(tunnel.watch.death_count, 1);
  EXPECT_TRUE(wire.is_gone());
}

TEST_P(H1Tunnel, ThePeersEndInTheTurnOfTheSwitchComesBehindIt) {
  Tunnel tunnel;
  tunnel.echoes = false;
  H1Wire wire({}, GetParam());
  wire.service.handler = [&](Exchange& exchange) { wire.service.hold(exchange); };
  wire.send(kUpgrade + "early");
  wire.wire->feed_end();
  tunnel.accept(*wire.service.held[0]);
  wire.service.held.clear();
  wire.settle();
  EXPECT_EQ(tunnel.text, "early");
  EXPECT_EQ(tunnel.end_count, 1);
  EXPECT_EQ(tunnel.close_count, 0);
}

TEST_P(H1Tunnel, ASourceThatFailsEndsIt) {
  Tunnel tunnel;
  H1Wire wire({}, GetParam());
  wire.service.handler = [&](Exchange& exchange) { tunnel.accept(exchange); };
  wire.send(kUpgrade);
  tunnel.watch.source->fail();
  tunnel.watch.source->wake();
  wire.settle();
  EXPECT_EQ(tunnel.close_count, 1);
  EXPECT_EQ(tunnel.last.kind(), ErrorKind::Handler);
  EXPECT_TRUE(wire.is_gone());
}

TEST_P(H1Tunnel, ALongSourceLetsOthersHaveTheirTurn) {
  Tunnel tunnel;
  H1Wire wire({}, GetParam());
  wire.service.handler = [&](Exchange& exchange) { tunnel.accept(exchange); };
  wire.send(kUpgrade);
  static_cast<void>(wire.wire->take());
  tunnel.watch.source->push(pattern(3'000'000));
  tunnel.watch.source->wake();
  wire.settle();
  EXPECT_TRUE(wire.wire->take() == pattern(3'000'000));
}

TEST_P(H1Tunnel, APeerThatDoesNotReadIsCutAfterItsTime) {
  Limits limits;
  limits.write_stall_ms = 40;
  Tunnel tunnel;
  H1Wire wire(limits, GetParam());
  wire.service.handler = [&](Exchange& exchange) { tunnel.accept(exchange); };
  wire.send(kUpgrade);
  wire.wire->set_room(0);
  tunnel.watch.source->push("nobody reads this");
  tunnel.watch.source->wake();
  EXPECT_TRUE(wire.until([&] { return wire.is_gone(); }));
  EXPECT_EQ(tunnel.last.kind(), ErrorKind::Timeout);
  EXPECT_EQ(wire.site.counters.timeouts, 1u);
}

TEST_P(H1Tunnel, AnApplicationThatHasEndedAndUsesNothingIsCutAfterItsTime) {
  Limits limits;
  limits.receive_bytes_max = 10'000;
  limits.body_unused_ms = 40;
  limits.half_closed_ms = 60'000;
  Tunnel tunnel;
  tunnel.gives_credit = tunnel.echoes = false;
  H1Wire wire(limits, GetParam());
  wire.service.handler = [&](Exchange& exchange) { tunnel.accept(exchange); };
  wire.send(kUpgrade);
  tunnel.watch.source->end();
  tunnel.watch.source->wake();
  wire.send(pattern(50'000));
  EXPECT_FALSE(wire.wire->wants_to_read());
  tunnel.stream->credit(std::exchange(tunnel.owed, 0));
  wire.settle();
  EXPECT_TRUE(wire.until([&] { return tunnel.close_count == 1; }));
  EXPECT_EQ(tunnel.last.kind(), ErrorKind::Timeout);
  EXPECT_EQ(wire.site.counters.timeouts, 1u);
}

// Says so on the tunnel, and ends our direction.
void end_with(Tunnel& tunnel, std::string_view text) {
  tunnel.watch.source->push(text);
  tunnel.watch.source->end();
  tunnel.watch.source->wake();
}

TEST_P(H1Tunnel, OurEndLeavesThePeersDirectionOpen) {
  Tunnel tunnel;
  tunnel.echoes = false;
  H1Wire wire({}, GetParam());
  wire.service.handler = [&](Exchange& exchange) { tunnel.accept(exchange); };
  wire.send(kUpgrade);
  end_with(tunnel, "last words");
  wire.settle();
  EXPECT_TRUE(wire.wire->written().ends_with("last words"));
  EXPECT_TRUE(wire.wire->is_shut_down());
  EXPECT_FALSE(wire.is_closed());
  wire.send("and ");
  wire.send("another thing");
  EXPECT_EQ(tunnel.text, "and another thing");
  EXPECT_EQ(tunnel.end_count, 0);
  EXPECT_EQ(tunnel.close_count, 0);
  wire.wire->feed_end();
  wire.settle();
  EXPECT_EQ(tunnel.end_count, 1);
  EXPECT_EQ(tunnel.close_count, 1);
  EXPECT_FALSE(tunnel.last) << "both directions ended well";
  EXPECT_TRUE(wire.is_gone());
  EXPECT_FALSE(wire.wire->is_reset());
}

TEST_P(H1Tunnel, ThePeersEndLeavesOursOpen) {
  for (std::size_t step : {~std::size_t{0}, std::size_t{1}}) {
    Tunnel tunnel;
    tunnel.echoes = false;
    H1Wire wire({}, GetParam());
    wire.wire->set_read_max(step);
    wire.service.handler = [&](Exchange& exchange) { tunnel.accept(exchange); };
    wire.send(kUpgrade);
    wire.wire->feed("a question");
    wire.wire->feed_end();
    wire.settle();
    EXPECT_EQ(tunnel.text, "a question");
    EXPECT_EQ(tunnel.end_count, 1);
    EXPECT_EQ(tunnel.close_count, 0);
    EXPECT_FALSE(wire.is_closed());
    EXPECT_FALSE(wire.wire->is_shut_down());
    tunnel.watch.source->push("a long ");
    tunnel.watch.source->wake();
    wire.settle();
    EXPECT_TRUE(wire.wire->written().ends_with("a long "));
    end_with(tunnel, "answer");
    wire.settle();
    EXPECT_TRUE(wire.wire->written().ends_with("a long answer"));
    EXPECT_EQ(tunnel.end_count, 1);
    EXPECT_EQ(tunnel.close_count, 1);
    EXPECT_FALSE(tunnel.last);
    EXPECT_TRUE(wire.is_gone());
  }
}

TEST_P(H1Tunnel, OurEndWaitsForASlowPeer) {
  Tunnel tunnel;
  tunnel.echoes = false;
  H1Wire wire({}, GetParam());
  wire.service.handler = [&](Exchange& exchange) { tunnel.accept(exchange); };
  wire.send(kUpgrade);
  static_cast<void>(wire.wire->take());
  wire.wire->set_room(1000);
  end_with(tunnel, pattern(100'000));
  wire.settle();
  EXPECT_FALSE(wire.wire->is_shut_down()) << "what was said before the end is on its way";
  wire.send("meanwhile");
  EXPECT_EQ(tunnel.text, "meanwhile");
  wire.wire->add_room(1'000'000);
  wire.settle();
  EXPECT_TRUE(wire.wire->take() == pattern(100'000));
  EXPECT_TRUE(wire.wire->is_shut_down());
  EXPECT_EQ(tunnel.close_count, 0);
  wire.wire->break_off();
  wire.settle();
  EXPECT_EQ(tunnel.end_count, 0);
  EXPECT_EQ(tunnel.close_count, 1);
  EXPECT_TRUE(tunnel.last);
}

TEST_P(H1Tunnel, ThePeersEndComesBehindItsBytes) {
  Limits limits;
  limits.receive_bytes_max = 10'000;
  Tunnel tunnel;
  tunnel.gives_credit = tunnel.echoes = false;
  H1Wire wire(limits, GetParam());
  wire.service.handler = [&](Exchange& exchange) { tunnel.accept(exchange); };
  wire.send(kUpgrade);
  wire.wire->feed(pattern(100'000));
  wire.wire->feed_end();
  wire.settle();
  EXPECT_LT(tunnel.text.size(), 100'000u);
  EXPECT_EQ(tunnel.end_count, 0);
  while (tunnel.end_count == 0) {
    ASSERT_GT(tunnel.owed, 0u);
    tunnel.stream->credit(std::exchange(tunnel.owed, 0));
    wire.settle();
  }
  EXPECT_TRUE(tunnel.text == pattern(100'000));
  EXPECT_EQ(tunnel.close_count, 0);
  end_with(tunnel, "");
  wire.settle();
  EXPECT_EQ(tunnel.close_count, 1);
}

TEST_P(H1Tunnel, ABodyWithoutASourceHasEnded) {
  Tunnel tunnel;
  H1Wire wire({}, GetParam());
  wire.service.handler = [&](Exchange& exchange) {
    exchange.response().status = 101;
    tunnel.stream = exchange.accept_upgrade(tunnel, Body(Slice::literal("greeting")));
  };
  wire.send(kUpgrade);
  EXPECT_TRUE(wire.wire->take().ends_with("greeting"));
  EXPECT_TRUE(wire.wire->is_shut_down());
  wire.send("bytes");
  EXPECT_EQ(tunnel.text, "bytes");
  wire.wire->feed_end();
  wire.settle();
  EXPECT_EQ(tunnel.close_count, 1);
  EXPECT_FALSE(tunnel.last);
}

TEST_P(H1Tunnel, APeerThatNeverEndsIsCutAfterItsTimeAndOneThatSendsIsNot) {
  Limits limits;
  limits.half_closed_ms = 40;
  Tunnel tunnel;
  tunnel.echoes = false;
  H1Wire wire(limits, GetParam());
  wire.service.handler = [&](Exchange& exchange) { tunnel.accept(exchange); };
  wire.send(kUpgrade);
  EXPECT_FALSE(wire.until([&] { return wire.is_closed(); }, 100)) << "no time runs before our end";
  end_with(tunnel, "");
  wire.settle();
  std::uint64_t begin_us = Loop::clock_us();
  EXPECT_FALSE(wire.until(
      [&] {
        wire.wire->feed("x");
        return wire.is_closed();
      },
      100));
  begin_us = Loop::clock_us();
  EXPECT_TRUE(wire.until([&] { return wire.is_closed(); }));
  EXPECT_GE((Loop::clock_us() - begin_us) / 1000 + 2, 35u);
  EXPECT_TRUE(wire.until([&] { return wire.is_gone(); }));
  EXPECT_EQ(tunnel.close_count, 1);
  EXPECT_EQ(tunnel.last.kind(), ErrorKind::Timeout);
  EXPECT_EQ(wire.site.counters.timeouts, 1u);
}

TEST_P(H1Tunnel, TheEndsMayComeAtAnyByte) {
  // Both ends in either order, at each byte of the conversation, whatever the reads.
  const std::string said = kGet + kUpgrade + "some bytes";
  for (std::size_t step : {~std::size_t{0}, std::size_t{3}}) {
    for (std::size_t at = 0; at <= said.size(); ++at) {
      for (bool ours_first : {false, true}) {
        Tunnel tunnel;
        tunnel.echoes = false;
        H1Wire wire({}, GetParam());
        wire.wire->set_read_max(step);
        wire.service.handler = [&](Exchange& exchange) {
          if (exchange.request().path == "/ws") return tunnel.accept(exchange);
          exchange.reply(Slice::literal("x"));
        };
        wire.send(std::string_view(said).substr(0, at));
        if (ours_first && tunnel.watch.source != nullptr) end_with(tunnel, "bye");
        wire.settle();
        wire.wire->feed_end();
        wire.settle();
        const bool has_tunnel = tunnel.end_count > 0;
        if (!ours_first && has_tunnel) {
          EXPECT_EQ(tunnel.close_count, 0) << at;
          end_with(tunnel, "bye");
          wire.settle();
        }
        EXPECT_TRUE(wire.is_gone()) << at;
        EXPECT_EQ(has_tunnel, at >= kGet.size() + kUpgrade.size());
        EXPECT_EQ(tunnel.close_count, has_tunnel ? 1 : 0) << at;
        EXPECT_EQ(wire.wire->written().ends_with("bye"), has_tunnel) << at;
        EXPECT_LE(wire.site.exchanges.used_count(), 1u);
      }
    }
  }
}

}  // namespace
}  // namespace violet::test
