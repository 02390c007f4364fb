// The client's role: URLs, the handshake, frames of a server, reconnecting; against an App on a real socket, and
// against bytes of a server over memory.

#include "tests/support/client.h"

#include "tests/event/run_task.h"
#include "tests/support/certificates.h"
#include "tests/support/socket_wire.h"
#include "violet/app/app.h"
#include "violet/event/wait.h"
#include "violet/net/listener.h"
#include "violet/ws/client/client.h"
#include "violet/ws/client/handshake.h"
#include "violet/ws/client/stream.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <unistd.h>

namespace violet::test {
namespace {

// Runs a coroutine made of a callable that lives as long.
template <class F>
void run(Loop& loop, F body) {
  run_task(loop, body());
}

TEST(WsUrl, PartsAreTakenApart) {
  const auto url = ws::Url::parse("ws://example.com:8080/chat?room=1");
  ASSERT_TRUE(url);
  EXPECT_FALSE(url->is_secure);
  EXPECT_EQ(url->host, "example.com");
  EXPECT_EQ(url->port, 8080);
  EXPECT_EQ(url->authority, "example.com:8080");
  EXPECT_EQ(url->target, "/chat?room=1");
  EXPECT_EQ(ws::Url::parse("WSS://example.com")->port, 443);
  EXPECT_EQ(ws::Url::parse("wss://example.com:443/x")->authority, "example.com");
  EXPECT_EQ(ws::Url::parse("ws://[::1]:81?a")->target, "/?a");
  EXPECT_EQ(ws::Url::parse("ws://[::1]:81")->host, "::1");
  EXPECT_EQ(ws::Url::parse("ws://[::1]:81")->authority, "[::1]:81");
  for (const char* wrong :
       {"", "http://a", "ws://", "ws://a:0", "ws://a:65536", "ws://a:x", "ws://u@a/", "ws://a/#part", "ws://a b/",
        "ws://a/ b", "ws://[::1", "ws://a\r\nX: y/", "ws://a/\r\nX: y"}) {
    EXPECT_FALSE(ws::Url::parse(wrong)) << wrong;
  }
}

TEST(WsReconnect, DelaysGrowToABoundAndStop) {
  ws::Reconnect policy({.first_ms = 100, .factor = 2, .most_ms = 500, .jitter = 0, .attempts_max = 6});
  EXPECT_EQ(policy.next_ms(), 100u);
  EXPECT_EQ(policy.next_ms(), 200u);
  EXPECT_EQ(policy.next_ms(), 400u);
  EXPECT_EQ(policy.next_ms(), 500u);
  EXPECT_EQ(policy.next_ms(), 500u);
  EXPECT_EQ(policy.next_ms(), std::nullopt);
  policy.succeeded();
  EXPECT_EQ(policy.next_ms(), 100u);
  policy.stop();
  EXPECT_TRUE(policy.is_stopped());
  EXPECT_EQ(policy.next_ms(), std::nullopt);
}

TEST(WsReconnect, JitterSpreadsThem) {
  std::set<std::uint64_t> delays;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    ws::Reconnect policy({.first_ms = 1000, .jitter = 0.5}, seed);
    const std::uint64_t delay = *policy.next_ms();
    EXPECT_GE(delay, 500u);
    EXPECT_LE(delay, 1000u);
    delays.insert(delay);
  }
  EXPECT_GT(delays.size(), 25u);
}

const std::string kKey = "dGhlIHNhbXBsZSBub25jZQ==";
std::string answer(std::string_view more = {}, std::string_view accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") {
  return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " +
         std::string(accept) + "\r\n" + std::string(more) + "\r\n";
}

TEST(WsAgreement, OnlyWhatTheRfcAllowsIsTaken) {
  ws::Options options;
  options.protocols = {"chat", "super"};
  EXPECT_TRUE(ws::read_agreement(answer(), kKey, options));
  EXPECT_EQ(ws::read_agreement(answer("Sec-WebSocket-Protocol: super\r\n"), kKey, options)->protocol, "super");
  EXPECT_TRUE(
      ws::read_agreement("HTTP/1.1 101 \r\nupgrade: WebSocket\r\nconnection: keep-alive, upgrade\r\n"
                         "sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n",
                         kKey, options));
  const auto error_of = [&](const std::string& head) { return ws::read_agreement(head, kKey, options).error(); };
  EXPECT_EQ(error_of("HTTP/1.1 403 Forbidden\r\n\r\n"), Error(ErrorKind::Refused, 403));
  for (const std::string& wrong :
       {answer("", "s3pPLMBiTxaQ9kYGzzhZRbK+xOX="), answer("Sec-WebSocket-Protocol: other\r\n"),
        answer("Sec-WebSocket-Protocol: chat\r\nSec-WebSocket-Protocol: chat\r\n"),
        answer("Sec-WebSocket-Extensions: permessage-deflate\r\n"), answer("Sec-WebSocket-Accept: x\r\n"),
        answer(" folded: line\r\n"), std::string("HTTP/1.0 101 Switching\r\n\r\n"), std::string("HTTP/1.1 101\r\n\r\n"),
        std::string("SSH-2.0-OpenSSH\r\n\r\n")}) {
    EXPECT_EQ(error_of(wrong).kind(), ErrorKind::Protocol) << wrong;
  }
}

// --- frames of a server over memory

class ClientSide : public testing::Test {
 protected:
  void SetUp() override {
    const Loop::Scope scope(loop_);
    wire_ = net::MemoryTransport::make(loop_);
    ws::Session& session = ws::Session::make(loop_, settings_, ws::Role::Client);
    auto* stream = new ws::ClientStream(loop_, *wire_, Connection{});
    session.open(*stream, nullptr);
    socket_.emplace(session);
    stream->open(session, session.body(), "");
    settle();
  }
  void TearDown() override {
    socket_.reset();
    if (!wire_->is_closed()) wire_->break_off();
    settle();
    EXPECT_TRUE(wire_->is_closed());
  }
  void settle() {
    for (int i = 0; i < 20; ++i) loop_.step(0);
  }
  // What the client reads of these bytes, and the code of its Close.
  std::vector<std::string> messages_of(std::string_view bytes, int* close_code = nullptr) {
    wire_->feed(bytes);
    std::vector<std::string> messages;
    run(loop_, [&]() -> Task<> {
      while (auto message = co_await socket_->read()) {
        messages.emplace_back(message->text());
        if (message->text() == "end") co_return;
      }
    });
    settle();
    std::string out = wire_->take();
    if (close_code == nullptr) return messages;
    *close_code = 0;
    while (!out.empty()) {
      ws::FrameHead head;
      if (ws::parse_frame_head(out.data(), out.size(), {.is_server = true}, head) != ws::FrameVerdict::Done) break;
      EXPECT_NE(static_cast<unsigned char>(out[1]) & ws::kMasked, 0) << "a client masks";
      const auto size = static_cast<std::size_t>(head.size);
      std::string payload = out.substr(head.head_bytes, size);
      ws::apply_mask(payload.data(), payload.data(), size, head.key);
      if (head.first == kCloseFrame) *close_code = close_code_of({head.first, payload});
      out.erase(0, head.head_bytes + size);
    }
    return messages;
  }

  Loop loop_;
  ws::Options options_;
  ws::Settings settings_{options_, Limits()};
  Ref<net::MemoryTransport> wire_;
  std::optional<WebSocket> socket_;
};

TEST_F(ClientSide, ReadsWhatAServerSends) {
  EXPECT_EQ(messages_of(unmasked(kTextFrame, "one") + unmasked(ws::kText, "t") + unmasked(kPingFrame, "p") +
                        unmasked(ws::kFin | ws::kContinuation, "wo") + unmasked(kTextFrame, "end")),
            (std::vector<std::string>{"one", "two", "end"}));
}

TEST_F(ClientSide, AMaskedFrameIs1002) {
  int code = 0;
  messages_of(masked(kTextFrame, "x"), &code);
  EXPECT_EQ(code, 1002);
}

TEST_F(ClientSide, TextIsCheckedToo) {
  int code = 0;
  messages_of(unmasked(kTextFrame, "\xed\xa0\x80"), &code);
  EXPECT_EQ(code, 1007);
}

TEST_F(ClientSide, ACloseIsAnsweredAndTheConnectionEnds) {
  int code = 0;
  messages_of(unmasked(kCloseFrame, close_payload(1001, "restart")), &code);
  EXPECT_EQ(code, 1001);
  EXPECT_EQ(socket_->close_reason(), "restart");
  EXPECT_TRUE(wire_->is_shut_down());
  wire_->feed_end();
  settle();
  EXPECT_TRUE(wire_->is_closed());
}

TEST_F(ClientSide, TheLastHandleSaysGoodbye) {
  static_cast<void>(socket_->send("hello"));
  settle();
  const std::string hello = wire_->take();
  EXPECT_EQ(hello.size(), 6u + 5);
  socket_.reset();
  settle();
  EXPECT_EQ(wire_->take().size(), 6u + 2) << "a Close";
  wire_->feed(unmasked(kCloseFrame, close_payload(1000)));
  wire_->feed_end();
  settle();
  EXPECT_TRUE(wire_->is_closed());
}

TEST_F(ClientSide, WhatAFullWireDoesNotTakeFollowsWhenThereIsRoom) {
  wire_->set_room(3);
  static_cast<void>(socket_->send(std::string(5000, 'x')));
  settle();
  EXPECT_EQ(wire_->take().size(), 3u);
  wire_->add_room(1'000'000);
  settle();
  EXPECT_EQ(wire_->take().size(), 8u + 5000 - 3);
}

TEST_F(ClientSide, ItsStreamHasNoHeadsAndKnowsItsConnection) {
  Stream& stream = *socket_->session().stream();
  Arena arena;
  http::Head head(arena);
  stream.inform(head);
  stream.start(head, Body());
  stream.set_receiver(socket_->session());
  settle();
  EXPECT_TRUE(wire_->take().empty());
  EXPECT_FALSE(stream.connection().is_secure);
  EXPECT_EQ(stream.local_address(), wire_->local());
  EXPECT_EQ(messages_of(unmasked(kTextFrame, "end")), std::vector<std::string>{"end"});
}

TEST_F(ClientSide, AReaderThatIsStoppedLeavesTheSocketWhole) {
  std::string text;
  run(loop_, [&]() -> Task<> {
    const auto read_text = [](WebSocket socket) -> Task<std::string> {
      auto got = co_await socket.read();
      co_return got ? std::string(got->text()) : std::string("stopped");
    };
    auto first = co_await with_deadline(read_text(*socket_), 5);
    EXPECT_FALSE(first);
    wire_->feed(unmasked(kTextFrame, "later"));
    text = co_await read_text(*socket_);
  });
  EXPECT_EQ(text, "later");
}

// --- against an App

Task<> echo(WebSocket socket) {
  while (auto message = co_await socket.read()) {
    if (auto sent = co_await socket.send(*message); !sent) co_return;
  }
}

class ClientAndServer : public testing::Test {
 protected:
  void SetUp() override {
    app_.loops(1);
    app_.websocket("/echo", echo);
    app_.websocket("/chat", echo, {.protocols = {"super", "chat"}});
    app_.websocket("/small", echo, {.compression = kSmall});
    app_.get("/page", [] { return "no socket"; });
    app_.listen("http://127.0.0.1:0");
    ASSERT_TRUE(app_.start()) << app_.errors().front();
    base_ = "ws" + app_.urls().front().substr(4);
  }
  void TearDown() override {
    // Until every connection has ended.
    const ws::Counters& counters = loop_.local<ws::Shared>().counters;
    for (int i = 0; i < 500 && counters.closed < counters.opened; ++i) loop_.step(10);
    EXPECT_EQ(counters.closed, counters.opened);
    app_.stop(100);
    app_.wait();
  }
  // Sends each and expects it back.
  void expect_echo(std::string path, ClientOptions options, const std::vector<std::string>& texts,
                   std::string_view protocol = "") {
    WebSocketClient client(loop_, base_ + path, std::move(options));
    run(loop_, [&]() -> Task<> {
      auto socket = co_await client.connect_once();
      EXPECT_TRUE(socket) << message(socket.error());
      if (!socket) co_return;
      EXPECT_EQ(socket->protocol(), protocol);
      for (const std::string& text : texts) {
        if (auto sent = co_await socket->send(text); !sent) co_return;
        auto back = co_await socket->read();
        EXPECT_TRUE(back);
        if (!back) co_return;
        EXPECT_EQ(back->text(), text);
      }
      socket->close(1000);
    });
  }
  Error error_of(const std::string& url, ClientOptions options = {}) {
    WebSocketClient client(loop_, url, std::move(options));
    Error error;
    run(loop_, [&]() -> Task<> {
      auto socket = co_await client.connect_once();
      if (!socket) error = socket.error();
    });
    return error;
  }

  static constexpr ws::Compression kSmall{.is_on = true,
                                          .message_bytes_min = 0,
                                          .own_window_bits = 10,
                                          .keeps_own_context = true,
                                          .lets_peer_keep_context = true};
  App app_;
  std::string base_;
  Loop loop_;
};

TEST_F(ClientAndServer, MessagesOfEverySizePass) {
  expect_echo("/echo", {}, {"", "hello", std::string(200, 'x'), std::string(70'000, 'y'), std::string(900'000, 'z')});
}

TEST_F(ClientAndServer, ASubprotocolIsAgreedUpon) {
  ClientOptions options;
  options.socket.protocols = {"none", "chat", "super"};
  expect_echo("/chat", options, {"hello"}, "chat");
}

TEST_F(ClientAndServer, CompressionWithAndWithoutContexts) {
  for (const bool keeps : {false, true}) {
    ClientOptions options;
    options.socket.compression = {
        .is_on = true, .message_bytes_min = 0, .keeps_own_context = keeps, .lets_peer_keep_context = keeps};
    expect_echo("/small", options,
                {"", "hello hello hello", "hello hello hello", std::string(100'000, 'x'), "\xe2\x82\xac"});
    expect_echo("/echo", options, {"hello"});
  }
}

TEST_F(ClientAndServer, EachFailureSaysWhatItIs) {
  EXPECT_EQ(error_of(base_ + "/page"), Error(ErrorKind::Refused, 200));
  EXPECT_EQ(error_of(base_ + "/none"), Error(ErrorKind::Refused, 404));
  EXPECT_EQ(error_of("http://127.0.0.1/").kind(), ErrorKind::Address);
  EXPECT_EQ(error_of("ws://name.invalid/").kind(), ErrorKind::Address);
  ClientOptions foreign;
  foreign.origin = "https://evil.example";
  EXPECT_EQ(error_of(base_ + "/echo", foreign), Error(ErrorKind::Refused, 403));
  // A port that was free a moment ago.
  App other;
  other.get("/", [] { return ""; });
  ASSERT_TRUE(other.loops(1).listen("http://127.0.0.1:0").start());
  const std::string gone = "ws" + other.urls().front().substr(4);
  other.stop(0);
  other.wait();
  EXPECT_EQ(error_of(gone).kind(), ErrorKind::System);
}

TEST_F(ClientAndServer, WhatCannotBeSentIsNotTried) {
  ClientOptions split;
  split.socket.fields = {{"X-A", "b\r\nX-C: d"}};
  EXPECT_EQ(error_of(base_ + "/echo", split).kind(), ErrorKind::Invalid);
  ClientOptions origin;
  origin.origin = "https://a.example\r\nX: y";
  EXPECT_EQ(error_of(base_ + "/echo", origin).kind(), ErrorKind::Invalid);
  ClientOptions untrusting;
  untrusting.tls.ca = "no certificate";
  EXPECT_EQ(error_of("wss://127.0.0.1:1/", untrusting).kind(), ErrorKind::Invalid);
}

TEST_F(ClientAndServer, ASecureSocketTrustsWhomItIsToldTo) {
  const Authority authority("Test CA");
  const Pem pem = authority.issue({.common_name = "server", .names = "IP:127.0.0.1"});
  App secure;
  secure.loops(1).websocket("/echo", echo);
  secure.listen("https://127.0.0.1:0", {.certificate = pem.certificate, .key = pem.key});
  ASSERT_TRUE(secure.start()) << secure.errors().front();
  const std::string url = "wss" + secure.urls().front().substr(5) + "/echo";
  ClientOptions trusting;
  trusting.tls.ca = authority.certificate();
  WebSocketClient client(loop_, url, trusting);
  std::string text;
  run(loop_, [&]() -> Task<> {
    auto socket = co_await client.connect_once();
    EXPECT_TRUE(socket) << message(socket.error());
    if (!socket) co_return;
    static_cast<void>(socket->send("over TLS"));
    auto back = co_await socket->read();
    if (back) text = back->text();
    socket->close();
  });
  EXPECT_EQ(text, "over TLS");
  const Authority other("Another CA");
  ClientOptions distrusting;
  distrusting.tls.ca = other.certificate();
  EXPECT_TRUE(error_of(url, distrusting));
  secure.stop(100);
  secure.wait();
}

// A server that is silent after it has accepted; the client's time ends the attempt, in the handshake of TLS and in
// that of WebSocket.
TEST_F(ClientAndServer, AnAttemptEndsWithItsTime) {
  const net::Endpoint any = *net::Endpoint::parse("http://127.0.0.1:0");
  struct Silent final : net::Listener::Acceptor {
    void on_accept(int descriptor, const Address&) noexcept override { descriptors.push_back(descriptor); }
    bool has_room() noexcept override { return true; }
    void on_accept_paused(Error) noexcept override {}
    ~Silent() {
      for (const int descriptor : descriptors) ::close(descriptor);
    }
    std::vector<int> descriptors;
  } silent;
  net::Listener listener(loop_, silent);
  ASSERT_TRUE(listener.open(any, {}));
  listener.start();
  const std::string place = "127.0.0.1:" + std::to_string(listener.endpoint().address.port);
  for (const char* scheme : {"ws://", "wss://"}) {
    WebSocketClient client(loop_, scheme + place + "/");
    run(loop_, [&]() -> Task<> {
      const auto connect = [](WebSocketClient& who) -> Task<Error> {
        auto socket = co_await who.connect_once();
        co_return socket ? Error() : socket.error();
      };
      auto error = co_await with_deadline(connect(client), 20);
      EXPECT_FALSE(error) << scheme;
    });
  }
  listener.close();
  while (!listener.is_closed()) loop_.step(1);
}

TEST_F(ClientAndServer, ItConnectsAgainUntilThePolicyGivesUp) {
  ClientOptions options;
  options.reconnect = {.first_ms = 1, .factor = 1, .most_ms = 1, .attempts_max = 4};
  WebSocketClient client(loop_, base_ + "/none", options);
  const std::uint64_t before = app_.counters().requests;
  run(loop_, [&]() -> Task<> {
    auto socket = co_await client.connect();
    EXPECT_FALSE(socket);
  });
  EXPECT_EQ(app_.counters().requests - before, 4u);
}

TEST_F(ClientAndServer, OneClientConnectsAgainAndAgain) {
  WebSocketClient client(loop_, base_ + "/echo");
  run(loop_, [&]() -> Task<> {
    for (int i = 0; i < 5; ++i) {
      auto socket = co_await client.connect();
      EXPECT_TRUE(socket);
      if (!socket) co_return;
      static_cast<void>(socket->send("hello"));
      auto back = co_await socket->read();
      EXPECT_TRUE(back);
    }
  });
}

}  // namespace
}  // namespace violet::test
