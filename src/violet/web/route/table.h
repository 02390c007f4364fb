#pragma once

// Table: finds the endpoint of a method and a path. Built once, before listening, then read by all loops at once.
//
// For each segment a literal goes before a parameter and a parameter before a rest; where the better branch has no
// route for the method the next one is tried, so that a match is found whenever one exists, whatever the order of
// registration. Paths without parameters are found by one hash look-up; others by walking a trie whose edges share one
// hash table, so that a node may have any number of children. A path visits each node at most once.
//
// A path is split at its raw slashes; then each segment is decoded, once, and checked. Therefore "%2F" stays inside its
// segment; it never matches a rest, whose segments could not be told apart. Dot segments mean nothing here. The query
// takes no part.

#include "violet/http/method.h"
#include "violet/memory/arena.h"
#include "violet/memory/text.h"
#include "violet/web/route/pattern.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace violet::web {

struct Endpoint;

// The methods that one pattern answers to.
class Leaf {
 public:
  // HEAD falls back on GET, then everything on the endpoint for any method.
  [[nodiscard]] const Endpoint* find(http::Method method) const noexcept {
    for (const Entry& entry : entries_) {
      if (entry.method == method) return entry.endpoint;
    }
    return find_fallback(method);
  }
  // A bit for each http::Method that has an endpoint of its own.
  [[nodiscard]] std::uint64_t methods() const noexcept { return methods_; }

 private:
  friend class Table;
  struct Entry {
    http::Method method;
    const Endpoint* endpoint;
  };
  [[nodiscard]] const Endpoint* find_fallback(http::Method method) const noexcept;

  std::vector<Entry> entries_;
  const Endpoint* any_ = nullptr;
  std::uint64_t methods_ = 0;
};

// A path, decoded and split. Its segments are looked for as a search comes to them: what a rest takes is never split.
class SplitPath {
 public:
  [[nodiscard]] std::string_view text() const noexcept { return text_; }  // segments with '/' between them
  // Whether the path has `depth` segments. REQUIRES: it has as many at least.
  [[nodiscard]] bool ends_at(std::size_t depth) const noexcept { return is_whole_ && depth == count_; }
  // REQUIRES: it has more than `depth` segments, and Table's deepest pattern has, too.
  [[nodiscard]] std::string_view segment(std::size_t depth) noexcept {
    if (depth == count_) [[likely]]
      split_next();
    return segments_[depth];
  }
  // From that segment to the end. REQUIRES: as segment().
  [[nodiscard]] std::string_view rest(std::size_t depth) const noexcept {
    const char* const start = depth == count_ ? at_ : segments_[depth].data();
    return {start, static_cast<std::size_t>(text_.data() + text_.size() - start)};
  }
  // The last '/' that came from a "%2F", nullptr when there is none.
  [[nodiscard]] const char* last_inner_slash() const noexcept { return last_inner_slash_; }

 private:
  friend class Table;
  void split_next() noexcept;

  std::string_view text_;
  std::string_view* segments_ = nullptr;
  std::size_t count_ = 0;      // of those that were found
  const char* at_ = nullptr;   // in text_, where the next one begins
  const char* raw_ = nullptr;  // the same in the path as received
  const char* raw_end_ = nullptr;
  const char* last_inner_slash_ = nullptr;
  bool is_decoded_ = false;  // text_ is not the path as received
  bool is_whole_ = false;    // all have been found
};

class Table {
 public:
  enum class Split : std::uint8_t {
    Done,
    Malformed,  // a '%' without two hex digits: 400
    Never,      // no route can match it: 404
  };

  // Adds a route, `any` for all methods. Returns nullptr, or the endpoint that is in its place already; the table is
  // unchanged then.
  const Endpoint* insert(const Pattern& pattern, http::Method method, bool any, const Endpoint& endpoint);

  // For patterns without parameters, and paths as received. nullptr also when the path needs decoding: then look again
  // with split() and find().
  [[nodiscard]] const Leaf* find_exact(std::string_view path) const noexcept {
    if (exact_count_ == 0) return nullptr;
    const std::uint32_t hash = hash_of(path);
    for (std::size_t at = hash & exact_mask_;; at = (at + 1) & exact_mask_) {
      const ExactSlot& slot = exact_slots_[at];
      if (slot.leaf == kNone) return nullptr;
      if (slot.hash == hash && are_equal(slot.text, path)) return &leaves_[slot.leaf];
    }
  }

  // REQUIRES: `out` is new.
  [[nodiscard]] Split split(std::string_view path, Arena& arena, SplitPath& out) const;
  // `values` has room for values_max() texts and gets those of the parameters.
  [[nodiscard]] const Endpoint* find(SplitPath& path, http::Method method, std::string_view* values) const noexcept;
  // The methods of all patterns that match.
  [[nodiscard]] std::uint64_t methods(SplitPath& path) const noexcept;
  // The methods of all patterns.
  [[nodiscard]] std::uint64_t all_methods() const noexcept;
  [[nodiscard]] std::size_t values_max() const noexcept { return values_max_; }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Node {
    std::uint32_t param = kNone;  // node
    std::uint32_t leaf = kNone;
    std::uint32_t rest = kNone;   // leaf
    std::uint32_t empty = kNone;  // node: the segment behind a slash at the end
    bool has_literals = false;    // others than that
  };
  struct Edge {
    std::uint32_t hash = 0;
    std::uint32_t parent = kNone;
    std::uint32_t child = kNone;
    std::string text;
  };
  struct EdgeSlot {
    std::uint32_t hash = 0;
    std::uint32_t edge = kNone;
  };
  struct ExactSlot {
    std::uint32_t hash = 0;
    std::uint32_t leaf = kNone;
    std::string text;
  };

  [[nodiscard]] static std::uint32_t hash_of(std::string_view text) noexcept {
    return static_cast<std::uint32_t>(hash_text(text) >> 32);
  }
  [[nodiscard]] static std::uint32_t hash_of(std::uint32_t parent, std::string_view text) noexcept {
    return (hash_of(text) ^ parent * 0x9e3779b1U) * 0x85ebca6bU;
  }

  [[nodiscard]] static Split decode(std::string_view path, Arena& arena, SplitPath& out);
  // The pattern's place among leaves_, kNone if it has none.
  [[nodiscard]] std::uint32_t find_leaf(const Pattern& pattern) const noexcept;
  std::uint32_t make_leaf(const Pattern& pattern);
  [[nodiscard]] std::uint32_t find_child(std::uint32_t parent, std::string_view text) const noexcept;
  std::uint32_t make_child(std::uint32_t parent, std::string_view text);
  void index_edge(std::uint32_t edge) noexcept;
  void add_exact(const std::string& text, std::uint32_t leaf);
  void index_exact(ExactSlot slot) noexcept;

  struct Search {
    SplitPath& path;
    http::Method method;
    std::string_view* values;
  };
  [[nodiscard]] const Endpoint* find_below(const Search& search, std::uint32_t at, std::size_t depth,
                                           std::size_t value_count) const noexcept;
  [[nodiscard]] const Endpoint* find_rest(const Search& search, const Node& node, std::string_view rest,
                                          std::size_t value_count) const noexcept;
  [[nodiscard]] std::uint64_t methods_below(SplitPath& path, std::uint32_t at, std::size_t depth) const noexcept;

  std::vector<Node> nodes_ = std::vector<Node>(1);
  std::vector<Leaf> leaves_;
  std::vector<Edge> edges_;
  std::vector<EdgeSlot> edge_slots_;
  std::size_t edge_mask_ = 0;
  std::vector<ExactSlot> exact_slots_;
  std::size_t exact_mask_ = 0;
  std::size_t exact_count_ = 0;
  std::size_t depth_max_ = 0;
  std::size_t values_max_ = 0;
};

}  // namespace violet::web
