// The rules at the head of core/stream.h, each as a test that every wire has to pass.

#include "tests/contract/h1_client_fixture.h"
#include "tests/contract/h1_fixture.h"
#include "tests/contract/h2_client_fixture.h"
#include "tests/contract/h2_fixture.h"
#include "violet/core/stream.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>

namespace violet::test {
namespace {

template <class Fixture>
class Contract : public testing::Test {
 protected:
  WireFixture& wire(const Limits& limits = {}) {
    if (fixture_ == nullptr) fixture_ = std::make_unique<Fixture>(limits);
    return *fixture_;
  }
  // A new one.
  WireFixture& remake() {
    fixture_.reset();
    return wire();
  }

 private:
  std::unique_ptr<WireFixture> fixture_;
};

// h3 joins here.
using Wires = testing::Types<H1Fixture<~std::size_t{0}>, H1Fixture<1>, H1ClientFixture<~std::size_t{0}>,
                             H1ClientFixture<1>, H2Fixture<~std::size_t{0}>, H2Fixture<1>, H2ClientFixture>;
TYPED_TEST_SUITE(Contract, Wires);

// Streams of one connection that are independent: one that stalls does not touch the others.
template <class Fixture>
class MultiplexedContract : public Contract<Fixture> {};
using MultiplexedWires = testing::Types<H2Fixture<~std::size_t{0}>, H2Fixture<1>, H2ClientFixture>;
TYPED_TEST_SUITE(MultiplexedContract, MultiplexedWires);

// Marks that the application is inside a call down, and fails when something comes up meanwhile.
class Guarded {
 public:
  template <class Call>
  void down(Call&& call) {
    is_inside = true;
    call();
    is_inside = false;
  }
  void up() const { EXPECT_FALSE(is_inside) << "called up from inside a call down"; }
  bool is_inside = false;
};

TYPED_TEST(Contract, ARequestAndItsAnswerPassWhole) {
  WireFixture& wire = this->wire();
  wire.service().handler = [](Exchange& exchange) {
    EXPECT_EQ(exchange.request().method, http::Method::Post);
    EXPECT_EQ(exchange.request().path, "/p");
    EXPECT_EQ(exchange.request().query, "q=1");
    EXPECT_EQ(exchange.request().authority, "a");
    EXPECT_EQ(exchange.request().scheme, "http");
    EXPECT_EQ(exchange.request().fields.get("x-one"), "1");
    EXPECT_TRUE(exchange.has_body());
    exchange.response().status = 201;
    EXPECT_TRUE(exchange.response().fields.add("X-Two", "2"));
    Echo::serve(exchange);
  };
  const std::size_t id = wire.open({.method = "POST", .path = "/p?q=1", .fields = {{"X-One", "1"}}, .has_body = true});
  wire.send(id, "hello ");
  wire.send(id, "world");
  EXPECT_EQ(wire.reply(id).status, 0);
  wire.end(id);
  const ClientReply reply = wire.reply(id);
  EXPECT_TRUE(reply.is_whole);
  EXPECT_EQ(reply.status, 201);
  EXPECT_EQ(reply.body, "hello world");
}

// Rule 1.
TYPED_TEST(Contract, NothingComesUpFromInsideACallDown) {
  WireFixture& wire = this->wire();
  Guarded guarded;
  Hook hook;
  hook.then = [&] { guarded.up(); };
  Sink sink;
  sink.gives_credit = false;
  sink.on_piece = [&](Exchange& exchange, std::string_view text) {
    guarded.up();
    guarded.down([&] { exchange.credit(text.size()); });
  };
  sink.on_end = [&](Exchange& exchange) {
    guarded.up();
    guarded.down([&] { exchange.reply(Slice::literal("done")); });
  };
  wire.service().handler = [&](Exchange& exchange) {
    guarded.up();
    exchange.add_cancel_hook(hook);
    http::Head hints(exchange.arena());
    hints.status = 103;
    guarded.down([&] { exchange.inform(hints); });
    exchange.read(sink);
  };
  const std::size_t id = wire.open({.method = "POST", .has_body = true});
  for (int i = 0; i < 20; ++i) wire.send(id, pattern(10'000));
  wire.end(id);
  const ClientReply reply = wire.reply(id);
  EXPECT_EQ(reply.body, "done");
  EXPECT_EQ(reply.informational, std::vector<int>{103});
  EXPECT_EQ(sink.text.size(), 200'000u);
  EXPECT_EQ(hook.count, 1);
}

TYPED_TEST(Contract, AResetFromInsideAHandlerIsHeardLater) {
  WireFixture& wire = this->wire();
  Guarded guarded;
  Hook hook;
  hook.then = [&] { guarded.up(); };
  wire.service().handler = [&](Exchange& exchange) {
    exchange.add_cancel_hook(hook);
    guarded.down([&] { exchange.abort(Error(ErrorKind::Cancelled)); });
    EXPECT_EQ(hook.count, 0);
  };
  const std::size_t id = wire.open({});
  wire.settle();
  EXPECT_EQ(hook.count, 1);
  EXPECT_TRUE(wire.reply(id).is_cut);
}

TYPED_TEST(Contract, StartAndWakeMayPull) {
  WireFixture& wire = this->wire();
  PushSource::Watch watch;
  wire.service().handler = [&](Exchange& exchange) {
    auto* source = new PushSource(watch);
    source->push("first");
    exchange.reply(Body(SourcePtr(source)));
  };
  const std::size_t id = wire.open({});
  watch.source->push("second");
  watch.source->end();
  watch.source->wake();
  wire.settle();
  EXPECT_EQ(wire.reply(id).body, "firstsecond");
}

// Rule 2.
TYPED_TEST(Contract, CallsThatComeTooLateDoNothing) {
  WireFixture& wire = this->wire();
  Hook hook;
  wire.service().handler = [&](Exchange& exchange) {
    exchange.add_cancel_hook(hook);
    wire.service().hold(exchange);
  };
  wire.open({.method = "POST", .has_body = true});
  Exchange& exchange = *wire.service().held[0];
  exchange.abort(Error(ErrorKind::Cancelled));
  // Between reset() and on_close everything is legal.
  EXPECT_FALSE(exchange.reply(Slice::literal("late")));
  exchange.abort(Error(ErrorKind::Busy));
  exchange.inform(exchange.response());
  exchange.credit(0);
  exchange.discard();
  wire.settle();
  EXPECT_EQ(hook.count, 1);
  EXPECT_EQ(hook.last.kind(), ErrorKind::Cancelled);
  EXPECT_FALSE(exchange.is_open());
  exchange.abort(Error(ErrorKind::Busy));
  wire.settle();
  EXPECT_EQ(hook.count, 1);
  wire.service().held.clear();
  EXPECT_LE(wire.site().exchanges.used_count(), 1u);
}

TYPED_TEST(Contract, EverybodyHearsTheEndExactlyOnceWhenTheClientVanishes) {
  WireFixture& wire = this->wire();
  Hook hook;
  Sink sink;
  PushSource::Watch watch;
  wire.service().handler = [&](Exchange& exchange) {
    exchange.add_cancel_hook(hook);
    exchange.read(sink);
    exchange.reply(Body(SourcePtr(new PushSource(watch))));
  };
  const std::size_t id = wire.open({.method = "POST", .has_body = true});
  wire.send(id, "some");
  EXPECT_EQ(sink.text, "some");
  wire.vanish();
  wire.settle();
  EXPECT_EQ(hook.count, 1);
  EXPECT_EQ(sink.error_count, 1);
  EXPECT_EQ(sink.end_count, 0);
  EXPECT_EQ(watch.detach_count, 1);
  EXPECT_EQ(watch.death_count, 1);
  EXPECT_LE(wire.site().exchanges.used_count(), 1u);
}

// Rule 3.
TYPED_TEST(Contract, BytesThatNobodyCreditsStopTheStream) {
  Limits limits;
  limits.receive_bytes_max = 10'000;
  WireFixture& wire = this->wire(limits);
  Sink sink;
  sink.gives_credit = false;
  wire.service().handler = [&](Exchange& exchange) {
    wire.service().hold(exchange);
    exchange.read(sink);
  };
  const std::size_t id = wire.open({.method = "POST", .has_body = true});
  for (int i = 0; i < 10; ++i) wire.send(id, pattern(10'000, static_cast<std::size_t>(i) * 10'000));
  wire.end(id);
  EXPECT_GE(sink.text.size(), 10'000u);
  EXPECT_LE(sink.text.size(), 10'000u + 16'384);
  wire.settle();
  const std::size_t before = sink.text.size();
  wire.settle();
  EXPECT_EQ(sink.text.size(), before);
  while (sink.end_count == 0) {
    ASSERT_GT(sink.owed, 0u);
    wire.service().held[0]->credit(std::exchange(sink.owed, 0));
    wire.settle();
  }
  EXPECT_TRUE(sink.text == pattern(100'000));
  wire.service().held[0]->reply(Slice::literal("x"));
  wire.service().held.clear();
  wire.settle();
  EXPECT_EQ(wire.reply(id).body, "x");
}

TYPED_TEST(MultiplexedContract, AStalledStreamHoldsNoOtherUp) {
  WireFixture& wire = this->wire();
  Sink sink;
  sink.gives_credit = false;
  wire.service().handler = [&](Exchange& exchange) {
    if (exchange.request().path == "/stall") {
      exchange.read(sink);
    } else {
      exchange.reply(Slice::literal("x"));
    }
  };
  const std::size_t stalled = wire.open({.method = "POST", .path = "/stall", .has_body = true});
  for (int i = 0; i < 20; ++i) wire.send(stalled, pattern(10'000));
  EXPECT_EQ(wire.reply(wire.open({.path = "/go"})).body, "x");
  // The sink goes before the wire does.
  wire.vanish();
  wire.settle();
  EXPECT_EQ(sink.error_count, 1);
}

// Rule 4.
TYPED_TEST(Contract, ASourceIsAskedOnlyWithRoomAndOnlyAfterItWoke) {
  Limits limits;
  limits.flush_bytes_max = 10'000;
  WireFixture& wire = this->wire(limits);
  wire.set_room(1000);
  PushSource::Watch watch;
  wire.service().handler = [&](Exchange& exchange) {
    auto* source = new PushSource(watch);
    source->push(pattern(1'000'000));
    exchange.reply(Body(SourcePtr(source)));
  };
  const std::size_t id = wire.open({});
  const std::size_t asked = watch.pull_count;
  EXPECT_LE(asked, 4u);
  EXPECT_LE(watch.max_asked, 10'000u);
  wire.settle();
  EXPECT_EQ(watch.pull_count, asked) << "no room, no pull";
  for (int turn = 0; turn < 100'000 && wire.reply(id).body.size() < 1'000'000; ++turn) {
    wire.add_room(500'000);
    wire.settle();
  }
  const std::size_t waiting = watch.pull_count;
  wire.add_room(500'000);
  wire.settle();
  EXPECT_EQ(watch.pull_count, waiting) << "it waits";
  EXPECT_FALSE(watch.was_asked_while_waiting);
  watch.source->end();
  watch.source->wake();
  wire.settle();
  EXPECT_TRUE(wire.reply(id).body == pattern(1'000'000));
}

// Rule 5.
TYPED_TEST(Contract, HeadsAndBorrowedBytesNeedToLiveOnlyUntilTheCallReturns) {
  WireFixture& wire = this->wire();
  wire.set_room(0);
  wire.service().handler = [](Exchange& exchange) {
    char storage[4096];
    std::string body = pattern(50'000);
    {
      Arena arena(storage, sizeof storage);
      http::Head hints(arena);
      hints.status = 103;
      EXPECT_TRUE(hints.fields.add("Link", "</style.css>"));
      exchange.inform(hints);
    }
    Chain chain;
    chain.append(Slice::borrowed(std::string_view(body).substr(0, 10)));
    chain.append(Slice::borrowed(std::string_view(body).substr(10)));
    exchange.reply(Body(std::move(chain)));
    std::memset(storage, 'X', sizeof storage);
    body.assign(body.size(), 'X');
  };
  const std::size_t first = wire.open({});
  const std::size_t second = wire.open({});
  for (int turn = 0; turn < 100 && !wire.reply(second).is_whole; ++turn) {
    wire.add_room(10'000);
    wire.settle();
  }
  for (std::size_t id : {first, second}) {
    const ClientReply reply = wire.reply(id);
    EXPECT_EQ(reply.informational, std::vector<int>{103});
    EXPECT_TRUE(reply.body == pattern(50'000));
  }
}

// Rule 6, as an exchange sees it: hooks hear Closed when both directions ended well, otherwise the reason.
TYPED_TEST(Contract, TheReasonOfTheEndIsPassedOn) {
  WireFixture& wire = this->wire();
  Hook good;
  wire.service().handler = [&](Exchange& exchange) {
    exchange.add_cancel_hook(good);
    exchange.reply(Slice::literal("x"));
  };
  EXPECT_TRUE(wire.reply(wire.open({})).is_whole);
  EXPECT_EQ(good.count, 1);
  EXPECT_EQ(good.last.kind(), ErrorKind::Closed);

  Hook bad;
  wire.service().handler = [&](Exchange& exchange) {
    exchange.add_cancel_hook(bad);
    exchange.reply(Body(SourcePtr(new PatternSource(1000, 300, Pull::Failed))));
  };
  EXPECT_TRUE(wire.reply(wire.open({})).is_cut);
  EXPECT_EQ(bad.count, 1);
  EXPECT_EQ(bad.last.kind(), ErrorKind::Handler);
}

// Rule 7.
class PlainTunnel final : public Receiver {
 public:
  void accept(Exchange& exchange, int status) {
    exchange.response().status = static_cast<std::uint16_t>(status);
    stream = exchange.accept_upgrade(*this, Body(SourcePtr(new PushSource(watch))));
  }
  void say(std::string_view bytes, bool is_last = false) {
    watch.source->push(bytes);
    if (is_last) watch.source->end();
    watch.source->wake();
  }
  void on_head(http::Head&, bool) override { ADD_FAILURE() << "a tunnel gets no head"; }
  void on_data(Slice data) override {
    EXPECT_EQ(end_count + close_count, 0);
    text += data.text();
    stream->credit(data.size());
  }
  void on_end(const http::Fields*) override {
    EXPECT_EQ(close_count, 0);
    ++end_count;
  }
  void on_close(Error why) noexcept override {
    ++close_count;
    last = why;
  }

  Stream* stream = nullptr;
  PushSource::Watch watch;
  std::string text;
  int end_count = 0;
  int close_count = 0;
  Error last;
};

TYPED_TEST(Contract, ATunnelsDirectionsEndApart) {
  for (bool ours_first : {false, true}) {
    WireFixture& wire = this->remake();
    if (wire.tunnel_status() == 0) GTEST_SKIP() << "no tunnels on this wire";
    PlainTunnel tunnel;
    wire.service().handler = [&](Exchange& exchange) { tunnel.accept(exchange, wire.tunnel_status()); };
    const std::size_t id = wire.open({.is_tunnel = true});
    wire.send(id, "up");
    tunnel.say("down");
    wire.settle();
    EXPECT_EQ(tunnel.text, "up");
    EXPECT_EQ(wire.reply(id).body, "down");
    EXPECT_FALSE(wire.reply(id).is_whole);
    if (ours_first) {
      tunnel.say(" and out", true);
      wire.settle();
      EXPECT_TRUE(wire.reply(id).is_whole);
      EXPECT_EQ(tunnel.end_count + tunnel.close_count, 0) << "the peer has not ended";
      wire.send(id, " and on");
      wire.end(id);
    } else {
      wire.send(id, " and on");
      wire.end(id);
      EXPECT_EQ(tunnel.end_count, 1);
      EXPECT_EQ(tunnel.close_count, 0) << "we have not ended";
      EXPECT_FALSE(wire.reply(id).is_whole);
      tunnel.say(" and", false);
      wire.settle();
      tunnel.say(" out", true);
    }
    wire.settle();
    EXPECT_EQ(tunnel.text, "up and on");
    EXPECT_EQ(wire.reply(id).body, "down and out");
    EXPECT_TRUE(wire.reply(id).is_whole);
    EXPECT_EQ(tunnel.end_count, 1);
    EXPECT_EQ(tunnel.close_count, 1);
    EXPECT_FALSE(tunnel.last) << "both directions ended well";
    EXPECT_EQ(tunnel.watch.death_count, 1);
  }
}

TYPED_TEST(Contract, ATunnelThatBreaksEndsOnceWithItsReason) {
  WireFixture& wire = this->wire();
  if (wire.tunnel_status() == 0) GTEST_SKIP() << "no tunnels on this wire";
  PlainTunnel tunnel;
  wire.service().handler = [&](Exchange& exchange) { tunnel.accept(exchange, wire.tunnel_status()); };
  const std::size_t id = wire.open({.is_tunnel = true});
  tunnel.say("down", true);
  wire.settle();
  EXPECT_TRUE(wire.reply(id).is_whole);
  wire.vanish();
  wire.settle();
  EXPECT_EQ(tunnel.end_count, 0);
  EXPECT_EQ(tunnel.close_count, 1);
  EXPECT_TRUE(tunnel.last);
}

TYPED_TEST(Contract, TrailersPassBothWays) {
  WireFixture& wire = this->wire();
  Arena arena;
  http::Fields trailers(arena);
  ASSERT_TRUE(trailers.add("X-Down", "2"));
  PushSource::Watch watch;
  std::string seen;
  WithBody waiter([&](Exchange& whole) {
    if (whole.request_trailers() != nullptr) seen = whole.request_trailers()->get("x-up");
    auto* source = new PushSource(watch);
    source->trailer_fields = &trailers;
    source->push("x");
    source->end();
    whole.reply(Body(SourcePtr(source)));
  });
  wire.service().handler = [&](Exchange& exchange) { exchange.collect(waiter); };
  const std::size_t id = wire.open({.method = "POST", .has_body = true});
  wire.send(id, "body");
  wire.end(id, {{"X-Up", "1"}});
  const ClientReply reply = wire.reply(id);
  EXPECT_EQ(seen, "1");
  ASSERT_EQ(reply.trailers.size(), 1u);
  EXPECT_EQ(reply.trailers[0].second, "2");
}

TYPED_TEST(Contract, NoWireFieldOfAHandlerReachesTheWire) {
  WireFixture& wire = this->wire();
  wire.service().handler = [](Exchange& exchange) {
    for (const char* name : {"Connection", "Keep-Alive", "Proxy-Connection", "Transfer-Encoding", "Upgrade"}) {
      EXPECT_TRUE(exchange.response().fields.add(name, "bad"));
    }
    EXPECT_TRUE(exchange.response().fields.add("Content-Length", "999"));
    EXPECT_TRUE(exchange.response().fields.add("X-Good", "1"));
    exchange.reply(Slice::literal("body"));
  };
  const ClientReply reply = wire.reply(wire.open({}));
  EXPECT_EQ(reply.body, "body");
  bool is_good_there = false;
  for (const auto& [name, value] : reply.fields) {
    EXPECT_NE(value, "bad") << name;
    EXPECT_NE(value, "999");
    is_good_there = is_good_there || name == "X-Good" || name == "x-good";
  }
  EXPECT_TRUE(is_good_there);
}

TYPED_TEST(Contract, HeadHasNoBodyAndTheNextAnswerHas) {
  WireFixture& wire = this->wire();
  wire.service().handler = [](Exchange& exchange) { exchange.reply(Slice::literal("body")); };
  EXPECT_EQ(wire.reply(wire.open({.method = "HEAD"})).body, "");
  EXPECT_EQ(wire.reply(wire.open({})).body, "body");
}

TYPED_TEST(Contract, ADeclaredLengthIsABodyOfThatLength) {
  WireFixture& wire = this->wire();
  wire.service().handler = Echo::serve;
  const std::size_t id = wire.open({.method = "POST", .has_body = true, .length = 5});
  wire.send(id, "he");
  EXPECT_FALSE(wire.reply(id).is_whole);
  wire.send(id, "llo");
  wire.end(id);
  EXPECT_EQ(wire.reply(id).body, "hello");
}

}  // namespace
}  // namespace violet::test
