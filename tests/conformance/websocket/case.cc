#include "tests/conformance/websocket/case.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace violet::test {
namespace {

struct Try {
  Wire wire;
  const WebSocketOptions& options;
  std::string_view fields;
};

void expect_pieces(const Case& one, const Try& with, const std::vector<std::string_view>& pieces, std::string how) {
  how = one.name + ", " + std::string(name_of(with.wire)) + ", " + how;
  const auto rig = make_rig(with.wire, with.options, with.fields);
  rig->send_pieces(pieces);
  Frames seen = rig->frames();
  int close_code = 0;
  if (!seen.empty() && seen.back().first == kCloseFrame) {
    close_code = close_code_of(seen.back());
    seen.pop_back();
  }
  EXPECT_EQ(close_code, one.close_code) << how;
  EXPECT_EQ(seen, one.expected) << how;
  EXPECT_EQ(rig->is_closed(), one.close_code != 0) << how;
}

void expect_on(const Case& one, const Try& with) {
  // A new connection for each cut: of long ones some have to do, and fewer where a connection takes longer.
  const std::size_t cuts_max = with.wire == Wire::Http2 ? 60 : 200;
  const std::string_view sent = one.sent;
  expect_pieces(one, with, {sent}, "whole");
  if (sent.size() < 5000) {
    std::vector<std::string_view> bytes;
    for (std::size_t i = 0; i < sent.size(); ++i) bytes.push_back(sent.substr(i, 1));
    expect_pieces(one, with, bytes, "byte by byte");
  }
  const std::size_t step = sent.size() > 20'000 ? sent.size() / 20 : std::max<std::size_t>(1, sent.size() / cuts_max);
  for (std::size_t cut = 1; cut < sent.size(); cut += step) {
    expect_pieces(one, with, {sent.substr(0, cut), sent.substr(cut)}, "cut at " + std::to_string(cut));
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace

void expect_case(const Case& one, const WebSocketOptions& options, std::string_view fields) {
  for (const Wire wire : kWires) {
    if (wire != Wire::Client || !one.is_of_servers) expect_on(one, {wire, options, fields});
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
