#pragma once

// Router: the Service that finds the handler of a request. Routes, groups and middleware are registered first; freeze()
// checks them all and builds the table; from then on any number of loops may serve() at once and nothing changes.
//
//   Router router;
//   router.get("/users/{id}", [](Path<int> id) { return *id; });
//   Group api = router.group("/api");
//   api.use(auth);
//   api.post("/notes", save).body_max(10 << 20);
//   for (const std::string& error : router.freeze()) …
//
// Made by the router itself: HEAD from GET, 204 with Allow for OPTIONS, 405 with Allow, 501 for a method nobody knows,
// 404 for a path, 400 for a malformed one. These pass through the middleware of the whole app; OPTIONS and 405 through
// that of the group whose route has the path. Patterns are explained in route/pattern.h, priorities in route/table.h.

#include "violet/core/exchange.h"
#include "violet/core/service.h"
#include "violet/web/handler.h"
#include "violet/web/middleware.h"

#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace violet {

class Group;

namespace web {

class Registry;
struct RouteDocs;
struct RouteInfo;
struct Scope;
struct Dispatch;
using Where = std::source_location;

}  // namespace web

// What may be said about one route, after it was registered.
class Route {
 public:
  // Bodies beyond it are refused with 413, instead of limits.body_bytes_max.
  Route& body_max(std::uint64_t bytes) noexcept;
  // How long the handler may take, instead of limits.handler_ms.
  Route& handler_ms(std::uint64_t ms) noexcept;
  // How long handler and answer may take together: an answer that has begun is cut off then. 0, the default: for ever.
  Route& answer_ms(std::uint64_t ms) noexcept;
  // What clients get when the handler's time is over, instead of 503.
  Route& timeout_status(Status status) noexcept;
  // As long as it likes: for handlers that wait for events.
  Route& no_deadline() noexcept { return handler_ms(0).answer_ms(0); }

  // --- for readers; see docs/guide/openapi.md
  // What it does, in a few words, and at length (Markdown).
  Route& summary(std::string_view text);
  Route& describe(std::string_view text);
  // Groups routes in the document; a route may have several.
  Route& tag(std::string_view name);
  // Its name in generated clients, instead of one made of method and pattern.
  Route& operation_id(std::string_view name);
  // What a status means here; also one that the handler's result type does not tell, with what its body holds.
  Route& reply(Status status, std::string_view about) { return note_reply(status, about, nullptr); }
  template <data::Known T>
  Route& reply(Status status, std::string_view about) {
    return note_reply(status, about, &data::kType<T>);
  }
  // A {name} of the pattern, a field or a cookie; what comes in a struct says so in the struct (data/describe.h).
  Route& parameter(std::string_view name, std::string_view about, std::string_view example = {});
  // It is asked for with that scheme: "bearer", "basic", or one of DocsOptions::schemes. Any of several will do. This
  // is for the document: middleware checks it.
  Route& security(std::string_view scheme);
  Route& deprecated();
  // Left out of the document.
  Route& hidden();

  ~Route();

 private:
  friend class web::Registry;
  Route() noexcept;
  // Sets what `own` has set.
  void put(const Route& own) noexcept;
  Route& note_reply(Status status, std::string_view about, const data::Type* type);
  web::RouteDocs& docs();

  std::unique_ptr<web::RouteDocs> docs_;  // nullptr: nothing was said
  std::uint64_t body_bytes_max_ = 0;
  std::uint64_t handler_ms_ = 0;
  std::uint64_t answer_ms_ = 0;
  std::uint16_t timeout_status_ = 0;
  bool has_body_max_ = false;
  bool has_handler_ms_ = false;
  bool has_answer_ms_ = false;
};

// Where routes are registered: the whole router, or a group of it. Registering returns the route; see Route.
class Routes {
 public:
  template <class F>
  Route& get(std::string_view pattern, F&& handler, web::Where where = web::Where::current()) {
    return any(http::Method::Get, pattern, std::forward<F>(handler), where);
  }
  template <class F>
  Route& head(std::string_view pattern, F&& handler, web::Where where = web::Where::current()) {
    return any(http::Method::Head, pattern, std::forward<F>(handler), where);
  }
  template <class F>
  Route& post(std::string_view pattern, F&& handler, web::Where where = web::Where::current()) {
    return any(http::Method::Post, pattern, std::forward<F>(handler), where);
  }
  template <class F>
  Route& put(std::string_view pattern, F&& handler, web::Where where = web::Where::current()) {
    return any(http::Method::Put, pattern, std::forward<F>(handler), where);
  }
  template <class F>
  Route& patch(std::string_view pattern, F&& handler, web::Where where = web::Where::current()) {
    return any(http::Method::Patch, pattern, std::forward<F>(handler), where);
  }
  template <class F>
  Route& del(std::string_view pattern, F&& handler, web::Where where = web::Where::current()) {
    return any(http::Method::Delete, pattern, std::forward<F>(handler), where);
  }
  template <class F>
  Route& options(std::string_view pattern, F&& handler, web::Where where = web::Where::current()) {
    return any(http::Method::Options, pattern, std::forward<F>(handler), where);
  }
  // One method of any kind.
  template <class F>
  Route& any(http::Method method, std::string_view pattern, F&& handler, web::Where where = web::Where::current()) {
    return add(method, false, pattern, web::make_handler(std::forward<F>(handler)), where);
  }
  // Every method that has no route of its own, unknown ones included.
  template <class F>
  Route& any(std::string_view pattern, F&& handler, web::Where where = web::Where::current()) {
    return add(http::Method::Other, true, pattern, web::make_handler(std::forward<F>(handler)), where);
  }

  // A handler of a kind of its own; the router owns it.
  Route& handle(http::Method method, std::string_view pattern, web::Handler* handler, const web::Where& where) {
    return add(method, false, pattern, handler, where);
  }

  // A group of routes whose patterns begin with `prefix` ("/api", "/users/{id}") and which have middleware of their
  // own.
  [[nodiscard]] Group group(std::string_view prefix, web::Where where = web::Where::current());

  // Middleware for all routes of this group and the groups inside, one to eight; see web/middleware.h.
  void use(web::Used first, web::Used second = {}, web::Used third = {}, web::Used fourth = {}, web::Used fifth = {},
           web::Used sixth = {}, web::Used seventh = {}, web::Used eighth = {});

 protected:
  explicit Routes(web::Scope& scope) noexcept : scope_(&scope) {}

 private:
  friend class Group;
  Route& add(http::Method method, bool any, std::string_view pattern, web::Handler* handler, const web::Where& where);

  web::Scope* scope_;
};

// Part of a router; to be used while the router lives.
class Group : public Routes {
 public:
  // What all of its routes have in the document, with what they say themselves; see Route.
  Group& tag(std::string_view name);
  Group& security(std::string_view scheme);
  Group& hidden();

 private:
  friend class Routes;
  explicit Group(web::Scope& scope) noexcept : Routes(scope) {}
};

class Router final : public Service, public Routes {
 public:
  Router();
  ~Router() override;

  // `T&` as a handler's parameter. It is shared by all loops. False when there is one already.
  template <class T>
  bool provide(T value) {
    return provide_object(&web::kTypeKey<T>, new T(std::move(value)),
                          [](void* object) noexcept { delete static_cast<T*>(object); });
  }
  template <class T>
  bool provide(std::unique_ptr<T> value) {
    return provide_object(&web::kTypeKey<T>, value.release(),
                          [](void* object) noexcept { delete static_cast<T*>(object); });
  }

  // Checks and builds everything. Returns what is wrong, one sentence each, with the place in the source; the router is
  // then not to be used. May be called again after more was registered, while nobody serves.
  [[nodiscard]] std::vector<std::string> freeze();

  // Every route, in the order in which they were registered.
  [[nodiscard]] std::vector<web::RouteInfo> routes() const;

  // REQUIRES: frozen without an error.
  void serve(Exchange& exchange) override;

 private:
  explicit Router(web::Registry* registry);
  bool provide_object(const void* type, void* object, void (*destroy)(void*) noexcept);

  std::unique_ptr<web::Registry> registry_;
  const web::Dispatch* dispatch_ = nullptr;  // what freeze() has built
};

}  // namespace violet
