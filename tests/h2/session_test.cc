// One connection of HTTP/2 as a server has it: prefaces, messages both ways, the forms of an answer.

#include "tests/support/h2_wire.h"

#include <gtest/gtest.h>

#include <string>

namespace violet::test {
namespace {

using h2::Code;
using h2::FrameType;

void hello(Exchange& exchange) { exchange.reply(Slice::literal("hello")); }

TEST(H2Session, AnswersAGet) {
  H2Wire wire;
  wire.service.handler = [](Exchange& exchange) {
    EXPECT_EQ(exchange.request().version, http::Version::Http2);
    EXPECT_EQ(exchange.connection().version, http::Version::Http2);
    EXPECT_EQ(exchange.request().path, "/x");
    EXPECT_EQ(exchange.request().query, "q=1");
    EXPECT_EQ(exchange.request().authority, "a");
    EXPECT_EQ(exchange.request().scheme, "http");
    EXPECT_EQ(exchange.request().fields.get("x-one"), "1");
    EXPECT_FALSE(exchange.has_body());
    hello(exchange);
  };
  const StreamReply reply = wire.ask(1, get(1, "/x?q=1", {{"x-one", "1"}}));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "hello");
  EXPECT_EQ(reply.field("content-length"), "5");
  EXPECT_EQ(reply.field("date").size(), 29u);
  EXPECT_TRUE(reply.is_ended);
  EXPECT_EQ(wire.read().error(), "");
  EXPECT_EQ(wire.session->stream_count(), 0u);
}

TEST(H2Session, AnswersTheSameByteByByteAndSplitAtEachByte) {
  const std::string bytes = std::string(h2::kPreface) + settings() + post(1, "/p", {{"x-one", "1"}}) +
                            padded_data(1, "hel", 5) + data(1, "lo", true) + settings_ack() + get(3, "/g") + ping();
  std::string whole;
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    H2Wire wire;
    wire.service.handler = Echo::serve;
    wire.connect_silently();
    if (cut == 0) {
      wire.wire->set_read_max(1);
      wire.send(bytes);
    } else {
      wire.send(bytes.substr(0, cut));
      wire.send(bytes.substr(cut));
    }
    FrameReader& reader = wire.read();
    EXPECT_EQ(reader.error(), "");
    EXPECT_EQ(reader.stream(1).body, "hello") << cut;
    EXPECT_EQ(reader.stream(3).status, 200) << cut;
    EXPECT_EQ(reader.count(FrameType::Ping, h2::flag::kAck), 1u) << cut;
    EXPECT_EQ(reader.goaway(), nullptr) << cut;
  }
}

}  // namespace
}  // namespace violet::test
