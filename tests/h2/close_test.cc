// How connections and streams end: drain, timers, vanished peers (RFC 9113 §5.4, §6.8).

#include "tests/h2/verdicts.h"

#include <gtest/gtest.h>

#include <string>

namespace violet::test {
namespace {

using h2::Code;
using h2::FrameType;
using h2::Setting;

TEST(H2Close, ADrainLetsStreamsFinishAndNamesTheLast) {
  H2Wire wire;
  wire.service.handler = [&](Exchange& exchange) { wire.service.hold(exchange); };
  std::string five;
  for (std::uint32_t id = 1; id < 10; id += 2) five += get(id);
  wire.send(five);
  wire.session->drain();
  wire.settle();
  const Frame* first = wire.read().goaway();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->number(0), h2::kStreamIdMax) << "the first beat lets in what is on its way";
  EXPECT_EQ(first->number(4), 0u);
  wire.send(get(11));
  EXPECT_EQ(wire.service.held.size(), 6u);
  EXPECT_EQ(wire.read().count(FrameType::Ping), 1u);
  wire.send(ping(h2::kDrainPing, true));
  EXPECT_EQ(wire.read().count(FrameType::Goaway), 2u);
  EXPECT_EQ(wire.read().goaway()->number(0), 11u) << "the second one is exact";
  wire.send(get(13));
  EXPECT_EQ(wire.stream(13).code, Code::RefusedStream);
  for (auto& held : wire.service.held) held->reply(Slice::literal("x"));
  wire.service.held.clear();
  wire.settle();
  for (std::uint32_t id = 1; id < 12; id += 2) EXPECT_EQ(wire.stream(id).body, "x");
  EXPECT_TRUE(wire.has_hung_up());
  wire.wire->feed_end();
  wire.settle();
  EXPECT_TRUE(wire.is_gone());
}

TEST(H2Close, ADrainDoesNotWaitForAPeerThatAnswersNoPing) {
  H2Wire wire;
  wire.service.handler = [&](Exchange& exchange) { wire.service.hold(exchange); };
  wire.send(get(1));
  wire.session->drain();
  ASSERT_TRUE(wire.until([&] { return wire.read().count(FrameType::Goaway) == 2; }));
  EXPECT_EQ(wire.read().goaway()->number(0), 1u);
  wire.service.held[0]->reply();
  wire.service.held.clear();
  wire.settle();
  EXPECT_TRUE(wire.has_hung_up());
}

TEST(H2Close, AnIdleConnectionIsDrainedAtOnce) {
  H2Wire wire;
  wire.service.handler = Echo::serve;
  wire.send(get(1));
  wire.session->drain();
  wire.settle();
  EXPECT_EQ(wire.goaway(), Code::NoError);
  EXPECT_EQ(wire.read().goaway()->number(0), 1u);
  EXPECT_TRUE(wire.has_hung_up());
}

TEST(H2Close, ARequestThatCameInTimeIsAnsweredInADrain) {
  H2Wire wire;
  wire.service.handler = [](Exchange& exchange) { exchange.reply(Slice::literal("x")); };
  wire.wire->feed(get(1));
  wire.session->drain();
  wire.settle();
  EXPECT_EQ(wire.stream(1).body, "x");
  EXPECT_EQ(wire.read().goaway()->number(0), 1u);
}

TEST(H2Close, APeerThatVanishesIsHeardOnEveryStream) {
  H2Wire wire;
  Hook hooks[3];
  int next = 0;
  wire.service.handler = [&](Exchange& exchange) {
    exchange.add_cancel_hook(hooks[next++]);
    wire.service.hold(exchange);
  };
  wire.send(get(1) + post(3) + get(5));
  wire.wire->break_off();
  wire.settle();
  for (const Hook& hook : hooks) EXPECT_EQ(hook.count, 1);
  EXPECT_TRUE(wire.is_gone());
  wire.service.held.clear();
  EXPECT_LE(wire.site.exchanges.used_count(), 1u);
}

TEST(H2Close, AHalfClosedClientGetsWhatHasBegun) {
  H2Wire wire;
  Hook hook;
  wire.service.handler = [&](Exchange& exchange) {
    if (exchange.request().path == "/late") {
      exchange.add_cancel_hook(hook);
      wire.service.hold(exchange);
    } else {
      exchange.reply(Slice::of(pattern(50'000)));
    }
  };
  wire.wire->set_room(1000);
  wire.send(get(1) + get(3, "/late"));
  wire.wire->feed_end();
  wire.settle();
  EXPECT_EQ(hook.count, 1);
  wire.wire->add_room(100'000);
  wire.settle();
  EXPECT_EQ(wire.stream(1).body, pattern(50'000));
  EXPECT_TRUE(wire.is_gone());
  wire.service.held.clear();
}

TEST(H2Close, AHalfClosedClientOpensNoWindow) {
  H2Wire wire({}, settings({{Setting::InitialWindowSize, 10}}) + settings_ack());
  Hook hook;
  wire.service.handler = [&](Exchange& exchange) {
    exchange.add_cancel_hook(hook);
    exchange.reply(Slice::of(pattern(1000)));
  };
  wire.send(get(1));
  wire.wire->feed_end();
  wire.settle();
  EXPECT_EQ(hook.count, 1);
  EXPECT_EQ(hook.last.kind(), ErrorKind::Closed);
  EXPECT_TRUE(wire.is_gone());
}

TEST(H2Close, AClientsGoawayLeavesItsRequestsAlone) {
  H2Wire wire;
  wire.service.handler = Echo::serve;
  wire.send(goaway(0));
  EXPECT_EQ(wire.ask(1, get(1)).status, 200);
}

TEST(H2Close, AResetIsHeardWithItsCode) {
  H2Wire wire;
  Hook hook;
  PushSource::Watch watch;
  wire.service.handler = [&](Exchange& exchange) {
    exchange.add_cancel_hook(hook);
    exchange.reply(Body(SourcePtr(new PushSource(watch))));
  };
  wire.send(get(1));
  wire.send(reset(1, Code::Cancel));
  EXPECT_EQ(hook.count, 1);
  EXPECT_EQ(hook.last.kind(), ErrorKind::Reset);
  EXPECT_EQ(hook.last.detail(), static_cast<int>(Code::Cancel));
  EXPECT_EQ(watch.death_count, 1);
  EXPECT_EQ(wire.session->stream_count(), 0u);
}

TEST(H2Close, AnUnreadUploadIsReadAwayWithinBounds) {
  Limits limits;
  limits.discard_bytes_max = 20'000;
  H2Wire wire(limits);
  wire.service.handler = [](Exchange& exchange) { exchange.reply(Slice::literal("enough")); };
  wire.send(post(1) + data(1, std::string(10'000, 'x')));
  EXPECT_EQ(wire.stream(1).body, "enough");
  EXPECT_FALSE(wire.stream(1).is_reset);
  EXPECT_TRUE(wire.stream(1).is_ended);
  wire.send(data(1, std::string(10'000, 'x')) + data(1, std::string(10'001, 'x')));
  EXPECT_TRUE(wire.stream(1).is_reset);
  EXPECT_EQ(wire.stream(1).code, Code::NoError);
  EXPECT_EQ(wire.session->stream_count(), 0u);
  // One that ends in time is no matter.
  wire.send(post(3) + data(3, "x"));
  wire.send(data(3, "x", true));
  EXPECT_FALSE(wire.stream(3).is_reset);
  EXPECT_EQ(wire.session->stream_count(), 0u);
}

// --- time

TEST(H2Close, AConnectionThatNeverSpeaksIsClosedSilently) {
  Limits limits;
  limits.header_ms = 30;
  H2Wire wire(limits);
  wire.connect_silently();
  EXPECT_TRUE(wire.until([&] { return wire.is_gone(); }));
  EXPECT_FALSE(wire.goaway().has_value());
}

TEST(H2Close, AHeadThatDripsInEndsTheConnection) {
  Limits limits;
  limits.header_ms = 50;
  for (const std::string& part :
       {get(1).substr(0, 5), get(1).substr(0, 20), headers(1, test::block(request("GET", "/")), true, false)}) {
    H2Wire wire(limits);
    wire.send(part);
    EXPECT_FALSE(wire.has_hung_up());
    EXPECT_TRUE(wire.until([&] { return wire.has_hung_up(); }));
    EXPECT_EQ(wire.goaway(), Code::EnhanceYourCalm);
    EXPECT_NE(wire.read().goaway()->payload.find("header_ms"), std::string::npos);
  }
}

TEST(H2Close, AnIdleConnectionIsSentAway) {
  Limits limits;
  limits.keep_alive_ms = 40;
  H2Wire wire(limits);
  wire.service.handler = Echo::serve;
  wire.send(get(1));
  EXPECT_FALSE(wire.has_hung_up());
  EXPECT_TRUE(wire.until([&] { return wire.has_hung_up(); }));
  EXPECT_EQ(wire.goaway(), Code::NoError);
  EXPECT_EQ(wire.read().goaway()->number(0), 1u);
}

TEST(H2Close, ABodyThatStopsIsA408OnItsStreamAlone) {
  Limits limits;
  limits.body_grace_ms = 40;
  H2Wire wire(limits);
  WithBody never([](Exchange&) { ADD_FAILURE(); });
  wire.service.handler = [&](Exchange& exchange) {
    if (exchange.has_body()) {
      exchange.collect(never);
    } else {
      exchange.reply(Slice::literal("x"));
    }
  };
  wire.send(post(1) + data(1, "x"));
  EXPECT_TRUE(wire.until([&] { return wire.stream(1).is_ended; }));
  EXPECT_EQ(wire.stream(1).status, 408);
  EXPECT_EQ(wire.stream(1).code, Code::NoError);
  EXPECT_EQ(wire.ask(3, get(3)).body, "x");
}

TEST(H2Close, AWindowThatStaysClosedEndsItsStream) {
  Limits limits;
  limits.write_stall_ms = 40;
  H2Wire wire(limits, settings({{Setting::InitialWindowSize, 10}}) + settings_ack());
  Hook hook;
  wire.service.handler = [&](Exchange& exchange) {
    exchange.add_cancel_hook(hook);
    exchange.reply(Slice::of(pattern(1000)));
  };
  wire.send(get(1));
  EXPECT_TRUE(wire.until([&] { return wire.stream(1).is_reset; }));
  EXPECT_EQ(wire.stream(1).code, Code::EnhanceYourCalm);
  EXPECT_EQ(hook.last.kind(), ErrorKind::Timeout);
  EXPECT_FALSE(wire.has_hung_up());
}

TEST(H2Close, AConnectionWhoseWindowStaysClosedEnds) {
  Limits limits;
  limits.write_stall_ms = 40;
  H2Wire wire(limits, settings({{Setting::InitialWindowSize, h2::kWindowMax}}) + settings_ack());
  wire.service.handler = [&](Exchange& exchange) { exchange.reply(Slice::of(pattern(100'000))); };
  wire.send(get(1));
  EXPECT_TRUE(wire.until([&] { return wire.has_hung_up(); }));
  EXPECT_EQ(wire.goaway(), Code::EnhanceYourCalm);
}

TEST(H2Close, AClientThatReadsNothingIsCut) {
  Limits limits;
  limits.write_stall_ms = 40;
  H2Wire wire(limits);
  wire.service.handler = [&](Exchange& exchange) { exchange.reply(Slice::of(pattern(10'000))); };
  wire.wire->set_room(100);
  wire.send(get(1));
  EXPECT_TRUE(wire.until([&] { return wire.is_gone(); }));
}

TEST(H2Close, AHandlersTimeIsItsStreamsAlone) {
  Limits limits;
  limits.handler_ms = 40;
  H2Wire wire(limits);
  wire.service.handler = [&](Exchange& exchange) { wire.service.hold(exchange); };
  wire.send(get(1));
  EXPECT_TRUE(wire.until([&] { return wire.stream(1).is_ended; }));
  EXPECT_EQ(wire.stream(1).status, 503);
  EXPECT_FALSE(wire.has_hung_up());
  wire.service.held.clear();
}

}  // namespace
}  // namespace violet::test
