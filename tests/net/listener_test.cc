#include "violet/net/listener.h"

#include "tests/support/client.h"
#include "violet/net/cpu.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <sched.h>
#include <string>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace violet::net {
namespace {

using test::Client;

struct Counting final : Listener::Acceptor {
  ~Counting() {
    for (int descriptor : accepted) ::close(descriptor);
  }
  void on_accept(int descriptor, const Address& from) noexcept override {
    accepted.push_back(descriptor);
    peer = from;
  }
  bool has_room() noexcept override { return accepted.size() < room; }
  void on_accept_paused(Error why) noexcept override {
    ++pause_count;
    last = why;
  }
  std::vector<int> accepted;
  Address peer;
  std::size_t room = 1'000'000;
  int pause_count = 0;
  Error last;
};

struct Listening {
  explicit Listening(std::string_view url, const ListenOptions& options = {}) : listener(loop, acceptor) {
    opened = listener.open(*Endpoint::parse(url), options);
    if (opened) listener.start();
  }
  ~Listening() {
    listener.close();
    while (!listener.is_closed()) loop.step(0);
  }
  bool until(auto&& is_true, int most_ms = 5000) {
    const std::uint64_t end = Loop::clock_us() + static_cast<std::uint64_t>(most_ms) * 1000;
    while (!is_true()) {
      if (Loop::clock_us() > end) return false;
      loop.step(5);
    }
    return true;
  }
  bool accepts(std::size_t count) {
    return until([&] { return acceptor.accepted.size() >= count; });
  }
  Loop loop;
  Counting acceptor;
  Listener listener;
  Result<void> opened;
};

class TempFolder {
 public:
  TempFolder() { path_ = ::mkdtemp(name_); }
  ~TempFolder() {
    ::unlink(socket().c_str());
    ::rmdir(path_.c_str());
  }
  [[nodiscard]] std::string socket() const { return path_ + "/s"; }
  [[nodiscard]] std::string url() const { return "unix:" + socket(); }

 private:
  char name_[32] = "/tmp/violet_net_test_XXXXXX";
  std::string path_;
};

bool has_file(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0;
}

TEST(Listener, AcceptsOnIpv4WithAPortOfItsOwn) {
  Listening on("http://127.0.0.1:0");
  ASSERT_TRUE(on.opened);
  EXPECT_GT(on.listener.endpoint().address.port, 0);
  Client client(on.listener.endpoint());
  ASSERT_TRUE(client.is_open());
  ASSERT_TRUE(on.accepts(1));
  EXPECT_EQ(on.acceptor.peer.host(), "127.0.0.1");
  EXPECT_NE(::fcntl(on.acceptor.accepted[0], F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(::fcntl(on.acceptor.accepted[0], F_GETFD) & FD_CLOEXEC, 0);
}

TEST(Listener, AcceptsOnIpv6) {
  Listening on("http://[::1]:0");
  if (!on.opened) GTEST_SKIP() << "no IPv6 here: " << message(on.opened.error());
  Client client(on.listener.endpoint());
  ASSERT_TRUE(on.accepts(1));
  EXPECT_EQ(on.acceptor.peer.host(), "::1");
  // Not dual: the same port of IPv4 is somebody else's.
  Endpoint other = on.listener.endpoint();
  other.address = *Address::parse("127.0.0.1", other.address.port);
  EXPECT_FALSE(Client(other).is_open());
}

TEST(Listener, DualStackTakesBothAndShowsIpv4AsSuch) {
  Listening on("http://*:0");
  if (!on.opened) GTEST_SKIP() << "no IPv6 here: " << message(on.opened.error());
  Endpoint four = on.listener.endpoint();
  four.address = *Address::parse("127.0.0.1", four.address.port);
  Client one(four);
  ASSERT_TRUE(on.accepts(1));
  EXPECT_EQ(on.acceptor.peer.family, Address::Family::Ipv4);
  EXPECT_EQ(on.acceptor.peer.host(), "127.0.0.1");
  Client two(on.listener.endpoint());
  ASSERT_TRUE(on.accepts(2));
  EXPECT_EQ(on.acceptor.peer.host(), "::1");
}

TEST(Listener, UnixSocketHasItsModeAndIsRemovedAtTheEnd) {
  const TempFolder folder;
  for (int mode : {0600, 0660, 0666}) {
    ListenOptions options;
    options.unix_mode = mode;
    {
      Listening on(folder.url(), options);
      ASSERT_TRUE(on.opened);
      struct stat info{};
      ASSERT_EQ(::stat(folder.socket().c_str(), &info), 0);
      EXPECT_EQ(static_cast<int>(info.st_mode & 0777), mode);
      Client client(on.listener.endpoint());
      ASSERT_TRUE(on.accepts(1));
      EXPECT_EQ(on.acceptor.peer.family, Address::Family::Unix);
    }
    EXPECT_FALSE(has_file(folder.socket()));
  }
}

TEST(Listener, AStaleSocketFileIsReplacedAndALiveOneIsAConflict) {
  const TempFolder folder;
  {
    Listening live(folder.url());
    ASSERT_TRUE(live.opened);
    Listening second(folder.url());
    ASSERT_FALSE(second.opened);
    EXPECT_EQ(second.opened.error().kind(), ErrorKind::Conflict);
    // The loser has not taken the winner's file away.
    EXPECT_TRUE(Client(live.listener.endpoint()).is_open());
  }
  EXPECT_EQ(test::in_child([&] {
              Listening killed(folder.url());
              ::_exit(killed.opened ? 0 : 1);
              return 0;
            }),
            0);
  EXPECT_TRUE(has_file(folder.socket()));
  Listening again(folder.url());
  EXPECT_TRUE(again.opened);
}

TEST(Listener, AFileThatIsNoSocketIsAConflictAndStays) {
  const TempFolder folder;
  ::close(::open(folder.socket().c_str(), O_CREAT | O_WRONLY, 0600));
  Listening on(folder.url());
  ASSERT_FALSE(on.opened);
  EXPECT_EQ(on.opened.error().kind(), ErrorKind::Conflict);
  EXPECT_TRUE(has_file(folder.socket()));
}

TEST(Listener, APathTooLongIsABadAddress) {
  Listening on("unix:/tmp/" + std::string(200, 'x'));
  ASSERT_FALSE(on.opened);
  EXPECT_EQ(on.opened.error().kind(), ErrorKind::Address);
}

TEST(Listener, AnAddressInUseIsFoundEvenWithReusePort) {
  Listening first("http://127.0.0.1:0");
  ASSERT_TRUE(first.opened);
  for (bool reuse_port : {true, false}) {
    ListenOptions options;
    options.reuse_port = reuse_port;
    Listening second(first.listener.endpoint().to_string(), options);
    ASSERT_FALSE(second.opened);
    EXPECT_EQ(second.opened.error().kind(), ErrorKind::System);
    EXPECT_EQ(second.opened.error().detail(), EADDRINUSE);
  }
  // A further loop of the same server does share it.
  ListenOptions shared;
  shared.is_first = false;
  Listening third(first.listener.endpoint().to_string(), shared);
  EXPECT_TRUE(third.opened);
}

TEST(Listener, AnAddressThatIsNotOursIsASystemError) {
  Listening on("http://192.0.2.1:0");
  ASSERT_FALSE(on.opened);
  EXPECT_EQ(on.opened.error().detail(), EADDRNOTAVAIL);
}

TEST(Listener, PausesAtTheLimitAndResumes) {
  Listening on("http://127.0.0.1:0");
  on.acceptor.room = 2;
  std::vector<Client> clients;
  for (int i = 0; i < 5; ++i) clients.emplace_back(on.listener.endpoint());
  ASSERT_TRUE(on.accepts(2));
  ASSERT_TRUE(on.until([&] { return on.acceptor.pause_count > 0; }));
  EXPECT_EQ(on.acceptor.last.kind(), ErrorKind::Busy);
  on.until([] { return false; }, 30);
  EXPECT_EQ(on.acceptor.accepted.size(), 2u);
  on.acceptor.room = 4;
  on.listener.resume();
  ASSERT_TRUE(on.accepts(4));
  // It also looks again by itself, for room that another loop has made.
  on.acceptor.room = 5;
  ASSERT_TRUE(on.accepts(5));
}

TEST(Listener, TakesTheBacklogWhenStartedAgain) {
  Listening on("http://127.0.0.1:0");
  on.listener.pause();
  std::vector<Client> clients;
  for (int i = 0; i < 200; ++i) clients.emplace_back(on.listener.endpoint());
  on.until([] { return false; }, 20);
  EXPECT_EQ(on.acceptor.accepted.size(), 0u);
  on.listener.start();
  EXPECT_TRUE(on.accepts(200)) << "bursts are bounded, but nobody is forgotten";
}

// In a child, because descriptors run out.
int run_out_of_descriptors() {
  Listening on("http://127.0.0.1:0");
  if (!on.opened) return 10;
  // One while there are descriptors: UBSan's check of a dynamic type needs some the first time.
  const Client early(on.listener.endpoint());
  if (!on.accepts(1)) return 10;
  std::vector<Client> clients;
  for (int i = 0; i < 5; ++i) clients.emplace_back(on.listener.endpoint());
  std::vector<int> fillers;
  const rlimit limit{64, 64};
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return 11;
  for (int descriptor; (descriptor = ::open("/dev/null", O_RDONLY)) >= 0;) fillers.push_back(descriptor);
  const std::clock_t before = std::clock();
  on.until([] { return false; }, 500);
  const double cpu_seconds = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  if (on.acceptor.accepted.size() != 1) return 12;
  if (on.acceptor.pause_count == 0 || on.acceptor.last.detail() != EMFILE) return 13;
  if (cpu_seconds > 0.1) return 14;
  for (int i = 0; i < 10; ++i) {
    ::close(fillers.back());
    fillers.pop_back();
  }
  if (!on.accepts(6)) return 15;
  // Out of them for long, peers that wait are turned away one by one instead of being left in silence.
  for (int descriptor; (descriptor = ::open("/dev/null", O_RDONLY)) >= 0;) fillers.push_back(descriptor);
  ::close(fillers.back());
  Client late(on.listener.endpoint());
  if (!late.is_open()) return 16;
  ::open("/dev/null", O_RDONLY);
  on.acceptor.pause_count = 0;
  bool is_closed = false;
  on.until([&] { return is_closed = late.is_closed_within(0); }, 5000);
  return is_closed ? 0 : 17;
}

TEST(Listener, RunningOutOfDescriptorsPausesAndDoesNotSpin) { EXPECT_EQ(test::in_child(run_out_of_descriptors), 0); }

TEST(Listener, LeaksNoDescriptor) {
  const auto next = [] {
    const int descriptor = ::open("/dev/null", O_RDONLY);
    ::close(descriptor);
    return descriptor;
  };
  const int before = next();
  const TempFolder folder;
  for (int i = 0; i < 50; ++i) {
    Listening good("http://127.0.0.1:0");
    Listening taken(good.listener.endpoint().to_string());
    Listening bad("http://192.0.2.1:80");
    Listening path(folder.url());
    Listening conflict(folder.url());
  }
  EXPECT_EQ(next(), before);
}

TEST(Endpoint, ParsesWhatItSays) {
  struct Case {
    const char* url;
    const char* result;
  };
  for (const Case& c :
       {Case{"http://127.0.0.1:8080", "http://127.0.0.1:8080"}, Case{"http://127.0.0.1", "http://127.0.0.1:80"},
        Case{"https://127.0.0.1/", "https://127.0.0.1:443"}, Case{"http://127.0.0.1:0", "http://127.0.0.1:0"},
        Case{"http://[::1]:8080", "http://[::1]:8080"}, Case{"http://[2001:DB8::1]", "http://[2001:db8::1]:80"},
        Case{"http://*:80", "http://[::]:80"}, Case{"http://localhost:1", "http://127.0.0.1:1"},
        Case{"http://0.0.0.0:65535", "http://0.0.0.0:65535"}, Case{"unix:/run/a.sock", "unix:/run/a.sock"},
        Case{"unix:a", "unix:a"}}) {
    const auto parsed = Endpoint::parse(c.url);
    ASSERT_TRUE(parsed) << c.url;
    EXPECT_EQ(parsed->to_string(), c.result);
  }
  EXPECT_TRUE(Endpoint::parse("http://*:80")->is_dual);
  EXPECT_FALSE(Endpoint::parse("http://[::1]:80")->is_dual);
  for (const char* bad : {"",
                          "http",
                          "http:",
                          "http:/",
                          "http://",
                          "http://:80",
                          "ftp://127.0.0.1",
                          "127.0.0.1:80",
                          "HTTP://a",
                          "http://a.example:80",
                          "http://127.0.0.1:",
                          "http://127.0.0.1:65536",
                          "http://127.0.0.1:-1",
                          "http://127.0.0.1:+1",
                          "http://127.0.0.1: 1",
                          "http://127.0.0.1:1x",
                          "http://127.0.0.1:1/x",
                          "http://127.0.0.1:1?x",
                          "http://256.0.0.1",
                          "http://1.2.3",
                          "http://::1:80",
                          "http://[::1",
                          "http://[]",
                          "http://[::1]x",
                          "http://[::1]80",
                          "http://[127.0.0.1]:80",
                          "http://[*]:80",
                          "http://[localhost]:80",
                          "http://u@127.0.0.1",
                          "unix:",
                          "http://127.0.0.1//"}) {
    const auto parsed = Endpoint::parse(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error().kind(), ErrorKind::Address) << bad;
  }
}

TEST(Cpu, CountsWhatTheAffinityMaskAllows) {
  EXPECT_GE(usable_processors(), 1);
  EXPECT_EQ(test::in_child([] {
              cpu_set_t mask;
              if (::sched_getaffinity(0, sizeof mask, &mask) != 0) return 2;
              const int all = CPU_COUNT(&mask);
              if (usable_processors() > all) return 3;
              int first = 0;
              while (!CPU_ISSET(first, &mask)) ++first;
              CPU_ZERO(&mask);
              CPU_SET(first, &mask);
              if (::sched_setaffinity(0, sizeof mask, &mask) != 0) return 4;
              return usable_processors() == 1 ? 0 : 5;
            }),
            0);
}

TEST(Cpu, RaisesTheSoftLimitOfDescriptors) {
  EXPECT_EQ(test::in_child([] {
              const rlimit limit{100, 200};
              if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return 2;
              if (usable_descriptors() != 200) return 3;
              rlimit now{};
              ::getrlimit(RLIMIT_NOFILE, &now);
              return now.rlim_cur == 200 ? 0 : 4;
            }),
            0);
}

}  // namespace
}  // namespace violet::net
