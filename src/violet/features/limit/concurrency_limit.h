#pragma once

// concurrency_limit: middleware that lets so many requests run at once, for all loops together; some more wait their
// turn for a short time, and the rest is answered 503 with Retry-After at once, while that still costs little.
//
//   app.use(concurrency_limit({.max = 200}));
//   slow.use(concurrency_limit({.max = 4, .queue_max = 16, .queue_ms = 500}));
//   api.use(concurrency_limit({.max = 500, .latency_ms = 100}));        // adaptive
//
// A request counts from its head on until its answer is given to the wire; a stream until it ends; a WebSocket until it
// is one. Those who wait are let in in the order they came, on whatever loop they are; who leaves meanwhile waits no
// longer. A body that the handler waits for has `body_ms` to come, once its request is in: then the place is another's
// and the answer 408, so that bodies which drip in cannot keep all places. A handler that reads its body by itself is
// held to the handler's time.
//
// One object is one number of places, wherever it is used: groups that use the same one share them, and a request takes
// one even if it stands twice before its route.
//
// With `latency_ms` the number follows what the server can do: it begins at `max`, shrinks by a tenth when a request
// takes longer than that, and grows back by one for each round of requests that are in time, between `min` and `max`.

#include "violet/core/exchange.h"
#include "violet/event/task.h"
#include "violet/web/endpoint.h"
#include "violet/web/middleware.h"

#include <cstdint>
#include <memory>
#include <optional>

namespace violet {

struct ConcurrencyOptions {
  std::uint32_t max = 100;
  std::optional<std::uint32_t> queue_max = {};  // limits.concurrency_queue_max; 0: nobody waits
  std::uint64_t queue_ms = 0;                   // 0: limits.concurrency_queue_ms
  std::uint64_t body_ms = 0;                    // 0: limits.handler_ms
  std::uint64_t latency_ms = 0;                 // what a request should take; 0: `max` stays as it is
  std::uint32_t min = 1;
};

class ConcurrencyLimit {
 public:
  static constexpr auto replies = web::replies({.status = 503, .is_problem = true});

  explicit ConcurrencyLimit(const ConcurrencyOptions& options);

  void bind(web::Binding& binding) const;
  Verdict on_request(Exchange& exchange) const;
  Task<Verdict> on_wait(Exchange& exchange) const;
  void on_reply(Exchange& exchange, http::Head& head, Body& body) const;

  // For the log, when several processes serve and each counts by itself.
  [[nodiscard]] std::string_view process_note() const noexcept;

  // How many run now, and how many wait. Any thread.
  [[nodiscard]] std::uint32_t running_count() const noexcept;
  [[nodiscard]] std::uint32_t waiting_count() const noexcept;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

[[nodiscard]] inline ConcurrencyLimit concurrency_limit(const ConcurrencyOptions& options) {
  return ConcurrencyLimit(options);
}

}  // namespace violet
