// What a handler can do with a socket: backlog and its policies, parts, topics, other threads, closing, heartbeats.

#include "tests/support/socket_wire.h"
#include "violet/event/wait.h"
#include "violet/ws/topic/topics.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <thread>

namespace violet::test {
namespace {

using Frames = std::vector<SeenFrame>;

// Keeps the socket of the last connection for the test.
struct Kept {
  std::optional<WebSocket> socket;
  std::vector<std::string> messages;
  int close_count = 0;
};
struct Keeper {
  Kept* kept;
  void on_open(WebSocket& socket) { kept->socket = socket; }
  void on_message(WebSocket&, ws::Message message) { kept->messages.emplace_back(message.text()); }
  void on_close(WebSocket&) { ++kept->close_count; }
};

class Socket : public testing::Test {
 protected:
  void TearDown() override { kept_.socket.reset(); }
  void open(WebSocketOptions options = {}, std::string_view fields = {}) {
    options.topics = &topics_;
    websocket(wire_.router, "/ws", [this] { return Keeper{&kept_}; }, std::move(options));
    ASSERT_EQ(wire_.open("/ws", fields), 101);
  }
  WebSocket& socket() { return *kept_.socket; }
  ws::Counters& counters() { return wire_.loop.local<ws::Shared>().counters; }
  // Sends `count` messages of `size` bytes while the peer reads nothing.
  void flood(int count, std::size_t size) {
    wire_.wire->set_room(0);
    for (int i = 0; i < count; ++i) {
      std::string text(size, 'x');
      text.replace(0, 4, std::to_string(1000 + i));
      static_cast<void>(socket().send(text));
      wire_.settle();
    }
  }
  Frames drain() {
    wire_.wire->add_room(~std::size_t{0});
    wire_.settle();
    return wire_.frames();
  }

  // Sockets hear of their end when the wire goes.
  Kept kept_;
  ws::Topics topics_;
  SocketWire wire_;
};

// --- backlog

TEST_F(Socket, DropNewestKeepsWhatWasFirst) {
  open({.backlog = ws::Backlog::DropNewest, .backlog_bytes_max = 100'000});
  flood(40, 10'000);
  EXPECT_LE(socket().backlog_bytes(), 111'000u);
  EXPECT_GT(counters().dropped_newest, 0u);
  const Frames frames = drain();
  EXPECT_EQ(frames.size() + counters().dropped_newest, 40u);
  for (std::size_t i = 0; i < frames.size(); ++i) EXPECT_EQ(frames[i].payload.substr(0, 4), std::to_string(1000 + i));
}

TEST_F(Socket, DropOldestKeepsWhatCameLast) {
  open({.backlog = ws::Backlog::DropOldest, .backlog_bytes_max = 100'000});
  flood(40, 10'000);
  EXPECT_LE(socket().backlog_bytes(), 111'000u);
  EXPECT_GT(counters().dropped_oldest, 0u);
  const Frames frames = drain();
  ASSERT_FALSE(frames.empty());
  EXPECT_LT(frames.size(), 40u);
  EXPECT_EQ(frames.back().payload.substr(0, 4), "1039");
  // What is left is in order.
  for (std::size_t i = 1; i < frames.size(); ++i)
    EXPECT_LT(frames[i - 1].payload.substr(0, 4), frames[i].payload.substr(0, 4));
}

TEST_F(Socket, ClosePolicySaysTryAgainLater) {
  open({.backlog = ws::Backlog::Close, .backlog_bytes_max = 100'000});
  flood(40, 10'000);
  EXPECT_EQ(counters().closed_for_backlog, 1u);
  EXPECT_FALSE(socket().is_open());
  const Frames frames = drain();
  ASSERT_FALSE(frames.empty());
  EXPECT_EQ(close_code_of(frames.back()), ws::kTryAgainLater);
}

TEST_F(Socket, WhoDoesNotWaitLosesTheMessageAndItIsCounted) {
  open({.backlog_bytes_max = 100'000});
  flood(40, 10'000);
  EXPECT_LE(socket().backlog_bytes(), 111'000u);
  const std::uint64_t dropped = counters().dropped_newest;
  EXPECT_GT(dropped, 0u);
  EXPECT_EQ(drain().size() + dropped, 40u);
}

TEST(SocketTask, AWaitingSenderGoesOnWhenThereIsRoomAndLosesNothing) {
  SocketWire wire;
  int sent_count = 0;
  websocket(wire.router, "/ws",
            [&](WebSocket socket) -> Task<> {
              for (int i = 0; i < 60; ++i) {
                const std::string text = std::to_string(1000 + i) + std::string(10'000, 'x');
                if (auto sent = co_await socket.send(text); !sent) co_return;
                ++sent_count;
              }
            },
            {.backlog_bytes_max = 100'000});
  wire.connect();
  wire.wire->set_room(2000);
  EXPECT_EQ(wire.ask(SocketWire::request("/ws")), 101);
  EXPECT_LT(sent_count, 30);
  Frames frames;
  for (int i = 0; i < 2000 && frames.size() < 61; ++i) {
    wire.wire->add_room(20'000);
    wire.settle();
    for (SeenFrame& frame : wire.frames()) frames.push_back(std::move(frame));
  }
  ASSERT_EQ(frames.size(), 61u);
  for (int i = 0; i < 60; ++i)
    EXPECT_EQ(frames[static_cast<std::size_t>(i)].payload.substr(0, 4), std::to_string(1000 + i));
  EXPECT_EQ(close_code_of(frames.back()), 1000) << "a handler that returns says goodbye";
}

TEST_F(Socket, ACallbackGetsNoMessageWhileItsAnswersPileUp) {
  struct Loud {
    int* count;
    void on_message(WebSocket& socket, ws::Message) {
      ++*count;
      static_cast<void>(socket.send(std::string(50'000, 'x')));
    }
  };
  int count = 0;
  websocket(wire_.router, "/loud", [&] { return Loud{&count}; }, {.backlog_bytes_max = 100'000});
  ASSERT_EQ(wire_.open("/loud"), 101);
  wire_.wire->set_room(0);
  for (int i = 0; i < 20; ++i) wire_.send(masked(kTextFrame, "?"));
  EXPECT_LT(count, 10);
  EXPECT_EQ(drain().size(), 20u);
  EXPECT_EQ(count, 20);
}

TEST_F(Socket, APeerThatPingsAndNeverReadsHoldsNoMemory) {
  open({.backlog_bytes_max = 10'000});
  wire_.wire->set_room(0);
  std::string pings;
  for (int i = 0; i < 1000; ++i) pings += masked(kPingFrame, std::string(125, 'p'));
  for (int i = 0; i < 20; ++i) wire_.send(pings);
  EXPECT_LE(socket().backlog_bytes(), 10'200u);
}

// --- parts

TEST_F(Socket, AMessageInPartsIsFragmentsAndOthersFollowIt) {
  open();
  ASSERT_TRUE(socket().subscribe("t"));
  EXPECT_TRUE(socket().send_part(ws::Kind::Text, "one ").is_sent());
  EXPECT_FALSE(socket().send("between").is_sent());
  const Loop::Scope scope(wire_.loop);
  topics_.publish("t", ws::Kind::Text, "published");
  socket().ping("p");
  EXPECT_TRUE(socket().send_part(ws::Kind::Text, "two").is_sent());
  EXPECT_TRUE(socket().send_part(ws::Kind::Text, "", ws::Send::How::LastPart).is_sent());
  EXPECT_TRUE(socket().send("after").is_sent());
  wire_.settle();
  EXPECT_EQ(wire_.frames(), (Frames{{ws::kText, "one "},
                                    {kPingFrame, "p"},
                                    {ws::kContinuation, "two"},
                                    {ws::kFin | ws::kContinuation, ""},
                                    {kTextFrame, "published"},
                                    {kTextFrame, "after"}}));
}

TEST(SocketTask, ALongMessageIsReadAsItComesWithoutBeingHeld) {
  SocketWire wire;
  std::uint64_t size = 0;
  std::size_t largest = 0;
  bool has_ended = false;
  websocket(wire.router, "/ws", [&](WebSocket socket) -> Task<> {
    for (;;) {
      auto part = co_await socket.read_part();
      if (!part) co_return;
      size += part->message.size();
      largest = std::max(largest, part->message.size());
      if (part->is_last) break;
    }
    has_ended = true;
    auto next = co_await socket.read();
    if (next) static_cast<void>(co_await socket.send(*next));
  });
  ASSERT_EQ(wire.open("/ws"), 101);
  const std::string piece(1 << 20, 'x');
  wire.send(masked(ws::kText, piece));
  for (int i = 0; i < 6; ++i) wire.send(masked(ws::kContinuation, piece));
  wire.send(masked(ws::kFin | ws::kContinuation, "end"));
  EXPECT_TRUE(has_ended);
  EXPECT_EQ(size, (7u << 20) + 3);
  EXPECT_LE(largest, 64u * 1024);
  EXPECT_EQ(wire.exchange(masked(kTextFrame, "next")).front(), (SeenFrame{kTextFrame, "next"}));
}

TEST(SocketTask, PartsAreCheckedToo) {
  for (const bool splits : {false, true}) {
    SocketWire wire;
    websocket(wire.router, "/ws", [](WebSocket socket) -> Task<> {
      while (auto part = co_await socket.read_part()) continue;
    });
    ASSERT_EQ(wire.open("/ws"), 101);
    wire.send(masked(ws::kText, "\xe2\x82"));
    const Frames frames =
        wire.exchange(splits ? masked(ws::kFin | ws::kContinuation, "\xac") + masked(kTextFrame, "\xe2\x82")
                             : masked(ws::kFin | ws::kContinuation, "x"));
    ASSERT_EQ(frames.size(), 1u);
    EXPECT_EQ(close_code_of(frames[0]), ws::kInvalidText);
  }
}

// --- topics

struct Member {
  std::string topic;
  void on_open(WebSocket& socket) { socket.subscribe(topic); }
  void on_message(WebSocket& socket, ws::Message message) {
    if (message.text() == "leave") socket.unsubscribe(topic);
  }
};

TEST_F(Socket, APublishedMessageReachesThoseWhoSubscribed) {
  open();
  EXPECT_TRUE(socket().subscribe("a"));
  EXPECT_FALSE(socket().subscribe("a")) << "once is enough";
  EXPECT_TRUE(socket().subscribe("b"));
  EXPECT_EQ(topics_.subscriber_count(wire_.loop, "a"), 1u);
  const auto publish = [&](const char* topic, const char* text) {
    const Loop::Scope scope(wire_.loop);
    topics_.publish(topic, ws::Kind::Text, text);
  };
  const std::size_t writes = wire_.wire->write_count();
  publish("a", "one");
  publish("b", "two");
  publish("c", "nobody");
  wire_.settle();
  EXPECT_EQ(wire_.frames(), (Frames{{kTextFrame, "one"}, {kTextFrame, "two"}}));
  EXPECT_EQ(wire_.wire->write_count() - writes, 1u) << "one write a turn";
  EXPECT_TRUE(socket().unsubscribe("a"));
  EXPECT_FALSE(socket().unsubscribe("a"));
  publish("a", "three");
  wire_.settle();
  EXPECT_EQ(wire_.frames(), Frames{});
  wire_.send(masked(kCloseFrame, close_payload(1000)));
  EXPECT_EQ(topics_.subscriber_count(wire_.loop, "b"), 1u) << "until its stream is gone";
  wire_.wire->feed_end();
  wire_.settle();
  EXPECT_EQ(topics_.subscriber_count(wire_.loop, "b"), 0u);
}

TEST_F(Socket, AnotherThreadPublishes) {
  open();
  ASSERT_TRUE(socket().subscribe("a"));
  std::thread other([&] { topics_.publish("a", ws::Kind::Binary, "from afar"); });
  other.join();
  EXPECT_TRUE(wire_.until([&] { return wire_.wire->written().size() > 5; }));
  EXPECT_EQ(wire_.frames(), (Frames{{kBinaryFrame, "from afar"}}));
}

TEST_F(Socket, ABusHearsWhatIsPublishedHereAndDeliversWhatIsPublishedElsewhere) {
  struct Recorder final : ws::Bus {
    explicit Recorder(std::vector<std::string>& to) : seen(to) {}
    void attach(ws::Topics& topics) override { elsewhere = &topics; }
    void publish(std::string_view topic, ws::Kind, std::string_view payload) override {
      seen.push_back(std::string(topic) + ":" + std::string(payload));
    }
    std::vector<std::string>& seen;
    ws::Topics* elsewhere = nullptr;
  };
  std::vector<std::string> seen;
  topics_.set_bus(std::make_unique<Recorder>(seen));
  open();
  socket().subscribe("a");
  const Loop::Scope scope(wire_.loop);
  topics_.publish("a", ws::Kind::Text, "here");
  topics_.deliver("a", ws::Kind::Text, "there");
  wire_.settle();
  EXPECT_EQ(seen, std::vector<std::string>{"a:here"});
  EXPECT_EQ(wire_.frames(), (Frames{{kTextFrame, "here"}, {kTextFrame, "there"}}));
}

// --- other threads

TEST_F(Socket, AHandleSendsFromAnyThreadAndKnowsWhenItIsOver) {
  open();
  const SocketHandle handle = socket().handle();
  EXPECT_TRUE(handle.is_open());
  std::thread other([&] { EXPECT_TRUE(handle.send("from afar")); });
  other.join();
  EXPECT_TRUE(wire_.until([&] { return wire_.wire->written().size() > 5; }));
  EXPECT_EQ(wire_.frames(), (Frames{{kTextFrame, "from afar"}}));
  wire_.wire->break_off();
  wire_.settle();
  EXPECT_EQ(kept_.close_count, 1);
  EXPECT_EQ(handle.send("too late").error().kind(), ErrorKind::Closed);
  EXPECT_FALSE(handle.is_open());
  EXPECT_FALSE(SocketHandle().is_open());
}

// --- closing

TEST_F(Socket, OurCloseAwaitsThePeers) {
  open();
  socket().close(4000, "enough");
  wire_.settle();
  EXPECT_EQ(wire_.frames(), (Frames{{kCloseFrame, close_payload(4000, "enough")}}));
  EXPECT_FALSE(wire_.is_closed());
  EXPECT_FALSE(socket().send("late").is_sent());
  wire_.send(masked(kTextFrame, "on its way") + masked(kCloseFrame, close_payload(4000)));
  EXPECT_TRUE(kept_.messages.empty());
  EXPECT_TRUE(wire_.is_closed());
  EXPECT_EQ(socket().close_code(), 4000);
}

TEST_F(Socket, APeerThatNeverClosesIsCutOff) {
  open({.close_ms = 20});
  socket().close();
  EXPECT_TRUE(wire_.until([&] { return wire_.wire->is_closed(); }));
  EXPECT_EQ(socket().close_code(), ws::kAbnormal);
  EXPECT_EQ(kept_.close_count, 1);
}

TEST_F(Socket, CodesThatMustNotBeOnTheWireAreNot) {
  for (const int code : {0, 999, 1004, 1005, 1006, 1015, 2999, 5000}) {
    Kept kept;
    SocketWire wire;
    websocket(wire.router, "/ws", [&] { return Keeper{&kept}; });
    ASSERT_EQ(wire.open("/ws"), 101);
    kept.socket->close(static_cast<std::uint16_t>(code), "x");
    wire.settle();
    const Frames frames = wire.frames();
    ASSERT_EQ(frames.size(), 1u);
    EXPECT_EQ(close_code_of(frames[0]), code == 1005 ? 1005 : 1000) << code;
    if (code == 1005) EXPECT_TRUE(frames[0].payload.empty());
    kept.socket.reset();
  }
}

TEST_F(Socket, AReasonIsCutBetweenCodePoints) {
  open();
  std::string reason(122, 'x');
  socket().close(1000, reason + "\xe2\x82\xac");
  wire_.settle();
  const Frames frames = wire_.frames();
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].payload, close_payload(1000, reason));
}

TEST_F(Socket, ADrainSaysGoingAway) {
  open();
  wire_.site().begin_drain();
  wire_.settle();
  const Frames frames = wire_.frames();
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(close_code_of(frames[0]), ws::kGoingAway);
}

TEST_F(Socket, NobodyIsAcceptedWhileTheServerDrains) {
  open();
  wire_.site().begin_drain();
  EXPECT_EQ(wire_.open("/ws"), 503);
}

TEST_F(Socket, WhatThrowsClosesWith1011) {
  struct Thrower {
    void on_message(WebSocket&, ws::Message) { throw std::runtime_error("no"); }
  };
  websocket(wire_.router, "/object", [] { return Thrower{}; });
  websocket(wire_.router, "/task", [](WebSocket socket) -> Task<> {
    static_cast<void>(co_await socket.read());
    throw std::runtime_error("no");
  });
  for (const char* path : {"/object", "/task"}) {
    ASSERT_EQ(wire_.open(path), 101);
    const Frames frames = wire_.exchange(masked(kTextFrame, "x"));
    ASSERT_EQ(frames.size(), 1u) << path;
    EXPECT_EQ(close_code_of(frames[0]), ws::kInternalError);
  }
}

TEST(SocketTask, AHandlerThatWaitsForSomethingElseIsStoppedWhenItsPeerGoes) {
  SocketWire wire;
  std::optional<Error> why;
  websocket(wire.router, "/ws", [&](WebSocket) -> Task<> {
    const auto slept = co_await sleep_ms(60'000);
    if (!slept) why = slept.error();
  });
  ASSERT_EQ(wire.open("/ws"), 101);
  wire.wire->break_off();
  wire.settle();
  ASSERT_TRUE(why);
  EXPECT_EQ(why->kind(), ErrorKind::Closed);
}

TEST(SocketTask, WhatCameBeforeThePeersEndIsReadByAHandlerThatIsLate) {
  SocketWire wire;
  std::vector<std::string> seen;
  std::uint16_t code = 0;
  websocket(wire.router, "/ws", [&](WebSocket socket) -> Task<> {
    static_cast<void>(co_await sleep_ms(20));
    while (auto message = co_await socket.read()) seen.emplace_back(message->text());
    code = socket.close_code();
  });
  ASSERT_EQ(wire.open("/ws"), 101);
  wire.wire->feed(masked(kTextFrame, "one") + masked(kTextFrame, "two"));
  wire.wire->feed_end();
  EXPECT_TRUE(wire.until([&] { return code != 0; }));
  EXPECT_EQ(seen, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(code, ws::kAbnormal);
}

TEST(SocketTask, WhoOnlySendsIgnoresWhatComes) {
  SocketWire wire;
  websocket(wire.router, "/ws", [](WebSocket socket) -> Task<> {
    socket.ignore_messages();
    while (auto slept = co_await sleep_ms(1)) {
      if (auto sent = co_await socket.send("tick"); !sent) co_return;
    }
  });
  ASSERT_EQ(wire.open("/ws"), 101);
  wire.send(masked(kTextFrame, "who cares") + masked(ws::kText, "or") + masked(ws::kFin | ws::kContinuation, "this"));
  wire.send(masked(kPingFrame, "?") + masked(kCloseFrame, close_payload(1000)));
  const Frames frames = wire.frames();
  ASSERT_GE(frames.size(), 2u);
  EXPECT_EQ(frames[frames.size() - 2], (SeenFrame{kPongFrame, "?"}));
  EXPECT_EQ(close_code_of(frames.back()), 1000);
}

// --- heartbeats

TEST_F(Socket, ASilentPeerIsAskedAndCutOffWhenItDoesNotAnswer) {
  open({.ping_ms = 10, .pong_ms = 10});
  EXPECT_TRUE(wire_.until([&] { return wire_.wire->is_closed(); }));
  EXPECT_EQ(wire_.frames(), (Frames{{kPingFrame, ""}}));
  EXPECT_EQ(socket().close_code(), ws::kAbnormal);
  EXPECT_EQ(counters().timeouts, 1u);
}

TEST_F(Socket, APeerThatAnswersStays) {
  open({.ping_ms = 5, .pong_ms = 1000});
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(wire_.until([&] { return !wire_.wire->written().empty(); }));
    EXPECT_EQ(wire_.exchange(masked(kPongFrame, "")).front(), (SeenFrame{kPingFrame, ""}));
  }
  EXPECT_TRUE(socket().is_open());
}

}  // namespace
}  // namespace violet::test
