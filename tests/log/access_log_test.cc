// The access log and the names of requests, through a whole app.

#include "violet/features/log/access_log.h"

#include "tests/support/counting_new.h"
#include "tests/web/fake_wire.h"
#include "violet/app/app.h"
#include "violet/app/test_client.h"
#include "violet/base/log.h"
#include "violet/event/wait.h"
#include "violet/features/log/request_id.h"
#include "violet/web/input/body.h"
#include "violet/web/input/path.h"
#include "violet/web/output/generator.h"
#include "violet/web/output/reply.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace violet {
namespace {

using namespace std::chrono_literals;

// What the log has written, as it comes.
class Written {
 public:
  Function<void(std::string_view)> writer() {
    return [this](std::string_view lines) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !is_stuck_; });
      text_ += lines;
      ++write_count_;
      changed_.notify_all();
    };
  }
  void set_stuck(bool is_stuck) {
    const std::lock_guard lock(mutex_);
    is_stuck_ = is_stuck;
    changed_.notify_all();
  }
  // Waits for `count` lines, and takes them.
  std::vector<std::string> lines(std::size_t count) {
    std::unique_lock lock(mutex_);
    const auto line_count = [this] { return static_cast<std::size_t>(std::ranges::count(text_, '\n')); };
    changed_.wait_for(lock, 10s, [&] { return line_count() >= count; });
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text_.size();) {
      const std::size_t end = text_.find('\n', at);
      lines.push_back(text_.substr(at, end - at));
      at = end + 1;
    }
    text_.clear();
    return lines;
  }
  int write_count() {
    const std::lock_guard lock(mutex_);
    return write_count_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
  int write_count_ = 0;
  bool is_stuck_ = false;
};

bool has(const std::string& line, std::string_view part) { return line.find(part) != std::string::npos; }

TEST(AccessLog, SaysWhatWasAskedAndAnswered) {
  Written written;
  App app;
  app.use(access_log({.write = written.writer()}));
  app.get("/users/{id}", [](Path<int> id) { return *id; });
  app.post("/echo", [](Text text) { return *text; });
  app.get("/throws", []() -> int { throw std::runtime_error("x"); });
  set_log_level(LogLevel::Off);
  {
    TestClient client = app.test();
    client.get("/users/12?secret=1");
    client.head("/users/12");
    client.post("/echo", "hello");
    client.get("/none");
    client.del("/users/12");
    client.get("/throws");
  }
  set_log_level(LogLevel::Info);
  const auto lines = written.lines(6);
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_TRUE(has(lines[0], " \"GET /users/12 HTTP/1.1\" 200 2 0.")) << lines[0];
  EXPECT_TRUE(has(lines[0], " \"/users/{id}\" complete -"));
  EXPECT_TRUE(has(lines[1], " \"HEAD /users/12 HTTP/1.1\" 200 0 "));
  EXPECT_TRUE(has(lines[2], " \"POST /echo HTTP/1.1\" 200 5 "));
  EXPECT_TRUE(has(lines[3], " \"GET /none HTTP/1.1\" 404 ") && has(lines[3], " \"\" complete")) << lines[3];
  EXPECT_TRUE(has(lines[4], " 405 "));
  EXPECT_TRUE(has(lines[5], " \"GET /throws HTTP/1.1\" 500 "));
}

TEST(AccessLog, WritesJsonWithQueriesWhereAskedTo) {
  Written written;
  App app;
  app.use(request_id({.accept = true}),
          access_log({.format = LogFormat::Json, .query = true, .write = written.writer()}));
  app.get("/a", [] { return "a"; });
  app.test().request(http::Method::Get, "/a?b=%22").header("X-Request-ID", "trace-1").send();
  const auto lines = written.lines(1);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(has(lines[0], "\"path\":\"/a\",\"query\":\"b=%22\",\"protocol\":\"HTTP/1.1\",\"route\":\"/a\""))
      << lines[0];
  EXPECT_TRUE(has(lines[0], "\"status\":200,\"bytes\":1,")) << lines[0];
  EXPECT_TRUE(lines[0].ends_with("\"id\":\"trace-1\"}"));
}

TEST(AccessLog, IsUsedAsItIsOnStandardOutput) {
  App app;
  app.use(access_log);
  app.get("/plain", [] { return "x"; });
  testing::internal::CaptureStdout();
  {
    EXPECT_EQ(app.test().get("/plain").status(), 200);
  }
  App gone(std::move(app));
  {
    const App end(std::move(gone));
  }
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_TRUE(has(text, "\"GET /plain HTTP/1.1\" 200 1 ")) << text;
}

TEST(AccessLog, CountsTheBytesOfStreamsAndTheirEnd) {
  Written written;
  App app;
  app.use(access_log({.write = written.writer()}));
  app.get("/stream", []() -> Generator<std::string> {
    for (int i = 0; i < 3; ++i) {
      static_cast<void>(co_await sleep_ms(1));
      co_yield std::string(100, 'a');
    }
  });
  app.test().get("/stream");
  const auto lines = written.lines(1);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(has(lines[0], " 200 300 ") && has(lines[0], " complete ")) << lines[0];
}

TEST(AccessLog, LogsThoseWhoLeave) {
  Written written;
  web::FakeServer server;
  server.connection.peer = *Address::parse("192.0.2.1", 1);
  server.router.use(access_log({.write = written.writer()}));
  server.router.get("/slow", []() -> Task<const char*> {
    static_cast<void>(co_await sleep_ms(60'000));
    co_return "never";
  });
  class Endless final : public Source {
   public:
    Pull pull(Chain& out, std::size_t) override {
      out.append(Slice::literal("tick"));
      return Pull::Wait;
    }
  };
  server.router.get("/ticks", [] { return Body(SourcePtr(new Endless)); });
  const Loop::Scope scope(server.loop);
  for (const char* path : {"/slow", "/ticks"}) {
    web::FakeCall call(server.site(), server.connection, {.target = path});
    call.close(Error(ErrorKind::Reset));
  }
  EXPECT_EQ(server.site().exchanges.used_count(), 0u);
  const auto lines = written.lines(2);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(has(lines[0], "Z 192.0.2.1 \"GET /slow HTTP/1.1\" 499 0 ") && has(lines[0], " cut ")) << lines[0];
  EXPECT_TRUE(has(lines[1], "Z 192.0.2.1 \"GET /ticks HTTP/1.1\" 200 4 ") && has(lines[1], " cut ")) << lines[1];
}

// The handler hears of the end first, and answers nobody.
TEST(AccessLog, AnUploadThatIsCutIsNotComplete) {
  Written written;
  web::FakeServer server;
  server.router.use(access_log({.write = written.writer()}));
  server.router.post("/up", [](BodyStream body) -> Task<const char*> {
    for (;;) {
      const Result<Slice> piece = co_await body.read();
      if (!piece || piece->is_empty()) co_return "thanks";
    }
  });
  const Loop::Scope scope(server.loop);
  {
    web::FakeCall call(server.site(), server.connection,
                       {.method = http::Method::Post, .target = "/up", .body = "all of it", .body_piece = 100});
    call.send_data("half");
    server.loop.step(0);
    call.close(Error(ErrorKind::Reset));
  }
  EXPECT_EQ(server.site().exchanges.used_count(), 0u);
  const auto lines = written.lines(1);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(has(lines[0], "\"POST /up HTTP/1.1\" 499 0 ") && has(lines[0], " cut ")) << lines[0];
}

TEST(AccessLog, LogsOnceHoweverOftenItIsUsed) {
  Written written;
  App app;
  const AccessLog log = access_log({.write = written.writer()});
  app.use(log);
  Group group = app.group("/g");
  group.use(log);
  group.get("/a", [] { return "a"; });
  app.test().get("/g/a");
  EXPECT_EQ(written.lines(1).size(), 1u);
}

TEST(AccessLog, DropsAndCountsInsteadOfWaiting) {
  Written written;
  App app;
  Limits limits;
  limits.access_log_bytes_max = 1'000;
  app.limits(limits);
  const AccessLog log = access_log({.write = written.writer()});
  app.use(log);
  app.get("/", [] { return "x"; });
  written.set_stuck(true);
  TestClient client = app.test();
  constexpr std::size_t kCount = 200;
  for (std::size_t i = 0; i < kCount; ++i) EXPECT_EQ(client.get("/").status(), 200);
  const std::uint64_t dropped = log.dropped_count();
  EXPECT_GT(dropped, kCount - 50);
  written.set_stuck(false);
  // All others are there, and one line says how many are not.
  const auto lines = written.lines(kCount - dropped + 1);
  ASSERT_EQ(lines.size(), kCount - dropped + 1);
  EXPECT_EQ(std::ranges::count_if(lines,
                                  [&](const std::string& line) {
                                    return line == "# " + std::to_string(dropped) +
                                                       " lines dropped: limit access_log_bytes_max";
                                  }),
            1);
}

TEST(AccessLog, WritesManyLinesAtOnce) {
  Written written;
  App app;
  app.use(access_log({.write = written.writer()}));
  app.get("/", [] { return "x"; });
  TestClient client = app.test();
  for (int i = 0; i < 500; ++i) client.get("/");
  EXPECT_EQ(written.lines(500).size(), 500u);
  EXPECT_LT(written.write_count(), 100);
}

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class LogFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "violet_log_XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  // The log's thread writes when it has gathered.
  static bool comes_to_hold(const std::filesystem::path& path, std::string_view part) {
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (std::chrono::steady_clock::now() < deadline) {
      if (content_of(path).find(part) != std::string::npos) return true;
      std::this_thread::yield();
    }
    return false;
  }
  std::filesystem::path folder_;
};

TEST_F(LogFile, IsAppendedToAndFollowedWhenItIsMoved) {
  const auto path = folder_ / "access.log";
  std::ofstream(path) << "before\n";
  App app;
  app.use(access_log({.path = path.string()}));
  app.get("/{x}", [](Path<std::string> x) { return *x; });
  TestClient client = app.test();
  client.get("/first");
  EXPECT_TRUE(comes_to_hold(path, "/first"));
  EXPECT_TRUE(content_of(path).starts_with("before\n"));
  std::filesystem::rename(path, folder_ / "old.log");
  client.get("/second");
  EXPECT_TRUE(comes_to_hold(path, "/second"));
  EXPECT_FALSE(has(content_of(folder_ / "old.log"), "/second"));
}

TEST_F(LogFile, NobodyReadsAPipeAndNothingWaits) {
  const auto path = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  set_log_level(LogLevel::Off);
  const auto begin = std::chrono::steady_clock::now();
  {
    App app;
    const AccessLog log = access_log({.path = path.string()});
    app.use(log);
    app.get("/", [] { return "x"; });
    TestClient client = app.test();
    for (int i = 0; i < 100; ++i) EXPECT_EQ(client.get("/").status(), 200);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  set_log_level(LogLevel::Info);
}

// --- request ids

TEST(RequestIds, AreMadeAndSentBackAndGivenToHandlers) {
  App app;
  app.use(request_id);
  app.get("/", [](RequestId id, Request request) {
    return std::string(*id) + " " + std::string(request.header("X-Request-ID"));
  });
  TestClient client = app.test();
  const TestReply first = client.request(http::Method::Get, "/").header("X-Request-ID", "mine").send();
  const std::string id(first.header("X-Request-ID"));
  EXPECT_EQ(id.size(), 32u);
  EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(first.text(), id + " " + id) << "what the client says is not believed, nor handed on";
  EXPECT_NE(client.get("/").header("X-Request-ID"), id);
  EXPECT_EQ(client.get("/none").header("X-Request-ID").size(), 32u);
}

TEST(RequestIds, AreTakenFromClientsWhereThatIsAskedForAndTheyAreSane) {
  App app;
  app.use(request_id({.accept = true}));
  app.get("/", [](RequestId id) { return std::string(*id); });
  TestClient client = app.test();
  const auto ask = [&](std::string_view id) {
    return client.request(http::Method::Get, "/").header("X-Request-ID", id).send();
  };
  for (const char* good :
       {"a", "0f8fad5b-d9cb-469f-a165-70867728950e", "Root=1-67891233-abcdef012345678912345678", "A/b+c=="}) {
    EXPECT_EQ(ask(good).text(), good);
    EXPECT_EQ(ask(good).header("X-Request-ID"), good);
  }
  for (const std::string& bad : {std::string("a b"), std::string("<x>"), std::string("a\"b"), std::string("a,b"),
                                 std::string("\xc3\xa4"), std::string(129, 'a')}) {
    const TestReply reply = ask(bad);
    EXPECT_EQ(reply.text().size(), 32u) << bad;
    EXPECT_EQ(reply.header("X-Request-ID"), reply.text());
  }
}

TEST(RequestIds, OnlyTheOneThatWasCheckedIsHandedOn) {
  App app;
  app.use(request_id({.accept = true}));
  app.get("/", [](Request request) {
    std::string all;
    for (const http::Field& field : request.exchange().request().fields) {
      if (field.id == http::FieldId::XRequestId) all += "[" + std::string(field.value) + "]";
    }
    return all;
  });
  TestClient client = app.test();
  const auto ask = [&](std::string_view first, std::string_view second) {
    TestRequest request = client.request(http::Method::Get, "/");
    return std::string(request.header("X-Request-ID", first).header("X-Request-ID", second).send().text());
  };
  EXPECT_EQ(ask("a", "b<script>"), "[a]");
  EXPECT_EQ(ask("", "b<script>").size(), 34u) << "a new one, alone";
}

TEST(RequestIds, AHandlersOwnFieldStays) {
  App app;
  app.use(request_id);
  app.get("/", [] { return Reply("x").field("X-Request-ID", "own"); });
  EXPECT_EQ(app.test().get("/").header("X-Request-ID"), "own");
}

TEST(LoggedRequests, TakeNothingFromTheHeap) {
  if (!test::kCountsAllocations) GTEST_SKIP() << "allocations are not counted under sanitizers";
  std::atomic<bool> has_written = false;
  web::FakeServer server;
  server.connection.peer = *Address::parse("2001:db8::1234:5678", 1);
  server.router.use(request_id, access_log({.write = [&has_written](std::string_view) { has_written = true; }}));
  server.router.get("/users/{id}", [](Path<int> id) { return *id; });
  const Loop::Scope scope(server.loop);
  Site& site = server.site();
  std::size_t before = 0;
  for (int i = 0; i < 40; ++i) {
    if (i == 20) {
      // The log's thread has begun, and has its memory.
      while (!has_written) std::this_thread::yield();
      before = test::allocation_count();
    }
    web::FakeStream stream(server.connection);
    stream.keeps_answer = false;
    Exchange& exchange = site.exchanges.open(stream);
    http::Head& head = exchange.request();
    head.method_text = "GET";
    head.target = head.raw = "/users/7";
    EXPECT_TRUE(http::split_target(head));
    exchange.on_head(head, false);
    EXPECT_EQ(stream.answer.status, 200);
    exchange.on_close({});
  }
  EXPECT_EQ(test::allocation_count() - before, 0u);
}

}  // namespace
}  // namespace violet
