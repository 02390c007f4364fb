// Well-behaved, slow, silent and rude clients over the real network, while another one is served.

#include "tests/server/running.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <vector>

namespace violet::test {
namespace {

using namespace std::chrono_literals;

// A client that asks all the time; every answer has to be right, and none may take long.
class Witness {
 public:
  explicit Witness(const net::Endpoint& endpoint) : thread_([this, endpoint] { run(endpoint); }) {}
  ~Witness() { stop(); }
  void stop() {
    is_done_ = true;
    if (thread_.joinable()) thread_.join();
  }
  std::atomic<int> good_count = 0;
  std::atomic<int> bad_count = 0;

 private:
  void run(const net::Endpoint& endpoint) {
    Client client(endpoint);
    while (!is_done_) {
      const auto begin = std::chrono::steady_clock::now();
      Reply reply = client.ask(kGet);
      if (reply.status == 0) {
        // Idle for too long, which a busy machine may cause: any client asks again.
        client = Client(endpoint);
        reply = client.ask(kGet);
      }
      const bool is_good = reply.body == "hello" && std::chrono::steady_clock::now() - begin < 5s;
      ++(is_good ? good_count : bad_count);
      if (!is_good) return;
      std::this_thread::sleep_for(1ms);
    }
  }
  std::atomic<bool> is_done_ = false;
  std::thread thread_;
};

ServerOptions short_times() {
  ServerOptions options{.loops = 1};
  options.limits.header_ms = 200;
  options.limits.keep_alive_ms = 200;
  options.limits.body_grace_ms = 200;
  options.limits.write_stall_ms = 300;
  options.limits.write_rate_min = 1'000'000;
  options.limits.linger_ms = 100;
  return options;
}

struct Scene {
  Scene() : running(short_times()), witness(running.endpoint) {}
  ~Scene() {
    EXPECT_TRUE(eventually([&] { return running.server.connection_count() == 1; })) << "only the witness is left";
    EXPECT_TRUE(eventually([&] { return witness.good_count > 10 || witness.bad_count > 0; }));
    witness.stop();
    EXPECT_EQ(witness.bad_count, 0);
  }
  Running running;
  Witness witness;
};

TEST(Clients, ConnectAndSayNothing) {
  Scene scene;
  std::vector<Client> silent;
  for (int i = 0; i < 50; ++i) silent.emplace_back(scene.running.endpoint);
  for (Client& client : silent) EXPECT_TRUE(client.is_closed_within(5000));
}

TEST(Clients, DripAHead) {
  Scene scene;
  Client client(scene.running.endpoint);
  const std::string head = "GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(10'000, 'x');
  std::size_t sent = 0;
  EXPECT_TRUE(eventually([&] {
    client.send(head.substr(sent++ % head.size(), 1));
    return sent > 10'000 || client.read_some(1, 0) == "H";
  }));
  EXPECT_TRUE(client.read_some().starts_with("TTP/1.1 408 "));
  EXPECT_TRUE(client.is_closed_within(5000));
}

TEST(Clients, DripABody) {
  Scene scene;
  Client client(scene.running.endpoint);
  client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n");
  std::size_t sent = 0;
  EXPECT_TRUE(eventually([&] {
    client.send("b");
    // Far less than 240 bytes a second are needed to be too slow; so less than one in four turns sends.
    return ++sent > 50'000 || client.read_some(1, 20) == "H";
  }));
  EXPECT_TRUE(client.read_some().starts_with("TTP/1.1 408 "));
  EXPECT_TRUE(client.is_closed_within(5000));
}

TEST(Clients, ReadNothingOrDripTheAnswer) {
  PathService::huge();  // made before the clock runs
  Scene scene;
  Client nothing(scene.running.endpoint);
  Client dripping(scene.running.endpoint);
  for (Client* client : {&nothing, &dripping}) {
    client->shrink_receive_buffer();
    client->send(get("/huge"));
  }
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(eventually([&] { return scene.running.service.call_count >= 20; })) << "the witness and the two";
  ASSERT_TRUE(eventually([&] { return nothing.read_some(1, 0) == "H" && dripping.read_some(1, 1000) == "H"; }));
  // Closed by the server although the clients never close: only then is the witness alone.
  EXPECT_TRUE(eventually([&] {
    dripping.read_some(10, 0);
    return scene.running.server.connection_count() == 1;
  }));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 250ms) << "by the write limits, no other";
}

TEST(Clients, HalfClosedOnesStillGetTheirAnswers) {
  Running running({.loops = 1});
  for (const std::string& request : {kGet, get("/large/3000000"), kGet + kGet + get("/large/100000") + kGet}) {
    Client client(running.endpoint);
    client.send(request);
    client.half_close();
    std::string bytes;
    for (std::string some = client.read_some(); !some.empty(); some = client.read_some()) bytes += some;
    const auto replies = replies_of(bytes);
    EXPECT_GE(replies.size(), 1u);
    for (const Reply& reply : replies) EXPECT_EQ(reply.status, 200);
  }
  EXPECT_TRUE(eventually([&] { return running.server.connection_count() == 0; }));
}

TEST(Clients, OnesThatVanishAreNoticedWhateverTheServerDoes) {
  Running running({.loops = 1});
  for (bool by_reset : {false, true}) {
    std::vector<Client> clients;
    std::vector<std::string> requests = {"",
                                         kGet.substr(0, 10),
                                         kGet,
                                         get("/never"),
                                         get("/never") + get("/never"),
                                         get("/large/5000000"),
                                         "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf"};
    // Nobody reads this body, so the end of the stream behind it is seen only when the handler's time is over; a reset
    // is.
    if (by_reset) {
      requests.push_back("POST /never HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n" +
                         std::string(200'000, 'b'));
    }
    for (const std::string& request : requests) {
      clients.emplace_back(running.endpoint);
      ASSERT_TRUE(clients.back().send(request));
    }
    ASSERT_TRUE(eventually([&] { return running.server.connection_count() == clients.size(); }));
    // A reset would take unread requests with it.
    ASSERT_TRUE(eventually([&] { return running.service.call_count == (by_reset ? 13 : 6); }));
    for (Client& client : clients) by_reset ? client.reset() : client.close();
    EXPECT_TRUE(eventually([&] { return running.server.connection_count() == 0; })) << by_reset;
  }
  EXPECT_TRUE(eventually([&] { return running.service.gone_count == 7; }));
}

TEST(Clients, AnErrorsAnswerArrivesAlthoughTheClientGoesOnSending) {
  Running running({.loops = 1});
  for (int i = 0; i < 50; ++i) {
    Client client(running.endpoint);
    client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n");
    for (int k = 0; k < 20; ++k) client.send(std::string(50'000, 'b'));
    EXPECT_EQ(client.reply().status, 413) << i;
  }
}

TEST(Clients, TwoServersInOneProcessDoNotMix) {
  Running one({.loops = 1, .server_name = "one"});
  Running two({.loops = 1, .server_name = "two"});
  Client first(one.endpoint);
  Client second(two.endpoint);
  EXPECT_EQ(first.ask(kGet).field("server"), "one");
  EXPECT_EQ(second.ask(kGet).field("server"), "two");
  one.server.stop(0ms);
  one.server.wait();
  EXPECT_TRUE(first.is_closed_within(1000));
  EXPECT_EQ(second.ask(kGet).body, "hello");
}

TEST(Clients, LargeAnswersAndBodiesArriveWhole) {
  Running running({.limits = {}, .loops = 1});
  Client client(running.endpoint);
  EXPECT_TRUE(client.ask(get("/large/20000000")).body == pattern(20'000'000));
  const std::string body = pattern(1'000'000);
  client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n");
  EXPECT_TRUE(client.ask(body).body == body);
}

TEST(Clients, TenThousandConnectionsComeAndGo) {
  Running running({.loops = 2});
  for (int i = 0; i < 10'000; ++i) {
    Client client(running.endpoint);
    if (!client.is_open()) continue;
    if (i % 3 != 0) client.send(kGet);
    if (i % 3 == 1) {
      EXPECT_EQ(client.reply().body, "hello");
    }
    if (i % 2 == 0) client.reset();
  }
  EXPECT_TRUE(eventually([&] { return running.server.connection_count() == 0; }));
  running.server.stop(1s);
  running.server.wait();
  EXPECT_EQ(running.server.counters().connections_opened, running.server.counters().connections_closed);
}

}  // namespace
}  // namespace violet::test
