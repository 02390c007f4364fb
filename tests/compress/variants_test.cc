#include "violet/features/compress/variants.h"

#include "violet/event/loop.h"

#include <gtest/gtest.h>

#include <list>
#include <random>
#include <string>
#include <utility>

namespace violet::encoding {
namespace {

// The same thing, slowly: a list in the order of use.
class Model {
 public:
  std::string find(const std::string& key) {
    for (auto at = entries_.begin(); at != entries_.end(); ++at) {
      if (at->first != key) continue;
      entries_.splice(entries_.begin(), entries_, at);
      return at->second;
    }
    return {};
  }
  void put(const std::string& key, const std::string& body, const Variants::Budget& budget) {
    entries_.remove_if([&](const auto& entry) { return entry.first == key; });
    if (weight(key, body) > budget.bytes_max || budget.entries_max == 0) return;
    entries_.emplace_front(key, body);
    while (bytes() > budget.bytes_max || entries_.size() > budget.entries_max) entries_.pop_back();
  }
  [[nodiscard]] std::size_t bytes() const {
    std::size_t sum = 0;
    for (const auto& [key, body] : entries_) sum += weight(key, body);
    return sum;
  }
  [[nodiscard]] std::size_t count() const { return entries_.size(); }

 private:
  static std::size_t weight(const std::string& key, const std::string& body) {
    return sizeof(Variants::Entry) + key.size() + body.size();
  }
  std::list<std::pair<std::string, std::string>> entries_;
};

std::string text_of(const Slice& slice) { return slice.is_empty() ? std::string() : std::string(slice.text()); }

TEST(Variants, AgreeWithASimpleModel) {
  Loop loop;
  Variants variants(loop);
  Model model;
  std::mt19937 random(11);
  for (int i = 0; i < 20000; ++i) {
    const std::string key = "k" + std::to_string(random() % 40);
    if (random() % 2 == 0) {
      EXPECT_EQ(text_of(variants.find(key)), model.find(key));
    } else {
      const std::string body(random() % 900 + 1, static_cast<char>('a' + random() % 26));
      const Variants::Budget budget{random() % 8000, random() % 20};
      variants.put(key, Slice::of(body), budget);
      model.put(key, body, budget);
    }
    ASSERT_EQ(variants.bytes(), model.bytes()) << i;
    ASSERT_EQ(variants.count(), model.count()) << i;
  }
}

TEST(Variants, WhatIsSentOutlivesItsEntry) {
  Loop loop;
  Variants variants(loop);
  variants.put("k", Slice::of(std::string("body")), {1000, 10});
  const Slice sent = variants.find("k");
  variants.put("k", Slice::of(std::string("other")), {1000, 10});
  EXPECT_EQ(sent.text(), "body");
  EXPECT_EQ(variants.find("k").text(), "other");
}

}  // namespace
}  // namespace violet::encoding
