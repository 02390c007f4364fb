#pragma once

// Endpoint: one route as the router runs it: the handler without its type, the flattened middleware, the options. Made
// when listening starts and then read by all loops at once.

#include "violet/core/exchange.h"
#include "violet/http/method.h"

#include <cstdint>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace violet::web {

class Middleware;
struct Shape;

// What app.provide() was given, found by type.
class Providers {
 public:
  Providers() noexcept = default;
  Providers(const Providers&) = delete;
  Providers& operator=(const Providers&) = delete;
  ~Providers();

  // Takes `object` over. False when there is one of that type already; `object` is destroyed then.
  bool add(const void* type, void* object, void (*destroy)(void*) noexcept);
  [[nodiscard]] void* find(const void* type) const noexcept;

 private:
  struct Entry {
    const void* type;
    void* object;
    void (*destroy)(void*) noexcept;
  };
  std::vector<Entry> entries_;  // destroyed last to first
};

// A distinct address for each type.
template <class T>
inline constexpr char kTypeKey = 0;

// What handlers are told when listening starts; they report what does not fit.
struct Binding {
  const Providers& providers;
  Providers& kept;                          // what handlers keep for themselves, by its own address
  std::span<const std::string_view> names;  // the pattern's parameters
  std::vector<std::string>& errors;
  std::string_view what;  // "GET /users/{id}"
  std::source_location where;
  std::span<Middleware* const> before = {};  // what stands before a handler; of middleware itself, all of its scope

  void fail(std::string_view sentence);
};

// What one parameter of a handler keeps between binding and running.
struct ParameterSlot {
  void* object = nullptr;
  std::uint8_t indices[8] = {};
  std::uint32_t mask = 0;
};

class Handler {
 public:
  Handler() noexcept = default;
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;
  virtual ~Handler() = default;

  virtual void bind(Binding& binding) = 0;
  // Before the body is read, where it is wanted. False: it has answered, because the head is enough to refuse.
  virtual bool admit(Exchange&) const { return true; }
  // Answers, starts a task that will, or holds the exchange. Called by all loops at once.
  virtual void run(Exchange& exchange) = 0;

  // It is called when the whole body has arrived.
  bool wants_body = false;
  // What it takes and answers; nullptr: it does not say.
  const Shape* shape = nullptr;
};

// A note of the exchange: its route answers HEAD by itself, so that its answer says nothing of the bytes that GET has.
struct OwnHead {};

struct Endpoint {
  Handler* handler = nullptr;
  bool wants_body = false;
  bool has_options = false;
  bool has_body_limit = false;
  bool has_handler_ms = false;
  bool has_own_head = false;  // it was registered for HEAD, or for any method
  std::string_view pattern;
  std::span<const std::string_view> names;
  std::span<Middleware* const> request_hooks;
  std::span<ReplyHook* const> reply_hooks;
  std::uint64_t body_bytes_max = 0;
  std::uint64_t handler_ms = 0;
  std::uint64_t answer_ms = 0;
  std::uint16_t timeout_status = 0;     // 0: the usual one
  const Endpoint* fallbacks = nullptr;  // of its group, by Dispatch::Fallback
  std::source_location where;
};

// "src/main.cc:12"
std::string to_string(const std::source_location& where);

}  // namespace violet::web
