#include "violet/server/server.h"

#include "tests/server/running.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace violet::test {
namespace {

using namespace std::chrono_literals;

int next_descriptor() {
  const int descriptor = ::open("/dev/null", O_RDONLY);
  ::close(descriptor);
  return descriptor;
}

TEST(Server, ServesFromEveryLoop) {
  for (int loops : {1, 3}) {
    Running running({.loops = loops});
    ASSERT_TRUE(running.is_started);
    EXPECT_TRUE(running.server.is_ready());
    EXPECT_EQ(running.server.loop_count(), loops);
    std::vector<Client> clients;
    for (int i = 0; i < 20; ++i) clients.emplace_back(running.endpoint);
    for (Client& client : clients) EXPECT_EQ(client.ask(kGet).body, "hello");
    EXPECT_EQ(running.server.connection_count(), 20u);
    clients.clear();
    EXPECT_TRUE(eventually([&] { return running.server.connection_count() == 0; }));
    running.server.stop(1s);
    running.server.wait();
    EXPECT_EQ(running.server.counters().requests, 20u);
    EXPECT_EQ(running.server.counters().connections_opened, 20u);
    EXPECT_EQ(running.server.counters().connections_closed, 20u);
  }
}

TEST(Server, SaysWhatCannotBe) {
  PathService service;
  Server server(service, {.loops = 2});
  EXPECT_EQ(server.start().error().kind(), ErrorKind::Invalid) << "nothing to listen on";
  EXPECT_EQ(server.listen("nonsense").error().kind(), ErrorKind::Address);
  EXPECT_EQ(server.listen("https://127.0.0.1:0").error().kind(), ErrorKind::Unsupported);
  const auto endpoint = server.listen("http://127.0.0.1:0");
  ASSERT_TRUE(endpoint);
  EXPECT_EQ(server.listen(endpoint->to_string()).error().detail(), EADDRINUSE);
  EXPECT_EQ(server.endpoints().size(), 1u);
  ASSERT_TRUE(server.start());
  EXPECT_EQ(server.start().error().kind(), ErrorKind::Conflict);
  EXPECT_EQ(server.listen("http://127.0.0.1:0").error().kind(), ErrorKind::Conflict);
  EXPECT_EQ(Client(*endpoint).ask(kGet).body, "hello") << "what failed has not hurt what stood";
}

TEST(Server, StartsAndStopsAThousandTimes) {
  PathService service;
  Server server(service, {.loops = 2});
  const auto endpoint = server.listen("http://127.0.0.1:0");
  ASSERT_TRUE(endpoint);
  const int before = next_descriptor();
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(server.start()) << i;
    if (i % 50 == 0) {
      Client client(*endpoint);
      ASSERT_EQ(client.ask(kGet).body, "hello") << i;
    }
    server.stop(i % 2 == 0 ? 0ms : 1000ms);
    server.wait();
    ASSERT_FALSE(server.is_ready());
  }
  EXPECT_LE(next_descriptor(), before);
  EXPECT_EQ(server.counters().requests, 20u);
}

TEST(Server, ManyServersAreMadeAndDestroyed) {
  const int before = next_descriptor();
  for (int i = 0; i < 100; ++i) {
    Running one({.loops = 1});
    Running two({.loops = 2});
    ASSERT_TRUE(one.is_started && two.is_started);
    if (i % 10 == 0) {
      EXPECT_EQ(Client(one.endpoint).ask(kGet).body, "hello");
      EXPECT_EQ(Client(two.endpoint).ask(kGet).body, "hello");
    }
  }
  EXPECT_EQ(next_descriptor(), before);
}

TEST(Server, NeverStartedIsDestroyedQuietly) {
  PathService service;
  Server server(service, {.loops = 3});
  EXPECT_TRUE(server.listen("http://127.0.0.1:0"));
  server.stop(0ms);
  server.wait();
}

TEST(Server, ARestartThatFindsItsPortTakenFailsAndMayBeTriedAgain) {
  for (int loops : {1, 2}) {
    PathService service;
    Server server(service, {.loops = loops});
    const auto endpoint = server.listen("http://127.0.0.1:0");
    ASSERT_TRUE(endpoint && server.start());
    server.stop(0ms);
    server.wait();
    {
      Running thief({.loops = 1}, endpoint->to_string().c_str());
      ASSERT_TRUE(thief.is_started);
      const auto failed = server.start();
      ASSERT_FALSE(failed);
      EXPECT_EQ(failed.error().detail(), EADDRINUSE);
      EXPECT_FALSE(server.is_ready());
    }
    ASSERT_TRUE(server.start());
    EXPECT_EQ(Client(*endpoint).ask(kGet).body, "hello");
  }
}

TEST(Server, StopsFromAnotherThreadAndFromAHandler) {
  for (bool from_handler : {false, true}) {
    PathService service;
    Server server(service, {.loops = 2});
    service.server = &server;
    const auto endpoint = server.listen("http://127.0.0.1:0");
    ASSERT_TRUE(endpoint);
    std::thread runner([&] { EXPECT_EQ(server.run(), 0); });
    ASSERT_TRUE(eventually([&] { return server.is_ready(); }));
    Client client(*endpoint);
    if (from_handler) {
      const Reply reply = client.ask(get("/stop"));
      EXPECT_EQ(reply.body, "stopping") << "the request that stops is answered";
    } else {
      EXPECT_EQ(client.ask(kGet).body, "hello");
      server.stop(1s);
    }
    runner.join();
    EXPECT_FALSE(server.is_ready());
    EXPECT_FALSE(Client(*endpoint).is_open());
  }
}

TEST(Server, ManyThreadsMayStopAndLookAtOnce) {
  Running running({.loops = 2});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        static_cast<void>(running.server.is_ready());
        static_cast<void>(running.server.connection_count());
        static_cast<void>(running.server.counters());
        Client client(running.endpoint);
        if (client.is_open()) client.ask(kGet);
        if (i == 100) running.server.stop(100ms);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  running.server.wait();
}

int serve_until_signal(int ready, ServerOptions options) {
  PathService service;
  Server server(service, std::move(options));
  service.server = &server;
  const auto endpoint = server.listen("http://127.0.0.1:0");
  if (!endpoint) return 90;
  const std::uint16_t port = endpoint->address.port;
  if (::write(ready, &port, sizeof port) != sizeof port) return 91;
  return server.run();
}

struct ChildServer {
  explicit ChildServer(ServerOptions options = {.loops = 2}) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    pid = start_child([&] { return serve_until_signal(ends[1], options); });
    std::uint16_t port = 0;
    EXPECT_EQ(::read(ends[0], &port, sizeof port), static_cast<ssize_t>(sizeof port));
    ::close(ends[0]);
    ::close(ends[1]);
    endpoint = *net::Endpoint::parse("http://127.0.0.1:" + std::to_string(port));
  }
  int pid = 0;
  net::Endpoint endpoint;
};

TEST(Server, SignalsDrainAndExitWithZero) {
  for (int signal : {SIGTERM, SIGINT}) {
    ChildServer child;
    Client idle(child.endpoint);
    EXPECT_EQ(idle.ask(kGet).body, "hello");
    ::kill(child.pid, signal);
    EXPECT_TRUE(idle.is_closed_within(5000));
    EXPECT_EQ(wait_child(child.pid), 0);
  }
}

TEST(Server, ASecondSignalCutsTheDrainShort) {
  ChildServer child({.loops = 1, .drain = std::chrono::seconds(60)});
  Client busy(child.endpoint);
  Client other(child.endpoint);
  EXPECT_EQ(other.ask(kGet).body, "hello");
  busy.send(get("/never"));
  ASSERT_EQ(Client(child.endpoint).ask(kGet).body, "hello");
  ::kill(child.pid, SIGTERM);
  EXPECT_TRUE(other.is_closed_within(5000)) << "draining has begun";
  EXPECT_FALSE(busy.is_closed_within(100));
  ::kill(child.pid, SIGTERM);
  EXPECT_TRUE(busy.is_closed_within(5000));
  EXPECT_EQ(wait_child(child.pid), 0);
}

TEST(Server, TheConnectionLimitMakesOthersWait) {
  ServerOptions options{.loops = 1};
  options.limits.connections_max = 3;
  Running running(options);
  std::vector<Client> clients;
  for (int i = 0; i < 3; ++i) {
    clients.emplace_back(running.endpoint);
    EXPECT_EQ(clients.back().ask(kGet).body, "hello");
  }
  Client fourth(running.endpoint);
  fourth.send(kGet);
  EXPECT_EQ(fourth.read_some(100, 150), "");
  EXPECT_EQ(running.server.connection_count(), 3u);
  clients[1].close();
  EXPECT_EQ(fourth.reply().body, "hello");
}

TEST(Server, ListensOnAUnixSocketWithManyLoops) {
  char folder[] = "/tmp/violet_server_test_XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string path = std::string(folder) + "/s";
  {
    Running running({.loops = 3}, ("unix:" + path).c_str());
    ASSERT_TRUE(running.is_started);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(Client(running.endpoint).ask(kGet).body, "hello");
  }
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
  ::rmdir(folder);
}

TEST(Server, AWriteToAClosedSocketDoesNotEndTheProcess) {
  ChildServer child;
  for (int i = 0; i < 20; ++i) {
    Client client(child.endpoint);
    client.shrink_receive_buffer();
    client.send(get("/large/5000000") + get("/large/5000000"));
    client.reset();
  }
  EXPECT_EQ(Client(child.endpoint).ask(kGet).body, "hello");
  ::kill(child.pid, SIGTERM);
  EXPECT_EQ(wait_child(child.pid), 0);
}

}  // namespace
}  // namespace violet::test
