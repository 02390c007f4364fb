#include "violet/ws/pool/totals.h"

#include <algorithm>

namespace violet::ws {

void Counters::add(const Counters& other) noexcept {
  opened += other.opened;
  closed += other.closed;
  received += other.received;
  sent += other.sent;
  protocol_errors += other.protocol_errors;
  timeouts += other.timeouts;
  dropped_oldest += other.dropped_oldest;
  dropped_newest += other.dropped_newest;
  closed_for_backlog += other.closed_for_backlog;
  waited_for_room += other.waited_for_room;
}

Counters Totals::sum() const {
  const std::lock_guard lock(mutex_);
  Counters sum = gone_;
  for (const Counters* counters : members_) sum.add(*counters);
  return sum;
}

void Totals::join(const Counters& counters) {
  const std::lock_guard lock(mutex_);
  members_.push_back(&counters);
}

void Totals::leave(const Counters& counters) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(members_, &counters);
  gone_.add(counters);
}

}  // namespace violet::ws
