// The client's role, against a server of ours, and against frames by hand that a server should not send.

#include "tests/support/h2_pair.h"

#include <gtest/gtest.h>

#include <string>

namespace violet::test {
namespace {

using h2::Code;
using h2::FrameType;
using h2::Setting;

TEST(H2Client, ManyRequestsShareAConnection) {
  H2Pair pair;
  pair.server.service.handler = [](Exchange& exchange) {
    exchange.reply(Slice::of(std::string(exchange.request().path)));
  };
  for (int i = 0; i < 50; ++i) pair.open("GET", "/" + std::to_string(i));
  pair.settle();
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(pair.calls[static_cast<std::size_t>(i)]->reply.body, "/" + std::to_string(i));
    EXPECT_EQ(pair.calls[static_cast<std::size_t>(i)]->close_count, 1);
    EXPECT_FALSE(pair.calls[static_cast<std::size_t>(i)]->why);
  }
}

TEST(H2Client, KeepsToTheServersLimitOfStreams) {
  Limits limits;
  limits.h2_streams_max = 3;
  H2Pair pair(limits);
  pair.server.service.handler = [&](Exchange& exchange) { pair.server.service.hold(exchange); };
  for (int i = 0; i < 3; ++i) EXPECT_NE(pair.open("GET", "/"), nullptr);
  EXPECT_EQ(pair.open("GET", "/"), nullptr);
  pair.settle();
  pair.server.service.held[0]->reply();
  pair.settle();
  EXPECT_NE(pair.open("GET", "/"), nullptr);
}

TEST(H2Client, KnowsWhatMayBeSentAgain) {
  H2Pair pair;
  pair.server.service.handler = [](Exchange& exchange) {
    exchange.abort(Error(exchange.request().path == "/again" ? ErrorKind::Refused : ErrorKind::Handler));
  };
  EXPECT_EQ(pair.get("/again").why.kind(), ErrorKind::Refused);
  const Call& call = pair.get("/");
  EXPECT_EQ(call.why.kind(), ErrorKind::Reset) << "the handler ran";
  EXPECT_EQ(call.why.detail(), static_cast<int>(Code::InternalError));
}

TEST(H2Client, SendsNothingMoreToAServerThatIsLeaving) {
  H2Pair pair;
  pair.server.service.handler = [&](Exchange& exchange) { pair.server.service.hold(exchange); };
  Call* const call = pair.open("GET", "/");
  pair.settle();
  pair.server.session->drain();
  pair.settle();
  EXPECT_TRUE(pair.client->is_leaving());
  EXPECT_EQ(pair.open("GET", "/"), nullptr);
  pair.server.service.held[0]->reply(Slice::literal("x"));
  pair.server.service.held.clear();
  pair.settle();
  EXPECT_EQ(call->reply.body, "x");
  EXPECT_EQ(pair.client, nullptr) << "nothing is left to be done";
}

TEST(H2Client, HearsOfRequestsThatTheServerNeverBegan) {
  H2Pair pair;
  pair.server.service.handler = [&](Exchange& exchange) { pair.server.service.hold(exchange); };
  Call* const first = pair.open("GET", "/");
  Call* const second = pair.open("GET", "/");
  pair.settle();
  pair.wire->feed(goaway(1));
  pair.settle();
  EXPECT_EQ(first->close_count, 0);
  EXPECT_EQ(second->close_count, 1);
  EXPECT_EQ(second->why.kind(), ErrorKind::Refused);
}

TEST(H2Client, ResetsAStreamThatItGivesUp) {
  H2Pair pair;
  Hook hook;
  pair.server.service.handler = [&](Exchange& exchange) {
    exchange.add_cancel_hook(hook);
    pair.server.service.hold(exchange);
  };
  Call* const call = pair.open("GET", "/");
  pair.settle();
  call->stream->reset(Error(ErrorKind::Cancelled));
  pair.settle();
  EXPECT_EQ(call->close_count, 1);
  EXPECT_EQ(hook.count, 1);
  EXPECT_EQ(hook.last.detail(), static_cast<int>(Code::Cancel));
}

TEST(H2Client, AStreamThatWasNeverStartedMayBeGivenUp) {
  H2Pair pair;
  Call call;
  call.stream = pair.client->request(call);
  call.stream->reset(Error(ErrorKind::Cancelled));
  pair.settle();
  EXPECT_EQ(call.close_count, 1);
  EXPECT_NE(pair.client, nullptr);
}

TEST(H2Client, AnAnswerBeforeTheEndOfTheRequestEndsWell) {
  H2Pair pair;
  pair.server.service.handler = [](Exchange& exchange) {
    exchange.response().status = 413;
    exchange.reply(Slice::literal("too much"));
  };
  Call* const call = pair.open("POST", "/", {{"expect", "100-continue"}}, true);
  pair.settle();
  EXPECT_EQ(call->reply.status, 413);
  EXPECT_EQ(call->reply.body, "too much");
  EXPECT_EQ(call->close_count, 1);
  EXPECT_FALSE(call->why) << "RST_STREAM with NO_ERROR behind a whole answer is no fault (RFC 9113 §8.1)";
}

// A server of frames by hand.
class ByHand : public testing::Test, private h2::Session::Host {
 protected:
  ByHand() : shared_(loop_, limits_, buffers_), wire_(net::MemoryTransport::make(loop_)) {
    client_ = new h2::Session(shared_, *this, *wire_, Connection(), h2::Role::Client);
    client_->open();
    send(settings());
    call_.stream = client_->request(call_);
    Arena arena;
    http::Head head(arena);
    head.method_text = "GET";
    head.scheme = "http";
    head.authority = "a";
    head.target = "/";
    call_.stream->start(head, Body());
    send("");
  }
  ~ByHand() override {
    if (client_ != nullptr) client_->abort({});
    send("");
  }
  void send(std::string_view bytes) {
    if (!bytes.empty()) wire_->feed(bytes);
    for (int i = 0; i < 5; ++i) loop_.step(0);
  }
  void on_session_closed(h2::Session& closed) noexcept override {
    client_ = nullptr;
    delete &closed;
  }

  Loop loop_;
  Limits limits_;
  net::Buffers buffers_;
  h2::Shared shared_;
  Ref<net::MemoryTransport> wire_;
  h2::Session* client_;
  Call call_;
};

TEST_F(ByHand, AWellFormedAnswerIsTaken) {
  send(headers(1, FieldList{{":status", "103"}}, false) +
       headers(1, FieldList{{":status", "200"}, {"content-length", "2"}}, false) + data(1, "hi", true));
  EXPECT_EQ(call_.reply.informational, std::vector<int>{103});
  EXPECT_EQ(call_.reply.body, "hi");
  EXPECT_EQ(call_.close_count, 1);
  EXPECT_FALSE(call_.why);
}

TEST_F(ByHand, MalformedAnswersAreResets) {
  int id = 1;
  for (const std::string& bytes : {headers(1, FieldList{{"x", "1"}}), headers(1, FieldList{{":status", "20"}}),
                                   headers(1, FieldList{{":status", "101"}}), headers(1, FieldList{{":status", "103"}}),
                                   headers(1, FieldList{{":status", "200"}, {":path", "/"}}),
                                   headers(1, FieldList{{":status", "200"}, {"connection", "close"}}),
                                   headers(1, FieldList{{":status", "200"}, {"content-length", "5"}}), data(1, "x")}) {
    Call call;
    call.stream = client_->request(call);
    Arena arena;
    http::Head head(arena);
    head.method_text = "GET";
    head.scheme = "http";
    head.authority = "a";
    head.target = "/";
    call.stream->start(head, Body());
    id += 2;
    std::string moved = bytes;
    h2::put_u32(moved.data() + 5, static_cast<std::uint32_t>(id));
    send(moved);
    EXPECT_EQ(call.close_count, 1) << id;
    EXPECT_EQ(call.why.kind(), ErrorKind::Protocol) << id;
    ASSERT_NE(client_, nullptr);
  }
}

TEST_F(ByHand, APushIsAFault) {
  send(frame(FrameType::PushPromise, h2::flag::kEndHeaders, 1, std::string("\0\0\0\2", 4)));
  EXPECT_EQ(call_.close_count, 1);
  EXPECT_EQ(call_.why.kind(), ErrorKind::Protocol);
  EXPECT_TRUE(wire_->is_shut_down());
}

}  // namespace
}  // namespace violet::test
