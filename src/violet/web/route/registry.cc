#include "violet/web/route/registry.h"

#include <bit>
#include <map>

namespace violet::web {
namespace {

std::vector<std::string_view> views_of(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

std::string method_text(http::Method method, bool any) { return any ? "any method" : std::string(http::name(method)); }

// "GET, HEAD, POST, OPTIONS", in the arena.
std::string_view allow_text(Exchange& exchange, std::uint64_t methods) {
  const auto bit = [](http::Method method) { return std::uint64_t{1} << static_cast<unsigned>(method); };
  if ((methods & bit(http::Method::Get)) != 0) methods |= bit(http::Method::Head);
  methods |= bit(http::Method::Options);
  std::string text;
  for (std::size_t i = 0; i < http::kMethodCount; ++i) {
    if ((methods >> i & 1) == 0) continue;
    if (!text.empty()) text += ", ";
    text += http::name(static_cast<http::Method>(i));
  }
  return exchange.arena().copy(text);
}

class FallbackHandler final : public Handler {
 public:
  FallbackHandler(const Table& table, Dispatch::Fallback kind) noexcept : table_(table), kind_(kind) {}
  void bind(Binding&) override {}
  void run(Exchange& exchange) override {
    switch (kind_) {
      case Dispatch::NotFound: exchange.refuse(Error(ErrorKind::NotFound)); break;
      case Dispatch::Malformed:
        exchange.refuse(Error(ErrorKind::Invalid), "the path has a % without two hexadecimal digits behind it");
        break;
      case Dispatch::NotAllowed:
        exchange.refuse(Error(ErrorKind::Unsupported, 0, 405), {}, allow_field(exchange));
        break;
      case Dispatch::Options:
        exchange.response().status = 204;
        exchange.response().fields.push(allow_field(exchange));
        exchange.reply();
        break;
      default: exchange.refuse(Error(ErrorKind::Unsupported)); break;
    }
  }

 private:
  // Looked up once more: this is the rare way.
  [[nodiscard]] http::Field allow_field(Exchange& exchange) const {
    std::uint64_t methods = 0;
    SplitPath path;
    if (exchange.request().form == http::TargetForm::Asterisk) {
      methods = table_.all_methods();
    } else if (table_.split(exchange.request().path, exchange.arena(), path) == Table::Split::Done) {
      methods = table_.methods(path);
    }
    return {
        .name = http::name(http::FieldId::Allow), .value = allow_text(exchange, methods), .id = http::FieldId::Allow};
  }

  const Table& table_;
  Dispatch::Fallback kind_;
};

}  // namespace

Dispatch::Dispatch() {
  for (int i = 0; i < kFallbackCount; ++i) {
    fallback_handlers[i] = std::make_unique<FallbackHandler>(table, static_cast<Fallback>(i));
  }
}

Dispatch::Fallbacks& Dispatch::add_fallbacks(const Hooks& around, std::span<const std::string_view> path_names) {
  Fallbacks& added = fallbacks.emplace_back();
  for (int i = 0; i < kFallbackCount; ++i) {
    added.of[i].handler = fallback_handlers[i].get();
    added.of[i].names = path_names;
    added.of[i].request_hooks = around.request;
    added.of[i].reply_hooks = around.reply;
  }
  return added;
}

const Endpoint& Dispatch::find(Exchange& exchange) const {
  const http::Head& head = exchange.request();
  const Endpoint* const of_all = fallbacks.front().of;
  if (head.form == http::TargetForm::Asterisk) return of_all[Options];
  // A tunnel through an origin server is nothing that routes could offer (RFC 9110 §9.3.6).
  if (head.form == http::TargetForm::Authority) return of_all[NotImplemented];
  SplitPath path;
  switch (table.split(head.path, exchange.arena(), path)) {
    case Table::Split::Done: break;
    case Table::Split::Malformed: return of_all[Malformed];
    case Table::Split::Never: return of_all[NotFound];
  }
  auto* values = exchange.arena().array<std::string_view>(table.values_max());
  if (const Endpoint* endpoint = table.find(path, head.method, values); endpoint != nullptr) {
    exchange.match.values = values;
    return *endpoint;
  }
  if (head.method == http::Method::Other) return of_all[NotImplemented];
  const std::uint64_t methods = table.methods(path);
  if (methods == 0) return of_all[NotFound];
  return find_fallback(exchange, path, values, methods);
}

const Endpoint& Dispatch::find_fallback(Exchange& exchange, SplitPath& path, std::string_view* values,
                                        std::uint64_t methods) const {
  const http::Head& head = exchange.request();
  const bool is_question = head.method == http::Method::Options;
  // A preflight is about the route that it names; other questions are about any of them.
  const Endpoint* route = nullptr;
  if (is_question) {
    const http::Method meant = http::find_method(head.fields.get(http::FieldId::AccessControlRequestMethod));
    if (meant != http::Method::Other) route = table.find(path, meant, values);
  }
  if (route == nullptr) route = table.find(path, static_cast<http::Method>(std::countr_zero(methods)), values);
  exchange.match.values = values;
  return route->fallbacks[is_question ? Options : NotAllowed];
}

Registry::Registry() {
  auto root = std::make_unique<Scope>();
  root->registry = this;
  scopes_.push_back(std::move(root));
}

Scope& Registry::add_scope(Scope& outer, std::string_view prefix, const Where& where) {
  auto scope = std::make_unique<Scope>();
  scope->outer = &outer;
  scope->registry = this;
  scope->prefix = outer.prefix + std::string(prefix);
  scope->where = where;
  scopes_.push_back(std::move(scope));
  return *scopes_.back();
}

Route& Registry::add(Scope& scope, http::Method method, bool any, std::string_view pattern, Handler* handler,
                     const Where& where) {
  auto entry = std::make_unique<Entry>();
  entry->scope = &scope;
  entry->method = method;
  entry->any = any;
  entry->pattern = scope.prefix + std::string(pattern);
  entry->handler.reset(handler);
  entry->where = where;
  entries_.push_back(std::move(entry));
  return entries_.back()->route;
}

std::string Registry::Entry::what() const { return method_text(method, any) + " " + pattern; }

const Dispatch* Registry::build(std::vector<std::string>& errors) {
  dispatch_ = std::make_unique<Dispatch>();
  std::map<const Scope*, Surroundings> scopes;
  for (const auto& scope : scopes_) scopes[scope.get()] = build_scope(*scope, errors);
  for (const auto& entry : entries_) build_entry(*entry, scopes[entry->scope], errors);
  return dispatch_.get();
}

Registry::Surroundings Registry::build_scope(Scope& scope, std::vector<std::string>& errors) {
  check_prefix(scope, errors);
  auto& names = dispatch_->names.emplace_back();
  if (auto pattern = Pattern::parse(scope.prefix)) names = pattern->names();
  const Hooks& hooks = dispatch_->hooks.emplace_back(flatten(scope));
  bind_middleware(scope, hooks, errors);
  const auto& views = dispatch_->name_views.emplace_back(views_of(names));
  return {&hooks, dispatch_->add_fallbacks(hooks, views).of};
}

void Registry::check_prefix(const Scope& scope, std::vector<std::string>& errors) const {
  if (scope.outer == nullptr) return;
  const std::string_view own = std::string_view(scope.prefix).substr(scope.outer->prefix.size());
  std::string wrong;
  if (auto pattern = Pattern::parse(scope.prefix); !pattern) {
    wrong = pattern.error();
  } else if (own.empty() || own.front() != '/' || own.back() == '/') {
    wrong = "a group's prefix begins with '/' and does not end with it";
  } else if (pattern->segments.back().kind == Segment::Kind::Rest) {
    wrong = "nothing can stand behind {" + pattern->segments.back().text + "...}";
  }
  if (!wrong.empty()) errors.push_back(to_string(scope.where) + ": group " + scope.prefix + ": " + wrong);
}

void Registry::bind_middleware(const Scope& scope, const Hooks& hooks, std::vector<std::string>& errors) {
  std::vector<std::string> names;
  if (auto pattern = Pattern::parse(scope.prefix)) names = pattern->names();
  const std::vector<std::string_view> views = views_of(names);
  const std::string what = scope.outer == nullptr ? "middleware" : "middleware of group " + scope.prefix;
  for (const auto& middleware : scope.middleware) {
    Binding binding{providers_, kept_, views, errors, what, middleware->where, hooks.all};
    middleware->bind(binding);
  }
}

Hooks Registry::flatten(const Scope& scope) {
  Hooks hooks;
  if (scope.outer != nullptr) hooks = flatten(*scope.outer);
  for (const auto& middleware : scope.middleware) {
    if (middleware->has_request_hook) hooks.request.push_back(middleware.get());
    if (middleware->has_reply_hook) hooks.reply.push_back(middleware.get());
    hooks.all.push_back(middleware.get());
  }
  return hooks;
}

void Registry::build_entry(Entry& entry, const Surroundings& scope, std::vector<std::string>& errors) {
  const std::string what = entry.what();
  auto parsed = Pattern::parse(entry.pattern);
  if (!parsed) {
    errors.push_back(to_string(entry.where) + ": " + what + ": " + parsed.error());
    return;
  }
  const Pattern& pattern = dispatch_->patterns.emplace_back(std::move(*parsed));
  const auto& names = dispatch_->name_views.emplace_back(views_of(dispatch_->names.emplace_back(pattern.names())));
  Binding binding{providers_, kept_, names, errors, what, entry.where, scope.hooks->all};
  entry.handler->bind(binding);

  Route route;
  for (Middleware* middleware : scope.hooks->all) middleware->on_route(route);
  route.put(entry.route);

  Endpoint& endpoint = dispatch_->endpoints.emplace_back();
  endpoint.handler = entry.handler.get();
  endpoint.wants_body = entry.handler->wants_body;
  endpoint.pattern = pattern.text;
  endpoint.names = names;
  endpoint.request_hooks = scope.hooks->request;
  endpoint.reply_hooks = scope.hooks->reply;
  endpoint.fallbacks = scope.fallbacks;
  endpoint.body_bytes_max = route.body_bytes_max_;
  endpoint.has_body_limit = route.has_body_max_;
  endpoint.handler_ms = route.handler_ms_;
  endpoint.has_handler_ms = route.has_handler_ms_;
  endpoint.answer_ms = route.answer_ms_;
  endpoint.timeout_status = route.timeout_status_;
  endpoint.has_own_head = entry.any || entry.method == http::Method::Head;
  endpoint.has_options = endpoint.has_body_limit || endpoint.has_handler_ms || endpoint.answer_ms != 0 ||
                         endpoint.timeout_status != 0 || endpoint.has_own_head;
  endpoint.where = entry.where;
  if (const Endpoint* other = dispatch_->table.insert(pattern, entry.method, entry.any, endpoint); other != nullptr) {
    errors.push_back(to_string(entry.where) + ": " + what +
                     " can never be reached: " + method_text(entry.method, entry.any) + " " +
                     std::string(other->pattern) + " matches the same paths, registered at " + to_string(other->where));
  }
}

}  // namespace violet::web
