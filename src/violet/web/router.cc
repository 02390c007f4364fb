#include "violet/web/router.h"

#include "violet/web/route/registry.h"

namespace violet {
namespace web {
namespace {

void proceed(Exchange& exchange, const Endpoint& endpoint);

// Goes on when the body has arrived.
class BodyRunner final : public BodyWaiter {
 public:
  void on_body(Exchange& exchange) override {
    const auto* endpoint = static_cast<const Endpoint*>(std::exchange(exchange.context, nullptr));
    endpoint->handler->run(exchange);
  }
};
constinit BodyRunner body_runner;

void proceed(Exchange& exchange, const Endpoint& endpoint) {
  if (!endpoint.wants_body) {
    endpoint.handler->run(exchange);
    return;
  }
  if (!endpoint.handler->admit(exchange)) return;
  exchange.context = const_cast<Endpoint*>(&endpoint);
  exchange.collect(body_runner);
  // Not yet all there: the head has to outlive its block.
  if (exchange.context != nullptr && !exchange.is_answered()) exchange.pin();
}

// From the hook on that has to wait.
Task<Verdict> run_waiting_hooks(Exchange& exchange, const Endpoint& endpoint, std::size_t first) {
  for (std::size_t i = first; i < endpoint.request_hooks.size(); ++i) {
    Middleware& middleware = *endpoint.request_hooks[i];
    Verdict verdict = Verdict::Wait;
    if (i != first) verdict = middleware.on_request(exchange);
    if (verdict == Verdict::Wait) verdict = co_await middleware.wait_on_request(exchange);
    if (verdict == Verdict::Answered || exchange.is_answered()) co_return Verdict::Answered;
  }
  co_return Verdict::Continue;
}

void start_waiting_hooks(Exchange& exchange, const Endpoint& endpoint, std::size_t first) {
  begin_task(exchange);
  Task<Verdict> hooks = [&] {
    const TaskRoot::Enter scope(exchange.task());
    return run_waiting_hooks(exchange, endpoint, first);
  }();
  exchange.retain();
  exchange.task().start(std::move(hooks), [&exchange, &endpoint](Outcome<Verdict>&& outcome) noexcept {
    if (!outcome.has_value()) {
      end_task(exchange, outcome.exception(), outcome.error());
      return;
    }
    if (outcome.value() == Verdict::Continue) exchange.guard([&] { proceed(exchange, endpoint); });
    exchange.release();
  });
  wait_for_task(exchange);
}

// What a request pays for each hook that has nothing to do; tests/web/cost holds it to its budget.
void run_hooks(Exchange& exchange, const Endpoint& endpoint) {
  Middleware* const* const first = endpoint.request_hooks.data();
  Middleware* const* const end = first + endpoint.request_hooks.size();
  for (Middleware* const* hook = first; hook != end; ++hook) {
    const Verdict verdict = (*hook)->on_request(exchange);
    if (exchange.is_answered()) return;
    if (verdict == Verdict::Continue) [[likely]]
      continue;
    if (verdict == Verdict::Answered) return;
    return start_waiting_hooks(exchange, endpoint, static_cast<std::size_t>(hook - first));
  }
  proceed(exchange, endpoint);
}

void apply_options(Exchange& exchange, const Endpoint& endpoint) {
  if (endpoint.has_body_limit) exchange.set_body_limit(endpoint.body_bytes_max);
  if (endpoint.has_handler_ms) exchange.set_handler_ms(endpoint.handler_ms);
  if (endpoint.answer_ms != 0) exchange.set_answer_ms(endpoint.answer_ms);
  if (endpoint.timeout_status != 0) exchange.set_timeout_status(endpoint.timeout_status);
  if (endpoint.has_own_head && exchange.request().method == http::Method::Head) exchange.add_note<OwnHead>();
}

}  // namespace
}  // namespace web

Route& Route::body_max(std::uint64_t bytes) noexcept {
  body_bytes_max_ = bytes;
  has_body_max_ = true;
  return *this;
}
Route& Route::handler_ms(std::uint64_t ms) noexcept {
  handler_ms_ = ms;
  has_handler_ms_ = true;
  return *this;
}
Route& Route::answer_ms(std::uint64_t ms) noexcept {
  answer_ms_ = ms;
  has_answer_ms_ = true;
  return *this;
}
Route& Route::timeout_status(Status status) noexcept {
  timeout_status_ = static_cast<std::uint16_t>(status);
  return *this;
}
void Route::put(const Route& own) noexcept {
  if (own.has_body_max_) body_max(own.body_bytes_max_);
  if (own.has_handler_ms_) handler_ms(own.handler_ms_);
  if (own.has_answer_ms_) answer_ms(own.answer_ms_);
  if (own.timeout_status_ != 0) timeout_status_ = own.timeout_status_;
}

Route& Routes::add(http::Method method, bool any, std::string_view pattern, web::Handler* handler,
                   const web::Where& where) {
  return scope_->registry->add(*scope_, method, any, pattern, handler, where);
}
Group Routes::group(std::string_view prefix, web::Where where) {
  return Group(scope_->registry->add_scope(*scope_, prefix, where));
}
void Routes::use(web::Used first, web::Used second, web::Used third, web::Used fourth, web::Used fifth, web::Used sixth,
                 web::Used seventh, web::Used eighth) {
  for (web::Used* used : {&first, &second, &third, &fourth, &fifth, &sixth, &seventh, &eighth}) {
    if (auto middleware = used->take(); middleware != nullptr) scope_->middleware.push_back(std::move(middleware));
  }
}

Group& Group::tag(std::string_view name) {
  scope_->docs.tags.emplace_back(name);
  return *this;
}
Group& Group::security(std::string_view scheme) {
  scope_->docs.security.emplace_back(scheme);
  return *this;
}
Group& Group::hidden() {
  scope_->docs.is_hidden = true;
  return *this;
}

std::vector<web::RouteInfo> Router::routes() const { return registry_->list(); }

Router::Router() : Router(new web::Registry) {}
Router::Router(web::Registry* registry) : Routes(registry->root()), registry_(registry) {}
Router::~Router() = default;

bool Router::provide_object(const void* type, void* object, void (*destroy)(void*) noexcept) {
  return registry_->providers().add(type, object, destroy);
}

std::vector<std::string> Router::freeze() {
  std::vector<std::string> errors;
  dispatch_ = registry_->build(errors);
  return errors;
}

void Router::serve(Exchange& exchange) {
  VIOLET_ASSERT(dispatch_ != nullptr);
  const http::Head& head = exchange.request();
  const web::Endpoint* endpoint = nullptr;
  if (const web::Leaf* leaf = dispatch_->table.find_exact(head.path); leaf != nullptr)
    endpoint = leaf->find(head.method);
  if (endpoint == nullptr) endpoint = &dispatch_->find(exchange);
  exchange.match.pattern = endpoint->pattern;
  exchange.match.names = endpoint->names;
  exchange.match.reply_hooks = endpoint->reply_hooks;
  if (endpoint->has_options) web::apply_options(exchange, *endpoint);
  if (!endpoint->request_hooks.empty()) return web::run_hooks(exchange, *endpoint);
  web::proceed(exchange, *endpoint);
}

}  // namespace violet
