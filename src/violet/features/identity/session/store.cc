#include "violet/features/identity/session/store.h"

#include <algorithm>
#include <list>
#include <mutex>
#include <unordered_map>

namespace violet {
namespace {

constexpr std::size_t kShards = 16;

void apply(SessionStore::Record& record, SessionStore::Change& change) {
  auto at = std::find_if(record.values.begin(), record.values.end(),
                         [&](const auto& value) { return value.first == change.name; });
  if (!change.value) {
    if (at != record.values.end()) record.values.erase(at);
  } else if (at != record.values.end()) {
    at->second = std::move(*change.value);
  } else {
    record.values.emplace_back(std::move(change.name), std::move(*change.value));
  }
}

}  // namespace

// Each has a lock of its own, so that loops seldom meet.
struct MemorySessions::Shard {
  struct Kept {
    std::string key;
    Record record;
  };
  using Order = std::list<Kept>;

  mutable std::mutex mutex;
  Order order;  // the one that was used last in front
  std::unordered_map<std::string, Order::iterator> found;
};

MemorySessions::MemorySessions(std::size_t count_max)
    : shards_(new Shard[kShards]), shard_max_(std::max<std::size_t>(count_max / kShards, 1)) {}
MemorySessions::~MemorySessions() = default;

// Keys are digests, so any byte of them is as good as a hash.
MemorySessions::Shard& MemorySessions::shard_of(const std::string& key) const noexcept {
  return shards_[key.empty() ? 0 : static_cast<unsigned char>(key.back()) % kShards];
}

Task<Result<std::optional<SessionStore::Record>>> MemorySessions::load(std::string key, std::int64_t now) {
  Shard& shard = shard_of(key);
  std::optional<Record> record;
  {
    const std::lock_guard lock(shard.mutex);
    if (const auto at = shard.found.find(key); at != shard.found.end()) {
      record = at->second->record;
      at->second->record.used = now;
      shard.order.splice(shard.order.begin(), shard.order, at->second);
    }
  }
  co_return record;
}

void MemorySessions::create(std::string key, Record record) {
  Shard& shard = shard_of(key);
  const std::lock_guard lock(shard.mutex);
  if (shard.found.contains(key)) return;
  if (shard.order.size() >= shard_max_) {
    shard.found.erase(shard.order.back().key);
    shard.order.pop_back();
  }
  shard.order.push_front({key, std::move(record)});
  shard.found.emplace(std::move(key), shard.order.begin());
}

void MemorySessions::change(const std::string& key, std::vector<Change> changes) {
  Shard& shard = shard_of(key);
  const std::lock_guard lock(shard.mutex);
  const auto at = shard.found.find(key);
  if (at == shard.found.end()) return;
  for (Change& change : changes) apply(at->second->record, change);
}

void MemorySessions::remove(const std::string& key) {
  Shard& shard = shard_of(key);
  const std::lock_guard lock(shard.mutex);
  const auto at = shard.found.find(key);
  if (at == shard.found.end()) return;
  shard.order.erase(at->second);
  shard.found.erase(at);
}

std::size_t MemorySessions::count() const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < kShards; ++i) {
    const std::lock_guard lock(shards_[i].mutex);
    count += shards_[i].order.size();
  }
  return count;
}

}  // namespace violet
