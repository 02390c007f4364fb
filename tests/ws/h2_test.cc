// The same sockets over HTTP/2: extended CONNECT (RFC 8441), the same routes and the same frames.

#include "tests/support/h2_wire.h"
#include "tests/support/socket_wire.h"

#include <gtest/gtest.h>

namespace violet::test {
namespace {

Task<> echo(WebSocket socket) {
  while (auto message = co_await socket.read()) {
    if (auto sent = co_await socket.send(*message); !sent) co_return;
  }
}

class WsOverH2 : public testing::Test {
 protected:
  void SetUp() override {
    websocket(router_, "/echo/{room}", [](WebSocket socket, Path<std::string>) { return echo(std::move(socket)); });
    ASSERT_TRUE(router_.freeze().empty());
    wire_.service.handler = [this](Exchange& exchange) { router_.serve(exchange); };
  }
  std::string open(std::uint32_t stream, FieldList more = {{"sec-websocket-version", "13"}},
                   const std::string& path = "/echo/tea") {
    FieldList fields = {
        {":method", "CONNECT"}, {":protocol", "websocket"}, {":scheme", "http"}, {":path", path}, {":authority", "a"}};
    fields.insert(fields.end(), more.begin(), more.end());
    return headers(stream, fields, false);
  }
  // What has come on a stream since the last call, as frames.
  std::vector<SeenFrame> frames(std::uint32_t stream) {
    std::string bytes = wire_.stream(stream).body.substr(seen_[stream]);
    const std::size_t size = bytes.size();
    std::vector<SeenFrame> found = read_frames(bytes);
    seen_[stream] += size - bytes.size();
    return found;
  }

  Router router_;
  H2Wire wire_;
  std::map<std::uint32_t, std::size_t> seen_;
};

TEST_F(WsOverH2, TheServerSaysThatItCan) {
  // SETTINGS_ENABLE_CONNECT_PROTOCOL (RFC 8441 §3).
  const std::string enabled("\x00\x08\x00\x00\x00\x01", 6);
  EXPECT_NE(wire_.read().frames().front().payload.find(enabled), std::string::npos);
}

TEST_F(WsOverH2, EchoesOnTwoStreamsAtOnce) {
  EXPECT_EQ(wire_.ask(1, open(1)).status, 200);
  EXPECT_EQ(wire_.stream(1).field("sec-websocket-accept"), "") << "only HTTP/1.1 has keys";
  EXPECT_EQ(wire_.ask(3, open(3)).status, 200);
  wire_.send(data(1, masked(kTextFrame, "one")) + data(3, masked(kBinaryFrame, "two")) +
             data(1, masked(kPingFrame, "p")));
  EXPECT_EQ(frames(1), (std::vector<SeenFrame>{{kTextFrame, "one"}, {kPongFrame, "p"}}));
  EXPECT_EQ(frames(3), (std::vector<SeenFrame>{{kBinaryFrame, "two"}}));
  EXPECT_EQ(wire_.read().error(), "");
}

TEST_F(WsOverH2, FramesMayBeCutAnywhere) {
  const std::string bytes = masked(ws::kText, "frag") + masked(kPingFrame, "p") +
                            masked(ws::kFin | ws::kContinuation, "ment") + masked(kTextFrame, "x");
  wire_.send(open(1));
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    wire_.send(data(1, bytes.substr(0, cut)) + data(1, bytes.substr(cut)));
    EXPECT_EQ(frames(1), (std::vector<SeenFrame>{{kPongFrame, "p"}, {kTextFrame, "fragment"}, {kTextFrame, "x"}}))
        << cut;
  }
}

TEST_F(WsOverH2, MessagesLargerThanTheWindowPass) {
  wire_.send(settings({}) + window_update(0, 1 << 20) + open(1) + window_update(1, 1 << 20));
  const std::string payload(200'000, 'x');
  const std::string bytes = masked(kTextFrame, payload);
  for (std::size_t at = 0; at < bytes.size(); at += 16'000) wire_.send(data(1, bytes.substr(at, 16'000)));
  EXPECT_EQ(frames(1), (std::vector<SeenFrame>{{kTextFrame, payload}}));
  EXPECT_EQ(wire_.read().error(), "");
}

TEST_F(WsOverH2, ACloseEndsTheStreamAndNotTheConnection) {
  wire_.send(open(1) + open(3));
  wire_.send(data(1, masked(kCloseFrame, close_payload(1000)), true));
  EXPECT_EQ(frames(1), (std::vector<SeenFrame>{{kCloseFrame, close_payload(1000)}}));
  EXPECT_TRUE(wire_.stream(1).is_ended);
  wire_.send(data(3, masked(kTextFrame, "still here")));
  EXPECT_EQ(frames(3), (std::vector<SeenFrame>{{kTextFrame, "still here"}}));
}

TEST_F(WsOverH2, AWrongFrameIsClosedWithItsCode) {
  wire_.send(open(1) + data(1, unmasked(kTextFrame, "x")));
  const auto seen = frames(1);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(close_code_of(seen[0]), 1002);
}

TEST_F(WsOverH2, WhatIsNoHandshakeIsRefused) {
  EXPECT_EQ(wire_.ask(1, open(1, {})).status, 426);
  EXPECT_EQ(wire_.ask(3, open(3, {{"sec-websocket-version", "8"}})).status, 426);
  EXPECT_EQ(wire_.ask(5, open(5, {{"sec-websocket-version", "13"}, {"origin", "https://evil.example"}})).status, 403);
  EXPECT_EQ(wire_.ask(7, get(7, "/echo/tea")).status, 405);
  EXPECT_EQ(wire_.ask(9, open(9, {{"sec-websocket-version", "13"}}, "/none")).status, 404);
}

}  // namespace
}  // namespace violet::test
