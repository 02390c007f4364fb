#pragma once

// Variants: encoded bodies of answers that have a cache tag (Exchange::cache_tag), so that the same bytes are not
// encoded again. One for each loop (Loop::local): no lock, and a body is shared by count. Bounded by entries and by
// bytes, where an entry weighs its body, its key and its own record; the one that was used longest ago goes first.

#include "violet/base/list.h"
#include "violet/memory/slice.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace violet {
class Loop;
}

namespace violet::encoding {

class Variants {
 public:
  struct Budget {
    std::size_t bytes_max;
    std::size_t entries_max;
  };

  explicit Variants(Loop&) {}
  ~Variants() { trim({0, 0}); }

  // Empty when it is not there.
  [[nodiscard]] Slice find(std::string_view key);
  // Replaces what is there under that key. What is larger than the whole budget is not kept.
  void put(std::string_view key, Slice body, const Budget& budget);

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::size_t count() const noexcept { return entries_.size(); }

  struct Entry : ListNode<Entry> {
    Entry(std::string_view name, Slice what) : key(name), body(std::move(what)) {}
    [[nodiscard]] std::size_t weight() const noexcept { return weight_of(key, body); }
    const std::string key;
    const Slice body;
  };
  [[nodiscard]] static std::size_t weight_of(std::string_view key, const Slice& body) noexcept {
    return sizeof(Entry) + key.size() + body.size();
  }

 private:
  void trim(const Budget& budget) noexcept;
  void remove(Entry& entry) noexcept;

  std::unordered_map<std::string_view, std::unique_ptr<Entry>> entries_;  // by the entry's own key
  List<Entry, Entry> by_use_;                                             // the last used one first
  std::size_t bytes_ = 0;
};

}  // namespace violet::encoding
