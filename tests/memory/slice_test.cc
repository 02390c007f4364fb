#include "violet/memory/slice.h"

#include "violet/memory/block.h"
#include "violet/memory/chain.h"
#include "violet/memory/read_block.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <thread>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <vector>

namespace violet {
namespace {

static_assert(std::is_nothrow_move_constructible_v<Slice> && std::is_nothrow_move_constructible_v<Chain>);
static_assert(!std::is_copy_constructible_v<Chain>, "a chain is not copied by accident");

TEST(Slice, LiteralAndBorrowedOwnNothing) {
  const Slice literal = Slice::literal("abc");
  EXPECT_EQ(literal.text(), "abc");
  EXPECT_FALSE(literal.is_borrowed());
  std::string text = "borrowed";
  Slice borrowed = Slice::borrowed(text);
  EXPECT_TRUE(borrowed.is_borrowed());
  EXPECT_EQ(borrowed.data(), text.data());
  const Slice prefix = borrowed.prefix(3);
  EXPECT_TRUE(prefix.is_borrowed());
  const Slice owned = std::move(borrowed).owned();
  text = "XXXXXXXX";
  EXPECT_EQ(owned.text(), "borrowed");
  EXPECT_FALSE(owned.is_borrowed());
  EXPECT_TRUE(Slice().is_empty());
}

TEST(Slice, CountsItsOwner) {
  BlockPool pool;
  {
    Ref<Block> block = pool.take();
    std::memcpy(block->data(), "0123456789", 10);
    EXPECT_TRUE(block->is_unique());
    Slice a(*block, block->data(), 10);
    EXPECT_FALSE(block->is_unique());
    {
      Slice b = a;
      Slice c = std::move(b);
      EXPECT_TRUE(b.is_empty());
      Slice d;
      d = c;
      EXPECT_TRUE(block->is_shared_beyond(3));
      EXPECT_FALSE(block->is_shared_beyond(4));
      d.drop_front(4);
      EXPECT_EQ(d.text(), "456789");
      EXPECT_EQ(d.prefix(2).text(), "45");
      EXPECT_EQ(c.text(), "0123456789");
    }
    EXPECT_FALSE(block->is_shared_beyond(2));
    a = Slice();
    EXPECT_TRUE(block->is_unique());
    Slice self(*block, block->data(), 3);
    Slice& same = self;
    self = same;
    EXPECT_EQ(self.text(), "012");
  }
  EXPECT_EQ(pool.used_count(), 0u);
}

TEST(Slice, OwnsStringsAndLetsThemGo) {
  Slice a = Slice::of("text that is too long for a small string, so it lies on the heap");
  const Slice b = a;
  a = {};
  EXPECT_TRUE(b.text().ends_with("heap"));
}

TEST(Slice, SharedBytesMayBeCountedByManyThreads) {
  const Slice shared = Slice::shared(std::string(1000, 's'));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&shared] {
      for (int i = 0; i < 20'000; ++i) {
        Slice copy = shared;
        copy.drop_front(10);
        const Slice again = copy.prefix(5);
        if (again.text() != "sssss") std::abort();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(shared.size(), 1000u);
}

TEST(Slice, AFileClosesWithItsLastRange) {
  const int descriptor = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(descriptor, 0);
  FileBuffer* file = FileBuffer::make(descriptor);
  Slice range = Slice::file(*file, 100, 50);
  file->release();
  EXPECT_TRUE(range.is_file());
  EXPECT_EQ(range.descriptor(), descriptor);
  Slice copy = range;
  copy.drop_front(20);
  EXPECT_EQ(copy.offset(), 120u);
  EXPECT_EQ(copy.size(), 30u);
  EXPECT_EQ(copy.prefix(7).size(), 7u);
  EXPECT_EQ(range.offset(), 100u);
  range = {};
  EXPECT_EQ(::fcntl(descriptor, F_GETFD), FD_CLOEXEC);
  copy = {};
  EXPECT_EQ(::fcntl(descriptor, F_GETFD), -1);
  EXPECT_EQ(errno, EBADF);
}

TEST(BlockPool, KeepsAndTrims) {
  BlockPool pool(2);
  std::vector<Ref<Block>> blocks;
  for (int i = 0; i < 5; ++i) blocks.push_back(pool.take());
  EXPECT_EQ(pool.used_count(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t k = i + 1; k < 5; ++k) EXPECT_NE(blocks[i].get(), blocks[k].get());
    std::memset(blocks[i]->data(), 'x', Block::capacity() + kScanPadding);  // all of it is ours
  }
  blocks.clear();
  EXPECT_EQ(pool.used_count(), 0u);
  EXPECT_LE(pool.kept_count(), 2u);
  pool.trim(0);
  EXPECT_EQ(pool.kept_count(), 0u);
  blocks.push_back(pool.take());
  EXPECT_EQ(pool.used_count(), 1u);
}

TEST(ReadBlock, OverwritesWhatNobodyKeeps) {
  BlockPool pool;
  ReadBlock input(pool);
  char* first = input.lend();
  EXPECT_EQ(input.room(), Block::capacity());
  input.commit(100);
  EXPECT_EQ(input.lend(), first);
  EXPECT_EQ(input.room(), Block::capacity());
  EXPECT_EQ(pool.used_count(), 1u);
}

TEST(ReadBlock, GoesBehindWhatIsKeptAndThenToANewBlock) {
  BlockPool pool;
  ReadBlock input(pool);
  char* first = input.lend();
  input.commit(1000);
  std::vector<Slice> kept;
  kept.emplace_back(input.owner(), first, 1000);
  char* second = input.lend();
  EXPECT_EQ(second, first + 1000);
  EXPECT_EQ(input.room(), Block::capacity() - 1000);
  input.commit(Block::capacity() - 1000 - 4096);
  EXPECT_EQ(input.lend(), first + Block::capacity() - 4096) << "exactly the least room is still enough";
  input.commit(1);
  char* third = input.lend();
  EXPECT_EQ(input.room(), Block::capacity());
  EXPECT_EQ(pool.used_count(), 2u);
  EXPECT_TRUE(third < first || third > first + Block::capacity());
  kept.clear();
  EXPECT_EQ(pool.used_count(), 1u);
  EXPECT_EQ(input.lend(), third);
}

}  // namespace
}  // namespace violet
