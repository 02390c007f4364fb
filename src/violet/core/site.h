#pragma once

// Site: what one loop's sessions share when they serve: the service, the limits, pooled exchanges, the Date line, the
// error page and plain counters. Made by the server, one per loop; everything in it is used by that loop alone.

#include "violet/base/list.h"
#include "violet/core/exchange.h"
#include "violet/core/limits.h"
#include "violet/core/service.h"
#include "violet/http/date.h"
#include "violet/memory/block.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace violet {

// Shapes every answer that the server itself makes: 400 to 505, and 500 for a handler that threw.
class ErrorPage {
 public:
  virtual ~ErrorPage() = default;
  // exchange.response() has its status already; set fields, return the body. `why` may carry a LimitId.
  // `exception` is set when a handler threw, `id` then names the log line.
  virtual Body render(Exchange& exchange, Error why, const std::exception_ptr& exception, std::string_view id) = 0;
};

// A number that one loop counts up and any thread may read; it costs what a plain one costs.
class Counter {
 public:
  constexpr Counter(std::uint64_t value = 0) noexcept : value_(value) {}  // NOLINT(google-explicit-constructor)
  Counter(const Counter& other) noexcept : value_(other) {}
  Counter& operator=(const Counter& other) noexcept {
    value_.store(other, std::memory_order_relaxed);
    return *this;
  }
  operator std::uint64_t() const noexcept {  // NOLINT(google-explicit-constructor)
    return value_.load(std::memory_order_relaxed);
  }
  Counter& operator+=(std::uint64_t n) noexcept {
    value_.store(*this + n, std::memory_order_relaxed);
    return *this;
  }
  Counter& operator++() noexcept { return *this += 1; }
  std::uint64_t operator++(int) noexcept {
    const std::uint64_t before = *this;
    *this += 1;
    return before;
  }

 private:
  std::atomic<std::uint64_t> value_;
};

// Told when the server begins to drain, for what would go on for ever: a WebSocket says goodbye. It may end streams,
// but destroys nothing.
class DrainHook : public ListNode<DrainHook> {
 public:
  virtual void on_drain() noexcept = 0;

 protected:
  ~DrainHook() = default;
};

struct Counters {
  Counter connections_opened;
  Counter connections_closed;
  Counter requests;        // heads that reached the service
  Counter refused;         // answers made by the server itself
  Counter handler_errors;  // handlers that threw
  Counter protocol_errors;
  Counter timeouts;
  Counter accept_pauses;
  Counter handshakes;        // of TLS, that were completed
  Counter handshake_errors;  // connections that did not get as far as their protocol
};

class ExchangePool {
 public:
  explicit ExchangePool(Site& site) noexcept : site_(site) {}
  ExchangePool(const ExchangePool&) = delete;
  ExchangePool& operator=(const ExchangePool&) = delete;
  ~ExchangePool();

  // Holds one count, the stream's.
  [[nodiscard]] Exchange& open(Stream& stream) {
    Exchange* exchange = free_;
    if (exchange == nullptr) [[unlikely]]
      return open_new(stream);
    free_ = static_cast<Exchange*>(exchange->context);
    --kept_count_;
    ++used_count_;
    exchange->open(stream);
    return *exchange;
  }
  void close(Exchange& exchange) noexcept;
  // Frees kept exchanges until at most `kept` are left.
  void trim(std::size_t kept) noexcept;
  [[nodiscard]] std::size_t used_count() const noexcept { return used_count_; }

 private:
  Exchange& open_new(Stream& stream);

  static constexpr std::size_t kKeptMax = 1024;
  Site& site_;
  Exchange* free_ = nullptr;  // linked through Exchange::context
  std::size_t kept_count_ = 0;
  std::size_t used_count_ = 0;
};

// What a feature keeps for each loop: a cache, spare encoders. Ends with its site, on the loop's thread or when that
// has ended.
class SiteLocal {
 public:
  SiteLocal() noexcept = default;
  SiteLocal(const SiteLocal&) = delete;
  SiteLocal& operator=(const SiteLocal&) = delete;
  virtual ~SiteLocal() = default;
};

class SiteLocals {
 public:
  // `owner` is any address that belongs to the feature. nullptr: nothing was added for it.
  [[nodiscard]] SiteLocal* find(const void* owner) const noexcept {
    for (const auto& [key, local] : entries_) {
      if (key == owner) return local.get();
    }
    return nullptr;
  }
  // REQUIRES: find(owner) is nullptr.
  SiteLocal& add(const void* owner, std::unique_ptr<SiteLocal> local) {
    entries_.emplace_back(owner, std::move(local));
    return *entries_.back().second;
  }

 private:
  std::vector<std::pair<const void*, std::unique_ptr<SiteLocal>>> entries_;  // few: one for each feature
};

struct Site {
  Site(Loop& on, Service& to, const Limits& with) noexcept : loop(on), service(to), limits(with), exchanges(*this) {
    // Without room for one of each nothing would ever move.
    for (std::uint64_t* least :
         {&limits.pipeline_max, &limits.receive_bytes_max, &limits.flush_bytes_max, &limits.unsent_bytes_max}) {
      if (*least == 0) *least = 1;
    }
  }

  Loop& loop;
  Service& service;
  Limits limits;
  ErrorPage* error_page = nullptr;  // nullptr: plain text
  std::string_view server_name;     // the Server field, "" for none
  bool is_draining = false;         // answers close their connections
  http::DateLine date;
  std::int64_t limit_logged_at = 0;  // second in which a limit that bit was logged last
  Counters counters;
  BlockPool blocks;  // for answers that are written piece by piece
  ExchangePool exchanges;
  List<DrainHook, DrainHook> drain_hooks;
  SiteLocals locals;  // may hold exchanges, so it goes before them

  // Answers close their connections from now on, and what has a hook hears of it.
  void begin_drain() noexcept {
    is_draining = true;
    for (DrainHook* hook = drain_hooks.front(); hook != nullptr;) {
      DrainHook* next = drain_hooks.next(*hook);
      hook->on_drain();
      hook = next;
    }
  }
};

}  // namespace violet
