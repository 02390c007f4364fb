// The closing handshake (RFC 6455 §5.5.1, §7): group 7 of the Autobahn suite as cases of our own.

#include "tests/conformance/websocket/case.h"

#include <gtest/gtest.h>

namespace violet::test {
namespace {

std::string closing(int code, std::string_view reason = {}) {
  return frame(kCloseFrame, close_payload(static_cast<std::uint16_t>(code), reason));
}

TEST(WsClose, AnEmptyCloseIsAnsweredByOne) {
  expect_case({"empty", frame(kCloseFrame, ""), {}, 1005});
  expect_case({"after a message", text("hello") + frame(kCloseFrame, ""), {{kTextFrame, "hello"}}, 1005});
}

TEST(WsClose, WhatFollowsACloseIsNotLookedAt) {
  expect_case({"text", closing(1000) + text("late"), {}, 1000});
  expect_case({"ping", closing(1000) + frame(kPingFrame, "late"), {}, 1000});
  expect_case({"another close", closing(1000) + closing(1001), {}, 1000});
  expect_case({"nonsense", closing(1000) + "\xff\xff\xff\xff", {}, 1000});
  expect_case({"amid fragments", frame(1, "frag") + closing(1000) + frame(0x80, "ment"), {}, 1000});
}

TEST(WsClose, CodesOfTheRegistryAndOfApplicationsAreEchoed) {
  for (const int code :
       {1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999}) {
    expect_case({std::to_string(code), closing(code), {}, code});
    expect_case({std::to_string(code) + " with a reason", closing(code, "because"), {}, code});
  }
}

TEST(WsClose, OtherCodesAre1002) {
  for (const int code : {0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535}) {
    expect_case({std::to_string(code), closing(code), {}, 1002});
    expect_case({std::to_string(code) + " with a reason", closing(code, "because"), {}, 1002});
  }
  expect_case({"one octet", frame(kCloseFrame, "\x03"), {}, 1002});
}

TEST(WsClose, AReasonIsUtf8AndFitsIntoAFrame) {
  expect_case({"the longest", closing(1000, std::string(123, 'x')), {}, 1000});
  expect_case({"longer", closing(1000, std::string(124, 'x')), {}, 1002});
  expect_case({"not UTF-8", closing(1000, "\xce\xba\xed\xa0\x80"), {}, 1007});
  expect_case({"cut", closing(1000, "\xe2\x82"), {}, 1007});
}

TEST(WsClose, TheReasonComesBack) {
  SocketWire wire;
  std::string seen;
  std::uint16_t code = 0;
  websocket(wire.router, "/ws", [&](WebSocket socket) -> Task<> {
    while (auto message = co_await socket.read()) continue;
    code = socket.close_code();
    seen = socket.close_reason();
  });
  ASSERT_EQ(wire.open("/ws"), 101);
  EXPECT_EQ(wire.exchange(closing(4001,
                                  "gr\xc3\xbc\xc3\x9f"
                                  "e")),
            (Frames{{kCloseFrame, close_payload(4001,
                                                "gr\xc3\xbc\xc3\x9f"
                                                "e")}}));
  EXPECT_EQ(code, 4001);
  EXPECT_EQ(seen,
            "gr\xc3\xbc\xc3\x9f"
            "e");
}

TEST(WsClose, TheServerEndsItsDirectionAndTheConnectionWhenThePeerHasEndedToo) {
  SocketWire wire;
  websocket(wire.router, "/ws", [](WebSocket socket) -> Task<> {
    while (auto message = co_await socket.read()) continue;
  });
  ASSERT_EQ(wire.open("/ws"), 101);
  wire.send(closing(1000));
  EXPECT_TRUE(wire.wire->is_shut_down());
  wire.wire->feed_end();
  wire.settle();
  EXPECT_TRUE(wire.wire->is_closed());
}

TEST(WsClose, APeerThatEndsWithoutACloseIsAbnormal) {
  SocketWire wire;
  std::uint16_t code = 0;
  std::vector<std::string> seen;
  websocket(wire.router, "/ws", [&](WebSocket socket) -> Task<> {
    while (auto message = co_await socket.read()) seen.emplace_back(message->text());
    code = socket.close_code();
  });
  ASSERT_EQ(wire.open("/ws"), 101);
  wire.wire->feed(text("last words") + text("cut").substr(0, 4));
  wire.wire->feed_end();
  wire.settle();
  EXPECT_EQ(seen, std::vector<std::string>{"last words"});
  EXPECT_EQ(code, 1006);
  EXPECT_TRUE(wire.wire->is_closed());
}

}  // namespace
}  // namespace violet::test
