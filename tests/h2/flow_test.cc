// Windows, the order of sending, and what a turn writes (RFC 9113 §5.2, §6.9; RFC 9218).

#include "tests/h2/verdicts.h"

#include <gtest/gtest.h>

#include <span>
#include <string>

namespace violet::test {
namespace {

using h2::Code;
using h2::FrameType;
using h2::Setting;

TEST(H2Flow, ABodyPassesAWindowOfOneByte) {
  H2Wire wire({}, settings({{Setting::InitialWindowSize, 1}}) + settings_ack());
  const std::string body = pattern(300);
  wire.service.handler = [&](Exchange& exchange) { exchange.reply(Slice::of(body)); };
  wire.send(get(1));
  for (std::size_t got = 1; got < body.size(); ++got) {
    ASSERT_EQ(wire.stream(1).body.size(), got);
    wire.send(window_update(1, 1));
  }
  EXPECT_EQ(wire.stream(1).body, body);
  EXPECT_TRUE(wire.stream(1).is_ended);
  EXPECT_FALSE(wire.goaway().has_value());
}

TEST(H2Flow, AWindowMayBecomeNegativeAndIsWaitedFor) {
  H2Wire wire({}, settings({{Setting::InitialWindowSize, 100}}) + settings_ack());
  wire.service.handler = [](Exchange& exchange) { exchange.reply(Slice::of(pattern(5000))); };
  wire.send(get(1));
  EXPECT_EQ(wire.stream(1).body.size(), 100u);
  wire.send(settings({{Setting::InitialWindowSize, 40}}));  // 60 too many
  wire.send(window_update(1, 60));
  EXPECT_EQ(wire.stream(1).body.size(), 100u);
  wire.send(window_update(1, 7));
  EXPECT_EQ(wire.stream(1).body.size(), 107u);
  wire.send(settings({{Setting::InitialWindowSize, 10'000}}));
  EXPECT_EQ(wire.stream(1).body, pattern(5000));
  EXPECT_TRUE(wire.stream(1).is_ended);
}

TEST(H2Flow, TheConnectionsWindowBoundsAllStreams) {
  H2Wire wire({}, settings({{Setting::InitialWindowSize, 1'000'000}}) + settings_ack());
  wire.service.handler = [](Exchange& exchange) { exchange.reply(Slice::of(pattern(50'000))); };
  wire.send(get(1) + get(3));
  EXPECT_EQ(wire.read().data_bytes(), h2::kWindowDefault);
  // A small answer waits too: the window is the connection's.
  wire.send(get(5));
  EXPECT_EQ(wire.read().data_bytes(), h2::kWindowDefault);
  wire.send(window_update(0, 1'000'000));
  for (std::uint32_t id : {1, 3, 5}) EXPECT_EQ(wire.stream(id).body, pattern(50'000)) << id;
}

TEST(H2Flow, APeerBeyondOurWindowsIsStopped) {
  Limits limits;
  limits.receive_bytes_max = 1000;
  H2Wire wire(limits);
  Sink sink;
  sink.gives_credit = false;
  wire.service.handler = [&](Exchange& exchange) {
    wire.service.hold(exchange);
    exchange.read(sink);
  };
  wire.send(post(1) + data(1, std::string(1000, 'x')));
  EXPECT_FALSE(wire.stream(1).is_reset);
  wire.send(data(1, "x"));
  EXPECT_EQ(wire.stream(1).code, Code::FlowControlError);
  EXPECT_EQ(sink.error_count, 1);
  EXPECT_FALSE(wire.goaway().has_value());
  wire.service.held.clear();
}

TEST(H2Flow, UntilOurSettingsAreKnownTheDefaultWindowHolds) {
  Limits limits;
  limits.receive_bytes_max = 1000;
  H2Wire wire(limits, settings());
  Sink sink;
  sink.gives_credit = false;
  wire.service.handler = [&](Exchange& exchange) {
    wire.service.hold(exchange);
    exchange.read(sink);
  };
  wire.send(post(1) + data(1, std::string(16'000, 'x')));
  EXPECT_EQ(sink.text.size(), 16'000u);
  wire.send(settings_ack());
  // All of it counts now: nothing more until the window is positive again.
  wire.send(data(1, "x"));
  EXPECT_EQ(wire.stream(1).code, Code::FlowControlError);
  wire.service.held.clear();
}

TEST(H2Flow, ThePeerMustNotOverrunTheConnection) {
  Limits limits;
  limits.h2_window_bytes = 0;  // the least there is
  limits.receive_bytes_max = 1'000'000;
  H2Wire wire(limits);
  wire.service.handler = Echo::serve;
  wire.send(post(1));
  std::string most;
  for (int i = 0; i < 4; ++i) most += data(1, std::string(16'384, 'x'));
  // Read in one piece, before any of it could be returned.
  wire.send(most);
  EXPECT_FALSE(wire.goaway().has_value());
  EXPECT_GT(wire.read().count(FrameType::WindowUpdate), 0u) << "the connection's window is returned at once";
}

TEST(H2Flow, UploadsAreCreditedAsTheyAreUsed) {
  Sink sink;
  H2Wire wire;
  wire.service.handler = [&](Exchange& exchange) {
    wire.service.hold(exchange);
    exchange.read(sink);
  };
  wire.send(post(1));
  std::size_t sent = 0;
  std::int64_t window = 65'536;
  std::size_t seen = 0;
  while (sent < 1'000'000) {
    ASSERT_GE(window, 1000);
    wire.send(data(1, pattern(1000, sent)));
    sent += 1000;
    window -= 1000;
    const auto& frames = wire.read().frames();
    for (; seen < frames.size(); ++seen) {
      if (frames[seen].type == FrameType::WindowUpdate && frames[seen].stream == 1) window += frames[seen].number();
    }
  }
  EXPECT_TRUE(sink.text == pattern(1'000'000));
  EXPECT_LT(wire.read().count(FrameType::WindowUpdate), 50u) << "at half a window, not for every frame";
  wire.service.held[0]->reply();
  wire.service.held.clear();
  wire.settle();
}

TEST(H2Flow, TheMostUrgentGoFirst) {
  H2Wire wire({}, settings({{Setting::InitialWindowSize, 1'000'000}}) + settings_ack() + window_update(0, 1'000'000));
  wire.service.handler = [](Exchange& exchange) { exchange.reply(Slice::of(pattern(15'000))); };
  wire.send(get(1, "/", {{"priority", "u=5"}}) + get(3, "/", {{"priority", "u=1"}}) + get(5) +
            get(7, "/", {{"priority", "u=1"}}));
  std::vector<std::uint32_t> order;
  for (const Frame& one : wire.read().frames()) {
    if (one.type == FrameType::Data && (order.empty() || order.back() != one.stream)) order.push_back(one.stream);
  }
  EXPECT_EQ(order, (std::vector<std::uint32_t>{3, 7, 5, 1}));
}

TEST(H2Flow, IncrementalOnesTakeTurns) {
  H2Wire wire({}, settings({{Setting::InitialWindowSize, 1'000'000}}) + settings_ack() + window_update(0, 1'000'000));
  wire.service.handler = [](Exchange& exchange) { exchange.reply(Slice::of(pattern(40'000))); };
  wire.send(get(1, "/", {{"priority", "i"}}) + get(3, "/", {{"priority", "u=3, i=?1"}}));
  std::vector<std::uint32_t> order;
  for (const Frame& one : wire.read().frames()) {
    if (one.type == FrameType::Data) order.push_back(one.stream);
  }
  EXPECT_EQ(order, (std::vector<std::uint32_t>{1, 3, 1, 3, 1, 3}));
}

TEST(H2Flow, APriorityMayComeBeforeItsStream) {
  const auto update = [](std::uint32_t stream, std::string_view priority) {
    char id[4];
    h2::put_u32(id, stream);
    return frame(FrameType::PriorityUpdate, 0, 0, std::string(id, 4) + std::string(priority));
  };
  H2Wire wire({}, settings({{Setting::InitialWindowSize, 1'000'000}}) + settings_ack() + window_update(0, 1'000'000));
  wire.service.handler = [](Exchange& exchange) { exchange.reply(Slice::of(pattern(15'000))); };
  // The latest counts, and more than the field; 3 is passed by.
  wire.send(update(3, "u=0") + update(5, "u=7") + update(9, "u=6") + update(9, "u=0"));
  wire.send(get(5, "/", {{"priority", "u=1"}}) + get(7) + get(9));
  std::vector<std::uint32_t> order;
  for (const Frame& one : wire.read().frames()) {
    if (one.type == FrameType::Data && (order.empty() || order.back() != one.stream)) order.push_back(one.stream);
  }
  EXPECT_EQ(order, (std::vector<std::uint32_t>{9, 7, 5}));
}

TEST(H2Flow, APriorityUpdateChangesTheOrder) {
  H2Wire wire;
  wire.service.handler = [&](Exchange& exchange) { wire.service.hold(exchange); };
  wire.send(get(1, "/", {{"priority", "u=3"}}) + get(3, "/", {{"priority", "u=3"}}));
  char id[4];
  h2::put_u32(id, 3);
  wire.send(frame(FrameType::PriorityUpdate, 0, 0, std::string(id, 4) + "u=0"));
  for (auto& held : wire.service.held) held->reply(Slice::of(pattern(20'000)));
  wire.service.held.clear();
  wire.settle();
  std::vector<std::uint32_t> order;
  for (const Frame& one : wire.read().frames()) {
    if (one.type == FrameType::Data && (order.empty() || order.back() != one.stream)) order.push_back(one.stream);
  }
  EXPECT_EQ(order, (std::vector<std::uint32_t>{3, 1}));
  expect_connection_error(frame(FrameType::PriorityUpdate, 0, 1, std::string(id, 4)), Code::ProtocolError);
  expect_connection_error(frame(FrameType::PriorityUpdate, 0, 0, "123"), Code::FrameSizeError);
}

TEST(H2Flow, OneTurnIsOneWrite) {
  H2Wire wire;
  wire.service.handler = [](Exchange& exchange) { exchange.reply(Slice::literal("hello")); };
  std::string ten;
  for (std::uint32_t id = 1; id < 20; id += 2) ten += get(id);
  const std::size_t writes = wire.wire->write_count();
  wire.send(ten);
  EXPECT_EQ(wire.wire->write_count() - writes, 1u);
  for (std::uint32_t id = 1; id < 20; id += 2) EXPECT_EQ(wire.stream(id).body, "hello");
}

TEST(H2Flow, HeadDataAndTrailersOfAUnaryAnswerAreOneWrite) {
  Arena arena;
  http::Fields trailers(arena);
  ASSERT_TRUE(trailers.add("grpc-status", "0"));
  H2Wire wire;
  PushSource::Watch watch;
  wire.service.handler = [&](Exchange& exchange) {
    auto* source = new PushSource(watch);
    source->trailer_fields = &trailers;
    source->push("message");
    source->end();
    exchange.reply(Body(SourcePtr(source)));
  };
  const std::size_t writes = wire.wire->write_count();
  wire.send(get(1));
  EXPECT_EQ(wire.wire->write_count() - writes, 1u);
  EXPECT_EQ(wire.stream(1).body, "message");
  EXPECT_EQ(wire.stream(1).trailers, (FieldList{{"grpc-status", "0"}}));
  EXPECT_EQ(wire.stream(1).frame_count, 3u);
}

TEST(H2Flow, WhatAPeerDoesNotTakeStaysWithItsSource) {
  H2Wire wire({}, settings({{Setting::InitialWindowSize, h2::kWindowMax}}) + settings_ack() +
                      window_update(0, h2::kWindowMax - h2::kWindowDefault));
  wire.wire->set_room(0);
  PatternSource::pulled_bytes = 0;
  wire.service.handler = [](Exchange& exchange) {
    exchange.reply(Body(SourcePtr(new PatternSource(10'000'000, 10'000))));
  };
  std::string many;
  for (std::uint32_t id = 1; id < 65; id += 2) many += get(id);
  wire.send(many);
  // One flush, and the rest of a frame: not a function of the window or of how many streams there are.
  EXPECT_LE(PatternSource::pulled_bytes, 65'536u + 2 * 16'384);
}

TEST(H2Flow, ALongBodyKeepsToItsPromise) {
  H2Wire wire;
  wire.service.handler = [](Exchange& exchange) {
    exchange.reply(Body(SourcePtr(new PatternSource(1000, 300)), exchange.request().path == "/short" ? 1001 : 999));
  };
  for (const auto& [id, path] : {std::pair(1u, "/short"), std::pair(3u, "/long")}) {
    const StreamReply reply = wire.ask(id, get(id, path));
    EXPECT_TRUE(reply.is_reset);
    EXPECT_EQ(reply.code, Code::InternalError);
  }
  EXPECT_FALSE(wire.goaway().has_value());
}

TEST(H2Flow, RequestsBeyondAFlushWaitWithoutAnExchange) {
  H2Wire wire;
  wire.service.handler = [](Exchange& exchange) { exchange.reply(Slice::of(pattern(16'384))); };
  std::string many;
  for (std::uint32_t id = 1; id < 65; id += 2) many += get(id, "/", {{"x-id", std::to_string(id)}});
  wire.send(many);
  // The connection's window holds four bodies, a flush as many again.
  EXPECT_LE(wire.service.call_count, 9u);
  EXPECT_LE(wire.site.exchanges.used_count(), 9u);
  EXPECT_EQ(wire.session->stream_count(), 32u - 3);
  EXPECT_LT(wire.service.call_count, 32u);
  for (int i = 0; i < 40 && wire.session->stream_count() > 0; ++i) {
    ASSERT_FALSE(wire.goaway().has_value());
    wire.send(window_update(0, 16'384));
  }
  EXPECT_EQ(wire.service.call_count, 32u);
  for (std::uint32_t id = 1; id < 65; id += 2) EXPECT_TRUE(wire.stream(id).body == pattern(16'384)) << id;
  EXPECT_EQ(wire.read().error(), "");
  EXPECT_EQ(wire.session->stream_count(), 0u);
}

TEST(H2Flow, LargeAnswersLeaveInFullFlushes) {
  H2Wire wire({}, settings({{Setting::InitialWindowSize, 1'000'000}}) + settings_ack() + window_update(0, 10'000'000));
  const std::string body = pattern(16'384);
  wire.service.handler = [&](Exchange& exchange) { exchange.reply(Slice::of(body)); };
  std::string requests;
  for (std::uint32_t id = 1; id < 64; id += 2) requests += get(id);
  const std::size_t writes = wire.wire->write_count();
  const std::size_t before = wire.read().frames().size();
  wire.send(requests);
  const auto frames = std::span(wire.read().frames()).subspan(before);
  std::size_t sent = 0;
  for (const Frame& frame : frames) sent += h2::kFrameHeadBytes + frame.payload.size();
  const std::size_t flush = Limits{}.flush_bytes_max;
  EXPECT_EQ(wire.wire->write_count() - writes, (sent + flush - 1) / flush);
  for (std::uint32_t id = 1; id < 64; id += 2) EXPECT_EQ(wire.stream(id).body, body) << id;
}

TEST(H2Flow, WhatWaitsIsHandedUpWhole) {
  H2Wire wire({}, settings({{Setting::InitialWindowSize, 1'000'000}}) + settings_ack());
  std::string seen;
  WithBody waiter([&](Exchange& exchange) {
    seen += std::string(exchange.request().fields.get("x-a"));
    if (exchange.has_body() && exchange.request().fields.has(http::FieldId::UserAgent)) seen += "u";
    seen += std::string(exchange.request().query) + std::string(exchange.body());
    if (exchange.request_trailers() != nullptr) seen += exchange.request_trailers()->get("x-t");
    exchange.reply(Slice::literal("done"));
  });
  wire.service.handler = [&](Exchange& exchange) {
    if (exchange.request().path == "/large") {
      exchange.reply(Slice::of(pattern(200'000)));
    } else {
      exchange.collect(waiter);
    }
  };
  wire.send(get(1, "/large"));
  wire.send(post(3, "/p?q=1", {{"x-a", "a"}, {"user-agent", "u"}, {"content-length", "4"}}) + data(3, "bo") +
            data(3, "dy") + headers(3, FieldList{{"x-t", "t"}}) + post(5, "/p") + data(5, "x") + get(7, "/p") +
            reset(7) + headers(9, request("GET", "/p", {{"te", "gzip"}})));
  EXPECT_EQ(wire.service.call_count, 1u) << "the others wait";
  EXPECT_EQ(wire.stream(9).code, Code::ProtocolError) << "but not for their faults";
  wire.send(window_update(0, 1'000'000));
  EXPECT_EQ(seen, "auq=1bodyt");
  EXPECT_EQ(wire.stream(3).body, "done");
  EXPECT_FALSE(wire.stream(5).is_ended);
  wire.send(data(5, "y", true));
  EXPECT_EQ(seen, "auq=1bodytxy");
  EXPECT_EQ(wire.stream(1).body, pattern(200'000));
  EXPECT_EQ(wire.service.call_count, 3u) << "one was reset before it was begun";
  EXPECT_EQ(wire.session->stream_count(), 0u);
}

}  // namespace
}  // namespace violet::test
