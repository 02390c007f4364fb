// An App whose workers are processes, as clients and operators see it.
#include "tests/support/client.h"
#include "violet/event/process/supervisor.h"
#include "violet/violet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace violet::test {
namespace {

// The app in a process of its own, which leads a group.
class Supervised {
 public:
  explicit Supervised(ProcessOptions options, const std::string& url = "http://127.0.0.1:0",
                      std::uint64_t drain_ms = 20'000) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    EXPECT_EQ(::pipe(ready_), 0);
    EXPECT_EQ(::pipe(log_), 0);
    parent_ = start_child([&] {
      ::setpgid(0, 0);
      ::dup2(log_[1], STDERR_FILENO);
      ::close(ready_[0]);
      ::close(log_[0]);
      return serve(options, url, drain_ms);
    });
    ::close(ready_[1]);
    ::close(log_[1]);
    const std::string line = read_until(ready_[0], '\n');
    if (!line.empty()) endpoint = net::Endpoint::parse(line).value();
  }
  Supervised(const Supervised&) = delete;
  Supervised& operator=(const Supervised&) = delete;
  ~Supervised() {
    if (!has_ended_) {
      ::kill(-parent_, SIGKILL);
      wait();
    }
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    ::close(ready_[0]);
    ::close(log_[0]);
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  }

  [[nodiscard]] int parent() const { return parent_; }
  [[nodiscard]] std::vector<int> workers() const {
    const std::string pid = std::to_string(parent_);
    std::ifstream file("/proc/" + pid + "/task/" + pid + "/children");
    std::vector<int> found;
    for (int child = 0; file >> child;) found.push_back(child);
    return found;
  }
  int wait() {
    has_ended_ = true;
    return wait_child(parent_);
  }
  int stop(int number = SIGTERM) {
    ::kill(parent_, number);
    return wait();
  }
  // What it has written to stderr. REQUIRES: it has ended.
  [[nodiscard]] std::string log() const { return read_until(log_[0], '\0'); }
  [[nodiscard]] bool says_more() const { return !read_until(ready_[0], '\n').empty(); }

  net::Endpoint endpoint;

 private:
  int serve(const ProcessOptions& options, const std::string& url, std::uint64_t drain_ms) const {
    App app;
    app.get("/pid", [] { return std::to_string(::getpid()); });
    app.get("/crash", []() -> std::string { std::_Exit(7); });
    app.get("/stop", [&app] {
      app.stop();
      return "stopping";
    });
    app.get("/slow/{ms}", [](Path<unsigned> ms) -> Task<std::string> {
      static_cast<void>(co_await sleep_ms(*ms));
      co_return "slept";
    });
    app.get("/two", []() -> Generator<std::string> {
      co_yield "first";
      static_cast<void>(co_await sleep_ms(100));
      co_yield "second";
    });
    Group shop = app.group("/shop");
    shop.use(sessions(), rate_limit({}), concurrency_limit({}));
    shop.get("/cart", [](BrowserSession session) { return std::string(session.get("cart").value_or("empty")); });
    app.loops(1).drain_ms(drain_ms).listen(url);
    if (options.count >= 0) app.processes(options);
    app.on_listen([this](const std::vector<std::string>& urls) {
      const std::string line = urls.front() + "\n";
      static_cast<void>(!::write(ready_[1], line.data(), line.size()));
    });
    return app.run();
  }
  static std::string read_until(int descriptor, char end) {
    std::string text;
    char byte = 0;
    while (::read(descriptor, &byte, 1) == 1 && byte != end) text += byte;
    return text;
  }

  int ready_[2];
  int log_[2];
  int parent_ = 0;
  bool has_ended_ = false;
};

std::string get(std::string_view target) { return "GET " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n\r\n"; }

int pid_of(Client& client) { return std::atoi(client.ask(get("/pid")).body.c_str()); }

// A connection that `worker` serves.
Client connected_to(const Supervised& app, int worker) {
  for (int i = 0; i < 1000; ++i) {
    Client client(app.endpoint);
    if (pid_of(client) == worker) return client;
  }
  ADD_FAILURE() << "no connection reaches " << worker;
  return {};
}

// An answer that has begun, and the rest of it.
std::string first_half(Client& client) {
  client.send(get("/two"));
  std::string answer;
  while (answer.find("first") == std::string::npos) {
    const std::string more = client.read_some();
    if (more.empty()) break;
    answer += more;
  }
  return answer;
}
std::string rest(Client& client) {
  std::string answer;
  while (answer.find("second") == std::string::npos) {
    const std::string more = client.read_some();
    if (more.empty()) return "nothing";
    answer += more;
  }
  client.close();
  return "second";
}

// SIGSTOP reaches a thread when it comes to it.
bool is_stopped(int pid) {
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
    std::ifstream file(task.path() / "stat");
    std::string text;
    std::getline(file, text);
    if (text.substr(text.rfind(')') + 2, 1) != "T") return false;
  }
  return true;
}

bool has_gone(int pid) {
  static_cast<void>(::waitpid(pid, nullptr, WNOHANG));  // when it has become ours
  return ::kill(pid, 0) != 0;
}

TEST(Processes, AllServeOnOnePortAndAllEnd) {
  Supervised app({.count = 3});
  const std::vector<int> workers = app.workers();
  ASSERT_EQ(workers.size(), 3u);
  for (const int worker : workers) connected_to(app, worker);
  EXPECT_EQ(app.stop(), 0);
  for (const int worker : workers) EXPECT_TRUE(has_gone(worker));
  EXPECT_FALSE(Client(app.endpoint).is_open());
  EXPECT_FALSE(app.says_more()) << "readiness is told once, by the first process";
}

TEST(Processes, AKilledWorkerIsReplacedAndWhatWaitedForItIsServed) {
  Supervised app({.count = 2});
  const std::vector<int> workers = app.workers();
  ASSERT_EQ(workers.size(), 2u);
  Client other = connected_to(app, workers[1]);
  // Stopped, it accepts nothing: about half of these wait in its socket.
  ::kill(workers[0], SIGSTOP);
  ASSERT_TRUE(eventually([&] { return is_stopped(workers[0]); }));
  std::vector<Client> clients;
  for (int i = 0; i < 40; ++i) {
    clients.emplace_back(app.endpoint);
    clients.back().send(get("/pid"));
  }
  ::kill(workers[0], SIGKILL);
  std::set<int> served_by;
  for (Client& client : clients) served_by.insert(std::atoi(client.reply().body.c_str()));
  EXPECT_EQ(served_by.count(0), 0u) << "nobody who waited is lost";
  EXPECT_EQ(served_by.size(), 2u);
  EXPECT_EQ(served_by.count(workers[0]), 0u);
  EXPECT_EQ(pid_of(other), workers[1]) << "the others did not notice";
  EXPECT_EQ(app.workers().size(), 2u);
  EXPECT_EQ(app.stop(), 0);
}

TEST(Processes, AWorkerAloneCanBeReplacedGently) {
  Supervised app({.count = 2});
  const int worker = app.workers().front();
  Client busy = connected_to(app, worker);
  first_half(busy);
  ::kill(worker, SIGTERM);
  EXPECT_EQ(rest(busy), "second");
  EXPECT_TRUE(eventually([&] {
    const std::vector<int> now = app.workers();
    return now.size() == 2 && std::ranges::find(now, worker) == now.end();
  }));
  EXPECT_EQ(app.stop(), 0);
}

// The kernel goes on giving connections to the sockets of one that drains.
TEST(Processes, WhatReplacesADrainingWorkerServesBesideIt) {
  Supervised app({.count = 1}, "http://127.0.0.1:0", 600'000);
  const int worker = app.workers().front();
  Client busy(app.endpoint);
  busy.send(get("/slow/1"));
  ASSERT_EQ(busy.reply().status, 200);
  busy.send(get("/slow/500000"));
  ::kill(worker, SIGTERM);
  int served_by = worker;
  EXPECT_TRUE(eventually([&] {
    Client client(app.endpoint);
    served_by = pid_of(client);
    return served_by != worker && served_by > 0;
  }));
  EXPECT_FALSE(has_gone(worker)) << "it still has something in hand";
  EXPECT_EQ(app.workers().size(), 2u);
  ::kill(app.parent(), SIGTERM);
  // Two signals that are sent at once are one.
  EXPECT_TRUE(eventually([&] { return !Client(app.endpoint).is_open(); }));
  EXPECT_EQ(app.stop(), 0) << "the second signal reaches the one that drains as well";
  EXPECT_TRUE(has_gone(worker));
}

// Without certificates there is nothing to read again, and nothing ends.
TEST(Processes, AHangupWithoutCertificatesIsOneLine) {
  for (const int count : {0, 2}) {
    Supervised app({.count = count});
    ::kill(-app.parent(), SIGHUP);
    Client client(app.endpoint);
    EXPECT_GT(pid_of(client), 0);
    EXPECT_EQ(app.stop(), 0) << count;
    EXPECT_NE(app.log().find("SIGHUP: there are no certificates to read again"), std::string::npos);
  }
}

TEST(Processes, NoWorkerOutlivesAKilledSupervisor) {
  Supervised app({.count = 2});
  const std::vector<int> workers = app.workers();
  Client busy(app.endpoint);
  first_half(busy);
  EXPECT_EQ(app.stop(SIGKILL), 1000 + SIGKILL);
  EXPECT_EQ(rest(busy), "second") << "what was begun is finished";
  for (const int worker : workers) EXPECT_TRUE(eventually([&] { return has_gone(worker); })) << worker;
}

// As a terminal and systemd do: the workers' own signal and the supervisor's order are no two signals.
TEST(Processes, ASignalToTheWholeGroupCutsNothing) {
  Supervised app({.count = 2});
  Client busy(app.endpoint);
  first_half(busy);
  ::kill(-app.parent(), SIGTERM);
  EXPECT_EQ(rest(busy), "second");
  EXPECT_EQ(app.wait(), 0);
}

TEST(Processes, ASecondSignalCutsTheDrain) {
  Supervised app({.count = 2}, "http://127.0.0.1:0", 600'000);
  Client busy(app.endpoint);
  busy.send(get("/slow/1"));
  ASSERT_EQ(busy.reply().status, 200);
  busy.send(get("/slow/500000"));
  ::kill(app.parent(), SIGTERM);
  EXPECT_TRUE(eventually([&] { return !Client(app.endpoint).is_open(); }));
  EXPECT_EQ(app.stop(), 0);
}

TEST(Processes, StopInAHandlerEndsAll) {
  Supervised app({.count = 3});
  const std::vector<int> workers = app.workers();
  Client client(app.endpoint);
  EXPECT_EQ(client.ask(get("/stop")).body, "stopping");
  EXPECT_EQ(app.wait(), 0);
  for (const int worker : workers) EXPECT_TRUE(has_gone(worker));
}

TEST(Processes, AreToldOnceWhatTheyDoNotShare) {
  // How often each is told of.
  const auto counts = [](int processes) {
    Supervised app({.count = processes});
    EXPECT_EQ(app.stop(), 0);
    const std::string log = app.log();
    std::vector<int> all;
    for (const std::string_view note : {"sessions() keeps them in the memory of one process",
                                        "rate_limit() \"default\" counts in the memory of one process",
                                        "concurrency_limit() counts the requests of one process"}) {
      int& count = all.emplace_back(0);
      for (std::size_t at = log.find(note); at != std::string::npos; at = log.find(note, at + 1)) ++count;
    }
    return all;
  };
  EXPECT_EQ(counts(2), std::vector<int>({1, 1, 1}));
  EXPECT_EQ(counts(1), std::vector<int>({0, 0, 0}));
}

TEST(Processes, ACrashLoopIsGivenUpWithAStatusOfItsOwn) {
  Supervised app({.count = 1, .stable_ms = 600'000, .failures_max = 2});
  const int worker = app.workers().front();
  Client first(app.endpoint);
  EXPECT_EQ(first.ask(get("/crash")).status, 0);
  Client second(app.endpoint);
  const int next = pid_of(second);
  EXPECT_GT(next, 0);
  EXPECT_NE(next, worker);
  EXPECT_EQ(second.ask(get("/crash")).status, 0);
  EXPECT_EQ(app.wait(), 3);
  const std::string log = app.log();
  EXPECT_NE(log.find("ended with status 7; another one takes its place"), std::string::npos) << log;
  EXPECT_NE(log.find("giving up"), std::string::npos) << log;
}

TEST(Processes, ShareAUnixSocket) {
  const std::string path = "/tmp/violet-processes-" + std::to_string(::getpid()) + ".sock";
  Supervised app({.count = 2}, "unix:" + path);
  for (int i = 0; i < 10; ++i) EXPECT_GT(pid_of(*std::make_unique<Client>(app.endpoint)), 0);
  EXPECT_EQ(::access(path.c_str(), F_OK), 0);
  EXPECT_EQ(app.stop(), 0);
  EXPECT_NE(::access(path.c_str(), F_OK), 0) << "its file goes with it";
}

TEST(Processes, TakeNoAddressThatIsInUse) {
  Supervised app({.count = 2});
  Supervised second({.count = 2}, app.endpoint.to_string());
  EXPECT_EQ(second.wait(), 1);
  EXPECT_NE(second.log().find("cannot listen on"), std::string::npos);
  EXPECT_EQ(app.stop(), 0);
}

TEST(Processes, AreCountedByTheEnvironmentWhereTheProgramSaysNothing) {
  ::setenv("VIOLET_PROCESSES", "2", 1);
  {
    Supervised app({.count = -1});
    EXPECT_EQ(app.workers().size(), 2u);
    EXPECT_EQ(app.stop(), 0);
    Supervised none({.count = 0});
    EXPECT_EQ(none.workers().size(), 0u);
    EXPECT_EQ(none.stop(), 0);
  }
  for (const char* const text : {"two", "-1", "1025", ""}) {
    ::setenv("VIOLET_PROCESSES", text, 1);
    Supervised wrong({.count = -1});
    EXPECT_EQ(wrong.wait(), 1) << text;
    EXPECT_NE(wrong.log().find("VIOLET_PROCESSES"), std::string::npos);
  }
  ::unsetenv("VIOLET_PROCESSES");
}

TEST(Processes, RefuseToForkThreads) {
  std::thread([] {
    if (Supervisor::thread_count() < 2) GTEST_SKIP() << "ThreadSanitizer's own thread hides others";
  }).join();
  if (IsSkipped()) return;
  EXPECT_EQ(in_child([] {
              std::thread other([] { ::pause(); });
              App app;
              const int status = app.processes(2).listen("http://127.0.0.1:0").run();
              other.detach();
              return status;
            }),
            1);
}

TEST(Processes, AreNotForStart) {
  App app;
  app.processes(2).listen("http://127.0.0.1:0");
  EXPECT_FALSE(app.start());
  ASSERT_EQ(app.errors().size(), 1u);
  EXPECT_NE(app.errors().front().find("run()"), std::string::npos);
}

}  // namespace
}  // namespace violet::test
