#include "violet/features/websocket/websocket.h"

#include "violet/base/ascii.h"
#include "violet/base/log.h"
#include "violet/core/site.h"
#include "violet/ws/handshake.h"

#include <string>

namespace violet::web {

void SocketRoute::bind_options(Binding& binding) {
  // The app's limits may have changed since it ran last.
  settings_ = nullptr;
  owned_settings_.reset();
  for (const auto& [name, value] : options_.fields) {
    if (!ascii::is_token(name) || !http::is_field_value(value)) binding.fail("the field " + name + " cannot be sent");
  }
  for (const std::string& protocol : options_.protocols) {
    if (!ascii::is_token(protocol)) binding.fail("the subprotocol " + protocol + " is no token");
  }
}

const ws::Settings& SocketRoute::settings(const Limits& limits) {
  if (const ws::Settings* known = settings_.load(std::memory_order_acquire); known != nullptr) return *known;
  const std::lock_guard lock(mutex_);
  if (owned_settings_ == nullptr) owned_settings_ = std::make_unique<const ws::Settings>(options_, limits);
  settings_.store(owned_settings_.get(), std::memory_order_release);
  return *owned_settings_;
}

bool SocketRoute::check(Exchange& exchange) { return ws::check_request(exchange, options_); }

ws::Session* SocketRoute::open(Exchange& exchange, ws::Application* application) {
  ws::Session& session = ws::Session::make(exchange.loop(), settings(exchange.limits()), ws::Role::Server);
  Site& site = exchange.site();
  const ws::Accepted accepted = ws::accept_request(exchange, options_);
  session.set_deflate(accepted.deflate);
  if (!accepted.protocol.empty()) session.extras().protocol = accepted.protocol;
  Stream* stream = nullptr;
  try {
    stream = exchange.accept_upgrade(session, session.body());
  } catch (...) {
    exchange.on_exception(std::current_exception());  // of middleware that wanted to add to the answer
  }
  if (stream == nullptr) {
    session.forget();
    return nullptr;
  }
  site.drain_hooks.push_back(session);
  session.open(*stream, application);
  return &session;
}

void SocketTask::start(ws::Session& session, Task<void>&& task) noexcept {
  session.retain();
  session_ = &session;
  root_.start(std::move(task), [this](Outcome<void>&& outcome) noexcept { end(std::move(outcome)); });
}

void SocketTask::end(Outcome<void>&& outcome) noexcept {
  exchange_ = {};
  if (outcome.has_exception()) {
    end_socket_by(*session_, outcome.exception());
  } else {
    session_->close(ws::kNormal, {});
  }
  session_->release();  // perhaps with this object
}

// The peer has gone: whatever the task waits in answers with that.
void SocketTask::on_close(ws::Session& session) noexcept {
  if (root_.is_active()) root_.stop(session.end_error());
}

void end_socket_by(ws::Session& session, const std::exception_ptr& exception) noexcept {
  log(LogLevel::Error, "a WebSocket's handler failed: " + message(exception));
  session.close(ws::kInternalError, {});
}

Route& add_socket_route(Routes& routes, std::string_view pattern, std::shared_ptr<SocketRoute> route, Where where) {
  routes.handle(http::Method::Connect, pattern, new SocketHandler(route), where);
  return routes.handle(http::Method::Get, pattern, new SocketHandler(std::move(route)), where);
}

}  // namespace violet::web
