// The dynamic table beside a plain model of it, and the static one.

#include "violet/hpack/table/dynamic_table.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <string>

namespace violet::hpack {
namespace {

struct Model {
  struct Line {
    Key key;
    std::string name;
    std::string value;
    [[nodiscard]] std::size_t size() const { return name.size() + value.size() + 32; }
  };
  std::deque<Line> lines;  // newest first
  std::size_t capacity;
  std::size_t size = 0;

  void evict_to(std::size_t max) {
    while (size > max) {
      size -= lines.back().size();
      lines.pop_back();
    }
  }
  void insert(Line line) {
    if (line.size() > capacity) return evict_to(0);
    evict_to(capacity - line.size());
    size += line.size();
    lines.push_front(std::move(line));
  }
};

void expect_equal(const DynamicTable& table, const Model& model) {
  ASSERT_EQ(table.count(), model.lines.size());
  ASSERT_EQ(table.size(), model.size);
  ASSERT_LE(table.size(), table.capacity());
  for (std::uint32_t age = 0; age < table.count(); ++age) {
    const Entry& entry = table.at(age);
    const Model::Line& line = model.lines[age];
    ASSERT_EQ(entry.key, line.key);
    ASSERT_EQ(entry.size(), line.size());
    ASSERT_EQ(table.value(entry), line.value);
    if (line.key.is_other()) {
      ASSERT_EQ(table.name(entry), line.name);
    }
    ASSERT_EQ(table.find(table.newest() - age), &entry);
  }
  ASSERT_EQ(table.find(table.newest() - table.count()), nullptr);
  ASSERT_EQ(table.find(table.newest() + 1), nullptr);
}

TEST(HpackDynamicTable, IsWhatTheModelIs) {
  std::mt19937 random(3);
  for (const std::uint32_t capacity : {0u, 31u, 32u, 33u, 64u, 100u, 300u, 4096u, DynamicTable::kCapacityMax}) {
    DynamicTable table(capacity);
    Model model{.lines = {}, .capacity = capacity};
    for (int round = 0; round < 3000; ++round) {
      if (random() % 200 == 0) {
        model.capacity = random() % 3 == 0 ? capacity : random() % (capacity + 1);
        model.evict_to(model.capacity);
        table.set_capacity(static_cast<std::uint32_t>(model.capacity));
      }
      if (random() % 50 == 0) table.fit();
      Model::Line line{.key = {}, .name = "cache-control", .value = std::string(random() % 40, 'v')};
      switch (random() % 4) {
        case 0: line.key = http::FieldId::CacheControl; break;
        case 1:
          line.key = Pseudo::Path;
          line.name = ":path";
          break;
        case 2: line.value.resize(random() % 5000, 'w'); break;
        default: line.name = "x-" + std::to_string(round); break;
      }
      for (char& c : line.value) c = static_cast<char>('a' + random() % 26);
      table.insert({.key = line.key}, line.name, line.value);
      model.insert(line);
      expect_equal(table, model);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(HpackDynamicTable, HoldsNoMoreMemoryThanItsCapacityAsksFor) {
  DynamicTable table(4096);
  EXPECT_EQ(table.heap_bytes(), 0u);
  table.insert({.key = http::FieldId::Server}, "server", "violet");
  EXPECT_LE(table.heap_bytes(), 512u);
  for (int i = 0; i < 10'000; ++i) table.insert({}, "", "");
  EXPECT_EQ(table.count(), 128u);
  for (int i = 0; i < 10'000; ++i) table.insert({.key = http::FieldId::Server}, "server", std::string(1000, 's'));
  EXPECT_LE(table.heap_bytes(), 2 * 4096 + 128 * sizeof(Entry) + 64);
}

TEST(HpackDynamicTable, FitsItsMemoryToItsEntries) {
  DynamicTable table(4096);
  table.reserve();
  table.insert({.key = http::FieldId::Server}, "server", "violet");
  const std::size_t before = table.heap_bytes();
  table.fit();
  EXPECT_LE(table.heap_bytes(), sizeof(Entry) + 6 + 16);
  EXPECT_LT(table.heap_bytes(), before);
  table.set_capacity(0);
  table.fit();
  EXPECT_LE(table.heap_bytes(), 16u);
}

TEST(HpackStaticTable, KnowsItsNames) {
  int others = 0;
  for (std::uint32_t i = 1; i <= kStaticCount; ++i) {
    const StaticEntry& entry = kStaticTable.at[i];
    if (entry.key.is_other()) {
      ++others;
      EXPECT_EQ(entry.name, "refresh");
      EXPECT_EQ(http::find_field(entry.name), http::FieldId::Other);
    } else if (entry.key.is_pseudo()) {
      EXPECT_EQ(entry.name, name(entry.key.pseudo()));
    } else {
      EXPECT_EQ(entry.name, http::name(entry.key.id()));
    }
    const std::uint32_t first = kStaticNames.at[entry.key.index()];
    EXPECT_TRUE(entry.key.is_other() || (first <= i && kStaticTable.at[first].key == entry.key));
  }
  EXPECT_EQ(others, 1);
  EXPECT_EQ(kStaticNames.at[Key(Pseudo::Status).index()], 8);
  EXPECT_EQ(kStaticTable.at[8].value, "200");
  EXPECT_EQ(kStaticNames.at[Key(Pseudo::Protocol).index()], 0);
  EXPECT_EQ(kStaticNames.at[0], 0);
}

}  // namespace
}  // namespace violet::hpack
