// Request bodies through a session: collected, taken piece by piece, read away; credit, Expect, limits on their size.

#include "tests/support/h1_wire.h"
#include "tests/support/reply.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace violet::test {
namespace {

using namespace std::string_literals;

std::string post(const std::string& body, const std::string& fields = "") {
  return "POST /p HTTP/1.1\r\nHost: a\r\n" + fields + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         body;
}
std::string chunk(const std::string& data) {
  char size[20];
  std::snprintf(size, sizeof size, "%zx\r\n", data.size());
  return size + data + "\r\n";
}
const std::string kChunkedHead = "POST /p HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
const std::string kGet = "GET /next HTTP/1.1\r\nHost: a\r\n\r\n";

TEST(H1Body, CollectsWhateverTheSizeAndFraming) {
  for (std::size_t size : {0u, 1u, 100u, 4096u, 16'000u, 16'384u, 20'000u, 200'000u, 1'048'576u}) {
    const std::string body = pattern(size);
    H1Wire wire;
    wire.service.handler = Echo::serve;
    EXPECT_TRUE(reply_of(wire.ask(post(body))).body == body) << size;
    std::string chunked = kChunkedHead;
    for (std::size_t at = 0; at < size; at += 7919) chunked += chunk(body.substr(at, 7919));
    EXPECT_TRUE(reply_of(wire.ask(chunked + "0\r\n\r\n")).body == body) << size;
    EXPECT_TRUE(reply_of(wire.ask(post(body))).body == body) << size;
  }
}

TEST(H1Body, HoldsACollectedBodyToItsLimit) {
  Limits limits;
  limits.body_bytes_max = 1000;
  for (bool is_chunked : {false, true}) {
    for (std::size_t size : {1000u, 1001u}) {
      H1Wire wire(limits);
      wire.service.handler = Echo::serve;
      const std::string body(size, 'b');
      const Reply reply = reply_of(wire.ask(is_chunked ? kChunkedHead + chunk(body) + "0\r\n\r\n" : post(body)));
      EXPECT_EQ(reply.status, size == 1000 ? 200 : 413);
      if (size > 1000) {
        EXPECT_NE(reply.body.find("body_bytes_max = 1000"), std::string::npos);
        EXPECT_EQ(reply.field("connection"), "close");
        EXPECT_TRUE(wire.wire->is_shut_down());
      }
    }
  }
}

TEST(H1Body, RefusesADeclaredLengthBeforeItsBodyIsSent) {
  H1Wire wire;
  wire.service.handler = [](Exchange& exchange) {
    exchange.set_body_limit(10);
    Echo::serve(exchange);
  };
  const Reply reply =
      reply_of(wire.ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\nExpect: 100-continue\r\n\r\n"));
  EXPECT_EQ(reply.status, 413);
  EXPECT_EQ(reply.field("connection"), "close");
}

TEST(H1Body, HandsPiecesToASinkAndStopsReadingWithoutCredit) {
  Limits limits;
  limits.receive_bytes_max = 20'000;
  H1Wire wire(limits);
  Sink sink;
  sink.gives_credit = false;
  sink.on_end = [](Exchange& exchange) { exchange.reply(Slice::literal("done")); };
  Ref<Exchange> held;
  wire.service.handler = [&](Exchange& exchange) {
    exchange.set_body_limit(1'000'000);
    held = exchange.hold();
    exchange.read(sink);
  };
  const std::string body = pattern(500'000);
  wire.send(post(body));
  EXPECT_FALSE(wire.wire->wants_to_read());
  EXPECT_GE(sink.owed, 20'000u);
  EXPECT_LE(sink.owed, 20'000u + Block::capacity()) << "at most one read beyond the limit";
  EXPECT_GT(wire.wire->unread_bytes(), 400'000u);
  // One byte less than what brings it under the limit: still nothing.
  const std::size_t step = sink.owed - 20'000 + 1;
  held->credit(step - 1);
  sink.owed -= step - 1;
  wire.settle();
  EXPECT_FALSE(wire.wire->wants_to_read());
  for (int turn = 0; turn < 10'000 && sink.end_count == 0; ++turn) {
    held->credit(std::exchange(sink.owed, 0));
    wire.settle();
    ASSERT_LE(sink.owed, 20'000u + Block::capacity());
  }
  EXPECT_TRUE(sink.text == body);
  EXPECT_EQ(sink.end_count, 1);
  EXPECT_EQ(sink.error_count, 0);
  EXPECT_EQ(reply_of(wire.wire->take()).body, "done");
  held = {};
  wire.service.handler = Echo::serve;
  EXPECT_EQ(reply_of(wire.ask(post("again"))).body, "again");
}

TEST(H1Body, NobodyAskingKeepsTheBodyInTheSocket) {
  Limits limits;
  limits.receive_bytes_max = 20'000;
  H1Wire wire(limits);
  wire.service.handler = [&](Exchange& exchange) { wire.service.hold(exchange); };
  const std::string body = pattern(200'000);
  wire.send(post(body));
  EXPECT_FALSE(wire.wire->wants_to_read());
  EXPECT_GT(wire.wire->unread_bytes(), 150'000u);
  Echo::serve(*wire.service.held[0]);
  wire.settle();
  EXPECT_TRUE(reply_of(wire.wire->take()).body == body);
}

TEST(H1Body, ReadsAnUnwantedBodyAwayAndKeepsTheConnection) {
  H1Wire wire;
  wire.service.handler = [](Exchange& exchange) { exchange.reply(Slice::literal("no thanks")); };
  const auto replies =
      replies_of(wire.ask(post(pattern(100'000)) + kGet + kChunkedHead + chunk("x") + "0\r\n\r\n" + kGet));
  EXPECT_EQ(replies.size(), 4u);
  EXPECT_FALSE(wire.is_closed());
}

TEST(H1Body, ClosesRatherThanReadTooMuchAway) {
  Limits limits;
  limits.discard_bytes_max = 10'000;
  limits.body_bytes_max = 100'000'000;
  for (std::size_t size : {10'000u, 10'001u}) {
    H1Wire wire(limits);
    wire.service.handler = [](Exchange& exchange) { exchange.reply(Slice::literal("no")); };
    const std::string bytes = post(pattern(size)) + kGet;
    const std::string head = bytes.substr(0, bytes.find("\r\n\r\n") + 4);
    const Reply reply = reply_of(wire.ask(head));
    EXPECT_EQ(reply.field("connection"), size == 10'000 ? "" : "close") << size;
    const std::string rest = wire.ask(bytes.substr(head.size()));
    EXPECT_EQ(replies_of(rest).size(), size == 10'000 ? 1u : 0u);
  }
  // A chunked body does not say how long it is: it is read away up to the limit, then the connection ends.
  H1Wire wire(limits);
  wire.service.handler = [](Exchange& exchange) { exchange.reply(Slice::literal("no")); };
  EXPECT_EQ(reply_of(wire.ask(kChunkedHead)).status, 200);
  for (int i = 0; i < 20; ++i) wire.send(chunk(std::string(1000, 'x')));
  EXPECT_TRUE(wire.wire->is_shut_down());
  EXPECT_EQ(wire.wire->take(), "");
}

TEST(H1Body, SendsContinueWhenTheBodyIsAskedFor) {
  H1Wire wire;
  wire.service.handler = Echo::serve;
  const std::string head = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 5\r\n\r\n";
  const Reply go = reply_of(wire.ask(head));
  EXPECT_EQ(go.status, 100);
  EXPECT_TRUE(go.fields.empty());
  EXPECT_EQ(reply_of(wire.ask("hello")).body, "hello");
  // A body that comes along needs no invitation.
  EXPECT_EQ(replies_of(wire.ask(head + "hello")).back().body, "hello");
  // Nor does a request without a body.
  EXPECT_EQ(reply_of(wire.ask("GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n")).status, 200);
  // An HTTP/1.0 client knows no 100 (RFC 9110 §10.1.1).
  EXPECT_EQ(wire.ask("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"), "");
  EXPECT_EQ(reply_of(wire.ask("hi")).body, "hi");
}

TEST(H1Body, AnswersWithoutContinueByClosing) {
  H1Wire wire;
  wire.service.handler = [](Exchange& exchange) { exchange.refuse(Error(ErrorKind::NotFound)); };
  const Reply reply =
      reply_of(wire.ask("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"));
  EXPECT_EQ(reply.status, 404);
  EXPECT_EQ(reply.field("connection"), "close");
  EXPECT_EQ(wire.ask("hello" + kGet), "") << "whether the body follows is unknown: nothing more is taken as a request";
}

TEST(H1Body, RefusesOtherExpectations) {
  for (const char* expect : {"200-ok", "100-continue, x", "", "100continue"}) {
    H1Wire wire;
    wire.service.handler = Echo::serve;
    EXPECT_EQ(
        reply_of(wire.ask("POST / HTTP/1.1\r\nHost: a\r\nExpect: "s + expect + "\r\nContent-Length: 5\r\n\r\n")).status,
        417)
        << expect;
    EXPECT_EQ(wire.service.call_count, 0u);
  }
}

TEST(H1Body, AWaitingClientIsNotTimedOutBeforeItIsInvited) {
  Limits limits;
  limits.body_grace_ms = 30;
  H1Wire wire(limits);
  wire.service.handler = [&](Exchange& exchange) { wire.service.hold(exchange); };
  wire.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  EXPECT_FALSE(wire.until([&] { return wire.is_closed() || !wire.wire->written().empty(); }, 120));
  Echo::serve(*wire.service.held[0]);
  wire.settle();
  EXPECT_EQ(reply_of(wire.wire->take()).status, 100);
  // From here on the client's time runs.
  ASSERT_TRUE(wire.until([&] { return !wire.wire->written().empty(); }));
  EXPECT_EQ(reply_of(wire.wire->take()).status, 408);
}

TEST(H1Body, EveryBrokenChunkIsA400AndAClose) {
  for (const std::string& rest :
       {"x\r\n"s, "5\r\nhelloXX0\r\n\r\n"s, "5\r\nhello\n0\r\n\r\n"s, "5\r\nhello\rX"s, "5\nhello\r\n0\r\n\r\n"s,
        "5 \r\nhello\r\n0\r\n\r\n"s, "-1\r\n"s, "0\r\nX : 1\r\n\r\n"s, "0\r\n\n"s, "5;\r\nhello\r\n0\r\n\r\n"s,
        "ffffffffffffffff1\r\n"s, "0\r\nGET / HTTP/1.1\r\n\r\n"s}) {
    for (std::size_t step : {~std::size_t{0}, std::size_t{1}}) {
      H1Wire wire;
      wire.wire->set_read_max(step);
      wire.service.handler = Echo::serve;
      const Reply reply = reply_of(wire.ask(kChunkedHead + rest + kGet));
      EXPECT_EQ(reply.status, 400) << rest;
      EXPECT_EQ(reply.field("connection"), "close");
      EXPECT_TRUE(wire.wire->is_shut_down());
    }
  }
}

TEST(H1Body, ASinkHearsOfABrokenBodyOnce) {
  H1Wire wire;
  Sink sink;
  wire.service.handler = [&](Exchange& exchange) { exchange.read(sink); };
  EXPECT_EQ(reply_of(wire.ask(kChunkedHead + chunk("good") + "bad\n")).status, 400);
  EXPECT_EQ(sink.text, "good");
  EXPECT_EQ(sink.error_count, 1);
  EXPECT_EQ(sink.end_count, 0);
  EXPECT_EQ(sink.error.kind(), ErrorKind::Protocol);
}

TEST(H1Body, HoldsChunkFramingToItsBudgets) {
  Limits limits;
  limits.chunk_extension_bytes_max = 1000;
  limits.chunk_overhead_bytes_max = 500;
  {
    H1Wire wire(limits);  // many small extensions add up
    wire.service.handler = Echo::serve;
    std::string bytes = kChunkedHead;
    for (int i = 0; i < 200; ++i) bytes += "20;" + std::string(9, 'e') + "\r\n" + std::string(32, 'd') + "\r\n";
    const Reply reply = reply_of(wire.ask(bytes));
    EXPECT_EQ(reply.status, 413);
    EXPECT_NE(reply.body.find("chunk_extension_bytes_max"), std::string::npos);
  }
  {
    H1Wire wire(limits);  // one byte a chunk costs 5 bytes of framing: within eight
    wire.service.handler = Echo::serve;
    std::string bytes = kChunkedHead;
    for (int i = 0; i < 1000; ++i) bytes += chunk("d");
    EXPECT_EQ(reply_of(wire.ask(bytes + "0\r\n\r\n")).body, std::string(1000, 'd'));
  }
  {
    H1Wire wire(limits);  // leading zeros make it 19
    wire.service.handler = Echo::serve;
    std::string bytes = kChunkedHead;
    for (int i = 0; i < 1000; ++i) bytes += "000000000000001\r\nd\r\n";
    const Reply reply = reply_of(wire.ask(bytes));
    EXPECT_EQ(reply.status, 413);
    EXPECT_NE(reply.body.find("chunk_overhead_bytes_max"), std::string::npos);
  }
}

TEST(H1Body, AnAnswerMayLeaveBeforeTheBodyHasEnded) {
  H1Wire wire;
  Sink sink;
  PushSource::Watch watch;
  wire.service.handler = [&](Exchange& exchange) {
    exchange.read(sink);
    exchange.reply(Body(SourcePtr(new PushSource(watch))));
  };
  sink.on_piece = [&](Exchange&, std::string_view text) {
    watch.source->push(text);
    watch.source->wake();
  };
  sink.on_end = [&](Exchange&) {
    watch.source->end();
    watch.source->wake();
  };
  ReplyReader reader;
  reader.add(wire.ask(kChunkedHead + chunk("one")));
  EXPECT_NE(reader.rest().find("one"), std::string::npos) << "duplex: the first piece is answered at once";
  reader.add(wire.ask(chunk("two")));
  reader.add(wire.ask("0\r\n\r\n"));
  const auto reply = reader.next();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->body, "onetwo");
  EXPECT_FALSE(wire.is_closed());
}

}  // namespace
}  // namespace violet::test
