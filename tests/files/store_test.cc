// The budget of contents in memory, against a model that is simple and slow.

#include "violet/features/files/cache/store.h"

#include "tests/files/serving.h"

#include <algorithm>
#include <random>
#include <thread>

namespace violet::files {
namespace {

Version version_of(std::uint64_t inode, std::uint64_t size) { return {.device = 1, .inode = inode, .size = size}; }

class Told final : public Holder {
 public:
  void on_evicted() noexcept override { count.fetch_add(1); }
  std::atomic<int> count = 0;
};

TEST(Store, KeepsWithinItsBudgets) {
  Store store({.bytes = 3 * Content::cost_of(100), .files = 10, .file_bytes = 1000});
  const auto told = std::make_shared<Told>();
  for (std::uint64_t i = 1; i <= 3; ++i) {
    store.insert(Content::make(version_of(i, 100), store.resident()), 10 + static_cast<std::uint32_t>(i), told);
  }
  EXPECT_EQ(store.stats().files, 3u);
  EXPECT_EQ(store.stats().bytes, 3 * Content::cost_of(100));
  EXPECT_EQ(store.stats().resident_bytes, store.stats().bytes);
  // The first was used since: the second is the one to go.
  EXPECT_TRUE(store.find(version_of(1, 100), 20, told));
  store.insert(Content::make(version_of(4, 100), store.resident()), 21, nullptr);
  EXPECT_TRUE(store.find(version_of(1, 100), 22, nullptr));
  EXPECT_FALSE(store.find(version_of(2, 100), 22, nullptr));
  EXPECT_EQ(told->count, 1);
  EXPECT_EQ(store.stats().evicted, 1u);
  store.clear();
  EXPECT_EQ(store.stats().bytes, 0u);
  EXPECT_EQ(store.stats().resident_bytes, 0u);
}

TEST(Store, TouchesOfALoopCountWithoutALock) {
  Store store({.bytes = 1 << 20, .files = 2, .file_bytes = 1000});
  const Ref<Content> first = store.insert(Content::make(version_of(1, 10), store.resident()), 1, nullptr);
  store.insert(Content::make(version_of(2, 10), store.resident()), 2, nullptr);
  first->touch(3);
  store.insert(Content::make(version_of(3, 10), store.resident()), 4, nullptr);
  EXPECT_FALSE(first->is_evicted());
  EXPECT_TRUE(store.find(version_of(1, 10), 4, nullptr));
  EXPECT_FALSE(store.find(version_of(2, 10), 4, nullptr));
}

TEST(Store, WhatIsTooLargeIsNotTaken) {
  Store store({.bytes = 10'000, .files = 2, .file_bytes = 1000});
  EXPECT_FALSE(store.takes(1001));
  store.insert(Content::make(version_of(1, 1001), store.resident()), 1, nullptr);
  EXPECT_EQ(store.stats().files, 0u);
  Store none({.bytes = 10'000, .files = 0, .file_bytes = 1000});
  EXPECT_FALSE(none.takes(1));
  Store small({.bytes = 100, .files = 10, .file_bytes = 1000});
  EXPECT_FALSE(small.takes(1));
}

TEST(Store, ASecondReaderOfOneVersionGetsTheFirstOnesBytes) {
  Store store({.bytes = 10'000, .files = 10, .file_bytes = 1000});
  const Ref<Content> first = store.insert(Content::make(version_of(1, 100), store.resident()), 1, nullptr);
  const Ref<Content> second = store.insert(Content::make(version_of(1, 100), store.resident()), 2, nullptr);
  EXPECT_EQ(first.get(), second.get());
  EXPECT_EQ(store.stats().bytes, Content::cost_of(100));
  EXPECT_EQ(store.stats().resident_bytes, Content::cost_of(100));
}

// The same rules, with a list that is searched from end to end.
class Model {
 public:
  struct Row {
    std::uint64_t inode;
    std::uint64_t size;
    std::uint32_t used;
    std::uint64_t order;
  };
  Model(std::uint64_t bytes, std::size_t files, std::uint64_t file_bytes)
      : bytes_(bytes), files_(files), file_bytes_(file_bytes) {}

  Row* find(std::uint64_t inode, std::uint64_t size) {
    for (Row& row : rows) {
      if (row.inode == inode && row.size == size) return &row;
    }
    return nullptr;
  }
  void insert(std::uint64_t inode, std::uint64_t size, std::uint32_t now) {
    if (size > file_bytes_ || Content::cost_of(size) > bytes_ || files_ == 0) return;
    if (Row* row = find(inode, size)) {
      row->used = now;
      return;
    }
    while (sum() + Content::cost_of(size) > bytes_ || rows.size() + 1 > files_) {
      rows.erase(
          std::min_element(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.used < b.used; }));
    }
    rows.push_back({inode, size, now, 0});
  }
  [[nodiscard]] std::uint64_t sum() const {
    std::uint64_t total = 0;
    for (const Row& row : rows) total += Content::cost_of(row.size);
    return total;
  }
  std::vector<Row> rows;

 private:
  std::uint64_t bytes_;
  std::size_t files_;
  std::uint64_t file_bytes_;
};

TEST(Store, DoesWhatItsModelDoes) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    const std::uint64_t bytes = 2'000 + random() % 20'000;
    const std::size_t files = 1 + random() % 20;
    Store store({.bytes = bytes, .files = files, .file_bytes = 2'000});
    Model model(bytes, files, 2'000);
    std::vector<Ref<Content>> held;
    std::uint32_t now = 1;  // each use in a second of its own, so that there is one right order
    for (int step = 0; step < 2'000; ++step, ++now) {
      const std::uint64_t inode = random() % 30;
      const std::uint64_t size = random() % 5 == 0 ? random() % 3'000 : inode * 50;
      switch (random() % 6) {
        case 0:
        case 1:
          held.push_back(store.insert(Content::make(version_of(inode, size), store.resident()), now, nullptr));
          model.insert(inode, size, now);
          break;
        case 2: {
          const Ref<Content> found = store.find(version_of(inode, size), now, nullptr);
          Model::Row* row = model.find(inode, size);
          ASSERT_EQ(static_cast<bool>(found), row != nullptr);
          if (row != nullptr) row->used = now;
          break;
        }
        case 3:
          // A loop that has it uses it, without the store hearing of it.
          if (!held.empty()) {
            const Ref<Content>& content = held[random() % held.size()];
            Model::Row* row = model.find(content->version().inode, content->size());
            if (row != nullptr && !content->is_evicted()) {
              content->touch(now);
              row->used = now;
            }
          }
          break;
        case 4:
          store.forget(version_of(inode, size));
          std::erase_if(model.rows, [&](const auto& row) { return row.inode == inode && row.size == size; });
          break;
        default:
          if (!held.empty()) held.erase(held.begin() + static_cast<std::ptrdiff_t>(random() % held.size()));
      }
      const Store::Stats stats = store.stats();
      ASSERT_EQ(stats.bytes, model.sum()) << "seed " << seed << " step " << step;
      ASSERT_EQ(stats.files, model.rows.size());
      ASSERT_LE(stats.bytes, bytes);
      ASSERT_GE(stats.resident_bytes, stats.bytes);
    }
    for (const Model::Row& row : model.rows) EXPECT_TRUE(store.find(version_of(row.inode, row.size), now, nullptr));
    held.clear();
    EXPECT_EQ(store.stats().resident_bytes, store.stats().bytes);
  }
}

TEST(Store, SeveralThreadsLoseAndLeakNothing) {
  Store store({.bytes = 20'000, .files = 20, .file_bytes = 2'000});
  std::vector<std::thread> threads;
  const auto told = std::make_shared<Told>();
  for (std::uint32_t seed = 1; seed <= 4; ++seed) {
    threads.emplace_back([&store, &told, seed] {
      std::mt19937 random(seed);
      Ref<Content> held;
      for (std::uint32_t i = 1; i < 3'000; ++i) {
        const Version version = version_of(random() % 40, 500);
        if (held) held->touch(i);
        held = store.find(version, i, told);
        if (!held) held = store.insert(Content::make(version, store.resident()), i, told);
        if (i % 100 == 0) store.forget(version);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(store.stats().bytes, 20'000u);
  EXPECT_EQ(store.stats().bytes, store.stats().files * Content::cost_of(500));
  EXPECT_EQ(store.stats().resident_bytes, store.stats().bytes);
}

// --- the whole engine

class Budget : public Serving {};

TEST_F(Budget, LoopsLetGoOfWhatIsPutOut) {
  for (int i = 0; i < 30; ++i) tree.write("f" + std::to_string(i), std::string(1000, 'x'));
  Files& files = mount({.cache_bytes = 5 * Content::cost_of(1000)});
  for (int i = 0; i < 30; ++i) EXPECT_EQ(text("/static/f" + std::to_string(i)), std::string(1000, 'x'));
  EXPECT_EQ(files.stats().cached_files, 5u);
  EXPECT_EQ(files.stats().evicted, 25u);
  EXPECT_EQ(text("/static/none"), "404");  // a turn for the loop to hear of it
  EXPECT_EQ(files.stats().resident_bytes, files.stats().cached_bytes);
  EXPECT_EQ(files.stats().cached_bytes, 5 * Content::cost_of(1000));
}

TEST_F(Budget, AReplacedFileTakesThePlaceOfTheOld) {
  Files& files = mount();
  for (int i = 0; i < 10; ++i) {
    tree.replace("a", std::string(1000 + static_cast<std::size_t>(i), 'x'));
    EXPECT_EQ(text("/static/a").size(), 1000u + static_cast<std::size_t>(i));
    EXPECT_EQ(files.stats().cached_files, 1u);
    EXPECT_EQ(files.stats().cached_bytes, Content::cost_of(1000 + static_cast<std::uint64_t>(i)));
  }
}

TEST_F(Budget, PathsAndOpenFilesAreBoundedToo) {
  for (int i = 0; i < 20; ++i) tree.write("f" + std::to_string(i), "x");
  Files& files = mount({.cached_file_bytes = 0, .paths = 8, .open_files = 2});
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 20; ++i) EXPECT_EQ(text("/static/f" + std::to_string(i)), "x");
    for (int i = 0; i < 20; ++i) EXPECT_EQ(text("/static/none" + std::to_string(i)), "404");
  }
  EXPECT_EQ(files.stats().cached_files, 0u);
  const std::uint64_t loads = files.stats().loads;
  EXPECT_EQ(text("/static/f3"), "x");
  EXPECT_EQ(text("/static/f3"), "x");
  EXPECT_EQ(files.stats().loads, loads + 1);
}

TEST_F(Budget, WithoutAnyEverythingIsStillServed) {
  tree.write("a", "x");
  Files& files = mount({.cache_bytes = 0, .cache_files = 0, .paths = 0, .open_files = 0});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(text("/static/a"), "x");
  EXPECT_EQ(files.stats().resident_bytes, 0u);
}

}  // namespace
}  // namespace violet::files
