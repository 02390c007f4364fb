#pragma once

// timeout: how long handlers may take, for an app or a group.
//
//   app.use(timeout(5'000));
//   api.use(timeout({.handler_ms = 2'000, .answer_ms = 60'000, .status = Status::GatewayTimeout}));
//
// A handler that has not answered in time is stopped (what it awaits ends with an error, its StopToken says so), and
// the client gets the status, which names the limit. An answer that has begun is cut off when its own time is over. A
// handler that never waits cannot be stopped. A route's own handler_ms(), answer_ms() and no_deadline(), and an inner
// group's timeout go before it. Settled when the app starts; costs a request that is answered at once nothing.

#include "violet/web/output/status.h"

#include <cstdint>

namespace violet {

class Route;

struct TimeoutOptions {
  std::uint64_t handler_ms = 0;  // until the answer begins; 0: as it was
  std::uint64_t answer_ms = 0;   // until it has ended; 0: as it was
  Status status = Status::ServiceUnavailable;
};

class Timeout {
 public:
  constexpr explicit Timeout(const TimeoutOptions& options) noexcept : options_(options) {}
  void on_route(Route& route) const noexcept;

 private:
  TimeoutOptions options_;
};

// Both the beginning and the end of an answer.
[[nodiscard]] constexpr Timeout timeout(std::uint64_t ms) noexcept {
  return Timeout({.handler_ms = ms, .answer_ms = ms});
}
[[nodiscard]] constexpr Timeout timeout(const TimeoutOptions& options) noexcept { return Timeout(options); }

}  // namespace violet
