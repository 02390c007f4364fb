#pragma once

// Registry: what was registered at a router, and Dispatch: what freeze() makes of it, which all loops read.

#include "violet/web/endpoint.h"
#include "violet/web/middleware.h"
#include "violet/web/route/listing.h"
#include "violet/web/route/table.h"
#include "violet/web/router.h"

#include <deque>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace violet::web {

// A group: a prefix and middleware.
struct Scope {
  Scope* outer = nullptr;
  Registry* registry = nullptr;
  std::string prefix;  // with those of the outer ones
  Where where;
  std::vector<std::unique_ptr<Middleware>> middleware;
  RouteDocs docs;  // of all its routes
};

// The flattened middleware of a scope.
struct Hooks {
  std::vector<Middleware*> request;
  std::vector<ReplyHook*> reply;
  std::vector<Middleware*> all;
};

struct Dispatch {
  // What answers when no route does.
  enum Fallback : std::uint8_t { NotFound, Malformed, NotAllowed, Options, NotImplemented, kFallbackCount };

  Dispatch();
  Dispatch(const Dispatch&) = delete;
  Dispatch& operator=(const Dispatch&) = delete;
  // The endpoint for a path that is no literal pattern, or whose literal pattern lacks the method.
  [[nodiscard]] const Endpoint& find(Exchange& exchange) const;

  Table table;
  std::deque<Endpoint> endpoints;
  std::deque<std::vector<std::string>> names;
  std::deque<std::vector<std::string_view>> name_views;
  std::deque<Pattern> patterns;
  std::deque<Hooks> hooks;
  // For each scope, the first one's for paths that no route has.
  struct Fallbacks {
    Endpoint of[kFallbackCount];
  };
  std::deque<Fallbacks> fallbacks;
  std::unique_ptr<Handler> fallback_handlers[kFallbackCount];

  Fallbacks& add_fallbacks(const Hooks& hooks, std::span<const std::string_view> path_names);

 private:
  // What answers for a route of the path when none has the method.
  [[nodiscard]] const Endpoint& find_fallback(Exchange& exchange, SplitPath& path, std::string_view* values,
                                              std::uint64_t methods) const;
};

class Registry {
 public:
  Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  Scope& root() noexcept { return *scopes_.front(); }
  Scope& add_scope(Scope& outer, std::string_view prefix, const Where& where);
  Route& add(Scope& scope, http::Method method, bool any, std::string_view pattern, Handler* handler,
             const Where& where);
  Providers& providers() noexcept { return providers_; }

  [[nodiscard]] std::vector<RouteInfo> list() const;

  // Replaces what was built before; what is wrong goes to `errors`.
  const Dispatch* build(std::vector<std::string>& errors);

 private:
  struct Entry {
    Scope* scope = nullptr;
    http::Method method = http::Method::Get;
    bool any = false;
    std::string pattern;
    std::unique_ptr<Handler> handler;
    Where where;
    Route route;

    [[nodiscard]] std::string what() const;
  };

  void check_prefix(const Scope& scope, std::vector<std::string>& errors) const;
  void bind_middleware(const Scope& scope, const Hooks& hooks, std::vector<std::string>& errors);
  static Hooks flatten(const Scope& scope);
  struct Surroundings {
    const Hooks* hooks;
    const Endpoint* fallbacks;
  };
  Surroundings build_scope(Scope& scope, std::vector<std::string>& errors);
  void build_entry(Entry& entry, const Surroundings& scope, std::vector<std::string>& errors);
  static void add_scope_to(const Scope& scope, RouteInfo& info);
  static void set_by_scope(const Scope& scope, Route& route);
  static RouteInfo describe(const Entry& entry);

  Providers providers_;  // outlives everything that refers to it
  Providers kept_;       // of handlers that were bound
  std::vector<std::unique_ptr<Scope>> scopes_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::unique_ptr<Dispatch> dispatch_;
};

}  // namespace violet::web
