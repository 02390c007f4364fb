// What a socket and a message cost: heap, reads and writes. Promises that do not depend on a machine.

#include "tests/support/counting_new.h"
#include "tests/support/socket_wire.h"
#include "violet/ws/topic/topics.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace violet::test {
namespace {

static_assert(sizeof(ws::Session) <= 256, "what an idle socket adds to its stream");

Task<> echo(WebSocket socket) {
  while (auto message = co_await socket.read()) {
    if (auto sent = co_await socket.send(*message); !sent) co_return;
  }
}
struct EchoObject {
  void on_message(WebSocket& socket, ws::Message message) { static_cast<void>(socket.send(message)); }
};

class WsCost : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    websocket(wire_.router, "/task", echo);
    websocket(wire_.router, "/object", [] { return EchoObject{}; });
    ASSERT_EQ(wire_.open(GetParam()), 101);
    written().reserve(1 << 20);
  }
  std::string& written() { return const_cast<std::string&>(wire_.wire->written()); }
  // Allocations of answering `bytes`, the transport's own strings left out.
  std::size_t allocations(const std::string& bytes) {
    wire_.wire->feed(bytes);
    const std::size_t before = allocation_count();
    wire_.settle();
    const std::size_t made = allocation_count() - before;
    last_bytes_ = written().size();
    written().clear();
    return made;
  }

  SocketWire wire_;
  std::size_t last_bytes_ = 0;
};
INSTANTIATE_TEST_SUITE_P(BothForms, WsCost, testing::Values("/task", "/object"));

TEST_P(WsCost, AMessageUpTo64KiBAllocatesNothing) {
  if (!kCountsAllocations) GTEST_SKIP() << "allocations are not counted under sanitizers";
  for (const std::size_t size : {5u, 125u, 1000u, 3000u, 16'000u, 20'000u, 65'536u}) {
    const std::string bytes = masked(kTextFrame, std::string(size, 'x'));
    std::size_t control = 0;
    for (int i = 0; i < 5; ++i) control += allocations(bytes);
    if (size == 20'000u) EXPECT_GT(control, 0u) << "the control: the first ones are seen to allocate";
    for (int i = 0; i < 50; ++i) ASSERT_EQ(allocations(bytes), 0u) << size;
    EXPECT_EQ(last_bytes_, unmasked(kTextFrame, std::string(size, 'x')).size());
  }
  std::string burst;
  for (int i = 0; i < 16; ++i) burst += masked(kTextFrame, "hello");
  for (int i = 0; i < 3; ++i) allocations(burst);
  for (int i = 0; i < 50; ++i) ASSERT_EQ(allocations(burst), 0u);
  // In fragments, and cut in the middle of a head.
  const std::string pieces = masked(ws::kText, "he") + masked(ws::kFin | ws::kContinuation, "llo");
  for (int i = 0; i < 50; ++i) {
    const std::size_t made = allocations(pieces.substr(0, 9)) + allocations(pieces.substr(9));
    if (i > 2) ASSERT_EQ(made, 0u);
  }
}

TEST_P(WsCost, ABurstIsOneReadAndOneWrite) {
  std::string burst;
  for (int i = 0; i < 500; ++i) burst += masked(kTextFrame, "hello");
  const std::size_t reads = wire_.wire->read_count();
  const std::size_t writes = wire_.wire->write_count();
  EXPECT_EQ(wire_.exchange(burst).size(), 500u);
  EXPECT_EQ(wire_.wire->read_count() - reads, 1u);
  EXPECT_EQ(wire_.wire->write_count() - writes, 1u);
}

TEST_P(WsCost, AnIdleSocketHoldsNoBlock) {
  wire_.exchange(masked(kTextFrame, "hello"));
  const std::size_t used = wire_.shared().blocks.used_count();
  for (int i = 0; i < 20; ++i) {
    wire_.exchange(masked(kTextFrame, std::string(10'000, 'x')));
    EXPECT_LE(wire_.shared().blocks.used_count(), used + 1);
  }
  EXPECT_EQ(wire_.site().exchanges.used_count(), 0u) << "the request is gone";
}

// --- topics

// A stream that only counts: what it is woken for is pulled at the end of the turn.
class CountingStream final : public Stream {
 public:
  void inform(const http::Head&) override {}
  void start(const http::Head&, Body&&) override {}
  void wake() override { ++wake_count; }
  void credit(std::size_t) override {}
  void reset(Error) override {}
  void set_receiver(Receiver&) override {}
  [[nodiscard]] const Connection& connection() const noexcept override { return connection_; }
  [[nodiscard]] Address local_address() const noexcept override { return {}; }
  int wake_count = 0;

 private:
  Connection connection_;
};

TEST(WsTopicCost, AHundredThousandSubscribersShareOneFrame) {
  constexpr std::size_t kCount = 100'000;
  Loop loop;
  const Loop::Scope scope(loop);
  ws::Topics topics;
  ws::Options options;
  options.topics = &topics;
  options.ping_ms = 0;
  const ws::Settings settings(options, Limits());
  std::vector<CountingStream> streams(kCount);
  std::vector<ws::Session*> sessions;
  Chain out;
  for (CountingStream& stream : streams) {
    ws::Session& session = ws::Session::make(loop, settings, ws::Role::Server);
    session.open(stream, nullptr);
    EXPECT_EQ(session.pull(out, 65'536), Pull::Wait);
    topics.subscribe(session, "all");
    sessions.push_back(&session);
  }
  EXPECT_EQ(topics.subscriber_count(loop, "all"), kCount);
  // Warm: each has an outbox from now on.
  topics.publish("all", ws::Kind::Text, "first");
  const std::size_t before = allocation_count();
  topics.publish("all", ws::Kind::Text, "hello, world");
  if (kCountsAllocations) EXPECT_LE(allocation_count() - before, 8u) << "not one for each subscriber";
  const char* bytes = nullptr;
  std::size_t size = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(streams[i].wake_count, 1) << "two messages, one wake";
    ASSERT_EQ(sessions[i]->pull(out, 65'536), Pull::Wait);
    ASSERT_EQ(out.count(), 2u);
    out.pop_front();
    if (bytes == nullptr) bytes = out.front().data();
    ASSERT_EQ(out.front().data(), bytes) << "the same bytes for all";
    size += out.pop_front().size();
  }
  EXPECT_EQ(size, kCount * (2 + 12));
  for (ws::Session* session : sessions) {
    session->on_close({});
    session->dispose();
  }
  EXPECT_EQ(topics.subscriber_count(loop, "all"), 0u);
}

}  // namespace
}  // namespace violet::test
