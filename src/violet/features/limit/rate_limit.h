#pragma once

// rate_limit: middleware that lets a client send so many requests in a time, and answers 429 beyond.
//
//   app.use(rate_limit({.requests = 100, .per_s = 60}));                                  // by address
//   api.use(rate_limit({.requests = 10, .per_s = 1, .burst = 50, .field = "X-API-Key"}));
//   api.use(rate_limit({.requests = 5, .key = [](Request request) { return tenant_of(request); }}));
//
// Each key has a bucket that holds `burst` requests and into which `requests` flow in `per_s` seconds, evenly. Answers
// say what is left by RateLimit and RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers-10), a 429 also by
// Retry-After. Keys are addresses (behind trusted_proxies the client's; IPv6 by the network of 64 bits), a field, or
// what a function says; who has none counts by address, never together with all others who have none.
//
// All loops share the buckets, without a lock. rate_keys_max bounds them: beyond it the bucket that is nearest to full
// is forgotten. Several limits may stand one behind another; give them names.

#include "violet/base/function.h"
#include "violet/core/exchange.h"
#include "violet/features/limit/rate_store.h"
#include "violet/web/middleware.h"
#include "violet/web/request.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace violet {

struct RateLimitOptions {
  std::uint32_t requests = 100;
  std::uint32_t per_s = 60;
  std::uint32_t burst = 0;  // 0: as many as `requests`
  // What the policy is called in RateLimit fields, and in the keys of a shared store.
  std::string name = "default";
  // The key: the value of this field, or what the function says; "" for neither.
  std::string field = {};
  Function<std::string_view(Request)> key = {};
  std::size_t keys_max = 0;  // 0: limits.rate_keys_max
  // Sends RateLimit and RateLimit-Policy.
  bool tells = true;
};

class RateLimit {
 public:
  static constexpr auto replies = web::replies({.status = 429, .is_problem = true});

  explicit RateLimit(RateLimitOptions options);

  void bind(web::Binding& binding) const;
  Verdict on_request(Exchange& exchange) const;
  void on_reply(Exchange& exchange, http::Head& head, Body& body) const;
  // For the log, when several processes serve and each counts by itself.
  [[nodiscard]] std::string_view process_note() const noexcept;

 private:
  friend class SharedRateLimit;
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

// The same with buckets elsewhere; costs each request a coroutine.
class SharedRateLimit {
 public:
  static constexpr auto replies = RateLimit::replies;

  SharedRateLimit(RateLimitOptions options, std::shared_ptr<RateStore> store)
      : limit_(std::move(options)), store_(std::move(store)) {}

  void bind(web::Binding& binding) const { limit_.bind(binding); }
  Task<Verdict> on_request(Exchange& exchange) const;
  void on_reply(Exchange& exchange, http::Head& head, Body& body) const { limit_.on_reply(exchange, head, body); }

 private:
  RateLimit limit_;
  std::shared_ptr<RateStore> store_;
};

[[nodiscard]] inline RateLimit rate_limit(RateLimitOptions options) { return RateLimit(std::move(options)); }
[[nodiscard]] inline SharedRateLimit rate_limit(RateLimitOptions options, std::shared_ptr<RateStore> store) {
  return {std::move(options), std::move(store)};
}

}  // namespace violet
