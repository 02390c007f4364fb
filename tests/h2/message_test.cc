// Requests and answers: what is malformed, what is refused, and the forms of a message (RFC 9113 §8).

#include "tests/h2/verdicts.h"

#include <gtest/gtest.h>

#include <string>

namespace violet::test {
namespace {

using h2::Code;

TEST(H2Message, MalformedRequestsAreReset) {
  const FieldList good = request("GET", "/");
  const auto without = [&](std::string_view name) {
    FieldList fields;
    for (const auto& field : good) {
      if (field.first != name) fields.push_back(field);
    }
    return fields;
  };
  const auto with = [&](std::string_view name, std::string_view value) {
    FieldList fields = good;
    fields.emplace_back(name, value);
    return fields;
  };
  for (const FieldList& fields : {
           with("X-Upper", "1"),
           with("connection", "close"),
           with("keep-alive", "1"),
           with("proxy-connection", "1"),
           with("transfer-encoding", "chunked"),
           with("upgrade", "h2c"),
           with("te", "gzip"),
           with("te", "trailers, gzip"),
           without(":method"),
           without(":scheme"),
           without(":path"),
           without(":authority"),
           with(":method", "GET"),
           with(":path", "/"),
           with(":scheme", "http"),
           with(":authority", "a"),
           with(":status", "200"),
           with(":unknown", "1"),
           with("", "1"),
           with("x y", "1"),
           with("x:y", "1"),
           with("x", "a\rb"),
           with("x", "a\nb"),
           with("x", std::string_view("a\0b", 3)),
           with("x", " a"),
           with("x", "a\t"),
           with("x", "a\x7f"),
           with("host", "b"),
           request("GET", "/", {{"content-type", "text/html"}, {"content-type", "text/plain"}}),
           with("content-length", "x"),
           with("content-length", "-1"),
           with("content-length", "5"),
           with("content-length", "99999999999999999999"),
           FieldList{{":method", "GET"}, {":scheme", "http"}, {"x", "1"}, {":path", "/"}, {":authority", "a"}},
           FieldList{{":method", "GET"}, {":scheme", "http"}, {":path", ""}, {":authority", "a"}},
           FieldList{{":method", "GET"}, {":scheme", "http"}, {":path", "x"}, {":authority", "a"}},
           FieldList{{":method", "GET"}, {":scheme", "http"}, {":path", "*"}, {":authority", "a"}},
           FieldList{{":method", "GET"}, {":scheme", "http"}, {":path", "http://a/"}, {":authority", "a"}},
           FieldList{{":method", "GET"}, {":scheme", "http"}, {":path", "/ x"}, {":authority", "a"}},
           FieldList{{":method", "GET"}, {":scheme", "http"}, {":path", "/#x"}, {":authority", "a"}},
           FieldList{{":method", "GET"}, {":scheme", "ftp"}, {":path", "/"}, {":authority", "a"}},
           FieldList{{":method", "GET"}, {":scheme", "http"}, {":path", "/"}, {":authority", "u@a"}},
           FieldList{{":method", "G T"}, {":scheme", "http"}, {":path", "/"}, {":authority", "a"}},
           FieldList{{":method", ""}, {":scheme", "http"}, {":path", "/"}, {":authority", "a"}},
           FieldList{{":method", "CONNECT"}, {":scheme", "http"}, {":path", "/"}, {":authority", "a:1"}},
           FieldList{{":method", "CONNECT"}, {":authority", "a"}},
           FieldList{{":method", "CONNECT"}, {":protocol", "x"}, {":authority", "a:1"}},
           FieldList{{":method", "GET"}, {":protocol", "x"}, {":scheme", "http"}, {":path", "/"}, {":authority", "a"}},
       }) {
    SCOPED_TRACE(testing::PrintToString(fields));
    H2Wire wire;
    wire.service.handler = Echo::serve;
    wire.send(headers(1, fields));
    EXPECT_TRUE(wire.stream(1).is_reset);
    EXPECT_EQ(wire.stream(1).code, Code::ProtocolError);
    EXPECT_EQ(wire.service.call_count, 0u) << "the handler must not run";
    EXPECT_FALSE(wire.goaway().has_value());
    EXPECT_EQ(wire.ask(3, get(3)).status, 200);
  }
  expect_stream_error(headers(1, with("te", "gzip")), 1, Code::ProtocolError);
}

TEST(H2Message, AnEmptyHeadBehindOthersIsMalformed) {
  H2Wire wire;
  wire.service.handler = Echo::serve;
  // Blocks like these are remembered from the first on.
  const std::string known = test::block(request("GET", "/"));
  for (std::uint32_t id = 1; id < 7; id += 2) ASSERT_EQ(wire.ask(id, headers(id, known)).status, 200);
  EXPECT_EQ(wire.ask(7, headers(7, "")).code, Code::ProtocolError);
  EXPECT_EQ(wire.ask(9, headers(9, "", true, false) + continuation(9, "")).code, Code::ProtocolError);
  EXPECT_EQ(wire.ask(11, headers(11, known)).status, 200);
}

TEST(H2Message, WellFormedRequestsAreTaken) {
  for (const FieldList& fields : {
           request("GET", "/", {{"te", "trailers"}}),
           request("GET", "/", {{"content-type", "text/html"}, {"content-type", "text/html"}}),
           request("OPTIONS", "*"),
           request("GET", "/a%20b?x=y&z"),
           request("GET", "/", {{"host", "A"}}),
           FieldList{{":method", "GET"}, {":scheme", "https"}, {":path", "/"}, {"host", "example.com:8443"}},
           FieldList{{":path", "/"}, {":authority", "[::1]:80"}, {":method", "BREW"}, {":scheme", "http"}},
       }) {
    H2Wire wire;
    wire.service.handler = Echo::serve;
    EXPECT_EQ(wire.ask(1, headers(1, fields)).status, 200) << testing::PrintToString(fields);
  }
}

TEST(H2Message, ContentLengthIsKeptToByData) {
  for (const std::string& bytes :
       {data(1, "12345", true), data(1, "123456789012345"), data(1, "1") + data(1, "", true)}) {
    const std::string all = post(1, "/", {{"content-length", "10"}}) + bytes;
    expect_stream_error(all, 1, Code::ProtocolError);
    H2Wire wire;
    Sink sink;
    wire.service.handler = [&](Exchange& exchange) {
      wire.service.hold(exchange);
      exchange.read(sink);
    };
    wire.send(all);
    EXPECT_EQ(sink.error_count, 1) << "the handler sees the failure";
    EXPECT_EQ(sink.error.kind(), ErrorKind::Protocol);
    EXPECT_EQ(sink.end_count, 0);
    wire.service.held.clear();
  }
  in_each_cut(
      post(1, "/", {{"content-length", "5"}}) + data(1, "he") + data(1, "") + data(1, "llo") + data(1, "", true),
      [](H2Wire& wire) { EXPECT_EQ(wire.stream(1).body, "hello"); });
}

TEST(H2Message, CookiesAreJoined) {
  H2Wire wire;
  std::string seen;
  std::size_t count = 0;
  wire.service.handler = [&](Exchange& exchange) {
    seen = exchange.request().fields.get(http::FieldId::Cookie);
    for (const http::Field& field : exchange.request().fields) count += field.id == http::FieldId::Cookie ? 1 : 0;
    exchange.reply();
  };
  wire.send(get(1, "/", {{"cookie", "a=1"}, {"x", "1"}, {"cookie", "b=2"}, {"cookie", "c=3"}}));
  EXPECT_EQ(seen, "a=1; b=2; c=3");
  EXPECT_EQ(count, 1u);
}

TEST(H2Message, TooMuchIsRefusedByItsLimit) {
  Limits limits;
  limits.field_bytes_max = 1000;
  limits.field_count_max = 10;
  limits.request_line_bytes_max = 100;
  expect_answer(get(1, "/", {{"x", std::string(1000, 'x')}}), 1, 431, limits);
  FieldList many;
  for (int i = 0; i < 11; ++i) many.emplace_back("x" + std::to_string(i), "1");
  expect_answer(get(1, "/", many), 1, 431, limits);
  expect_answer(get(1, "/" + std::string(100, 'x')), 1, 414, limits);
  H2Wire wire(limits);
  // A body that follows is neither waited for nor handed up.
  wire.send(headers(1, request("POST", "/", many), false) + data(1, "more"));
  EXPECT_EQ(wire.stream(1).status, 431);
  EXPECT_NE(wire.stream(1).body.find("field_count_max"), std::string::npos);
  EXPECT_TRUE(wire.stream(1).is_ended);
  EXPECT_TRUE(wire.stream(1).is_reset);
  EXPECT_EQ(wire.stream(1).code, Code::NoError);
  EXPECT_EQ(wire.session->stream_count(), 0u);
}

// The stream that a refused head has used is used again, by a request that has a body.
TEST(H2Message, ARefusedHeadLeavesNothingToTheNextRequest) {
  Limits limits;
  limits.request_line_bytes_max = 100;
  H2Wire wire(limits);
  wire.service.handler = Echo::serve;
  for (std::uint32_t id = 1; id < 9; id += 4) {
    wire.send(get(id, "/" + std::string(100, 'x')));
    EXPECT_EQ(wire.stream(id).status, 414);
    wire.send(post(id + 2) + data(id + 2, "hello", true));
    EXPECT_EQ(wire.stream(id + 2).status, 200);
    EXPECT_NE(wire.stream(id + 2).body.find("hello"), std::string::npos);
  }
}

TEST(H2Message, ABombIsUnpackedOnlyAsFarAsItsBudget) {
  using std::string_literals::operator""s;
  // An entry of nearly 4 KiB, then indices to it: 64 MiB if they were all stored.
  std::string block = test::block(request("GET", "/")) + "\x40\x01x\x7f\x81\x1e"s + std::string(4000, 'b');
  block += std::string(16'000 - block.size(), '\xbe');
  H2Wire wire;
  wire.service.handler = Echo::serve;
  wire.send(headers(1, block));
  EXPECT_EQ(wire.stream(1).status, 431);
  EXPECT_LT(wire.shared.scratch.heap_bytes(), 200'000u);
  EXPECT_EQ(wire.ask(3, get(3)).status, 200);
}

TEST(H2Message, SomeAnswersHaveNoBody) {
  H2Wire wire;
  wire.service.handler = [](Exchange& exchange) {
    const std::string_view path = exchange.request().path;
    if (path == "/204") exchange.response().status = 204;
    if (path == "/304") exchange.response().status = 304;
    exchange.reply(Slice::literal("body"));
  };
  const StreamReply head = wire.ask(1, headers(1, request("HEAD", "/")));
  EXPECT_EQ(head.field("content-length"), "4");
  EXPECT_TRUE(head.is_ended && head.body.empty());
  for (const auto& [id, path, status] : {std::tuple(3u, "/204", 204), std::tuple(5u, "/304", 304)}) {
    const StreamReply reply = wire.ask(id, get(id, path));
    EXPECT_EQ(reply.status, status);
    EXPECT_TRUE(reply.is_ended && reply.body.empty());
    EXPECT_EQ(reply.frame_count, 1u);
    EXPECT_EQ(reply.field("content-length"), "");
  }
}

TEST(H2Message, ExpectIsAnsweredWhenTheBodyIsAskedFor) {
  H2Wire wire;
  wire.service.handler = Echo::serve;
  wire.send(post(1, "/", {{"expect", "100-continue"}}));
  EXPECT_EQ(wire.stream(1).informational, std::vector<int>{100});
  EXPECT_EQ(wire.ask(1, data(1, "hello", true)).body, "hello");
  // A final answer instead: nothing more is waited for.
  wire.service.handler = [](Exchange& exchange) { exchange.reply(Slice::literal("no")); };
  wire.send(post(3, "/", {{"expect", "100-continue"}}));
  EXPECT_EQ(wire.stream(3).informational, std::vector<int>{});
  EXPECT_EQ(wire.stream(3).body, "no");
  EXPECT_TRUE(wire.stream(3).is_reset);
  EXPECT_EQ(wire.stream(3).code, Code::NoError);
  EXPECT_EQ(wire.ask(5, post(5, "/", {{"expect", "200-ok"}})).status, 417);
}

TEST(H2Message, TrailersAreNeverMergedAndMayNotFrame) {
  H2Wire wire;
  std::string seen;
  WithBody waiter([&](Exchange& exchange) {
    for (const http::Field& field : *exchange.request_trailers()) seen += std::string(field.name) + ";";
    EXPECT_FALSE(exchange.request().fields.has("x-t"));
    exchange.reply();
  });
  wire.service.handler = [&](Exchange& exchange) { exchange.collect(waiter); };
  wire.send(post(1) + data(1, "x") + headers(1, FieldList{{"x-t", "1"}, {"content-length", "9"}, {"cookie", "a"}}));
  EXPECT_EQ(seen, "x-t;");
  expect_stream_error(post(1) + headers(1, FieldList{{"x-t", "1"}}, false), 1, Code::ProtocolError);
  expect_stream_error(post(1) + headers(1, FieldList{{":path", "/"}}), 1, Code::ProtocolError);
  expect_stream_error(post(1) + headers(1, FieldList{{"connection", "close"}}), 1, Code::ProtocolError);
  Limits limits;
  limits.trailer_bytes_max = 100;
  expect_answer(post(1) + headers(1, FieldList{{"x-t", std::string(200, 'x')}}), 1, 431, limits);
}

TEST(H2Message, ExtendedConnectBecomesATunnelOrNot) {
  const FieldList fields{
      {":method", "CONNECT"}, {":protocol", "websocket"}, {":scheme", "http"}, {":path", "/chat"}, {":authority", "a"}};
  H2Wire wire;
  wire.service.handler = [](Exchange& exchange) {
    EXPECT_EQ(exchange.request().protocol, "websocket");
    EXPECT_EQ(exchange.request().path, "/chat");
    EXPECT_EQ(exchange.request().method, http::Method::Connect);
    EXPECT_FALSE(exchange.has_body());
    exchange.response().status = 404;
    exchange.reply(Slice::literal("none"));
  };
  // What came behind it was for the tunnel and is for nobody now.
  const StreamReply reply = wire.ask(1, headers(1, fields, false) + data(1, "frames"));
  EXPECT_EQ(reply.status, 404);
  EXPECT_EQ(reply.body, "none");
  EXPECT_TRUE(reply.is_ended);
  EXPECT_EQ(reply.code, Code::NoError);
  EXPECT_EQ(wire.session->stream_count(), 0u);
  EXPECT_EQ(wire.service.call_count, 1u);
}

}  // namespace
}  // namespace violet::test
