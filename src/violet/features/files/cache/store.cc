#include "violet/features/files/cache/store.h"

#include <algorithm>

namespace violet::files {

Store::Store(const Budget& budget) : budget_(budget), resident_(std::make_shared<ByteCount>(0)) {}

Store::~Store() { clear(); }

void Store::note_holder(Node& node, std::shared_ptr<Holder>&& holder) {
  if (holder == nullptr || std::find(node.holders.begin(), node.holders.end(), holder) != node.holders.end()) return;
  node.holders.push_back(std::move(holder));
}

Ref<Content> Store::find(const Version& version, std::uint32_t second, std::shared_ptr<Holder> holder) {
  const std::lock_guard lock(mutex_);
  const auto at = nodes_.find(version);
  if (at == nodes_.end()) return nullptr;
  ++found_;
  at->second.content->touch(second);
  note_holder(at->second, std::move(holder));
  return at->second.content;
}

Ref<Content> Store::insert(Ref<Content> content, std::uint32_t second, std::shared_ptr<Holder> holder) {
  content->touch(second);
  if (!takes(content->size())) return content;
  std::vector<std::shared_ptr<Holder>> told;
  {
    const std::lock_guard lock(mutex_);
    if (const auto at = nodes_.find(content->version()); at != nodes_.end()) {
      at->second.content->touch(second);
      note_holder(at->second, std::move(holder));
      return at->second.content;
    }
    make_room(content->cost(), told);
    Node& node = nodes_[content->version()];
    node.content = content;
    note_holder(node, std::move(holder));
    bytes_ += content->cost();
    node.place = order_.emplace(second, &node);
  }
  for (const auto& each : told) each->on_evicted();
  return content;
}

void Store::forget(const Version& version) {
  std::vector<std::shared_ptr<Holder>> told;
  {
    const std::lock_guard lock(mutex_);
    if (const auto at = nodes_.find(version); at != nodes_.end()) drop(at->second, told);
  }
  for (const auto& each : told) each->on_evicted();
}

void Store::clear() {
  std::vector<std::shared_ptr<Holder>> told;
  {
    const std::lock_guard lock(mutex_);
    while (!order_.empty()) drop(*order_.begin()->second, told);
    VIOLET_ASSERT(bytes_ == 0 && nodes_.empty());
  }
  for (const auto& each : told) each->on_evicted();
}

Store::Stats Store::stats() const {
  const std::lock_guard lock(mutex_);
  return {.bytes = bytes_,
          .files = nodes_.size(),
          .resident_bytes = resident_->load(std::memory_order_relaxed),
          .found = found_,
          .evicted = evicted_};
}

// Nobody can have been used before the first one whose place is up to date: places only lag behind.
Store::Node* Store::least_recent() {
  while (!order_.empty()) {
    const auto [second, node] = *order_.begin();
    const std::uint32_t touched = node->content->touched();
    if (touched == second) return node;
    order_.erase(node->place);
    node->place = order_.emplace(touched, node);
  }
  return nullptr;
}

void Store::make_room(std::uint64_t cost, std::vector<std::shared_ptr<Holder>>& told) {
  while (bytes_ + cost > budget_.bytes || nodes_.size() + 1 > budget_.files) {
    Node* node = least_recent();
    VIOLET_CHECK(node != nullptr);
    ++evicted_;
    drop(*node, told);
  }
}

void Store::drop(Node& node, std::vector<std::shared_ptr<Holder>>& told) {
  const Ref<Content> content = std::move(node.content);
  content->evict();
  bytes_ -= content->cost();
  for (auto& holder : node.holders) {
    if (std::find(told.begin(), told.end(), holder) == told.end()) told.push_back(std::move(holder));
  }
  order_.erase(node.place);
  nodes_.erase(content->version());
}

}  // namespace violet::files
