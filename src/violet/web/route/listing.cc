#include "violet/web/route/listing.h"

#include "violet/web/route/registry.h"

namespace violet {
namespace web {
namespace {

void append(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// Without namespaces. A lambda's or a function's type is no name to anybody.
std::string_view name_of(const Middleware& middleware) noexcept {
  std::string_view name = middleware.name;
  for (const std::string_view unnamed : {"(anonymous namespace)::", "{anonymous}::", "<unnamed>::"}) {
    if (const std::size_t at = name.rfind(unnamed); at != std::string_view::npos)
      name.remove_prefix(at + unnamed.size());
  }
  const std::size_t mark = name.find_first_of("(*<");
  if (mark == 0 || (mark != std::string_view::npos && name[mark] != '<')) return {};
  const std::size_t colon = name.substr(0, mark).rfind(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

}  // namespace

// The outermost scope first.
void Registry::add_scope_to(const Scope& scope, RouteInfo& info) {
  if (scope.outer != nullptr) add_scope_to(*scope.outer, info);
  for (const auto& middleware : scope.middleware) {
    info.hooks.push_back({.name = name_of(*middleware),
                          .where = middleware->where,
                          .is_before = middleware->has_request_hook,
                          .is_behind = middleware->has_reply_hook,
                          .security = middleware->security,
                          .shape = middleware->shape,
                          .process_note = middleware->process_note});
  }
  append(info.docs.tags, scope.docs.tags);
  append(info.docs.security, scope.docs.security);
  info.docs.is_hidden |= scope.docs.is_hidden;
}

// What middleware of the scope and of those around it sets of a route.
void Registry::set_by_scope(const Scope& scope, Route& route) {
  if (scope.outer != nullptr) set_by_scope(*scope.outer, route);
  for (const auto& middleware : scope.middleware) middleware->on_route(route);
}

RouteInfo Registry::describe(const Entry& entry) {
  RouteInfo info{.method = entry.method,
                 .is_any = entry.any,
                 .pattern = entry.pattern,
                 .where = entry.where,
                 .shape = entry.handler != nullptr ? entry.handler->shape : nullptr,
                 .docs = {}};
  RouteDocs of_scopes;
  add_scope_to(*entry.scope, info);
  if (const RouteDocs* own = entry.route.docs_.get(); own != nullptr) {
    std::swap(of_scopes, info.docs);
    info.docs = *own;
    append(info.docs.tags, of_scopes.tags);
    // What a route asks for stands instead of what its group does.
    if (own->security.empty()) info.docs.security = of_scopes.security;
    info.docs.is_hidden |= of_scopes.is_hidden;
  }
  if (entry.route.has_body_max_) info.body_bytes_max = entry.route.body_bytes_max_;
  if (entry.route.has_handler_ms_) info.handler_ms = entry.route.handler_ms_;
  Route whole;
  set_by_scope(*entry.scope, whole);
  whole.put(entry.route);
  if (whole.handler_ms_ != 0 && whole.timeout_status_ != 0) {
    info.docs.replies.push_back({.status = whole.timeout_status_, .about = {}, .type = nullptr});
  }
  return info;
}

std::vector<RouteInfo> Registry::list() const {
  std::vector<RouteInfo> all;
  all.reserve(entries_.size());
  for (const auto& entry : entries_) all.push_back(describe(*entry));
  return all;
}

}  // namespace web

Route::Route() noexcept = default;
Route::~Route() = default;

web::RouteDocs& Route::docs() {
  if (docs_ == nullptr) docs_ = std::make_unique<web::RouteDocs>();
  return *docs_;
}
Route& Route::summary(std::string_view text) {
  docs().summary = text;
  return *this;
}
Route& Route::describe(std::string_view text) {
  docs().about = text;
  return *this;
}
Route& Route::tag(std::string_view name) {
  docs().tags.emplace_back(name);
  return *this;
}
Route& Route::operation_id(std::string_view name) {
  docs().operation_id = name;
  return *this;
}
Route& Route::note_reply(Status status, std::string_view about, const data::Type* type) {
  docs().replies.push_back({static_cast<int>(status), std::string(about), type});
  return *this;
}
Route& Route::parameter(std::string_view name, std::string_view about, std::string_view example) {
  docs().parameters.push_back({std::string(name), std::string(about), std::string(example)});
  return *this;
}
Route& Route::security(std::string_view scheme) {
  docs().security.emplace_back(scheme);
  return *this;
}
Route& Route::deprecated() {
  docs().is_deprecated = true;
  return *this;
}
Route& Route::hidden() {
  docs().is_hidden = true;
  return *this;
}

}  // namespace violet
