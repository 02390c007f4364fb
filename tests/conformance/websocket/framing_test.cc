// Frames, fragments, control frames, reserved bits (RFC 6455 §5): the groups 1 to 5, 9 and 10 of the Autobahn suite as
// cases of our own, and what the specification says beside them.

#include "tests/conformance/websocket/case.h"

#include <gtest/gtest.h>

namespace violet::test {
namespace {

std::string pattern_of(std::size_t size) {
  std::string payload(size, 0);
  for (std::size_t i = 0; i < size; ++i) payload[i] = static_cast<char>('*' + i % 64);
  return payload;
}

TEST(WsFraming, PayloadsOfEverySizeForm) {
  for (const std::size_t size : {0u, 1u, 125u, 126u, 127u, 128u, 65535u, 65536u}) {
    const std::string payload = pattern_of(size);
    expect_case({"text of " + std::to_string(size), text(payload), {{kTextFrame, payload}}});
    expect_case({"binary of " + std::to_string(size), binary(payload), {{kBinaryFrame, payload}}});
  }
}

TEST(WsFraming, LargeMessagesWholeAndInFragments) {
  const std::string payload = pattern_of(256 * 1024);
  expect_case({"256 KiB", binary(payload), {{kBinaryFrame, payload}}});
  for (const std::size_t size : {64u, 1024u, 16384u}) {
    expect_case(
        {"256 KiB by " + std::to_string(size), fragments(ws::kBinary, payload, size), {{kBinaryFrame, payload}}});
  }
  const std::string all = pattern_of(1 << 20);
  expect_case({"1 MiB by 1300", fragments(ws::kText, all, 1300), {{kTextFrame, all}}});
}

TEST(WsFraming, PingsAreAnsweredWithWhatTheyCarry) {
  for (const std::size_t size : {0u, 1u, 5u, 124u, 125u}) {
    const std::string payload = pattern_of(size);
    expect_case({"ping of " + std::to_string(size), frame(kPingFrame, payload), {{kPongFrame, payload}}});
  }
  const std::string bytes("\x00\xff\xfe\xfd\xfc\xfb\x00\xff", 8);
  expect_case({"binary ping", frame(kPingFrame, bytes), {{kPongFrame, bytes}}});
  expect_case({"ping of 126", frame(kPingFrame, pattern_of(126)), {}, 1002});
  expect_case({"unasked pong", frame(kPongFrame, "hello") + frame(kPingFrame, "x"), {{kPongFrame, "x"}}});
  std::string pings;
  Frames pongs;
  for (int i = 0; i < 10; ++i) {
    pings += frame(kPingFrame, "payload-" + std::to_string(i));
    pongs.push_back({kPongFrame, "payload-" + std::to_string(i)});
  }
  expect_case({"ten pings", pings, pongs});
}

TEST(WsFraming, ReservedBitsNeedAnExtension) {
  for (unsigned rsv = 1; rsv < 8; ++rsv) {
    for (const unsigned opcode : {1u, 2u, 8u, 9u, 10u}) {
      expect_case({"rsv " + std::to_string(rsv) + " on " + std::to_string(opcode),
                   text("before") + frame(0x80 | rsv << 4 | opcode, ""),
                   {{kTextFrame, "before"}},
                   1002});
    }
  }
}

TEST(WsFraming, UnknownOpcodesAreRefused) {
  for (const unsigned opcode : {3u, 4u, 5u, 6u, 7u, 11u, 12u, 13u, 14u, 15u}) {
    for (const char* payload : {"", "x"}) {
      expect_case({"opcode " + std::to_string(opcode),
                   text("before") + frame(0x80 | opcode, payload) + text("after"),
                   {{kTextFrame, "before"}},
                   1002});
    }
  }
}

TEST(WsFraming, ControlFramesAreWholeAndShort) {
  for (const unsigned opcode : {8u, 9u, 10u}) {
    expect_case({"in fragments", frame(opcode, "a") + frame(0x80, "b"), {}, 1002});
    expect_case({"too long", frame(0x80 | opcode, std::string(126, 'x')), {}, 1002});
  }
}

TEST(WsFraming, FragmentsBecomeOneMessage) {
  expect_case({"two", frame(1, "frag") + frame(0x80, "ment"), {{kTextFrame, "fragment"}}});
  expect_case({"empty ones", frame(1, "") + frame(0, "") + frame(0x80, ""), {{kTextFrame, ""}}});
  expect_case({"empty around", frame(1, "") + frame(0, "middle") + frame(0x80, ""), {{kTextFrame, "middle"}}});
  expect_case({"a ping between",
               frame(1, "one") + frame(kPingFrame, "p") + frame(0x80, "two"),
               {{kPongFrame, "p"}, {kTextFrame, "onetwo"}}});
  expect_case({"pings between many",
               frame(1, "1") + frame(0, "2") + frame(kPingFrame, "a") + frame(0, "3") + frame(0, "4") +
                   frame(kPingFrame, "b") + frame(0x80, "5"),
               {{kPongFrame, "a"}, {kPongFrame, "b"}, {kTextFrame, "12345"}}});
}

TEST(WsFraming, FragmentsAreNotMixed) {
  expect_case({"nothing to continue", frame(0x80, "x"), {}, 1002});
  expect_case({"nothing to continue, not final", frame(0, "x") + text("y"), {}, 1002});
  expect_case({"after a whole one", text("a") + frame(0, "x"), {{kTextFrame, "a"}}, 1002});
  expect_case({"text amid text", frame(1, "a") + text("b"), {}, 1002});
  expect_case({"binary amid text", frame(1, "a") + frame(0, "b") + binary("c"), {}, 1002});
  expect_case(
      {"a ping answered before", frame(1, "a") + frame(kPingFrame, "p") + text("b"), {{kPongFrame, "p"}}, 1002});
}

TEST(WsFraming, FramesOfAClientComeMasked) {
  expect_case({"unmasked text", unmasked(kTextFrame, "hello"), {}, 1002, true});
  expect_case({"unmasked behind a masked one", text("a") + unmasked(kTextFrame, "b"), {{kTextFrame, "a"}}, 1002, true});
  expect_case({"unmasked ping", unmasked(kPingFrame, ""), {}, 1002, true});
}

TEST(WsFraming, LengthsAreInTheirShortestForm) {
  const std::string key(4, '\0');
  expect_case({"126-form for 125", std::string("\x81\xfe\x00\x7d", 4) + key + std::string(125, 'x'), {}, 1002});
  expect_case({"127-form for 65535", std::string("\x82\xff\x00\x00\x00\x00\x00\x00\xff\xff", 10) + key, {}, 1002});
  expect_case({"top bit", std::string("\x82\xff\x80\x00\x00\x00\x00\x00\x00\x00", 10) + key, {}, 1002});
}

TEST(WsFraming, MessagesBeyondTheLimitAreRefusedBeforeTheyCome) {
  const WebSocketOptions small{.message_bytes_max = 1000};
  expect_case({"at the limit", text(std::string(1000, 'x')), {{kTextFrame, std::string(1000, 'x')}}}, small);
  const std::string head = text(std::string(1001, 'x')).substr(0, 8);
  expect_case({"the head is enough", head, {}, 1009}, small);
  expect_case({"the sum of fragments", fragments(ws::kText, std::string(1001, 'x'), 100), {}, 1009}, small);
  const std::string huge = std::string("\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff", 10) + std::string(4, 'k');
  expect_case({"the largest length there is", huge, {}, 1009});
  // Added to what has come it must not overflow.
  expect_case({"the largest length behind a fragment",
               frame(2, "x") + std::string("\x80\xff\x7f\xff\xff\xff\xff\xff\xff\xff", 10) + std::string(4, 'k'),
               {},
               1009});
}

TEST(WsFraming, AMillionTinyFragmentsAreOneMessageInBoundedMemory) {
  SocketWire wire;
  std::size_t size = 0;
  struct Counter {
    std::size_t* size;
    void on_message(WebSocket&, ws::Message message) { *size = message.size(); }
  };
  websocket(wire.router, "/ws", [&] { return Counter{&size}; });
  ASSERT_EQ(wire.open("/ws"), 101);
  std::string burst;
  for (int i = 0; i < 10'000; ++i) burst += frame(0, "x");
  wire.send(frame(2, "x"));
  for (int i = 0; i < 100; ++i) wire.send(burst);
  wire.send(frame(0x80, ""));
  EXPECT_EQ(size, 1'000'001u);
  // One more of them is too much.
  wire.send(frame(2, "x"));
  for (int i = 0; i < 105; ++i) wire.send(burst);
  const Frames frames = wire.frames();
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(close_code_of(frames[0]), 1009);
}

}  // namespace
}  // namespace violet::test
