// Warm blocks allocate nothing, in either direction.

#include "tests/hpack/blocks.h"
#include "tests/support/counting_new.h"

#include <gtest/gtest.h>

namespace violet::test {
namespace {

using hpack::Pseudo;
using http::FieldId;

TEST(HpackCost, AWarmConnectionAllocatesNothing) {
  if (!kCountsAllocations) GTEST_SKIP() << "allocations are not counted under sanitizers";
  hpack::Encoder encoder;
  hpack::Decoder decoder;
  alignas(16) char first[4096];
  Arena arena(first, sizeof first);
  alignas(http::Field) std::byte lines[8 * sizeof(http::Field)];
  http::Fields fields(arena, reinterpret_cast<http::Field*>(lines), 8);
  char out[1024];
  const auto round = [&](int number) {
    // Values that come again, values that change, and a table that overflows now and then.
    const std::string id = "id-" + std::to_string(number / 3);
    char* p = encoder.begin(out);
    p = encoder.pseudo(p, Pseudo::Method, "GET");
    p = encoder.pseudo(p, Pseudo::Path, "/path");
    p = encoder.pseudo(p, Pseudo::Authority, "www.example.com");
    p = encoder.field(p, FieldId::UserAgent, "a browser");
    p = encoder.field(p, {.name = "X-Own", .value = id});
    fields.reset(reinterpret_cast<http::Field*>(lines), 8);
    arena.reset();
    hpack::Section section(fields);
    ASSERT_EQ(decoder.decode({out, static_cast<std::size_t>(p - out)}, kWideBudget, section), hpack::Verdict::Done);
    ASSERT_EQ(fields.get("x-own"), id);
  };
  const std::size_t cold = allocation_count();
  for (int i = 0; i < 1000; ++i) round(i);
  EXPECT_GT(allocation_count(), cold) << "the control: growing is seen";
  EXPECT_GT(encoder.table().newest(), encoder.table().count()) << "entries were evicted";
  const std::size_t warm = allocation_count();
  for (int i = 1000; i < 2000; ++i) round(i);
  EXPECT_EQ(allocation_count(), warm);
}

TEST(HpackCost, NothingIsAllocatedFromTheSecondBlockOn) {
  if (!kCountsAllocations) GTEST_SKIP() << "allocations are not counted under sanitizers";
  hpack::Encoder encoder;
  hpack::Decoder decoder;
  alignas(16) char first[4096];
  Arena arena(first, sizeof first);
  alignas(http::Field) std::byte lines[8 * sizeof(http::Field)];
  http::Fields fields(arena, reinterpret_cast<http::Field*>(lines), 8);
  char out[1024];
  const auto allocations_of_a_round = [&] {
    const std::size_t before = allocation_count();
    char* p = encoder.begin(out);
    p = encoder.status(p, 200);
    p = encoder.date(p, 1, "Mon, 30 Nov 2026 18:00:00 GMT");
    p = encoder.field(p, FieldId::ContentType, "text/plain");
    p = encoder.length(p, 5);
    fields.reset(reinterpret_cast<http::Field*>(lines), 8);
    arena.reset();
    hpack::Section section(fields);
    EXPECT_EQ(decoder.decode({out, static_cast<std::size_t>(p - out)}, kWideBudget, section), hpack::Verdict::Done);
    return allocation_count() - before;
  };
  EXPECT_GT(allocations_of_a_round(), 0u) << "the control";
  // The decoder's table grows once, when the encoder puts into it what comes for the second time.
  EXPECT_LE(allocations_of_a_round(), 2u);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(allocations_of_a_round(), 0u);
}

TEST(HpackCost, AConnectionThatSaysNothingHoldsNothing) {
  EXPECT_LE(sizeof(hpack::Decoder), 96u);
  EXPECT_LE(sizeof(hpack::Encoder), 704u);
  EXPECT_EQ(hpack::Decoder().table().heap_bytes() + hpack::Encoder().table().heap_bytes(), 0u);
}

}  // namespace
}  // namespace violet::test
