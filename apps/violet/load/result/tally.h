#pragma once

// Tally: what one thread has counted. Its own thread writes; the counts that a progress line shows may be read by
// others meanwhile.

#include "load/result/histogram.h"
#include <violet/core/site.h>

#include <cstdint>

namespace violet::load {

struct Tally {
  // Read by others while the thread runs.
  Counter answers;
  Counter errors;      // all kinds together
  Counter bytes;       // received: heads and bodies
  Counter latency_ns;  // of all answers, summed

  // Read once the thread has ended.
  std::uint64_t status[6] = {};  // [2]: 2xx; [0]: none of the five
  std::uint64_t wrong_bodies = 0;
  std::uint64_t connect_errors = 0;
  std::uint64_t handshake_errors = 0;  // of TLS
  std::uint64_t broken = 0;            // connections that ended with requests unanswered
  std::uint64_t timeouts = 0;
  std::uint64_t malformed = 0;  // answers that are no HTTP
  std::uint64_t connects = 0;
  std::uint64_t handshakes = 0;
  Histogram latency;

  void add(const Tally& other) noexcept;
  void clear() noexcept { *this = Tally(); }
  [[nodiscard]] std::uint64_t failure_count() const noexcept {
    return wrong_bodies + connect_errors + handshake_errors + broken + timeouts + malformed;
  }
};

inline void Tally::add(const Tally& other) noexcept {
  answers += other.answers;
  errors += other.errors;
  bytes += other.bytes;
  latency_ns += other.latency_ns;
  for (int i = 0; i < 6; ++i) status[i] += other.status[i];
  wrong_bodies += other.wrong_bodies;
  connect_errors += other.connect_errors;
  handshake_errors += other.handshake_errors;
  broken += other.broken;
  timeouts += other.timeouts;
  malformed += other.malformed;
  connects += other.connects;
  handshakes += other.handshakes;
  latency.add(other.latency);
}

}  // namespace violet::load
