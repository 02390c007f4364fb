#include "violet/features/identity/session/store.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <list>
#include <mutex>
#include <unordered_map>

namespace violet {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kShards = 16;
// How long requests that began before a renewal may end after it.
constexpr std::chrono::seconds kLate{60};

bool is_own(std::string_view name) noexcept { return name.starts_with('$'); }

std::size_t size_of(const SessionStore::Record& record) noexcept {
  std::size_t bytes = 0;
  for (const auto& [name, value] : record.values) bytes += is_own(name) ? 0 : name.size() + value.size();
  return bytes;
}

void apply(SessionStore::Record& record, SessionStore::Change& change, std::size_t bytes_max) {
  auto at = std::find_if(record.values.begin(), record.values.end(),
                         [&](const auto& value) { return value.first == change.name; });
  const bool is_there = at != record.values.end();
  if (!change.value) {
    if (is_there) record.values.erase(at);
    return;
  }
  if (!is_own(change.name)) {
    const std::size_t old_bytes = is_there ? change.name.size() + at->second.size() : 0;
    if (size_of(record) - old_bytes + change.name.size() + change.value->size() > bytes_max) return;
  }
  if (is_there) {
    at->second = std::move(*change.value);
  } else {
    record.values.emplace_back(std::move(change.name), std::move(*change.value));
  }
}

// What is taken away makes room for the rest.
void apply_all(SessionStore::Record& record, std::vector<SessionStore::Change>& changes, std::size_t bytes_max) {
  for (SessionStore::Change& change : changes) {
    if (!change.value) apply(record, change, bytes_max);
  }
  for (SessionStore::Change& change : changes) {
    if (change.value) apply(record, change, bytes_max);
  }
}

}  // namespace

std::string_view SessionStore::Record::subject() const noexcept {
  for (const auto& [name, value] : values) {
    if (name == kSubject) return value;
  }
  return {};
}

// Each has a lock of its own, so that loops seldom meet.
struct MemorySessions::Shard {
  struct Kept {
    std::string key;
    Record record;
    Kind kind;
    std::uint64_t use;  // counts up in the whole store
  };
  using Order = std::list<Kept>;
  struct Renewed {
    std::string key;
    Clock::time_point end;
  };

  void add_renewed(const std::string& old_key, const std::string& key, std::size_t count_max) {
    const Clock::time_point now = Clock::now();
    while (!renewed_order.empty() &&
           (renewed_order.size() >= count_max || renewed.at(renewed_order.front()).end <= now)) {
      renewed.erase(renewed_order.front());
      renewed_order.pop_front();
    }
    if (renewed.try_emplace(old_key, Renewed{key, now + kLate}).second) renewed_order.push_back(old_key);
  }
  const Renewed* find_renewed(const std::string& key) const {
    const auto at = renewed.find(key);
    return at == renewed.end() || at->second.end <= Clock::now() ? nullptr : &at->second;
  }

  mutable std::mutex mutex;
  Order orders[2];  // of each kind, the one that was used last in front
  std::unordered_map<std::string, Order::iterator> found;
  std::unordered_map<std::string, Renewed> renewed;  // by the old key
  std::deque<std::string> renewed_order;
};

MemorySessions::MemorySessions(std::size_t count_max)
    : shards_(new Shard[kShards]),
      count_max_(std::max<std::size_t>(count_max, 1)),
      user_max_(count_max_ - count_max_ / 8) {}
MemorySessions::~MemorySessions() = default;

// Keys are digests, so any byte of them is as good as a hash.
MemorySessions::Shard& MemorySessions::shard_of(const std::string& key) const noexcept {
  return shards_[key.empty() ? 0 : static_cast<unsigned char>(key.back()) % kShards];
}

// REQUIRES: the shard's lock.
void MemorySessions::insert(Shard& shard, std::string key, Record record) {
  if (shard.found.contains(key)) return;
  const Kind kind = record.subject().empty() ? Anonymous : User;
  Shard::Order& order = shard.orders[kind];
  order.push_front({key, std::move(record), kind, ++uses_});
  shard.found.emplace(std::move(key), order.begin());
  ++counts_[kind];
}

// REQUIRES: the shard's lock.
void MemorySessions::erase(Shard& shard, const std::string& key) {
  const auto at = shard.found.find(key);
  if (at == shard.found.end()) return;
  const Shard::Order::iterator kept = at->second;
  const Kind kind = kept->kind;
  shard.found.erase(at);
  shard.orders[kind].erase(kept);
  --counts_[kind];
}

void MemorySessions::make_room() {
  if (counts_[User] > user_max_) drop_oldest(User);
  if (count() > count_max_) drop_oldest(Anonymous);
}

// One lock at a time: when others come in between, another old one goes.
void MemorySessions::drop_oldest(Kind kind) {
  Shard* oldest = nullptr;
  std::uint64_t use = 0;
  for (std::size_t i = 0; i < kShards; ++i) {
    const std::lock_guard lock(shards_[i].mutex);
    const Shard::Order& order = shards_[i].orders[kind];
    if (order.empty() || (oldest != nullptr && order.back().use > use)) continue;
    oldest = &shards_[i];
    use = order.back().use;
  }
  if (oldest == nullptr) return;
  const std::lock_guard lock(oldest->mutex);
  if (oldest->orders[kind].empty()) return;
  const std::string key = oldest->orders[kind].back().key;
  erase(*oldest, key);
}

template <class F>
void MemorySessions::follow(std::string key, const F& then) {
  // Keys are new each time, so this ends.
  for (bool is_late = false;; is_late = true) {
    Shard& shard = shard_of(key);
    const std::lock_guard lock(shard.mutex);
    if (shard.found.contains(key)) return then(shard, key, is_late);
    const Shard::Renewed* renewed = shard.find_renewed(key);
    if (renewed == nullptr) return;
    key = std::string(renewed->key);
  }
}

Task<Result<std::optional<SessionStore::Record>>> MemorySessions::load(std::string key, std::int64_t now) {
  Shard& shard = shard_of(key);
  std::optional<Record> record;
  {
    const std::lock_guard lock(shard.mutex);
    if (const auto at = shard.found.find(key); at != shard.found.end()) {
      Shard::Kept& kept = *at->second;
      record = kept.record;
      kept.record.used = now;
      kept.use = ++uses_;
      Shard::Order& order = shard.orders[kept.kind];
      order.splice(order.begin(), order, at->second);
    }
  }
  co_return record;
}

void MemorySessions::create(std::string key, Record record) {
  {
    Shard& shard = shard_of(key);
    const std::lock_guard lock(shard.mutex);
    insert(shard, std::move(key), std::move(record));
  }
  make_room();
}

void MemorySessions::change(const std::string& key, std::vector<Change> changes, std::size_t bytes_max) {
  follow(key, [&](Shard& shard, const std::string& at, bool is_late) {
    // Whose session it is, and its tokens, are the new key's own; and nothing but a renewal changes the user.
    std::erase_if(changes,
                  [&](const Change& change) { return change.name == kSubject || (is_late && is_own(change.name)); });
    apply_all(shard.found.find(at)->second->record, changes, bytes_max);
  });
}

bool MemorySessions::renew(const std::string& key, Renewal renewal, std::size_t bytes_max) {
  {
    Shard& from = shard_of(key);
    Shard& to = shard_of(renewal.key);
    std::unique_lock first((&from < &to ? from : to).mutex);
    std::unique_lock<std::mutex> second;
    if (&from != &to) second = std::unique_lock((&from < &to ? to : from).mutex);
    const auto at = from.found.find(key);
    if (at == from.found.end()) return false;
    Record record = std::move(at->second->record);
    erase(from, key);
    apply_all(record, renewal.changes, bytes_max);
    record.created = renewal.created;
    if (!renewal.is_new_user) from.add_renewed(key, renewal.key, count_max_ / kShards + 1);
    insert(to, std::move(renewal.key), std::move(record));
  }
  make_room();
  return true;
}

void MemorySessions::remove(const std::string& key) {
  follow(key, [&](Shard& shard, const std::string& at, bool) { erase(shard, at); });
}

std::size_t MemorySessions::count() const noexcept { return counts_[Anonymous] + counts_[User]; }

}  // namespace violet
