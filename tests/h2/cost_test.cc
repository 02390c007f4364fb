// What a connection and a request of HTTP/2 cost: heap, blocks, reads and writes.

#include "tests/support/counting_new.h"
#include "tests/support/h2_wire.h"
#include "violet/net/socket.h"

#include <gtest/gtest.h>

#include <string>

namespace violet::test {
namespace {

// Allocations of `count` answers, the transport's own strings left out. `next` gives the frames of one request.
std::size_t allocations(H2Wire& wire, std::uint32_t& id, std::string (*next)(std::uint32_t), int count) {
  std::size_t sum = 0;
  for (int i = 0; i < count; ++i, id += 2) {
    wire.wire->feed(next(id));
    const std::size_t before = allocation_count();
    wire.settle();
    sum += allocation_count() - before;
    // Keeps the capacity, so that the next write does not allocate for the test's sake.
    const_cast<std::string&>(wire.wire->written()).clear();
  }
  return sum;
}

std::string one_get(std::uint32_t id) { return get(id, "/baseline2?a=1&b=1"); }
std::string one_post(std::uint32_t id) { return post(id) + data(id, "hello", true); }

TEST(H2Cost, ARequestAfterTheFirstAllocatesNothing) {
  if (!kCountsAllocations) GTEST_SKIP() << "allocations are not counted under sanitizers";
  for (const auto next : {one_get, one_post}) {
    H2Wire wire;
    wire.service.handler = Echo::serve;
    const_cast<std::string&>(wire.wire->written()).reserve(1 << 20);
    std::uint32_t id = 1;
    EXPECT_GT(allocations(wire, id, next, 1), 0u) << "the control: the first one is seen to allocate";
    EXPECT_EQ(allocations(wire, id, next, 200), 0u);
  }
}

TEST(H2Cost, AnIdleConnectionHoldsNothingButItself) {
  H2Wire wire;
  wire.service.handler = Echo::serve;
  const std::size_t blocks = wire.buffers.blocks.used_count();
  for (std::uint32_t id = 1; id < 20; id += 4) {
    wire.send(one_get(id) + one_post(id + 2));
    EXPECT_EQ(wire.session->stream_count(), 0u);
    EXPECT_LE(wire.shared.streams.used_count(), 1u);
    EXPECT_LE(wire.site.exchanges.used_count(), 1u);
    // The one block that all connections of the loop read into, and the output's.
    EXPECT_LE(wire.buffers.blocks.used_count(), blocks + 2);
  }
}

TEST(H2Cost, AnIdleConnectionsHeapIsBounded) {
  // Most of it are the encoder's hints and the tables of both directions, which the protocol makes us keep.
  EXPECT_LE(sizeof(h2::Session), 2560u);
  EXPECT_LE(sizeof(h2::Stream), 512u);
}

TEST(H2Cost, ARepeatedAnswersHeadIsAFewBytes) {
  H2Wire wire;
  wire.service.handler = [](Exchange& exchange) {
    EXPECT_TRUE(exchange.response().fields.add("content-type", "text/plain; charset=utf-8"));
    exchange.reply(Slice::literal("x"));
  };
  for (std::uint32_t id = 1; id < 10; id += 2) wire.send(get(id));
  std::size_t bytes = 0;
  for (const Frame& one : wire.read().frames()) {
    if (one.type == h2::FrameType::Headers) bytes = one.payload.size();
  }
  EXPECT_LE(bytes, 6u);
}

}  // namespace
}  // namespace violet::test
