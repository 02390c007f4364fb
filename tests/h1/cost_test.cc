// What a connection and a request cost: heap, blocks, reads and writes. These are the promises of docs/performance.md
// that do not depend on a machine.

#include "tests/support/counting_new.h"
#include "tests/support/h1_wire.h"
#include "tests/support/reply.h"
#include "violet/net/socket.h"

#include <gtest/gtest.h>

#include <string>

namespace violet::test {
namespace {

const std::string kGet = "GET /baseline11?a=13&b=42 HTTP/1.1\r\nHost: a:8080\r\nUser-Agent: test\r\n\r\n";
const std::string kPost = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";
const std::string kChunked =
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nX-T: "
    "1\r\n\r\n";

static_assert(sizeof(h1::Session) + sizeof(net::SocketTransport) <= 512, "an idle connection's heap");

// Allocations of `count` answers to `request`, the transport's own strings left out.
std::size_t allocations(H1Wire& wire, const std::string& request, int count) {
  std::size_t sum = 0;
  for (int i = 0; i < count; ++i) {
    wire.wire->feed(request);
    const std::size_t before = allocation_count();
    wire.settle();
    sum += allocation_count() - before;
    // Keeps the capacity, so that the next write does not allocate for the test's sake.
    const_cast<std::string&>(wire.wire->written()).clear();
  }
  return sum;
}

TEST(H1Cost, ARequestAfterTheFirstAllocatesNothing) {
  if (!kCountsAllocations) GTEST_SKIP() << "allocations are not counted under sanitizers";
  for (const std::string& request : {kGet, kPost, kChunked, kGet + kPost + kChunked + kGet}) {
    H1Wire wire;
    wire.service.handler = Echo::serve;
    const_cast<std::string&>(wire.wire->written()).reserve(1 << 20);
    EXPECT_GT(allocations(wire, request, 1), 0u) << "the control: the first one is seen to allocate";
    // The parser makes its table of field sections, once a loop, when it sees a second head.
    EXPECT_LE(allocations(wire, request, 1), 1u);
    EXPECT_EQ(allocations(wire, request, 100), 0u) << request;
  }
}

TEST(H1Cost, ARequestInPiecesAllocatesOnlyItsBuffer) {
  if (!kCountsAllocations) GTEST_SKIP() << "allocations are not counted under sanitizers";
  H1Wire wire;
  wire.service.handler = Echo::serve;
  const_cast<std::string&>(wire.wire->written()).reserve(1 << 20);
  allocations(wire, kGet, 3);
  std::size_t sum = 0;
  for (int i = 0; i < 100; ++i) {
    sum += allocations(wire, kGet.substr(0, 20), 1);
    sum += allocations(wire, kGet.substr(20), 1);
  }
  EXPECT_LE(sum, 100u);
}

TEST(H1Cost, OneRequestIsOneReadAndOneWrite) {
  H1Wire wire;
  wire.service.handler = Echo::serve;
  for (const std::string& request : {kGet, kPost, kChunked}) {
    const std::size_t reads = wire.wire->read_count();
    const std::size_t writes = wire.wire->write_count();
    wire.ask(request);
    EXPECT_EQ(wire.wire->read_count() - reads, 1u);
    EXPECT_EQ(wire.wire->write_count() - writes, 1u);
  }
}

TEST(H1Cost, AnIdleConnectionHoldsNothingButItself) {
  H1Wire wire;
  wire.service.handler = Echo::serve;
  const std::size_t blocks = wire.shared.blocks.used_count();
  for (const std::string& request : {kGet, kPost, kChunked}) {
    wire.ask(request);
    EXPECT_EQ(wire.session->stream_count(), 0u);
    EXPECT_LE(wire.shared.streams.used_count(), 1u);
    EXPECT_LE(wire.site.exchanges.used_count(), 1u);
    // The one block that all connections of the loop read into, and the output's.
    EXPECT_LE(wire.shared.blocks.used_count(), blocks + 2);
  }
}

TEST(H1Cost, AnIdleConnectionsHeapIsAtMost512Bytes) {
  if (!kCountsAllocations) GTEST_SKIP() << "allocations are not counted under sanitizers";
  H1Wire wire;
  wire.service.handler = Echo::serve;
  wire.ask(kGet);
  wire.connect();
  wire.settle();
  const std::size_t before = allocated_bytes();
  const std::size_t count = allocation_count();
  delete new char[sizeof(h1::Session)];
  EXPECT_EQ(allocated_bytes() - before, sizeof(h1::Session)) << "the control";
  EXPECT_EQ(allocation_count() - count, 1u);
  EXPECT_LE(sizeof(h1::Session) + net::SocketTransport::kBytes, 512u);
}

TEST(H1Cost, AWaitingRequestPinsNoBlock) {
  H1Wire wire;
  wire.service.handler = [&](Exchange& exchange) { wire.service.hold(exchange); };
  wire.send(kGet);
  const std::size_t used = wire.shared.blocks.used_count();
  for (int i = 0; i < 30; ++i) wire.send(kGet);
  EXPECT_EQ(wire.shared.blocks.used_count(), used);
  for (auto& held : wire.service.held) {
    EXPECT_EQ(held->request().target, "/baseline11?a=13&b=42");
    EXPECT_EQ(held->request().fields.get("user-agent"), "test");
    held->reply();
  }
  wire.service.held.clear();
  wire.settle();
  EXPECT_EQ(replies_of(wire.wire->take()).size(), 31u);
}

}  // namespace
}  // namespace violet::test
