// What a hot answer costs: one statx and no other call of the file system, no lock, no allocation, no copy of the body.

#include "tests/files/counted_calls.h"
#include "tests/files/serving.h"
#include "tests/support/counting_new.h"
#include "tests/support/h1_wire.h"
#include "tests/support/reply.h"
#include "violet/features/files/disk/root.h"
#include "violet/memory/pool.h"

#include <mutex>

namespace violet::files {
namespace {

class Cost : public testing::Test {
 protected:
  void SetUp() override {
    if (!kCountsCalls) GTEST_SKIP() << "calls cannot be counted under a sanitizer";
    tree.write("a.css", std::string(16'384, 'a'));
    tree.write("b.js", std::string(16'384, 'b'));
    tree.write("b.js.br", std::string(3'000, 'c'));
  }
  void start(FileOptions options = {}) {
    files = serve_files(router, "/s", tree.path(), std::move(options));
    ASSERT_TRUE(router.freeze().empty());
    wire.service.handler = [this](Exchange& exchange) { router.serve(exchange); };
  }
  // Calls of 100 requests once everything is warm.
  CallCounts count(const std::string& path, const std::string& fields, std::size_t body, int status = 200) {
    const std::string request = "GET /s/" + path + " HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n";
    for (int i = 0; i < 5; ++i) {
      wire.send(request);
      wire.until([&] { return !wire.wire->written().empty(); });
      EXPECT_EQ(test::reply_of(wire.wire->take()).body.size(), body);
    }
    CallCounts calls;
    allocations = 0;
    for (int i = 0; i < 100; ++i) {
      wire.wire->feed(request);
      const std::size_t before = test::allocation_count();
      const CallCounts start = counted_calls();
      wire.settle();
      calls += counted_calls() - start;
      allocations += test::allocation_count() - before;
      const std::string answer = wire.wire->take();
      EXPECT_TRUE(answer.starts_with("HTTP/1.1 " + std::to_string(status)));
    }
    return calls;
  }

  Tree tree;
  Router router;
  std::unique_ptr<Files> files;
  test::H1Wire wire;
  std::size_t allocations = 0;
};

TEST_F(Cost, AHotFileIsOneLook) {
  start();
  const CallCounts calls = count("a.css", "Accept-Encoding: br;q=0, gzip;q=0\r\n", 16'384);
  EXPECT_EQ(calls.looks, 100u);
  EXPECT_EQ(calls.others, 0u);
  EXPECT_EQ(calls.locks, 0u);
  // What the transport in memory keeps of the answer is its own.
  EXPECT_LE(allocations, 400u);
}

TEST_F(Cost, ATwinIsTwo) {
  start();
  const CallCounts calls = count("b.js", "Accept-Encoding: br\r\n", 3'000);
  EXPECT_GE(calls.looks, 200u);
  EXPECT_LE(calls.looks, 200u + 2 * 3u);  // and those for other twins, once a second
  EXPECT_EQ(calls.others, 0u);
  EXPECT_EQ(calls.locks, 0u);
}

TEST_F(Cost, WhatIsNotThereIsOneLook) {
  start();
  const CallCounts calls = count("none", "", std::string_view("404 Not Found\n").size(), 404);
  EXPECT_EQ(calls.looks, 100u);
  EXPECT_EQ(calls.others, 0u);
  EXPECT_EQ(calls.locks, 0u);
}

TEST_F(Cost, ByEventsNothingIsAsked) {
  start({.revalidate = Revalidate::ByEvents});
  const CallCounts calls = count("a.css", "", 16'384);
  EXPECT_EQ(calls.looks + calls.others, 0u);
  EXPECT_EQ(calls.locks, 0u);
}

TEST_F(Cost, NeitherWithNever) {
  start({.revalidate = Revalidate::Never});
  const CallCounts calls = count("a.css", "", 16'384);
  EXPECT_EQ(calls.looks + calls.others + calls.locks, 0u);
}

TEST_F(Cost, TheCountersCount) {
  const CallCounts before = counted_calls();
  static_cast<void>(tree.read("a.css"));
  EXPECT_GT((counted_calls() - before).others, 0u);
  Status status;
  EXPECT_EQ(look(tree.path("a.css").c_str(), false, status), 0);
  EXPECT_EQ((counted_calls() - before).looks, 1u);
  const Root root(tree.path(), Symlinks::None);
  const CallCounts opened = counted_calls();
  EXPECT_TRUE(root.open("a.css"));
  EXPECT_GE((counted_calls() - opened).others, 3u);
  std::mutex mutex;
  const CallCounts locked = counted_calls();
  {
    const std::lock_guard lock(mutex);
  }
  EXPECT_EQ((counted_calls() - locked).locks, 1u);
}

// A stream that remembers where the bytes of a body lie.
class Place final : public Stream {
 public:
  void inform(const http::Head&) override {}
  void start(const http::Head&, Body&& body) override {
    ASSERT_EQ(body.chain().count(), 1u);
    data = body.chain().front().data();
    size = body.chain().size();
  }
  void wake() override {}
  void credit(std::size_t) override {}
  void reset(Error) override {}
  void set_receiver(Receiver&) override {}
  [[nodiscard]] const Connection& connection() const noexcept override { return connection_; }
  [[nodiscard]] Address local_address() const noexcept override { return {}; }

  const char* data = nullptr;
  std::size_t size = 0;

 private:
  Connection connection_;
};

TEST_F(Cost, TheBodyIsTheBytesInMemoryItself) {
  if (!kPoolsKeep) GTEST_SKIP() << "pools keep nothing under AddressSanitizer";
  start();
  count("a.css", "", 16'384);
  const auto ask = [this](std::size_t* allocated) {
    Place place;
    Exchange& exchange = wire.site.exchanges.open(place);
    http::Head& head = exchange.request();
    head.target = head.path = "/s/a.css";
    const std::size_t before = test::allocation_count();
    exchange.on_head(head, false);
    *allocated = test::allocation_count() - before;
    exchange.on_close({});
    EXPECT_EQ(place.size, 16'384u);
    return place.data;
  };
  std::size_t allocated = 0;
  const char* first = ask(&allocated);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(ask(&allocated), first);
    EXPECT_EQ(allocated, 0u);
  }
}

}  // namespace
}  // namespace violet::files
