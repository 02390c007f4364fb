// Requests that wait for cold files: shared, bounded, in order, and never turned away without need.

#include "tests/files/serving.h"
#include "tests/web/fake_wire.h"

#include <chrono>
#include <deque>
#include <thread>

namespace violet::files {
namespace {

class Waiting : public testing::Test {
 protected:
  Waiting() {
    for (int i = 0; i < 60; ++i) tree.write("f" + std::to_string(i), "text " + std::to_string(i));
  }
  void mount(FileOptions options = {}) { files = serve_files(server.router, "/s", tree.path(), std::move(options)); }
  web::FakeCall& begin(const std::string& target, web::FakeRequest request = {}) {
    request.target = target;
    return calls.emplace_back(server.site(), server.connection, request);
  }
  ~Waiting() override { calls.clear(); }

  Tree tree;
  web::FakeServer server;
  const Loop::Scope scope{server.loop};
  std::unique_ptr<Files> files;
  std::deque<web::FakeCall> calls;
};

// PITFALLS: an answer from memory is never refused, and slots are those of real reads.
TEST_F(Waiting, OneSlotServesAnyNumberOfColdFiles) {
  server.limits.file_reads_max = 1;
  mount({.threads = 1});
  for (int i = 0; i < 60; ++i) begin("/s/f" + std::to_string(i));
  for (int i = 0; i < 60; ++i) {
    EXPECT_EQ(calls[static_cast<std::size_t>(i)].wait().body, "text " + std::to_string(i)) << i;
  }
  EXPECT_EQ(files->stats().reads, 60u);
  EXPECT_EQ(files->stats().reading, 0u);
  EXPECT_EQ(files->stats().refused, 0u);
}

TEST_F(Waiting, RequestsForOneFileShareARead) {
  mount();
  for (int i = 0; i < 50; ++i) begin("/s/f1");
  for (web::FakeCall& call : calls) EXPECT_EQ(call.wait().body, "text 1");
  EXPECT_EQ(files->stats().reads, 1u);
}

TEST_F(Waiting, BeyondTheNamedLimitIsA503) {
  server.limits.file_waits_max = 3;
  mount();
  begin("/s/f0").wait();
  for (int i = 1; i <= 5; ++i) begin("/s/f" + std::to_string(i));
  // What is in memory needs no slot.
  EXPECT_EQ(begin("/s/f0").wait().status, 200);
  for (std::size_t i = 1; i <= 3; ++i) EXPECT_EQ(calls[i].wait().status, 200);
  for (std::size_t i = 4; i <= 5; ++i) {
    EXPECT_EQ(calls[i].wait().status, 503);
    EXPECT_EQ(calls[i].stream.answer.header("Retry-After"), "1");
    EXPECT_TRUE(calls[i].stream.answer.body.contains("file_waits_max = 3")) << calls[i].stream.answer.body;
  }
  EXPECT_EQ(files->stats().refused, 2u);
  // Who has been answered waits no more.
  for (int i = 6; i <= 8; ++i) EXPECT_EQ(begin("/s/f" + std::to_string(i)).wait().status, 200);
}

TEST_F(Waiting, AClientThatLeavesGivesItsPlaceBack) {
  server.limits.file_waits_max = 1;
  server.limits.file_reads_max = 1;
  mount();
  for (int i = 0; i < 20; ++i) {
    begin("/s/f" + std::to_string(i));
    calls.back().close(Error(ErrorKind::Closed));
  }
  EXPECT_EQ(begin("/s/f30").wait().status, 200);
  EXPECT_EQ(files->stats().refused, 0u);
}

TEST_F(Waiting, ALateRequestGetsWhatIsThereThen) {
  mount();
  const web::FakeCall& first = begin("/s/f1");
  // The worker has read by now, and its answer lies in the loop's mailbox.
  while (files->stats().reads == 0 || files->stats().reading > 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  tree.replace("f1", "newer");
  web::FakeCall& second = begin("/s/f1");
  EXPECT_EQ(second.wait().body, "newer");
  EXPECT_EQ(first.stream.answer.body, "text 1");
}

TEST_F(Waiting, AFileThatNeverHoldsStillEndsAllTheSame) {
  tree.write("busy", "a");
  mount();
  std::atomic<bool> is_over = false;
  std::thread writer([&] {
    for (char c = 'a'; !is_over; c = c == 'z' ? 'a' : static_cast<char>(c + 1))
      tree.write("busy", std::string(20'000, c));
  });
  for (int i = 0; i < 10; ++i) {
    const web::FakeAnswer& answer = begin("/s/busy").wait();
    EXPECT_TRUE(answer.status == 200 || answer.status == 503 || answer.status == 404) << answer.status;
    if (answer.status == 503) EXPECT_EQ(answer.header("Retry-After"), "1");
    if (answer.status == 200 && !answer.body.empty())
      EXPECT_EQ(answer.body, std::string(answer.body.size(), answer.body[0]));
  }
  is_over = true;
  writer.join();
  EXPECT_EQ(begin("/s/busy").wait().status, 200);
}

TEST_F(Waiting, TheEndOfALoopEndsThem) {
  mount({.threads = 1});
  for (int i = 0; i < 30; ++i) begin("/s/f" + std::to_string(i));
  calls.clear();
}

}  // namespace
}  // namespace violet::files
