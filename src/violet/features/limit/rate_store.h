#pragma once

// RateStore: a seam for rate limits that several servers share. The memory of one process is the default and needs
// none; a store that asks another machine (Redis, a database) derives from this.
//
//   class RedisRates : public RateStore {
//     Task<Result<RateDecision>> take(std::string key, RatePolicy policy) override { … }
//   };
//   app.use(rate_limit({.requests = 100, .per_s = 60}, std::make_shared<RedisRates>(…)));

#include "violet/base/error.h"
#include "violet/event/task.h"

#include <cstdint>
#include <string>

namespace violet {

// A bucket that holds `burst` requests at most, and into which `requests` flow in `per_s` seconds, one by one.
struct RatePolicy {
  std::uint32_t requests = 100;
  std::uint32_t per_s = 60;
  std::uint32_t burst = 100;
};

struct RateDecision {
  bool is_allowed = true;
  std::uint32_t remaining = 0;  // that could be sent at once now
  std::uint64_t reset_ms = 0;   // until the bucket is full again
  std::uint64_t retry_ms = 0;   // where it is not allowed: until one would be
};

class RateStore {
 public:
  RateStore() noexcept = default;
  RateStore(const RateStore&) = delete;
  RateStore& operator=(const RateStore&) = delete;
  virtual ~RateStore() = default;

  // Takes one request from the bucket of `key`, which begins with the policy's name. Called by all loops at once. After
  // an error, or what it throws, the request goes on: a store that is away stops nobody.
  virtual Task<Result<RateDecision>> take(std::string key, RatePolicy policy) = 0;
};

}  // namespace violet
