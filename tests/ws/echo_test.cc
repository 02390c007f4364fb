// A WebSocket from the handshake to the goodbye, over HTTP/1.1 in memory, in both forms of handlers.

#include "tests/support/socket_wire.h"

#include <gtest/gtest.h>

namespace violet::test {
namespace {

Task<> echo(WebSocket socket) {
  while (auto message = co_await socket.read()) {
    if (auto sent = co_await socket.send(*message); !sent) co_return;
  }
}

struct EchoObject {
  void on_message(WebSocket& socket, ws::Message message) { static_cast<void>(socket.send(message)); }
};

void add_echo(SocketWire& wire) {
  websocket(wire.router, "/task", echo);
  websocket(wire.router, "/object", [] { return EchoObject{}; });
}

class Echo : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(BothForms, Echo, testing::Values("/task", "/object"));

TEST_P(Echo, AnswersTheSampleHandshakeOfTheRfc) {
  SocketWire wire;
  add_echo(wire);
  ASSERT_EQ(wire.open(GetParam()), 101);
  EXPECT_NE(wire.head.find("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"), std::string::npos) << wire.head;
  EXPECT_NE(wire.head.find("Upgrade: websocket\r\n"), std::string::npos);
  EXPECT_NE(wire.head.find("Connection: Upgrade\r\n"), std::string::npos);
}

TEST_P(Echo, EchoesTextAndBinaryInOrderWithOneWrite) {
  SocketWire wire;
  add_echo(wire);
  ASSERT_EQ(wire.open(GetParam()), 101);
  std::string burst;
  std::vector<SeenFrame> expected;
  for (int i = 0; i < 16; ++i) {
    const std::string text = "hello" + std::to_string(i);
    burst += masked(i % 2 == 0 ? kTextFrame : kBinaryFrame, text);
    expected.push_back({i % 2 == 0 ? kTextFrame : kBinaryFrame, text});
  }
  const std::size_t writes = wire.wire->write_count();
  EXPECT_EQ(wire.exchange(burst), expected);
  EXPECT_EQ(wire.wire->write_count() - writes, 1u);
}

TEST_P(Echo, EveryLengthFormAndEverySplitGivesTheSame) {
  for (const std::size_t size :
       {0u, 1u, 3u, 4u, 7u, 8u, 15u, 16u, 17u, 125u, 126u, 127u, 1000u, 65535u, 65536u, 70000u}) {
    SocketWire wire;
    add_echo(wire);
    ASSERT_EQ(wire.open(GetParam()), 101);
    std::string text(size, 'x');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + i * 7 % 26);
    const std::string bytes = masked(kTextFrame, text);
    EXPECT_EQ(wire.exchange(bytes), (std::vector<SeenFrame>{{kTextFrame, text}}));
    for (std::size_t cut = 1; cut < std::min<std::size_t>(bytes.size(), 40); ++cut) {
      wire.send(bytes.substr(0, cut));
      EXPECT_EQ(wire.exchange(bytes.substr(cut)), (std::vector<SeenFrame>{{kTextFrame, text}}))
          << size << " at " << cut;
    }
  }
}

TEST_P(Echo, PutsFragmentsTogetherAndAnswersPingsBetweenThem) {
  SocketWire wire;
  add_echo(wire);
  ASSERT_EQ(wire.open(GetParam()), 101);
  const std::string bytes = masked(ws::kText, "one ") + masked(kPingFrame, "?") + masked(ws::kContinuation, "two ") +
                            masked(ws::kFin | ws::kContinuation, "three");
  EXPECT_EQ(wire.exchange(bytes), (std::vector<SeenFrame>{{kPongFrame, "?"}, {kTextFrame, "one two three"}}));
}

TEST_P(Echo, AnswersACloseWithTheSameAndCloses) {
  SocketWire wire;
  add_echo(wire);
  ASSERT_EQ(wire.open(GetParam()), 101);
  EXPECT_EQ(wire.exchange(masked(kCloseFrame, close_payload(3001, "bye"))),
            (std::vector<SeenFrame>{{kCloseFrame, close_payload(3001, "bye")}}));
  EXPECT_TRUE(wire.is_closed());
}

}  // namespace
}  // namespace violet::test
