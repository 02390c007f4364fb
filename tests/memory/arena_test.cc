#include "violet/memory/arena.h"

#include "tests/support/counting_new.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace violet {
namespace {

TEST(Arena, AlignsEveryAllocation) {
  alignas(16) std::byte first[256];
  Arena arena(first, sizeof first);
  for (std::size_t alignment : {1u, 2u, 4u, 8u, 16u}) {
    for (std::size_t size : {0u, 1u, 3u, 7u, 100u, 5000u, 20'000u}) {
      void* memory = arena.allocate(size, alignment);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % alignment, 0u);
      std::memset(memory, 0xab, size);
      static_cast<void>(arena.allocate(1, 1));
    }
  }
}

TEST(Arena, UsesTheFirstPieceToItsLastByte) {
  alignas(16) std::byte first[64];
  Arena arena(first, sizeof first);
  EXPECT_EQ(arena.allocate(64, 1), first);
  EXPECT_EQ(arena.heap_bytes(), 0u);
  static_cast<void>(arena.allocate(1, 1));
  EXPECT_GT(arena.heap_bytes(), 0u);
  Arena none;
  EXPECT_NE(none.allocate(1, 1), nullptr);
}

TEST(Arena, PiecesNeverOverlap) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    alignas(16) std::byte first[512];
    Arena arena(first, sizeof first);
    for (int use = 0; use < 3; ++use) {
      std::vector<std::pair<char*, std::size_t>> pieces;
      for (int i = 0; i < 200; ++i) {
        const std::size_t size = random() % (i % 20 == 0 ? 30'000 : 200);
        auto* memory = static_cast<char*>(arena.allocate(size, std::size_t{1} << random() % 5));
        std::memset(memory, i & 0xff, size);
        pieces.emplace_back(memory, size);
      }
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        const auto [memory, size] = pieces[i];
        ASSERT_TRUE(std::all_of(memory, memory + size, [&](char c) { return c == static_cast<char>(i & 0xff); })) << i;
      }
      arena.reset(round % 2 == 0 ? 64 * 1024 : 0);
    }
  }
}

TEST(Arena, GivesBackOnlyTheNewest) {
  alignas(16) std::byte first[256];
  Arena arena(first, sizeof first);
  void* one = arena.allocate(32, 1);
  void* two = arena.allocate(32, 1);
  arena.give_back(one, 32);  // not the newest: no effect
  EXPECT_NE(arena.allocate(1, 1), one);
  void* three = arena.allocate(8, 1);
  arena.give_back(three, 8);
  EXPECT_EQ(arena.allocate(8, 1), three);
  EXPECT_NE(two, three);
}

TEST(Arena, ReusedWithTheSamePatternAllocatesNothing) {
  if (!test::kCountsAllocations) GTEST_SKIP() << "allocations are not counted under sanitizers";
  alignas(16) std::byte first[256];
  Arena arena(first, sizeof first);
  const auto use = [&] {
    for (std::size_t size : {100u, 20'000u, 300u, 16'000u, 5000u, 15'000u}) static_cast<void>(arena.allocate(size));
    arena.reset(1 << 20);
  };
  use();
  const std::size_t before = test::allocation_count();
  for (int i = 0; i < 100; ++i) use();
  EXPECT_EQ(test::allocation_count(), before);
}

TEST(Arena, ResetKeepsNoMoreThanAsked) {
  Arena arena;
  for (int i = 0; i < 20; ++i) static_cast<void>(arena.allocate(16'000));
  static_cast<void>(arena.allocate(1'000'000));
  EXPECT_GT(arena.heap_bytes(), 1'300'000u);
  arena.reset(64 * 1024);
  EXPECT_LE(arena.heap_bytes(), 64u * 1024);
  EXPECT_GT(arena.heap_bytes(), 0u);
  arena.reset(0);  // nothing in use: what is kept stays until the next use
  static_cast<void>(arena.allocate(1));
  arena.reset(0);
  EXPECT_EQ(arena.heap_bytes(), 0u);
}

TEST(Arena, CopiesTexts) {
  Arena arena;
  std::string text = "hello";
  const std::string_view copy = arena.copy(text);
  text = "XXXXX";
  EXPECT_EQ(copy, "hello");
  EXPECT_EQ(arena.copy(""), "");
  const std::string long_text(100'000, 'x');
  EXPECT_EQ(arena.copy(long_text), long_text);
}

}  // namespace
}  // namespace violet
