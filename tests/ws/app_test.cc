// WebSockets of a whole App on real sockets: what it counts, what middleware may add, and peers that want it to hold
// more than it may.

#include "violet/app/app.h"

#include "tests/support/client.h"
#include "tests/support/counting_new.h"
#include "tests/support/socket_wire.h"

#include <gtest/gtest.h>

#include <future>
#include <malloc.h>
#include <string>
#include <thread>
#include <zlib.h>

namespace violet::test {
namespace {

Task<> echo(WebSocket socket) {
  while (auto message = co_await socket.read()) {
    if (auto sent = co_await socket.send(*message); !sent) co_return;
  }
}

// A client that sends and reads frames by hand.
class Peer {
 public:
  Peer(const App& app, const std::string& path, std::string_view fields = {}) {
    client_.connect(*net::Endpoint::parse(app.urls().front()));
    client_.send(SocketWire::request(path, fields));
    while (received_.find("\r\n\r\n") == std::string::npos && !has_ended()) read();
    const std::size_t end = std::min(received_.size(), received_.find("\r\n\r\n") + 4);
    head = received_.substr(0, end);
    received_.erase(0, end);
  }
  bool send(std::string_view bytes) { return client_.send(bytes); }
  bool read(std::size_t most = 65'536) {
    const std::string bytes = client_.read_some(most);
    if (bytes.empty()) has_ended_ = true;
    received_ += bytes;
    return !has_ended_;
  }
  // The next frame; an empty one when the connection ends before.
  SeenFrame next() {
    for (;;) {
      if (frames_.empty()) frames_ = read_frames(received_);
      if (!frames_.empty()) {
        SeenFrame frame = std::move(frames_.front());
        frames_.erase(frames_.begin());
        return frame;
      }
      if (!read()) return {};
    }
  }
  [[nodiscard]] bool has_ended() const { return has_ended_; }
  Client& client() { return client_; }
  std::string head;

 private:
  Client client_;
  std::string received_;
  std::vector<SeenFrame> frames_;
  bool has_ended_ = false;
};

class WsApp : public testing::Test {
 protected:
  void start() {
    app.loops(1).listen("http://127.0.0.1:0");
    ASSERT_TRUE(app.start()) << app.errors().front();
    held_before_ = held_bytes();
  }
  ~WsApp() override {
    app.stop(0);
    app.wait();
  }
  static std::size_t held_bytes() { return mallinfo2().uordblks; }
  // What the process holds more than before. A client's own buffers are in it.
  void expect_held_at_most(std::size_t bytes) const {
    if (kCountsAllocations) EXPECT_LT(held_bytes(), held_before_ + bytes);
  }

  App app;

 private:
  std::size_t held_before_ = 0;
};

TEST_F(WsApp, CountsWhatItsSocketsDo) {
  app.websocket("/echo", echo);
  Group in = app.group("/in");
  websocket(in, "/group", echo, {.totals = &app.socket_totals()});
  start();
  EXPECT_EQ(app.socket_counters().opened, 0u);
  Peer peer(app, "/echo");
  Peer other(app, "/in/group");
  for (const std::size_t size : {5u, 100u, 3000u, 70'000u}) {
    peer.send(masked(kTextFrame, std::string(size, 'x')));
    EXPECT_EQ(peer.next().payload.size(), size);
  }
  peer.send(masked(ws::kText, "in ") + masked(ws::kFin | ws::kContinuation, "parts") + masked(kPingFrame, ""));
  EXPECT_EQ(peer.next().payload, "in parts");
  EXPECT_TRUE(eventually([&] { return app.socket_counters().sent == 5; }));
  ws::Counters counters = app.socket_counters();
  EXPECT_EQ(counters.opened, 2u);
  EXPECT_EQ(counters.open_count(), 2u);
  EXPECT_EQ(counters.received, 5u);
  other.client().close();
  peer.send(unmasked(kTextFrame, "x"));
  EXPECT_TRUE(eventually([&] { return app.socket_counters().protocol_errors == 1; }));
  peer.client().close();
  EXPECT_TRUE(eventually([&] { return app.socket_counters().open_count() == 0; }));
}

TEST_F(WsApp, CountsWhatIsDroppedByPolicy) {
  const auto flood = [](WebSocket socket) -> Task<> {
    for (int i = 0; i < 200; ++i) static_cast<void>(socket.send(std::string(100'000, 'x')));
    while (auto message = co_await socket.read()) continue;
  };
  app.websocket("/newest", flood, {.backlog = ws::Backlog::DropNewest, .backlog_bytes_max = 200'000});
  app.websocket("/oldest", flood, {.backlog = ws::Backlog::DropOldest, .backlog_bytes_max = 200'000});
  app.websocket("/close", flood, {.backlog = ws::Backlog::Close, .backlog_bytes_max = 200'000});
  start();
  Peer newest(app, "/newest");
  EXPECT_TRUE(eventually([&] { return app.socket_counters().dropped_newest >= 190; }));
  Peer oldest(app, "/oldest");
  EXPECT_TRUE(eventually([&] { return app.socket_counters().dropped_oldest >= 190; }));
  Peer close(app, "/close");
  EXPECT_TRUE(eventually([&] { return app.socket_counters().closed_for_backlog == 1; }));
}

TEST_F(WsApp, CountsOfAStoppedServerStay) {
  app.websocket("/echo", echo);
  start();
  {
    Peer peer(app, "/echo");
  }
  EXPECT_TRUE(eventually([&] { return app.socket_counters().closed == 1; }));
  app.stop(0);
  app.wait();
  EXPECT_EQ(app.socket_counters().opened, 1u);
}

// --- middleware

struct AddsField {
  void on_reply(Exchange&, http::Head& head, Body& body) const {
    EXPECT_TRUE(body.is_empty());
    head.fields.push({.name = "X-Node", .value = "7"});
  }
};
struct Refuses {
  void on_reply(Exchange& exchange, http::Head& head, Body&) const {
    if (head.status == 101) exchange.refuse(Error(ErrorKind::Invalid, 0, 403));
  }
};
struct Throws {
  void on_reply(Exchange&, http::Head& head, Body&) const {
    if (head.status == 101) throw std::runtime_error("not this one");
  }
};

// What a peer that agreed to compression is sent of a topic, inflated.
std::string inflated(const SeenFrame& frame) {
  if ((frame.first & ws::kRsv1) == 0) return frame.payload;
  std::string in = frame.payload + std::string("\0\0\xff\xff", 4);
  std::string out(100'000, 0);
  z_stream z{};
  EXPECT_EQ(inflateInit2(&z, -15), Z_OK);
  z.next_in = reinterpret_cast<Bytef*>(in.data());
  z.avail_in = static_cast<uInt>(in.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  inflate(&z, Z_SYNC_FLUSH);
  out.resize(z.total_out);
  inflateEnd(&z);
  return out;
}

TEST_F(WsApp, WhatIsPublishedIsCompressedForThoseWhoAgreed) {
  struct Listening {
    static void on_open(WebSocket& socket) {
      socket.subscribe("news");
      socket.send("ready");
    }
    static void on_message(WebSocket&, const ws::Message&) {}
  };
  app.websocket("/news", [] { return Listening{}; }, {.compression = {.is_on = true, .message_bytes_min = 0}});
  start();
  Peer plain(app, "/news");
  Peer small(app, "/news", "Sec-WebSocket-Extensions: permessage-deflate\r\n");
  ASSERT_NE(small.head.find("permessage-deflate"), std::string::npos);
  EXPECT_EQ(plain.next().payload, "ready");
  EXPECT_EQ(inflated(small.next()), "ready");
  for (const std::string& text : {std::string(5000, 'x'), std::string("x"), std::string(5000, 'y')}) {
    app.publish("news", text);
    EXPECT_EQ(plain.next().payload, text);
    const SeenFrame frame = small.next();
    EXPECT_EQ(inflated(frame), text);
    EXPECT_EQ((frame.first & ws::kRsv1) != 0, text.size() > 1) << "what does not shrink goes as it is";
  }
}

TEST_F(WsApp, AHandleClosesFromAnotherThread) {
  std::promise<SocketHandle> handle;
  app.websocket("/held", [&](WebSocket socket) -> Task<> {
    handle.set_value(socket.handle());
    while (auto message = co_await socket.read()) static_cast<void>(socket.send(*message));
  });
  start();
  Peer peer(app, "/held");
  const SocketHandle held = handle.get_future().get();
  EXPECT_TRUE(held.send_binary("bytes"));
  EXPECT_EQ(peer.next().payload, "bytes");
  EXPECT_TRUE(held.close(4000, "enough"));
  const SeenFrame goodbye = peer.next();
  EXPECT_EQ(goodbye.first, kCloseFrame);
  EXPECT_EQ(goodbye.payload, close_payload(4000, "enough"));
  peer.send(masked(kCloseFrame, close_payload(4000)));
  while (peer.read()) {
  }
  while (held.is_open()) std::this_thread::yield();
  EXPECT_EQ(held.close(1000, "").error().kind(), ErrorKind::Closed);
  EXPECT_EQ(held.send("late").error().kind(), ErrorKind::Closed);
}

TEST_F(WsApp, MiddlewareSeesTheAnswerThatOpensASocket) {
  Group adds = app.group("/adds");
  adds.use(AddsField{});
  websocket(adds, "/echo", echo);
  Group refuses = app.group("/refuses");
  refuses.use(Refuses{});
  websocket(refuses, "/echo", echo);
  Group throws = app.group("/throws");
  throws.use(Throws{});
  websocket(throws, "/echo", echo);
  start();
  Peer peer(app, "/adds/echo");
  EXPECT_EQ(peer.head.substr(0, 12), "HTTP/1.1 101");
  EXPECT_NE(peer.head.find("\r\nX-Node: 7\r\n"), std::string::npos) << peer.head;
  peer.send(masked(kTextFrame, "hello"));
  EXPECT_EQ(peer.next().payload, "hello");
  EXPECT_EQ(Peer(app, "/refuses/echo").head.substr(0, 12), "HTTP/1.1 403");
  EXPECT_EQ(Peer(app, "/throws/echo").head.substr(0, 12), "HTTP/1.1 500");
}

// --- peers that want too much held

constexpr std::size_t kHeldMax = 12 << 20;

TEST_F(WsApp, AMillionTinyFragmentsAreHeldAsOneMessageAndOneMoreIs1009) {
  app.websocket("/echo", echo);
  start();
  Peer peer(app, "/echo");
  std::string burst;
  for (int i = 0; i < 10'000; ++i) burst += masked(ws::kContinuation, "x");
  peer.send(masked(ws::kBinary, "x"));
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(peer.send(burst));
  peer.send(masked(ws::kFin | ws::kContinuation, ""));
  EXPECT_EQ(peer.next().payload.size(), 1'000'001u);
  expect_held_at_most(kHeldMax);
  peer.send(masked(ws::kBinary, "x"));
  for (int i = 0; i < 105 && peer.send(burst); ++i) continue;
  EXPECT_EQ(close_code_of(peer.next()), 1009);
}

TEST_F(WsApp, ACompressedBombIs1009) {
  app.websocket("/echo", echo, {.compression = {.is_on = true}});
  start();
  Peer peer(app, "/echo", "Sec-WebSocket-Extensions: permessage-deflate\r\n");
  ASSERT_NE(peer.head.find("permessage-deflate"), std::string::npos);
  const std::string zeros(64 << 20, '\0');
  std::string bomb(1 << 20, '\0');
  z_stream z{};
  ASSERT_EQ(deflateInit2(&z, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(zeros.data()));
  z.avail_in = static_cast<uInt>(zeros.size());
  z.next_out = reinterpret_cast<Bytef*>(bomb.data());
  z.avail_out = static_cast<uInt>(bomb.size());
  ASSERT_EQ(deflate(&z, Z_SYNC_FLUSH), Z_OK);
  bomb.resize(z.total_out - 4);
  deflateEnd(&z);
  const std::size_t before = allocated_bytes();
  peer.send(masked(kBinaryFrame | ws::kRsv1, bomb));
  EXPECT_EQ(close_code_of(peer.next()), 1009);
  if (kCountsAllocations) EXPECT_LT(allocated_bytes() - before, 8u << 20) << "of 64 MiB";
}

TEST_F(WsApp, ASlowReaderGetsEverythingAndHoldsLittle) {
  app.websocket("/flood", [](WebSocket socket) -> Task<> {
    for (int i = 0; i < 400; ++i) {
      if (auto sent = co_await socket.send(std::string(50'000, static_cast<char>('a' + i % 26))); !sent) co_return;
    }
  });
  start();
  Peer peer(app, "/flood");
  std::size_t read = 0;
  for (int i = 0; i < 400; ++i) {
    const SeenFrame frame = peer.next();
    ASSERT_EQ(frame.payload.size(), 50'000u) << i;
    ASSERT_EQ(frame.payload.front(), static_cast<char>('a' + i % 26));
    if (++read % 50 == 0) expect_held_at_most(kHeldMax);
  }
  EXPECT_EQ(close_code_of(peer.next()), 1000);
  EXPECT_GT(app.socket_counters().waited_for_room, 0u) << "it was too slow";
}

TEST_F(WsApp, APeerThatSendsAndNeverReadsIsHeldBack) {
  app.websocket("/echo", echo);
  start();
  Peer peer(app, "/echo");
  timeval patience{.tv_sec = 0, .tv_usec = 300'000};
  ASSERT_EQ(::setsockopt(peer.client().descriptor(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience), 0);
  const std::string message = masked(kBinaryFrame, std::string(60'000, 'x'));
  std::size_t sent = 0;
  while (sent < (std::size_t{256} << 20)) {
    const ssize_t n = ::send(peer.client().descriptor(), message.data(), message.size(), MSG_NOSIGNAL);
    if (n <= 0) break;
    sent += static_cast<std::size_t>(n);
    if (static_cast<std::size_t>(n) < message.size()) break;
  }
  EXPECT_LT(sent, std::size_t{256} << 20) << "reading has to pause";
  expect_held_at_most(kHeldMax);
}

TEST_F(WsApp, APeerThatHasVanishedIsAskedAndCutOff) {
  app.websocket("/echo", echo, {.ping_ms = 50, .pong_ms = 50});
  start();
  Peer peer(app, "/echo");
  EXPECT_EQ(peer.next().first, kPingFrame);
  EXPECT_TRUE(peer.client().is_closed_within(5000));
  EXPECT_TRUE(eventually([&] { return app.socket_counters().open_count() == 0; }));
  EXPECT_EQ(app.socket_counters().timeouts, 1u);
}

TEST_F(WsApp, APeerThatEndsItsDirectionWithoutACloseIsGone) {
  app.websocket("/echo", echo);
  start();
  Peer peer(app, "/echo");
  peer.send(masked(kTextFrame, "last words"));
  peer.client().half_close();
  EXPECT_TRUE(peer.client().is_closed_within(5000));
  EXPECT_TRUE(eventually([&] { return app.socket_counters().open_count() == 0; }));
}

}  // namespace
}  // namespace violet::test
