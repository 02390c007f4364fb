#pragma once

// Totals: what the sockets of all loops have counted that belong to one App. Each loop counts for itself, in Counters;
// any thread may add them up.

#include "violet/core/site.h"

#include <cstdint>
#include <mutex>
#include <vector>

namespace violet::ws {

// What the sockets of one loop count; any thread may read it.
struct Counters {
  Counter opened;
  Counter closed;
  Counter received;  // messages that were read
  Counter sent;      // messages that the wire has taken
  Counter protocol_errors;
  Counter timeouts;  // peers that vanished, or took no part in closing
  Counter dropped_oldest;
  Counter dropped_newest;
  Counter closed_for_backlog;
  Counter waited_for_room;  // sends that had to wait, or would have had to

  void add(const Counters& other) noexcept;
  [[nodiscard]] std::uint64_t open_count() const noexcept { return opened - closed; }
};

class Totals {
 public:
  Totals() noexcept = default;
  Totals(const Totals&) = delete;
  Totals& operator=(const Totals&) = delete;

  // Any thread.
  [[nodiscard]] Counters sum() const;

 private:
  friend struct Shared;
  void join(const Counters& counters);
  void leave(const Counters& counters) noexcept;

  mutable std::mutex mutex_;  // taken once for each loop's first socket, by a loop that ends, and by sum()
  std::vector<const Counters*> members_;
  Counters gone_;  // of loops that have ended
};

}  // namespace violet::ws
