// Frames in and out of place (RFC 9113 §3.4 to §6).

#include "tests/h2/verdicts.h"

#include <gtest/gtest.h>

#include <string>

namespace violet::test {
namespace {

using h2::Code;
using h2::FrameType;
using h2::Setting;
namespace flag = h2::flag;

TEST(H2Frame, WrongOctetsInsteadOfThePrefaceClose) {
  H2Wire wire;
  wire.connect_silently();
  wire.send("PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n");
  EXPECT_TRUE(wire.has_hung_up());
  EXPECT_EQ(wire.read().error(), "") << "nothing but frames comes back";
  EXPECT_EQ(wire.goaway(), Code::ProtocolError);
}

TEST(H2Frame, TheFirstFrameIsSettings) {
  for (const std::string& first : {get(1), ping(), settings_ack(), window_update(0, 1), frame(FrameType{77}, 0, 0)}) {
    H2Wire wire({}, "");
    wire.send(first + settings());
    EXPECT_EQ(wire.goaway(), Code::ProtocolError);
    EXPECT_TRUE(wire.has_hung_up());
  }
}

TEST(H2Frame, EachSettingsIsAcknowledged) {
  H2Wire wire;
  EXPECT_EQ(wire.read().frames().front().type, FrameType::Settings);
  EXPECT_EQ(wire.read().count(FrameType::Settings, flag::kAck), 1u);
  wire.send(settings({{Setting::InitialWindowSize, 5}}) + settings() + settings());
  EXPECT_EQ(wire.read().count(FrameType::Settings, flag::kAck), 4u);
  expect_connection_error(frame(FrameType::Settings, flag::kAck, 0, "123456"), Code::FrameSizeError);
}

TEST(H2Frame, SayWhatTheyAllow) {
  H2Wire wire;
  const Frame& first = wire.read().frames().front();
  std::map<int, std::uint32_t> values;
  for (std::size_t at = 0; at < first.payload.size(); at += 6) {
    values[h2::read_u16(first.payload.data() + at)] = first.number(at + 2);
  }
  EXPECT_EQ(values[3], 100u);
  EXPECT_EQ(values[4], 65'536u);
  EXPECT_EQ(values[6], 32'768u);
  EXPECT_EQ(values[8], 1u) << "RFC 8441";
  EXPECT_EQ(values[9], 1u) << "RFC 9218";
}

TEST(H2Frame, SizesAreBounded) {
  H2Wire wire;
  wire.service.handler = Echo::serve;
  const std::string most(16'384, 'x');
  EXPECT_EQ(wire.ask(1, post(1) + data(1, most, true)).body, most);
  for (const auto type : {FrameType::Data, FrameType::Headers, FrameType::Settings, FrameType{77}}) {
    H2Wire other;
    // The head of the frame is enough.
    other.send(frame(type, 0, type == FrameType::Settings ? 0 : 1, std::string(16'385, 'x')).substr(0, 9));
    EXPECT_EQ(other.goaway(), Code::FrameSizeError) << static_cast<int>(type);
  }
}

TEST(H2Frame, StreamNumbersAreChecked) {
  expect_connection_error(data(0, "x"), Code::ProtocolError);
  expect_connection_error(headers(0, request("GET", "/")), Code::ProtocolError);
  expect_connection_error(get(2), Code::ProtocolError);
  expect_connection_error(get(5) + get(3), Code::ProtocolError);
  expect_connection_error(reset(0), Code::ProtocolError);
  expect_connection_error(frame(FrameType::Priority, 0, 0, "12345"), Code::ProtocolError);
  expect_connection_error(frame(FrameType::Settings, 0, 1), Code::ProtocolError);
  expect_connection_error(frame(FrameType::Ping, 0, 1, "12345678"), Code::ProtocolError);
  expect_connection_error(frame(FrameType::Goaway, 0, 1, "12345678"), Code::ProtocolError);
  expect_connection_error(frame(FrameType::PushPromise, flag::kEndHeaders, 1, "1234"), Code::ProtocolError);
}

TEST(H2Frame, IdleStreamsTakeHeadersAlone) {
  expect_connection_error(data(1, "x"), Code::ProtocolError);
  expect_connection_error(reset(1), Code::ProtocolError);
  expect_connection_error(window_update(1, 1), Code::ProtocolError);
}

TEST(H2Frame, NothingFollowsTheEndOfAStream) {
  // Still open on our side, so that the fault is the stream's.
  H2Wire wire;
  wire.service.handler = [&](Exchange& exchange) { wire.service.hold(exchange); };
  wire.send(get(1) + data(1, "x") + get(3) + headers(3, request("GET", "/")));
  EXPECT_EQ(wire.stream(1).code, Code::StreamClosed);
  EXPECT_EQ(wire.stream(3).code, Code::StreamClosed);
  EXPECT_TRUE(wire.stream(1).is_reset && wire.stream(3).is_reset);
  EXPECT_FALSE(wire.goaway().has_value());
  wire.service.held.clear();
  // Closed altogether.
  expect_connection_error(get(1) + data(1, "x"), Code::StreamClosed);
  expect_connection_error(get(1) + get(1), Code::StreamClosed);
  expect_connection_error(get(201) + get(3), Code::ProtocolError);
  std::string seventy;
  for (std::uint32_t id = 1; id < 140; id += 2) seventy += get(id);
  expect_connection_error(seventy + get(1), Code::StreamClosed);
}

TEST(H2Frame, FramesOnTheirWayToAStreamThatWeResetAreNoFault) {
  H2Wire wire;
  wire.service.handler = [](Exchange& exchange) { exchange.abort(Error(ErrorKind::Cancelled)); };
  wire.send(post(1));
  EXPECT_TRUE(wire.stream(1).is_reset);
  wire.send(data(1, "x") + window_update(1, 5) + headers(1, FieldList{{"x-t", "1"}}) + reset(1));
  EXPECT_FALSE(wire.goaway().has_value());
  wire.service.handler = Echo::serve;
  EXPECT_EQ(wire.ask(3, get(3)).status, 200);
}

TEST(H2Frame, BlocksAreInOnePiece) {
  const std::string block = test::block(request("GET", "/"));
  for (const std::string& between : {ping(), settings(), window_update(0, 1), data(1, "x"), get(3),
                                     continuation(3, "", true), frame(FrameType{77}, 0, 1)}) {
    expect_connection_error(headers(1, block, true, false) + between, Code::ProtocolError);
  }
  expect_connection_error(continuation(1, block), Code::ProtocolError);
  expect_connection_error(get(1) + continuation(1, block), Code::ProtocolError);
  expect_answer(headers(1, block.substr(0, 5), true, false) + continuation(1, block.substr(5, 7), false) +
                    continuation(1, "", false) + continuation(1, block.substr(12)),
                1, 200);
}

TEST(H2Frame, PaddingEndsWithinItsFrame) {
  expect_connection_error(post(1) + frame(FrameType::Data, flag::kPadded, 1, "\5abcd"), Code::ProtocolError);
  expect_connection_error(post(1) + frame(FrameType::Data, flag::kPadded, 1, ""), Code::FrameSizeError);
  const std::string block = test::block(request("GET", "/"));
  const auto padded = [&](std::size_t pad, std::size_t zeros) {
    return frame(FrameType::Headers, flag::kEndHeaders | flag::kEndStream | flag::kPadded, 1,
                 std::string(1, static_cast<char>(pad)) + block + std::string(zeros, '\0'));
  };
  expect_connection_error(padded(block.size() + 1, 0), Code::ProtocolError);
  expect_answer(padded(4, 4), 1, 200);
  expect_answer(padded(0, 0), 1, 200);
  in_each_cut(post(1) + padded_data(1, "he", 255) + padded_data(1, "llo", 0) + padded_data(1, "", 3, true),
              [](H2Wire& wire) { EXPECT_EQ(wire.stream(1).body, "hello"); });
}

TEST(H2Frame, WindowsHaveBounds) {
  expect_connection_error(window_update(0, 0), Code::ProtocolError);
  expect_connection_error(window_update(0, h2::kWindowMax), Code::FlowControlError);
  expect_stream_error(post(1) + window_update(1, 0), 1, Code::ProtocolError);
  expect_stream_error(post(1) + window_update(1, h2::kWindowMax), 1, Code::FlowControlError);
  expect_connection_error(post(1) + window_update(1, h2::kWindowMax - h2::kWindowDefault) +
                              settings({{Setting::InitialWindowSize, h2::kWindowDefault + 1}}),
                          Code::FlowControlError);
}

TEST(H2Frame, SettingsHaveBounds) {
  const auto with = [](Setting setting, std::uint32_t value) { return settings({{setting, value}}); };
  expect_connection_error(with(Setting::EnablePush, 2), Code::ProtocolError);
  expect_connection_error(with(Setting::MaxFrameSize, 16'383), Code::ProtocolError);
  expect_connection_error(with(Setting::MaxFrameSize, 16'777'216), Code::ProtocolError);
  expect_connection_error(with(Setting::InitialWindowSize, 0x8000'0000u), Code::FlowControlError);
  expect_connection_error(with(Setting::EnableConnectProtocol, 2), Code::ProtocolError);
  expect_connection_error(with(Setting::NoRfc7540Priorities, 2), Code::ProtocolError);
  expect_connection_error(frame(FrameType::Settings, 0, 0, "12345"), Code::FrameSizeError);
  expect_answer(with(Setting::MaxFrameSize, 16'777'215) + with(Setting{0xabc}, 7) + get(1), 1, 200);
}

TEST(H2Frame, SizesOfSmallFramesAreExact) {
  expect_connection_error(frame(FrameType::Ping, 0, 0, "1234567"), Code::FrameSizeError);
  expect_connection_error(frame(FrameType::WindowUpdate, 0, 0, "12345"), Code::FrameSizeError);
  expect_connection_error(get(1) + frame(FrameType::RstStream, 0, 1, "123"), Code::FrameSizeError);
  expect_connection_error(get(1) + frame(FrameType::Priority, 0, 1, "1234"), Code::FrameSizeError);
  expect_connection_error(frame(FrameType::Goaway, 0, 0, "1234567"), Code::FrameSizeError);
}

TEST(H2Frame, PingsAreAnsweredWhileALargeAnswerIsSent) {
  H2Wire wire;
  wire.service.handler = [](Exchange& exchange) { exchange.reply(Slice::of(pattern(1'000'000))); };
  wire.send(get(1));
  EXPECT_FALSE(wire.stream(1).is_ended);
  wire.send(ping("abcdefgh"));
  bool is_there = false;
  for (const Frame& one : wire.read().frames()) {
    is_there = is_there || (one.type == FrameType::Ping && one.has(flag::kAck) && one.payload == "abcdefgh");
  }
  EXPECT_TRUE(is_there);
}

TEST(H2Frame, WhatNobodyKnowsIsIgnored) {
  expect_answer(
      frame(FrameType{77}, 0xff, 0, "unknown") + frame(FrameType{78}, 0, 7, "") + settings({{Setting{999}, 1}}) +
          ping() +
          frame(FrameType::Headers, 0xd2 | flag::kEndHeaders | flag::kEndStream, 1, test::block(request("GET", "/"))),
      1, 200);
  H2Wire wire;
  wire.service.handler = [&](Exchange& exchange) { wire.service.hold(exchange); };
  wire.send(get(1) + reset(1, Code{0xabcd}) + goaway(0, Code{0xffff}));
  EXPECT_FALSE(wire.goaway().has_value() && *wire.goaway() != Code::NoError);
  wire.service.held.clear();
}

TEST(H2Frame, BrokenCompressionEndsTheConnection) {
  using std::string_literals::operator""s;
  const std::string good = test::block(request("GET", "/"));
  for (const std::string& bad : {"\x80"s,                                     // index 0 (RFC 7541 §6.1)
                                 "\xff\x00"s,                                 // beyond both tables (§2.3.3)
                                 "\x3f\xe2\x1f"s + good,                      // a size above the setting (§6.3)
                                 good + "\x20"s,                              // a size update behind a field (§4.2)
                                 good + "\x00\x01\x61\x82\xff\xff"s,          // padding longer than seven bits (§5.2)
                                 good + "\x00\x01\x61\x84\xff\xff\xff\xff"s,  // EOS
                                 good.substr(0, good.size() - 1)}) {          // cut off
    expect_connection_error(headers(1, bad), Code::CompressionError);
  }
}

TEST(H2Frame, BlocksOfStreamsThatAreNotTakenStillCount) {
  Limits limits;
  limits.h2_streams_max = 1;
  using std::string_literals::operator""s;
  // x-a: b, into the table (RFC 7541 §6.2.1).
  const std::string inserts = test::block(request("GET", "/")) +
                              "\x40\x03x-a\x01"
                              "b"s;
  const std::string uses = test::block(request("GET", "/")) + "\xbe"s;
  H2Wire wire(limits);
  std::string seen;
  wire.service.handler = [&](Exchange& exchange) {
    seen = exchange.request().fields.get("x-a");
    wire.service.hold(exchange);
  };
  wire.send(get(1));
  wire.send(headers(3, inserts));
  EXPECT_EQ(wire.stream(3).code, Code::RefusedStream);
  wire.send(reset(1));
  wire.service.held.clear();
  wire.send(headers(5, uses));
  EXPECT_EQ(seen, "b");
  wire.service.held.clear();
}

}  // namespace
}  // namespace violet::test
