// The client's session: what it sends, what it hands up, and what makes it close.

#include "tests/support/h1_client_wire.h"
#include "tests/support/script.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace violet::test {
namespace {

constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

Answers& renew(Answers& answers) {
  std::destroy_at(&answers);
  return *std::construct_at(&answers);
}

TEST(H1Client, SendsARequestAndHandsUpItsAnswer) {
  H1ClientWire client;
  Answers answers;
  client.get(answers, "/a?b=c", "GET", {}, {{"X-One", "1"}});
  EXPECT_EQ(client.sent(), "GET /a?b=c HTTP/1.1\r\nHost: a\r\nX-One: 1\r\n\r\n");
  client.feed("HTTP/1.1 200 OK\r\nX-Two: 2\r\nContent-Length: 2\r\n\r\nhi");
  EXPECT_EQ(answers.status, 200);
  EXPECT_EQ(answers.body, "hi");
  EXPECT_EQ(answers.fields[0], std::pair(std::string("X-Two"), std::string("2")));
  EXPECT_EQ(answers.end_count + answers.close_count, 2);
  EXPECT_FALSE(answers.why);
  EXPECT_FALSE(client.is_closed());
}

TEST(H1Client, AConnectionServesOneRequestAfterTheOther) {
  H1ClientWire client;
  for (int i = 0; i < 3; ++i) {
    Answers answers;
    ASSERT_NE(client.get(answers, "/"), nullptr);
    client.feed(kOk);
    EXPECT_EQ(answers.body, "hi");
  }
  EXPECT_EQ(client.sent().size(), 3 * std::string("GET / HTTP/1.1\r\nHost: a\r\n\r\n").size());
}

// Whole, byte by byte and split at each byte: the same story.
TEST(H1Client, ItDoesNotMatterHowAnAnswerIsSplit) {
  const std::string inputs[] = {
      std::string(kOk),
      "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3;x=\"y\"\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\nX-T: 1\r\n\r\n",
      "HTTP/1.1 204 No Content\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc",
      "HTTP/1.0 200 OK\r\n\r\nuntil the end",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcX",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nabc",
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
  };
  for (const std::string& input : inputs) {
    const auto story_of = [&](std::size_t split, std::size_t read_max) {
      H1ClientWire client;
      client.wire->set_read_max(read_max);
      Answers answers;
      client.get(answers, "/");
      client.settle();
      client.feed(std::string_view(input).substr(0, split));
      if (client.session != nullptr) client.feed(std::string_view(input).substr(split));
      if (client.session != nullptr) client.feed_end();
      EXPECT_TRUE(client.is_closed());
      return answers.story();
    };
    const std::string whole = story_of(input.size(), ~std::size_t{0});
    for (std::size_t split = 0; split < input.size(); ++split)
      EXPECT_EQ(story_of(split, ~std::size_t{0}), whole) << split;
    EXPECT_EQ(story_of(input.size(), 1), whole);
  }
}

TEST(H1Client, PipelinedAnswersGoToTheirRequests) {
  H1ClientWire client;
  Answers first;
  Answers second;
  Answers third;
  client.get(first, "/1");
  client.get(second, "/2", "HEAD");
  client.get(third, "/3");
  client.settle();
  EXPECT_EQ(client.wire->write_count(), 1u);
  client.feed("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n");
  EXPECT_EQ(first.body, "1");
  EXPECT_EQ(second.end_count, 1);
  EXPECT_EQ(third.end_count, 0);
  client.feed("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n3");
  EXPECT_EQ(third.body, "3");
}

TEST(H1Client, TheNextRequestMayBeSentFromTheEndOfTheLast) {
  H1ClientWire client;
  Answers first;
  Answers second;
  first.then = [&] { client.get(second, "/2"); };
  client.get(first, "/1");
  client.feed(kOk);
  client.feed(kOk);
  EXPECT_EQ(second.body, "hi");
}

TEST(H1Client, BodiesAreFramedByTheirLength) {
  Answers answers;
  PushSource::Watch watch;
  Answers blocked;
  H1ClientWire client;
  client.get(answers, "/", "POST", Body(Slice::of(std::string("hello"))));
  EXPECT_EQ(client.sent(), "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
  client.feed(kOk);
  client.get(renew(answers), "/", "POST");
  EXPECT_EQ(client.sent(), "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
  client.feed(kOk);
  auto* source = new PushSource(watch);
  client.get(renew(answers), "/", "PUT", Body(SourcePtr(source)));
  source->push("abc");
  source->wake();
  client.settle();
  EXPECT_EQ(client.get(blocked, "/"), nullptr) << "the request before is still being sent";
  source->end();
  source->wake();
  EXPECT_EQ(client.sent(), "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
  EXPECT_NE(client.get(blocked, "/"), nullptr);
}

TEST(H1Client, NoWireFieldOfTheCallerReachesTheWire) {
  Answers answers;
  H1ClientWire client;
  client.get(answers, "/", "GET", {},
             {{"Connection", "x"},
              {"Transfer-Encoding", "chunked"},
              {"Content-Length", "9"},
              {"Host", "b"},
              {"TE", "t"},
              {"Keep-Alive", "1"}});
  EXPECT_EQ(client.sent(), "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
}

TEST(H1Client, WhatCannotStandInARequestLineIsNotSent) {
  for (const auto& [method, target] :
       {std::pair("GE T", "/"), {"GET", "/ HTTP/1.1\r\nX: "}, {"GET", ""}, {"GET", "/\x01"}}) {
    H1ClientWire client;
    Answers answers;
    client.get(answers, target, method);
    EXPECT_EQ(client.sent(), "");
    EXPECT_EQ(answers.why.kind(), ErrorKind::Invalid) << target;
  }
}

// A byte that nobody asked for must never become part of the answer to a later request.
TEST(H1Client, BytesThatNobodyAskedForEndTheConnection) {
  for (const std::string& extra : {std::string(kOk), std::string("\r\n"), std::string("x")}) {
    H1ClientWire client;
    Answers answers;
    client.get(answers, "/");
    client.feed(std::string(kOk) + extra);
    EXPECT_EQ(answers.body, "hi");
    EXPECT_TRUE(client.is_closed());
    EXPECT_EQ(client.closed_why.kind(), ErrorKind::Protocol);
  }
  H1ClientWire idle;
  idle.feed(kOk);
  EXPECT_TRUE(idle.is_closed());
}

TEST(H1Client, AnswersBeforeTheRequestAreNobodys) {
  H1ClientWire client;
  Answers answers;
  client.get(answers, "/", "");  // opened, not started
  client.feed(kOk);
  EXPECT_TRUE(client.is_closed());
  EXPECT_EQ(answers.status, 0);
  EXPECT_EQ(answers.close_count, 1);
}

TEST(H1Client, AnAnswerThatClosesIsTheLastOne) {
  H1ClientWire client;
  Answers first;
  Answers second;
  client.get(first, "/1");
  client.get(second, "/2");
  client.feed("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi" + std::string(kOk));
  EXPECT_EQ(first.body, "hi");
  EXPECT_FALSE(first.why);
  EXPECT_EQ(second.status, 0);
  EXPECT_EQ(second.why.kind(), ErrorKind::Closed);
  EXPECT_TRUE(client.is_closed());
}

TEST(H1Client, ABodyThatEndsEarlyIsAnError) {
  for (const char* input : {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", "HTTP/1.1 200 OK\r\n"}) {
    H1ClientWire client;
    Answers answers;
    client.get(answers, "/");
    client.feed(input);
    client.feed_end();
    EXPECT_EQ(answers.end_count, 0) << input;
    EXPECT_EQ(answers.why.kind(), ErrorKind::Closed) << input;
  }
}

TEST(H1Client, AnAnswerInTheMiddleOfARequestEndsTheConnection) {
  H1ClientWire client;
  Answers answers;
  PushSource::Watch watch;
  client.get(answers, "/", "POST", Body(SourcePtr(new PushSource(watch))));
  client.feed("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno");
  EXPECT_EQ(answers.status, 413);
  EXPECT_EQ(answers.body, "no");
  EXPECT_EQ(answers.end_count, 1);
  EXPECT_EQ(answers.why.kind(), ErrorKind::Closed);
  EXPECT_TRUE(client.is_closed());
  EXPECT_EQ(watch.death_count, 1);
}

TEST(H1Client, ABodyWaitsForItsContinue) {
  H1ClientWire client;
  Answers answers;
  client.get(answers, "/", "POST", Body(Slice::of(std::string("hello"))), {{"Expect", "100-continue"}});
  EXPECT_EQ(client.sent(), "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  client.feed("HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(client.sent(), "hello");
  client.feed(kOk);
  EXPECT_EQ(answers.informational, std::vector<int>{100});
  EXPECT_EQ(answers.body, "hi");
  EXPECT_FALSE(client.is_closed());
}

TEST(H1Client, ARefusedExpectationSendsNoBody) {
  H1ClientWire client;
  Answers answers;
  client.get(answers, "/", "POST", Body(Slice::of(std::string("hello"))), {{"Expect", "100-continue"}});
  client.settle();
  static_cast<void>(client.wire->take());
  client.feed("HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(client.sent(), "");
  EXPECT_EQ(answers.status, 417);
  EXPECT_TRUE(client.is_closed());
}

TEST(H1Client, ABodyThatWaitsForItsContinueInVainGoesAllTheSame) {
  Answers answers;
  H1ClientWire client;
  client.get(answers, "/", "POST", Body(Slice::of(std::string("hello"))), {{"Expect", "100-continue"}});
  EXPECT_FALSE(client.sent().ends_with("hello"));
  std::string more;
  for (int i = 0; i < 1000 && more.empty(); ++i) {
    client.loop.step(5);
    more = client.sent();
  }
  EXPECT_EQ(more, "hello");
}

TEST(H1Client, ALongBodyLeavesAsTheWireTakesIt) {
  H1ClientWire client;
  Answers answers;
  client.wire->set_room(1000);
  client.get(answers, "/", "POST", Body(SourcePtr(new PatternSource(500'000, 700))));
  std::string seen;
  for (int i = 0; i < 20'000 && !seen.ends_with("0\r\n\r\n"); ++i) {
    seen += client.sent();
    client.wire->add_room(50'000);
  }
  EXPECT_TRUE(seen.ends_with("0\r\n\r\n"));
  EXPECT_GT(seen.size(), 500'000u);
  client.feed(kOk);
  EXPECT_EQ(answers.body, "hi");
}

TEST(H1Client, ABodyThatFailsEndsTheConnection) {
  H1ClientWire client;
  Answers answers;
  client.get(answers, "/", "POST", Body(SourcePtr(new PatternSource(10, 5, Pull::Failed))));
  client.settle();
  EXPECT_TRUE(client.is_closed());
  EXPECT_EQ(answers.why.kind(), ErrorKind::Handler);
}

TEST(H1Client, EndlessInformationalHeadsEnd) {
  Limits limits;
  limits.informational_max = 3;
  H1ClientWire client(limits);
  Answers answers;
  client.get(answers, "/");
  for (int i = 0; i < 3; ++i) client.feed("HTTP/1.1 102 Processing\r\n\r\n");
  EXPECT_FALSE(client.is_closed());
  client.feed("HTTP/1.1 102 Processing\r\n\r\n");
  EXPECT_EQ(answers.why, Error(ErrorKind::TooLarge, static_cast<std::int32_t>(LimitId::informational_max)));
}

TEST(H1Client, ChunkFramingIsBounded) {
  H1ClientWire client;
  Answers answers;
  client.get(answers, "/");
  client.feed("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 10'000 && !client.is_closed(); ++i) client.feed("1;a=bcdefghijklmnop\r\nx\r\n");
  EXPECT_EQ(answers.why.kind(), ErrorKind::TooLarge);
}

TEST(H1Client, WhatIsNotCreditedStopsTheReading) {
  Limits limits;
  limits.receive_bytes_max = 1000;
  H1ClientWire client(limits);
  Answers answers;
  answers.gives_credit = false;
  client.get(answers, "/");
  client.wire->set_read_max(500);
  client.feed("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + pattern(5000));
  EXPECT_LE(answers.body.size(), 1500u);
  EXPECT_FALSE(client.wire->wants_to_read());
  for (int i = 0; i < 20; ++i) {
    answers.stream != nullptr ? answers.stream->credit(std::exchange(answers.owed, 0)) : void();
    client.settle();
  }
  EXPECT_EQ(answers.body, pattern(5000));
}

TEST(H1Client, ASwitchMakesAPairOfByteStreams) {
  H1ClientWire client;
  Answers answers;
  PushSource::Watch watch;
  auto* source = new PushSource(watch);
  source->push("too early");
  client.get(answers, "/", "GET", Body(SourcePtr(source)), {{"Upgrade", "x"}});
  EXPECT_EQ(client.sent(), "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n");
  client.feed("HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\nfirst");
  EXPECT_EQ(answers.status, 101);
  EXPECT_EQ(client.sent(), "too early");
  client.feed("second");
  EXPECT_EQ(answers.body, "firstsecond");
  source->push("reply");
  source->wake();
  EXPECT_EQ(client.sent(), "reply");
  client.feed_end();
  EXPECT_EQ(answers.end_count, 1);
  EXPECT_EQ(answers.close_count, 0) << "our direction goes on";
  source->push("last");
  source->end();
  source->wake();
  EXPECT_EQ(client.sent(), "last");
  EXPECT_EQ(answers.close_count, 1);
  EXPECT_FALSE(answers.why);
}

TEST(H1Client, ASwitchThatNobodyAskedForIsAnError) {
  H1ClientWire client;
  Answers answers;
  client.get(answers, "/");
  client.feed("HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n");
  EXPECT_EQ(answers.status, 0);
  EXPECT_EQ(answers.why.kind(), ErrorKind::Protocol);
}

TEST(H1Client, ARefusedSwitchKeepsTheConnection) {
  Answers answers;
  PushSource::Watch watch;
  H1ClientWire client;
  client.get(answers, "/", "GET", Body(SourcePtr(new PushSource(watch))), {{"Upgrade", "x"}});
  client.feed(kOk);
  EXPECT_EQ(answers.body, "hi");
  EXPECT_FALSE(answers.why);
  EXPECT_EQ(watch.death_count, 1);
  EXPECT_NE(client.get(renew(answers), "/"), nullptr);
}

TEST(H1Client, AResetEndsTheConnectionAndEveryStreamHearsIt) {
  H1ClientWire client;
  Answers first;
  Answers second;
  client.get(first, "/1");
  client.get(second, "/2");
  client.settle();
  second.stream->reset(Error(ErrorKind::Timeout));
  EXPECT_EQ(second.close_count, 0) << "not from inside the call";
  client.settle();
  EXPECT_EQ(first.why.kind(), ErrorKind::Timeout);
  EXPECT_EQ(second.why.kind(), ErrorKind::Timeout);
  EXPECT_EQ(first.close_count + second.close_count, 2);
}

TEST(H1Client, DrainLetsAnswersUnderWayComeIn) {
  H1ClientWire client;
  Answers answers;
  client.get(answers, "/");
  client.session->drain();
  EXPECT_FALSE(client.session->can_open());
  client.feed(kOk);
  EXPECT_EQ(answers.body, "hi");
  EXPECT_FALSE(answers.why);
  EXPECT_TRUE(client.is_closed());
}

TEST(H1Client, APreparedRequestGoesOutByteForByte) {
  H1ClientWire client;
  Answers answers;
  client.get(answers, "/", "");
  answers.stream->start_prepared("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab", http::Method::Post);
  EXPECT_EQ(client.sent(), "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab");
  client.feed(kOk);
  EXPECT_EQ(answers.body, "hi");
}

}  // namespace
}  // namespace violet::test
