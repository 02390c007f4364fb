#pragma once

// Store: the contents that all loops of a mount share, within one budget of bytes and of files. It is asked when a loop
// does not have a file, by the worker thread that would read it otherwise; a hit of a loop's own never comes here. One
// mutex, any thread.
//
// What goes when room is needed: the content that was used least recently, to the second; loops say when by
// Content::touch(), without a lock. A content that is put out is marked, and the loops that have it are told to let go.
//
// The sum of all costs in the store never passes the budget. resident_bytes() also counts what is out of it already and
// still on its way to some client.

#include "violet/features/files/cache/content.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace violet::files {

// A loop that holds contents; told on the thread that put one of them out.
class Holder {
 public:
  virtual ~Holder() = default;
  virtual void on_evicted() noexcept = 0;
};

class Store {
 public:
  struct Budget {
    std::uint64_t bytes = 0;
    std::size_t files = 0;
    std::uint64_t file_bytes = 0;  // a larger one is not taken
  };

  explicit Store(const Budget& budget);
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  ~Store();

  // nullptr: it is not here. `holder` has it from now on; nullptr for nobody.
  Ref<Content> find(const Version& version, std::uint32_t second, std::shared_ptr<Holder> holder);
  // Puts a content in and others out until both budgets hold. What is there already stays and comes back instead; what
  // is larger than the budget allows is not taken, which is no failure.
  Ref<Content> insert(Ref<Content> content, std::uint32_t second, std::shared_ptr<Holder> holder);
  // The file has another version now.
  void forget(const Version& version);
  void clear();

  // Whether a file of that size may be kept at all.
  [[nodiscard]] bool takes(std::uint64_t size) const noexcept {
    return size <= budget_.file_bytes && Content::cost_of(size) <= budget_.bytes && budget_.files > 0;
  }
  [[nodiscard]] const std::shared_ptr<ByteCount>& resident() const noexcept { return resident_; }

  struct Stats {
    std::uint64_t bytes = 0;  // costs of what is in the store
    std::size_t files = 0;
    std::uint64_t resident_bytes = 0;
    std::uint64_t found = 0;
    std::uint64_t evicted = 0;
  };
  [[nodiscard]] Stats stats() const;

 private:
  struct Node;
  using Order = std::multimap<std::uint32_t, Node*>;
  struct Node {
    Ref<Content> content;
    Order::iterator place;
    std::vector<std::shared_ptr<Holder>> holders;
  };
  struct Hash {
    std::size_t operator()(const Version& version) const noexcept { return hash_of(version); }
  };
  using Nodes = std::unordered_map<Version, Node, Hash>;

  static void note_holder(Node& node, std::shared_ptr<Holder>&& holder);
  Node* least_recent();
  void make_room(std::uint64_t cost, std::vector<std::shared_ptr<Holder>>& told);
  void drop(Node& node, std::vector<std::shared_ptr<Holder>>& told);

  const Budget budget_;
  const std::shared_ptr<ByteCount> resident_;
  mutable std::mutex mutex_;
  Nodes nodes_;
  Order order_;  // by the second of the last use, as far as it is known: uses since then are seen when room is made
  std::uint64_t bytes_ = 0;
  std::uint64_t found_ = 0;
  std::uint64_t evicted_ = 0;
};

}  // namespace violet::files
