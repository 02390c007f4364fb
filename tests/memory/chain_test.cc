#include "violet/memory/chain.h"

#include "violet/memory/pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace violet {
namespace {

std::string text_of(std::mt19937& random) {
  std::string text(random() % 20, '\0');
  for (char& c : text) c = static_cast<char>('a' + random() % 26);
  return text;
}

// Three chains against three strings, with random operations between them.
TEST(Chain, AgreesWithANaiveModel) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    Chain chains[3];
    std::string models[3];
    for (int step = 0; step < 200; ++step) {
      const std::size_t a = random() % 3;
      const std::size_t b = (a + 1 + random() % 2) % 3;
      Chain& chain = chains[a];
      std::string& model = models[a];
      switch (random() % 9) {
        case 0:
        case 1:
        case 2: {
          const std::string text = text_of(random);
          chain.append(random() % 2 == 0 ? Slice::of(text) : Slice::shared(text));
          model += text;
          break;
        }
        case 3: {
          const std::size_t n = chain.size() == 0 ? 0 : random() % (chain.size() + 1);
          chain.drop_front(n);
          model.erase(0, n);
          break;
        }
        case 4: {
          const std::size_t n = chain.size() == 0 ? 0 : random() % (chain.size() + 1);
          chain.move_front(n, chains[b]);
          models[b] += model.substr(0, n);
          model.erase(0, n);
          break;
        }
        case 5:
          if (!chain.is_empty()) {
            const Slice slice = chain.pop_front();
            ASSERT_EQ(model.substr(0, slice.size()), slice.text());
            model.erase(0, slice.size());
          }
          break;
        case 6:
          chains[b].append(std::move(chain));
          models[b] += std::exchange(model, {});
          break;
        case 7:
          chains[b] = std::move(chain);
          models[b] = std::exchange(model, {});
          break;
        default:
          if (random() % 4 == 0) {
            chain.clear();
            model.clear();
          } else {
            Chain moved(std::move(chain));
            ASSERT_TRUE(chain.is_empty());
            chain = std::move(moved);
          }
      }
      for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(chains[i].size(), models[i].size()) << seed << " step " << step;
        ASSERT_EQ(chains[i].to_string(), models[i]) << seed << " step " << step;
        ASSERT_EQ(chains[i].is_empty(), models[i].empty());
        std::size_t count = 0;
        for (const Slice& slice : chains[i]) {
          ASSERT_FALSE(slice.is_empty());
          ++count;
        }
        ASSERT_EQ(chains[i].count(), count);
      }
    }
  }
}

TEST(Chain, OwnsWhatWasBorrowed) {
  std::string text = "borrowed";
  Chain chain;
  chain.append(Slice::borrowed(text));
  chain.append(Slice::literal("literal"));
  chain.append(Slice::borrowed(std::string_view(text).substr(0, 4)));
  chain.make_owned();
  text = "XXXXXXXX";
  EXPECT_EQ(chain.to_string(), "borrowedliteralborr");
}

TEST(Chain, AQueueThatIsDrainedDoesNotGrow) {
  Chain chain;
  std::string expected;
  for (int i = 0; i < 100'000; ++i) {
    chain.append(Slice::literal("abc"));
    if (chain.count() > 5) static_cast<void>(chain.pop_front());
  }
  EXPECT_EQ(chain.count(), 5u);
}

struct Piece {
  explicit Piece(int* count) : alive(count) { ++*alive; }
  ~Piece() { --*alive; }
  int* alive;
  alignas(64) char bytes[64];
};

TEST(Pool, ConstructsDestroysAndKeeps) {
  int alive = 0;
  Pool<Piece> pool(2);
  std::vector<Piece*> pieces;
  for (int i = 0; i < 5; ++i) {
    pieces.push_back(pool.take(&alive));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pieces.back()) % alignof(Piece), 0u);
  }
  EXPECT_EQ(alive, 5);
  EXPECT_EQ(pool.used_count(), 5u);
  for (Piece* piece : pieces) pool.give(piece);
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(pool.used_count(), 0u);
  EXPECT_EQ(pool.kept_count(), kPoolsKeep ? 2u : 0u);
  Piece* again = pool.take(&alive);
  EXPECT_EQ(alive, 1);
  pool.give(again);
  pool.trim(0);
  EXPECT_EQ(pool.kept_count(), 0u);
}

#ifdef VIOLET_POOLS_OFF
// The proof that builds which look for it (ASan, guard pages) see what a pool would hide.
TEST(PoolDeathTest, AUseAfterGivingBackIsSeen) {
  int alive = 0;
  Pool<Piece> pool(2);
  EXPECT_DEATH(
      {
        Piece* const piece = pool.take(&alive);
        volatile char* const byte = piece->bytes;
        pool.give(piece);
        *byte = 1;
      },
      "heap-use-after-free|Use After Free");
}
#endif

// Pieces smaller than a pointer recycle too.
TEST(Pool, RecyclesTinyPieces) {
  Pool<char> pool(8);
  char* one = pool.take('x');
  pool.give(one);
  char* two = pool.take('y');
  EXPECT_EQ(*two, 'y');
  if (kPoolsKeep) {
    EXPECT_EQ(one, two);
  }
  pool.give(two);
}

}  // namespace
}  // namespace violet
