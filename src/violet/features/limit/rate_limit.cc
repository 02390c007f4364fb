#include "violet/features/limit/rate_limit.h"

#include "violet/base/ascii.h"
#include "violet/base/log.h"
#include "violet/core/limits.h"
#include "violet/core/site.h"
#include "violet/features/limit/rate/key.h"
#include "violet/features/limit/rate/table.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstring>
#include <mutex>

namespace violet {
namespace {

using http::FieldId;

constexpr std::uint64_t kSecondMs = 1'000;

std::uint64_t seconds(std::uint64_t ms) noexcept { return (ms + kSecondMs - 1) / kSecondMs; }

// What one limit has decided about a request; the notes of several hang together.
struct Decided {
  const void* owner;
  RateDecision decision;
  Decided* next;
};
struct AllDecided {
  Decided* first = nullptr;
};

void note(Exchange& exchange, const void* owner, const RateDecision& decision) {
  auto* all = exchange.note<AllDecided>();
  if (all == nullptr) all = &exchange.add_note<AllDecided>();
  all->first = exchange.arena().make<Decided>(owner, decision, all->first);
}

const RateDecision* find(Exchange& exchange, const void* owner) noexcept {
  const auto* const all = exchange.note<AllDecided>();
  for (const Decided* one = all != nullptr ? all->first : nullptr; one != nullptr; one = one->next) {
    if (one->owner == owner) return &one->decision;
  }
  return nullptr;
}

// Characters of a string in a structured field (RFC 9651 §3.3.3), without those that need an escape.
bool is_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= 64 &&
         std::ranges::all_of(name, [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; });
}

}  // namespace

struct RateLimit::Shared {
  RateLimitOptions options;
  RatePolicy policy;
  std::string quoted_name;
  std::string process_note;
  std::string policy_text;  // of RateLimit-Policy
  std::string detail;       // of a 429
  rate::Secret secret = rate::make_secret();
  std::atomic<rate::Table*> table = nullptr;
  std::mutex mutex;
  std::unique_ptr<rate::Table> owned;
  std::atomic<std::int64_t> complained_at = 0;

  explicit Shared(RateLimitOptions given) : options(std::move(given)) {
    policy = {options.requests, options.per_s, options.burst != 0 ? options.burst : options.requests};
    const std::string requests = std::to_string(policy.requests);
    const std::string per_s = std::to_string(policy.per_s);
    quoted_name = "\"" + options.name + "\"";
    policy_text = quoted_name + ";q=" + std::to_string(policy.burst) + ";w=" + std::to_string(fill_s());
    detail = "rate limit " + quoted_name + ": " + requests + " requests in " + per_s + " s";
    process_note = "rate_limit() " + quoted_name +
                   " counts in the memory of one process: with several, each lets a client send as much; give it a "
                   "RateStore that all of them share";
  }

  // In how long an empty bucket is full: what is left, which is part of a full one, is told against that quota and
  // window.
  [[nodiscard]] std::uint64_t fill_s() const noexcept {
    const std::uint64_t requests = std::max(policy.requests, 1U);
    return std::max<std::uint64_t>((std::uint64_t{policy.burst} * policy.per_s + requests - 1) / requests, 1);
  }

  // Made by the first request, which knows the limits.
  rate::Table& table_for(const Limits& limits) {
    if (rate::Table* known = table.load(std::memory_order_acquire); known != nullptr) return *known;
    const std::lock_guard lock(mutex);
    if (owned == nullptr) {
      owned = std::make_unique<rate::Table>(policy, options.keys_max != 0 ? options.keys_max : limits.rate_keys_max);
    }
    table.store(owned.get(), std::memory_order_release);
    return *owned;
  }

  rate::Key key_of(Exchange& exchange) {
    if (options.key) {
      if (const std::string_view named = options.key(Request(exchange)); !named.empty()) {
        return {rate::Kind::Named, named};
      }
    } else if (!options.field.empty()) {
      if (const std::string_view value = exchange.request().fields.get(options.field); !value.empty()) {
        return {rate::Kind::Field, value};
      }
    }
    return rate::Key(exchange.peer());
  }

  Verdict decide(Exchange& exchange, const RateDecision& decision) {
    if (options.tells) note(exchange, this, decision);
    if (decision.is_allowed) return Verdict::Continue;
    char text[20];
    const std::uint64_t wait_s = std::max<std::uint64_t>(seconds(decision.retry_ms), 1);
    const char* const end = std::to_chars(text, text + sizeof text, wait_s).ptr;
    exchange.refuse(Error(ErrorKind::Busy, 0, 429), detail,
                    {.name = http::name(FieldId::RetryAfter), .value = {text, end}, .id = FieldId::RetryAfter});
    return Verdict::Answered;
  }

  // The store has failed; one line a second says so without filling a disk.
  void complain(std::int64_t now, const std::string& problem) {
    if (complained_at.exchange(now, std::memory_order_relaxed) == now) return;
    log(LogLevel::Warn, "rate limit " + quoted_name + ": the store has failed, requests go on: " + problem);
  }

  // "name";r=99;t=1, in the arena.
  std::string_view state_text(Arena& arena, const RateDecision& decision) const {
    const std::size_t room = quoted_name.size() + 48;
    char* const text = arena.array<char>(room);
    char* at = std::ranges::copy(quoted_name, text).out;
    at = std::ranges::copy(std::string_view(";r="), at).out;
    at = std::to_chars(at, text + room, decision.remaining).ptr;
    at = std::ranges::copy(std::string_view(";t="), at).out;
    at = std::to_chars(at, text + room, seconds(decision.reset_ms)).ptr;
    return {text, at};
  }
};

RateLimit::RateLimit(RateLimitOptions options) : shared_(std::make_shared<Shared>(std::move(options))) {}

void RateLimit::bind(web::Binding& binding) const {
  const RateLimitOptions& options = shared_->options;
  if (options.requests == 0 || options.per_s == 0) binding.fail("rate_limit: requests and per_s are at least 1");
  if (!is_name(options.name)) binding.fail("rate_limit: a name is 1 to 64 printable characters without quotes");
  if (!options.field.empty() && options.key) binding.fail("rate_limit: a key is a field or a function, not both");
  if (!options.field.empty() && !ascii::is_token(options.field)) binding.fail("rate_limit: this is no field's name");
}

std::string_view RateLimit::process_note() const noexcept { return shared_->process_note; }

Verdict RateLimit::on_request(Exchange& exchange) const {
  rate::Table& table = shared_->table_for(exchange.limits());
  const std::uint64_t hash = shared_->key_of(exchange).hash(shared_->secret);
  return shared_->decide(exchange, table.take(hash, Loop::clock_us() * 1'000));
}

void RateLimit::on_reply(Exchange& exchange, http::Head& head, Body&) const {
  const RateDecision* const decision = find(exchange, shared_.get());
  if (decision == nullptr) return;
  head.fields.push({.name = "RateLimit-Policy", .value = shared_->policy_text});
  head.fields.push({.name = "RateLimit", .value = shared_->state_text(exchange.arena(), *decision)});
}

Task<Verdict> SharedRateLimit::on_request(Exchange& exchange) const {
  RateLimit::Shared& shared = *limit_.shared_;
  std::string key = shared.options.name + ":" + shared.key_of(exchange).text();
  std::string problem;
  try {
    const Result<RateDecision> decision = co_await store_->take(std::move(key), shared.policy);
    if (decision) co_return shared.decide(exchange, *decision);
    problem = message(decision.error());
  } catch (...) {
    problem = message(std::current_exception());
  }
  shared.complain(exchange.loop().wall_seconds(), problem);
  co_return Verdict::Continue;
}

}  // namespace violet
