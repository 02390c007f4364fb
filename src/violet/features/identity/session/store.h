#pragma once

// SessionStore: where sessions are kept between requests. MemorySessions is in this process; a store of your own
// derives from SessionStore, and is given to sessions().
//
// Keys are digests of the ids that clients hold, so that a store that is read by others opens no session. Requests that
// run at the same time each see the session as it was when they began; what they change is merged name by name, the
// last one wins, and what has been removed meanwhile stays removed. All of it is called by all loops at once.

#include "violet/event/task.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace violet {

class SessionStore {
 public:
  struct Record {
    std::vector<std::pair<std::string, std::string>> values;
    std::int64_t created = 0;  // seconds since 1970
    std::int64_t used = 0;     // the last time but this one
  };
  struct Change {
    std::string name;
    std::optional<std::string> value;  // nothing: it is taken away
  };

  virtual ~SessionStore() = default;

  // The session, which counts as used now; nothing where there is none.
  virtual Task<Result<std::optional<Record>>> load(std::string key, std::int64_t now) = 0;
  // These three may be carried out later, in their order, and must not block.
  virtual void create(std::string key, Record record) = 0;
  // Of a session that is gone: nothing happens.
  virtual void change(const std::string& key, std::vector<Change> changes) = 0;
  virtual void remove(const std::string& key) = 0;
};

// At most `count_max` sessions; the one that was not used for longest goes when there is no room.
class MemorySessions final : public SessionStore {
 public:
  explicit MemorySessions(std::size_t count_max = 100'000);
  ~MemorySessions() override;

  Task<Result<std::optional<Record>>> load(std::string key, std::int64_t now) override;
  void create(std::string key, Record record) override;
  void change(const std::string& key, std::vector<Change> changes) override;
  void remove(const std::string& key) override;
  [[nodiscard]] std::size_t count() const;

 private:
  struct Shard;
  Shard& shard_of(const std::string& key) const noexcept;
  std::unique_ptr<Shard[]> shards_;
  std::size_t shard_max_;
};

}  // namespace violet
