// Clients that mean harm, against a real server: those that drip, do not read, vanish, say nothing, or come in numbers.
// Every time it is asked whether others are served meanwhile, and whether what they cost is given back.

#include "tests/conformance/http1_rig.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <deque>
#include <fcntl.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

namespace violet::test {
namespace {

using std::string;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

Limits fast_limits() {
  Limits limits;
  limits.header_ms = 300;
  limits.keep_alive_ms = 300;
  limits.body_grace_ms = 300;
  limits.body_stall_ms = 300;
  limits.write_stall_ms = 400;
  limits.linger_ms = 200;
  return limits;
}

bool is_served(std::uint16_t port) {
  RawClient client(port);
  return client.send(get("Connection: close\r\n")) && client.read_all() == RawClient::End::Fin &&
         answers_of(client.received()) == std::vector<string>{"200 GET /t a\n"};
}

// Waits until the server holds no more than `count` connections.
bool falls_to(LiveServer& live, std::uint64_t count) {
  const auto due = steady_clock::now() + milliseconds(5000);
  while (live.server().connection_count() > count) {
    if (steady_clock::now() > due) return false;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return true;
}

std::size_t resident_bytes() {
  std::size_t pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "re"); file != nullptr) {
    if (std::fscanf(file, "%*s %zu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

TEST(Http1Hostile, ClosesThoseWhoSayNothing) {
  LiveServer live(fast_limits());
  std::deque<RawClient> silent;
  for (int i = 0; i < 500; ++i) silent.emplace_back(live.port());
  EXPECT_TRUE(is_served(live.port()));
  EXPECT_TRUE(falls_to(live, 0));
  for (RawClient& client : silent) EXPECT_NE(client.read_all(1000), RawClient::End::Open);
}

TEST(Http1Hostile, AnswersADrippingHeadWith408) {
  LiveServer live(fast_limits());
  RawClient client(live.port());
  // Each piece comes within the limit, all together do not.
  const auto due = steady_clock::now() + milliseconds(3000);
  ASSERT_TRUE(client.send("GET /t HTTP/1.1\r\n"));
  while (client.end() == RawClient::End::Open && steady_clock::now() < due) {
    if (!client.send("X: y\r\n") || client.read_until("\r\n\r\n", 30)) break;
  }
  EXPECT_TRUE(client.received().starts_with("HTTP/1.1 408 ")) << client.received();
  EXPECT_NE(client.received().find("header_ms"), string::npos);
  EXPECT_TRUE(is_served(live.port()));
  EXPECT_TRUE(falls_to(live, 0));
}

TEST(Http1Hostile, AnswersABodyThatStopsWith408) {
  LiveServer live(fast_limits());
  for (const string& bytes : {post("Content-Length: 100\r\n", "abc"), chunked("64\r\nabc"), chunked("64"),
                              chunked("1\r\na\r\n0\r\nX: y"), post("Content-Length: 100\r\n", "abc", "/sink")}) {
    RawClient client(live.port());
    ASSERT_TRUE(client.send(bytes));
    EXPECT_EQ(client.read_all(), RawClient::End::Fin) << bytes;
    EXPECT_TRUE(client.received().starts_with("HTTP/1.1 408 ")) << client.received();
    EXPECT_NE(client.received().find("body_rate_min"), string::npos);
  }
  EXPECT_TRUE(falls_to(live, 0));
}

TEST(Http1Hostile, KeepsAnIdleConnectionThatSentAnEmptyLine) {
  Limits limits = fast_limits();
  limits.header_ms = 100;
  limits.keep_alive_ms = 2000;
  LiveServer live(limits);
  RawClient client(live.port());
  ASSERT_TRUE(client.send(get() + "\r\n"));
  ASSERT_TRUE(client.read_until("GET /t a\n"));
  EXPECT_EQ(client.read_all(300), RawClient::End::Open) << client.received();
  ASSERT_TRUE(client.send(get("Connection: close\r\n")));
  EXPECT_EQ(client.read_all(), RawClient::End::Fin);
  EXPECT_EQ(answers_of(client.received()), (std::vector<string>{"200 GET /t a\n", "200 GET /t a\n"}));
}

TEST(Http1Hostile, LetsGoOfThoseWhoDoNotRead) {
  LiveServer live(fast_limits());
  std::deque<RawClient> deaf;
  for (int i = 0; i < 20; ++i) {
    deaf.emplace_back(live.port(), 4096);
    // More than the kernel's buffers take, and requests without end behind it.
    string many;
    for (int k = 0; k < 8; ++k) many += get("", "/big");
    ASSERT_TRUE(deaf.back().send(many));
  }
  EXPECT_TRUE(is_served(live.port()));
  EXPECT_TRUE(falls_to(live, 0));
}

TEST(Http1Hostile, FinishesAnAnswerToAHalfClosedClient) {
  LiveServer live;
  for (const char* target : {"/t", "/big", "/stream", "/known", "/hints"}) {
    RawClient client(live.port());
    ASSERT_TRUE(client.send(get("", target)));
    client.end_sending();
    EXPECT_EQ(client.read_all(), RawClient::End::Fin) << target;
    EXPECT_TRUE(client.received().starts_with("HTTP/1.1 ")) << target;
    EXPECT_EQ(answers_of(client.received()).at(0).substr(0, 3), target == std::string_view("/hints") ? "103" : "200")
        << target;
  }
  RawClient pipeline(live.port());
  string many;
  for (int i = 0; i < 100; ++i) many += get();
  ASSERT_TRUE(pipeline.send(many));
  pipeline.end_sending();
  EXPECT_EQ(pipeline.read_all(), RawClient::End::Fin);
  EXPECT_EQ(answers_of(pipeline.received()).size(), 100u);
}

TEST(Http1Hostile, ForgetsClientsThatVanishAnywhere) {
  LiveServer live({}, 20);
  const string requests[] = {get(),
                             get("", "/late"),
                             get("", "/big"),
                             get("", "/stream"),
                             post("Content-Length: 50\r\n", "hello"),
                             post("Content-Length: 50\r\n", "hello", "/sink"),
                             chunked("5\r\nhello\r\n"),
                             get("", "/never"),
                             get("Connection: upgrade\r\nUpgrade: echo\r\n", "/switch") + "raw",
                             "GET / HT"};
  for (int round = 0; round < 30; ++round) {
    for (const string& request : requests) {
      RawClient client(live.port(), 4096);
      client.send(request);
      if (round % 3 == 1) client.read_until("HTTP", 3);
      if (round % 2 == 0) client.reset();
    }
  }
  EXPECT_TRUE(is_served(live.port()));
  EXPECT_TRUE(falls_to(live, 0));
}

TEST(Http1Hostile, CostsNothingAfterwards) {
  LiveServer live({}, 1);
  const auto attack = [&] {
    for (int i = 0; i < 150; ++i) {
      RawClient client(live.port());
      string bytes;
      for (int k = 0; k < 100; ++k) bytes += get("X: " + string(200, 'x') + "\r\n", k % 10 == 9 ? "/late" : "/t");
      static_cast<void>(client.send(bytes + (i % 2 == 0 ? "\x01" : "Connection: close")));
      client.end_sending();
      client.read_all(2000);
      RawClient other(live.port());
      static_cast<void>(
          other.send(chunked("80000\r\n" + string(524288, 'y') + "\r\n0\r\n\r\n", i % 2 == 0 ? "/sink" : "/echo")));
      if (i % 3 == 0) other.reset();
    }
  };
  attack();
  ASSERT_TRUE(falls_to(live, 0));
  const std::size_t before = resident_bytes();
  attack();
  ASSERT_TRUE(falls_to(live, 0));
  const std::size_t after = resident_bytes();
  EXPECT_LT(after, before + (before / 10) + (4 << 20)) << "before " << before << ", after " << after;
}

TEST(Http1Hostile, DoesNotSpin) {
  LiveServer live;
  std::deque<RawClient> clients;
  // Each kind of connection that waits for something that does not come.
  const string waiting[] = {"",
                            "GET",
                            "\r\n",
                            get("", "/never"),
                            get("", "/never") + get(),
                            post("Content-Length: 9\r\n", "x"),
                            chunked("5\r\nhe"),
                            get("Connection: upgrade\r\nUpgrade: echo\r\n", "/switch"),
                            get("", "/never") + string(60000, 'x')};
  for (int i = 0; i < 5; ++i) {
    for (const string& bytes : waiting) {
      clients.emplace_back(live.port());
      ASSERT_TRUE(clients.back().send(bytes));
    }
    // Half closed, and deaf in the middle of a large answer.
    clients.emplace_back(live.port());
    ASSERT_TRUE(clients.back().send(get("", "/never") + get("", "/never")));
    clients.emplace_back(live.port(), 4096);
    ASSERT_TRUE(
        clients.back().send(get("", "/big") + get("", "/big") + get("", "/big") + get("", "/big") + get("", "/big")));
  }
  std::this_thread::sleep_for(milliseconds(200));
  const double before = cpu_seconds();
  std::this_thread::sleep_for(milliseconds(500));
  EXPECT_LT(cpu_seconds() - before, 0.1);
  EXPECT_TRUE(is_served(live.port()));
}

TEST(Http1Hostile, WaitsOutAShortageOfDescriptors) {
  LiveServer live;
  ASSERT_TRUE(is_served(live.port()));
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &old), 0);
  std::deque<RawClient> clients;
  clients.emplace_back(live.port());
  ASSERT_TRUE(clients.front().send(get()));
  ASSERT_TRUE(clients.front().read_until("GET /t a\n"));
  // The clients' ends are made before the last descriptors go.
  for (int i = 0; i < 3; ++i) clients.emplace_back(live.port(), 0, RawClient::When::Later);
  rlimit tight = old;
  tight.rlim_cur = 128;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
  std::vector<int> taken;
  for (int fd; (fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) taken.push_back(fd);
  for (std::size_t i = 1; i < clients.size(); ++i) clients[i].connect();
  const double before = cpu_seconds();
  std::this_thread::sleep_for(milliseconds(300));
  EXPECT_LT(cpu_seconds() - before, 0.1) << "accepting must not spin";
  ASSERT_TRUE(clients.front().send(get("", "/again")));
  EXPECT_TRUE(clients.front().read_until("GET /again a\n")) << "a connection that stands is served";
  for (const int fd : taken) ::close(fd);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &old), 0);
  for (std::size_t i = 1; i < clients.size(); ++i) {
    ASSERT_TRUE(clients[i].send(get()));
    EXPECT_TRUE(clients[i].read_until("GET /t a\n")) << "and who waited, once there is room";
  }
}

TEST(Http1Hostile, DrainsWithAnswersUnderWay) {
  LiveServer live({}, 200);
  RawClient busy(live.port()), idle(live.port()), half(live.port()), never(live.port());
  ASSERT_TRUE(busy.send(get("", "/late") + get("", "/late")));
  ASSERT_TRUE(half.send("GET / HTTP"));
  ASSERT_TRUE(never.send(get("", "/never")));
  std::this_thread::sleep_for(milliseconds(50));
  live.server().stop(milliseconds(1000));
  EXPECT_NE(idle.read_all(), RawClient::End::Open) << "idle connections go first: the drain has begun";
  static_cast<void>(busy.send(get("", "/not-any-more")));
  EXPECT_EQ(busy.read_all(), RawClient::End::Fin);
  EXPECT_EQ(answers_of(busy.received()), (std::vector<string>{"200 GET /late a\n", "200 GET /late a\n"}));
  EXPECT_NE(busy.received().find("Connection: close"), string::npos);
  EXPECT_NE(half.read_all(), RawClient::End::Open);
  EXPECT_NE(never.read_all(), RawClient::End::Open);
  live.server().wait();
  EXPECT_EQ(live.server().connection_count(), 0u);
}

TEST(Http1Hostile, ReadsAPipelineWithoutEnd) {
  LiveServer live;
  RawClient client(live.port());
  string many;
  for (int i = 0; i < 20000; ++i) many += get();
  ASSERT_TRUE(client.send(many + get("Connection: close\r\n", "/last")));
  EXPECT_EQ(client.read_all(), RawClient::End::Fin);
  const auto answers = answers_of(client.received());
  ASSERT_EQ(answers.size(), 20001u);
  EXPECT_EQ(answers.back(), "200 GET /last a\n");
}

}  // namespace
}  // namespace violet::test
