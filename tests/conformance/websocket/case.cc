#include "tests/conformance/websocket/case.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace violet::test {
namespace {

Task<> echo(WebSocket socket) {
  while (auto message = co_await socket.read()) {
    if (auto sent = co_await socket.send(*message); !sent) co_return;
  }
}

class Run {
 public:
  Run(const Case& one, const WebSocketOptions& options, std::string_view fields) : one_(one) {
    websocket(wire_.router, "/ws", echo, options);
    EXPECT_EQ(wire_.open("/ws", fields), 101);
  }
  void check(const std::vector<std::string_view>& pieces, const std::string& how) {
    Frames seen;
    for (const std::string_view piece : pieces) {
      wire_.send(piece);
      for (SeenFrame& each : wire_.frames()) seen.push_back(std::move(each));
    }
    int close_code = 0;
    if (!seen.empty() && seen.back().first == kCloseFrame) {
      close_code = close_code_of(seen.back());
      seen.pop_back();
    }
    EXPECT_EQ(close_code, one_.close_code) << one_.name << ", " << how;
    EXPECT_EQ(seen, one_.expected) << one_.name << ", " << how;
    EXPECT_EQ(wire_.is_closed(), one_.close_code != 0) << one_.name << ", " << how;
  }

 private:
  const Case& one_;
  SocketWire wire_;
};

}  // namespace

void expect_case(const Case& one, const WebSocketOptions& options, std::string_view fields) {
  constexpr std::size_t kCutsMax = 200;
  const std::string_view sent = one.sent;
  Run(one, options, fields).check({sent}, "whole");
  if (sent.size() < 5000) {
    std::vector<std::string_view> bytes;
    for (std::size_t i = 0; i < sent.size(); ++i) bytes.push_back(sent.substr(i, 1));
    Run(one, options, fields).check(bytes, "byte by byte");
  }
  const std::size_t step = std::max<std::size_t>(1, sent.size() / kCutsMax);
  for (std::size_t cut = 1; cut < sent.size(); cut += step) {
    Run(one, options, fields).check({sent.substr(0, cut), sent.substr(cut)}, "cut at " + std::to_string(cut));
    if (testing::Test::HasFailure()) return;
  }
}

std::string text(std::string_view payload) { return masked(kTextFrame, payload); }
std::string binary(std::string_view payload) { return masked(kBinaryFrame, payload); }

std::string fragments(std::uint8_t opcode, std::string_view payload, std::size_t size) {
  std::string bytes;
  std::uint8_t first = opcode;
  do {
    const std::string_view piece = payload.substr(0, size);
    payload.remove_prefix(piece.size());
    bytes += masked(static_cast<std::uint8_t>(first | (payload.empty() ? ws::kFin : 0)), piece);
    first = ws::kContinuation;
  } while (!payload.empty());
  return bytes;
}

}  // namespace violet::test
