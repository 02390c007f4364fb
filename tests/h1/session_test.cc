#include "violet/h1/session.h"

#include "tests/support/h1_wire.h"
#include "tests/support/reply.h"
#include "violet/base/log.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace violet::test {
namespace {

using namespace std::string_literals;

std::string get(const std::string& path, const std::string& more = "") {
  return "GET " + path + " HTTP/1.1\r\nHost: a\r\n" + more + "\r\n";
}

void say_path(Exchange& exchange) { exchange.reply(Slice::borrowed(exchange.request().path)); }

TEST(H1Session, AnswersARequest) {
  H1Wire wire;
  wire.service.handler = say_path;
  const Reply reply = reply_of(wire.ask(get("/hello?x")));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.version, "HTTP/1.1");
  EXPECT_EQ(reply.body, "/hello");
  EXPECT_EQ(reply.field("content-length"), "6");
  EXPECT_EQ(reply.field("date").size(), 29u);
  EXPECT_FALSE(reply.has("connection"));
  EXPECT_FALSE(wire.is_closed());
}

// One conversation of everything that has to be resumable, cut in two at every byte, and fed byte by byte: the answers
// must be the same to the byte.
TEST(H1Session, IsResumableAtEveryByte) {
  const std::string bytes = get("/first", "X-Long: " + std::string(300, 'v') + "\r\n") + "\r\n" +
                            "POST /length HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\nhello world" +
                            "POST /chunked HTTP/1.1\r\nTransfer-Encoding: chunked\r\nHost: a\r\n\r\n"
                            "5;a=\"b\"\r\nhello\r\n1\r\n \r\n05\r\nworld\r\n0;last\r\nX-Sum: 7\r\nHost: no\r\n\r\n" +
                            "HEAD /head HTTP/1.1\r\nHost: a\r\n\r\n" + "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n" +
                            get("/last", "Connection: close\r\n");
  const auto handler = [](Exchange& exchange) {
    exchange.collect(*exchange.arena().make<WithBody>([](Exchange& whole) {
      std::string text(whole.request().method_text);
      text.append(" ").append(whole.request().path).append(" ").append(whole.body());
      if (whole.request_trailers() != nullptr) {
        for (const auto& field : *whole.request_trailers()) text.append("|").append(field.name).append(field.value);
      }
      whole.response().fields.push(http::FieldId::Date, "x");
      whole.reply(Slice::of(text));
    }));
  };
  std::string expected;
  {
    H1Wire wire;
    wire.service.handler = handler;
    expected = wire.ask(bytes);
    EXPECT_TRUE(wire.is_closed());
    EXPECT_NE(expected.find("POST /length hello world"), std::string::npos);
    EXPECT_NE(expected.find("POST /chunked hello world|X-Sum7"), std::string::npos);
    EXPECT_NE(expected.find("GET /last "), std::string::npos);
  }
  for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
    H1Wire wire;
    wire.service.handler = handler;
    std::string answer = wire.ask(bytes.substr(0, cut));
    answer += wire.ask(bytes.substr(cut));
    ASSERT_EQ(answer, expected) << "cut at " << cut;
    ASSERT_TRUE(wire.is_gone()) << cut;
  }
  for (std::size_t step : {1, 2, 3, 7, 64}) {
    H1Wire wire;
    wire.service.handler = handler;
    wire.wire->set_read_max(step);
    ASSERT_EQ(wire.ask(bytes), expected) << "in steps of " << step;
  }
}

TEST(H1Session, SecondAnswerDoesNotCarryTheFirstOnesFields) {
  H1Wire wire;
  wire.service.handler = [](Exchange& exchange) {
    if (exchange.request().path == "/first") {
      ASSERT_TRUE(exchange.response().fields.add("X-Secret", "1"));
      ASSERT_TRUE(exchange.response().fields.add("Set-Cookie", "a=b"));
      exchange.response().status = 201;
    } else {
      EXPECT_TRUE(exchange.response().fields.is_empty());
      EXPECT_FALSE(exchange.request().fields.has("X-First"));
      EXPECT_EQ(exchange.body(), "");
      EXPECT_EQ(exchange.context, nullptr);
    }
    exchange.context = &exchange;
    exchange.reply(Slice::literal("x"));
  };
  const Reply first = reply_of(wire.ask(get("/first", "X-First: 1\r\n")));
  EXPECT_EQ(first.status, 201);
  EXPECT_EQ(first.field("x-secret"), "1");  // the control: the field would be seen
  const Reply second = reply_of(wire.ask(get("/second")));
  EXPECT_EQ(second.status, 200);
  EXPECT_FALSE(second.has("x-secret"));
  EXPECT_FALSE(second.has("set-cookie"));
}

TEST(H1Session, HeadDiffersFromGetOnlyByTheBody) {
  H1Wire wire;
  wire.service.handler = [](Exchange& exchange) {
    ASSERT_TRUE(exchange.response().fields.add("ETag", "\"1\""));
    exchange.reply(Slice::literal("0123456789"));
  };
  const std::string whole = wire.ask(get("/"));
  const std::string head = wire.ask("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(head + "0123456789", whole);
  // And the next answer has its body again.
  EXPECT_EQ(reply_of(wire.ask(get("/"))).body, "0123456789");
}

TEST(H1Session, AnswersHeadWithoutAskingTheSource) {
  H1Wire wire;
  PushSource::Watch watch;
  wire.service.handler = [&](Exchange& exchange) { exchange.reply(Body(SourcePtr(new PushSource(watch)))); };
  const Reply reply = reply_of(wire.ask("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"), {.is_head = true});
  EXPECT_TRUE(reply.is_chunked);
  EXPECT_EQ(watch.pull_count, 0u);
  EXPECT_EQ(watch.death_count, 1);
}

TEST(H1Session, SendsNoBodyWith204And304) {
  for (int status : {204, 304}) {
    H1Wire wire;
    wire.service.handler = [status](Exchange& exchange) {
      exchange.response().status = static_cast<std::uint16_t>(exchange.request().path == "/x" ? status : 200);
      exchange.reply(Slice::literal("body"));
    };
    const auto replies = replies_of(wire.ask(get("/x") + get("/y")));
    ASSERT_EQ(replies.size(), 2u);
    EXPECT_EQ(replies[0].status, status);
    EXPECT_FALSE(replies[0].has("content-length"));
    EXPECT_FALSE(replies[0].has("transfer-encoding"));
    EXPECT_EQ(replies[1].body, "body");
  }
}

TEST(H1Session, KeepsTheConnectionAsVersionAndConnectionSay) {
  struct Case {
    const char* version;
    const char* fields;
    bool is_kept;
    const char* connection;
  };
  for (const Case& c :
       {Case{"1.1", "", true, ""}, Case{"1.1", "Connection: close\r\n", false, "close"},
        Case{"1.1", "Connection: keep-alive\r\n", true, ""}, Case{"1.1", "Connection: x, close\r\n", false, "close"},
        Case{"1.0", "", false, "close"}, Case{"1.0", "Connection: keep-alive\r\n", true, "keep-alive"},
        Case{"1.0", "Connection: Keep-Alive, x\r\n", true, "keep-alive"},
        Case{"1.0", "Connection: keep-alive, close\r\n", false, "close"}}) {
    H1Wire wire;
    wire.service.handler = say_path;
    const Reply reply = reply_of(wire.ask("GET /x HTTP/"s + c.version + "\r\nHost: a\r\n" + c.fields + "\r\n"));
    EXPECT_EQ(reply.version, "HTTP/1.1");
    EXPECT_EQ(reply.body, "/x");
    EXPECT_EQ(reply.field("connection"), c.connection) << c.version << " " << c.fields;
    EXPECT_EQ(wire.is_closed(), !c.is_kept) << c.version << " " << c.fields;
    if (c.is_kept) {
      EXPECT_EQ(reply_of(wire.ask(get("/again"))).body, "/again");
    }
  }
}

TEST(H1Session, IgnoresWhatFollowsARequestThatCloses) {
  H1Wire wire;
  wire.service.handler = say_path;
  const Reply reply = reply_of(wire.ask(get("/one", "Connection: close\r\n") + get("/two")));
  EXPECT_EQ(reply.body, "/one");
  EXPECT_EQ(wire.service.call_count, 1u);
}

TEST(H1Session, Answers1Point0WithALengthOrByClosing) {
  H1Wire wire;
  wire.service.handler = [](Exchange& exchange) { exchange.reply(Body(SourcePtr(new PatternSource(100'000, 5000)))); };
  const std::string bytes = wire.ask("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_TRUE(wire.wire->is_shut_down());
  const Reply reply = reply_of(bytes, {.is_ended = true});
  EXPECT_TRUE(reply.ends_with_close);
  EXPECT_FALSE(reply.is_chunked);
  EXPECT_EQ(reply.field("connection"), "close");
  EXPECT_EQ(reply.body, pattern(100'000));
}

TEST(H1Session, RefusesAMalformedRequestOnceAndCloses) {
  for (const char* bad :
       {"GET / HTTP/1.1\r\n\r\n", "GET /\r\n\r\n", "\x16\x03\x01\x02", "GET / HTTP/1.1\nHost: a\n\n"}) {
    H1Wire wire;
    wire.service.handler = say_path;
    const auto replies = replies_of(wire.ask(get("/good") + bad + get("/after")));
    ASSERT_EQ(replies.size(), 2u) << bad;
    EXPECT_EQ(replies[0].body, "/good");
    EXPECT_EQ(replies[1].status, 400);
    EXPECT_EQ(replies[1].field("connection"), "close");
    EXPECT_TRUE(wire.wire->is_shut_down());
    EXPECT_EQ(wire.service.call_count, 1u);
    wire.wire->feed_end();
    wire.settle();
    EXPECT_TRUE(wire.is_gone());
  }
}

TEST(H1Session, TurnsAThrowingHandlerIntoA500AndGoesOn) {
  H1Wire wire;
  set_log_level(LogLevel::Off);
  wire.service.handler = [](Exchange& exchange) {
    if (exchange.request().path == "/throw") throw std::runtime_error("secret");
    if (exchange.request().path == "/number") throw 5;
    if (exchange.request().path == "/nothing") return;
    if (exchange.request().path == "/late") {
      exchange.reply(Slice::literal("answered"));
      throw std::runtime_error("late");
    }
    exchange.reply(Slice::literal("good"));
  };
  const auto replies = replies_of(wire.ask(get("/throw") + get("/number") + get("/nothing") + get("/good")));
  ASSERT_EQ(replies.size(), 4u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(replies[static_cast<std::size_t>(i)].status, 500);
    EXPECT_EQ(replies[static_cast<std::size_t>(i)].body.find("secret"), std::string::npos);
  }
  EXPECT_NE(replies[0].body.find("error id "), std::string::npos);
  EXPECT_EQ(replies[3].body, "good");
  wire.send(get("/late"));
  EXPECT_TRUE(wire.is_closed());
  set_log_level(LogLevel::Info);
}

TEST(H1Session, AStatusThatEndsNothingBecomesA500) {
  set_log_level(LogLevel::Off);
  for (int status : {0, 1, 42, 99, 100, 101, 199, 1000, 65535}) {
    H1Wire wire;
    wire.service.handler = [status](Exchange& exchange) {
      exchange.response().status = static_cast<std::uint16_t>(status);
      exchange.reply(Slice::literal("x"));
    };
    EXPECT_EQ(reply_of(wire.ask(get("/"))).status, 500) << status;
  }
  set_log_level(LogLevel::Info);
}

TEST(H1Session, SendsInformationalHeadsFirst) {
  H1Wire wire;
  wire.service.handler = [](Exchange& exchange) {
    http::Head hints(exchange.arena());
    hints.status = 103;
    ASSERT_TRUE(hints.fields.add("Link", "</a>"));
    exchange.inform(hints);
    exchange.inform(hints);
    exchange.reply(Slice::literal("x"));
    exchange.inform(hints);  // too late: nothing
  };
  const auto replies = replies_of(wire.ask(get("/")));
  ASSERT_EQ(replies.size(), 3u);
  EXPECT_EQ(replies[0].status, 103);
  EXPECT_EQ(replies[0].field("link"), "</a>");
  EXPECT_FALSE(replies[0].has("date"));
  EXPECT_EQ(replies[2].status, 200);
  // HTTP/1.0 knows no 1xx (RFC 9110 §15.2).
  EXPECT_EQ(reply_of(wire.ask("GET / HTTP/1.0\r\n\r\n")).status, 200);
}

TEST(H1Session, OnlyTheFirstAnswerCounts) {
  H1Wire wire;
  wire.service.handler = [](Exchange& exchange) {
    EXPECT_TRUE(exchange.reply(Slice::literal("one")));
    EXPECT_FALSE(exchange.reply(Slice::literal("two")));
    EXPECT_FALSE(exchange.refuse(Error(ErrorKind::NotFound)));
  };
  EXPECT_EQ(reply_of(wire.ask(get("/"))).body, "one");
}

TEST(H1Session, NamesTheServerOnceAndOnlyWhenAsked) {
  H1Wire wire;
  wire.service.handler = [](Exchange& exchange) {
    if (exchange.request().path == "/own") {
      ASSERT_TRUE(exchange.response().fields.add("Server", "origin"));
    }
    exchange.reply();
  };
  EXPECT_FALSE(reply_of(wire.ask(get("/"))).has("server"));
  wire.site.server_name = "violet";
  EXPECT_EQ(reply_of(wire.ask(get("/"))).field("server"), "violet");
  EXPECT_EQ(reply_of(wire.ask(get("/own"))).field("server"), "origin");
}

}  // namespace
}  // namespace violet::test
