#pragma once

// SessionStore: where sessions are kept between requests. MemorySessions is in this process; a store of your own
// derives from SessionStore, and is given to sessions().
//
// Keys are digests of the ids that clients hold, so that a store that is read by others opens no session. Requests that
// run at the same time each see the session as it was when they began; what they change is merged name by name, the
// last one wins, and what has been removed meanwhile stays removed. That holds across a renewal, too: it carries over
// what the store has, and what requests write or remove later under the old key reaches the new one. All of it is
// called by all loops at once.

#include "violet/event/task.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace violet {

class SessionStore {
 public:
  struct Record {
    std::vector<std::pair<std::string, std::string>> values;
    std::int64_t created = 0;  // seconds since 1970
    std::int64_t used = 0;     // the last time but this one

    // Whose session it is: "" for nobody's. One key's session never changes from one user to another.
    [[nodiscard]] std::string_view subject() const noexcept;
  };
  struct Change {
    std::string name;
    std::optional<std::string> value;  // nothing: it is taken away
  };
  struct Renewal {
    std::string key;  // the new one
    std::vector<Change> changes;
    std::int64_t created = 0;
    bool is_new_user = false;  // nobody's before: nothing that comes late under the old key may reach it
  };
  // The name of the value that says whose session it is. Names that begin with '$' are the library's own.
  static constexpr std::string_view kSubject = "$subject";

  virtual ~SessionStore() = default;

  // The session, which counts as used now; nothing where there is none.
  virtual Task<Result<std::optional<Record>>> load(std::string key, std::int64_t now) = 0;
  // The rest may be carried out later, in their order, and must not block.
  virtual void create(std::string key, Record record) = 0;
  // Of a session that is gone: nothing happens. A value with which names and values, the library's own aside, would
  // come to more than `bytes_max` is left out.
  virtual void change(const std::string& key, std::vector<Change> changes, std::size_t bytes_max) = 0;
  // At once, the session gets another key and these changes; the old key opens nothing any more. False where there is
  // no such session; a store that cannot tell yet says true.
  virtual bool renew(const std::string& key, Renewal renewal, std::size_t bytes_max) = 0;
  virtual void remove(const std::string& key) = 0;
  // Whether all processes of a server see the same sessions.
  [[nodiscard]] virtual bool is_shared() const noexcept { return true; }
};

// At most `count_max` sessions. When there is no room, one without a user goes, the one that was not used for longest:
// visitors never push out who is logged in, however many they are. An eighth of the room is theirs alone, so that there
// is always one for a login page; users past the other seven push out each other.
class MemorySessions final : public SessionStore {
 public:
  explicit MemorySessions(std::size_t count_max = 100'000);
  ~MemorySessions() override;

  Task<Result<std::optional<Record>>> load(std::string key, std::int64_t now) override;
  void create(std::string key, Record record) override;
  void change(const std::string& key, std::vector<Change> changes, std::size_t bytes_max) override;
  bool renew(const std::string& key, Renewal renewal, std::size_t bytes_max) override;
  void remove(const std::string& key) override;
  [[nodiscard]] bool is_shared() const noexcept override { return false; }
  [[nodiscard]] std::size_t count() const noexcept;

 private:
  enum Kind : std::uint8_t { Anonymous, User };
  struct Shard;
  Shard& shard_of(const std::string& key) const noexcept;
  void insert(Shard& shard, std::string key, Record record);
  void erase(Shard& shard, const std::string& key);
  void make_room();
  void drop_oldest(Kind kind);
  // Calls `then(shard, key, is_late)` with the lock of the session that has this key, or had it before a renewal.
  template <class F>
  void follow(std::string key, const F& then);

  std::unique_ptr<Shard[]> shards_;
  std::size_t count_max_;
  std::size_t user_max_;
  std::atomic<std::size_t> counts_[2] = {0, 0};
  std::atomic<std::uint64_t> uses_ = 0;
};

}  // namespace violet
