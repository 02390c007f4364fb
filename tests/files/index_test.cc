// The index of entries against a map of the standard library.

#include "violet/features/files/serve/entry_index.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace violet::files {
namespace {

Ref<Entry> entry_of(std::string key) {
  auto entry = Ref<Entry>::adopt(new Entry);
  entry->key = std::move(key);
  return entry;
}

TEST(EntryIndex, FindsWhatWasAddedAndNothingElse) {
  EntryIndex index(1);
  EXPECT_EQ(index.find(""), nullptr);
  EXPECT_EQ(index.find("a"), nullptr);
  const Ref<Entry> first = entry_of("a");
  const Ref<Entry> empty = entry_of("");
  index.add(first);
  index.add(empty);
  EXPECT_EQ(index.find("a"), first.get());
  EXPECT_EQ(index.find(""), empty.get());
  EXPECT_EQ(index.find("b"), nullptr);
  EXPECT_EQ(index.size(), 2u);
}

TEST(EntryIndex, LetsGoOfWhatIsRemoved) {
  EntryIndex index(1);
  index.add(entry_of("only"));
  index.remove(*index.find("only"));
  EXPECT_EQ(index.find("only"), nullptr);
  EXPECT_EQ(index.size(), 0u);
}

// Few keys and many rounds, so that searches run over the ends of the table and over places that became free.
TEST(EntryIndex, AgreesWithAMapWhateverTheOrderOfAddingAndRemoving) {
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    std::mt19937_64 random(seed);
    EntryIndex index(seed);
    std::map<std::string, Entry*> model;
    for (int round = 0; round < 2000; ++round) {
      const std::string key = "/path/" + std::to_string(random() % 40);
      if (const auto known = model.find(key); known != model.end()) {
        index.remove(*known->second);
        model.erase(known);
      } else {
        Ref<Entry> entry = entry_of(key);
        model[key] = entry.get();
        index.add(std::move(entry));
      }
      ASSERT_EQ(index.size(), model.size());
      for (int i = 0; i < 40; ++i) {
        const std::string asked = "/path/" + std::to_string(i);
        const auto wanted = model.find(asked);
        ASSERT_EQ(index.find(asked), wanted != model.end() ? wanted->second : nullptr) << asked;
      }
    }
  }
}

}  // namespace
}  // namespace violet::files
