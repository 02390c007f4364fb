#pragma once

// WebSockets as routes: a pattern and a handler.
//
//   websocket(app, "/chat/{room}", [](WebSocket socket, Path<std::string> room) -> Task<> {
//     while (auto message = co_await socket.read()) { … }
//   });
//
// A handler that takes a WebSocket is a coroutine and reads by itself. One that takes none returns an object, made for
// each socket, whose functions are called:
//
//   struct Chat {
//     std::string room;
//     void on_open(WebSocket& socket);                            // may be left out
//     void on_message(WebSocket& socket, ws::Message message);
//     void on_close(WebSocket& socket);                           // may be left out
//   };
//   websocket(app, "/chat/{room}", [](Path<std::string> room) { return Chat{*room}; });
//
// Both take whatever else handlers take, but no body; what of it is wrong is an ordinary answer, and so is what
// middleware answers before it. Whoever asks without wanting a WebSocket gets 426. What throws closes its socket with
// 1011.
//
// The request is gone when the socket is open, unless the coroutine takes parameters that refer to it (Request,
// Path<std::string_view>, Header and the like): those cost an exchange of some 6 KiB for as long as the socket lives.

#include "violet/event/task.h"
#include "violet/web/handler.h"
#include "violet/web/input/path.h"
#include "violet/web/router.h"
#include "violet/ws/socket.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

namespace violet {

using WebSocketOptions = ws::Options;

namespace web {

// What a socket's route is, without the handler's type. Shared by the routes of both methods, GET and CONNECT.
class SocketRoute {
 public:
  explicit SocketRoute(ws::Options options) : options_(std::move(options)) {}
  SocketRoute(const SocketRoute&) = delete;
  SocketRoute& operator=(const SocketRoute&) = delete;
  virtual ~SocketRoute() = default;

  virtual void bind(Binding& binding) = 0;
  // What a client has to send for it; see web/route/shape.h.
  [[nodiscard]] virtual const Shape& shape() const noexcept = 0;
  // Fetches the parameters and opens.
  virtual void run(Exchange& exchange) = 0;
  // Before run(); false when it is answered.
  bool check(Exchange& exchange);

  // Accepts; nullptr when the client has gone. `application` then is the socket's.
  ws::Session* open(Exchange& exchange, ws::Application* application);

 protected:
  void bind_options(Binding& binding);

 private:
  const ws::Settings& settings(const Limits& limits);

  ws::Options options_;
  std::mutex mutex_;  // of the first socket of each loop
  std::atomic<const ws::Settings*> settings_ = nullptr;
  std::unique_ptr<const ws::Settings> owned_settings_;
};

// The task behind a socket; keeps the exchange where the parameters refer to it.
class SocketTask final : public ws::Application {
 public:
  explicit SocketTask(Ref<Exchange> exchange) noexcept : exchange_(std::move(exchange)) {}

  [[nodiscard]] TaskRoot& root() noexcept { return root_; }
  void start(ws::Session& session, Task<void>&& task) noexcept;
  void on_close(ws::Session& session) noexcept override;
  void dispose() noexcept override { delete this; }

 private:
  ~SocketTask() = default;
  void end(Outcome<void>&& outcome) noexcept;

  ws::Session* session_ = nullptr;
  Ref<Exchange> exchange_;
  TaskRoot root_;
};

// Closes with 1011 and logs what was thrown.
void end_socket_by(ws::Session& session, const std::exception_ptr& exception) noexcept;

// The object behind a socket.
template <class T>
class SocketObject final : public ws::Application {
 public:
  explicit SocketObject(T&& object) : object_(std::move(object)) { takes_messages = true; }

  void open(ws::Session& session) {
    if constexpr (requires(T& object, WebSocket& socket) { object.on_open(socket); }) {
      guard(session, [&](WebSocket& socket) { object_.on_open(socket); });
    }
  }
  void on_message(ws::Session& session, ws::Message&& message) override {
    guard(session, [&](WebSocket& socket) { object_.on_message(socket, std::move(message)); });
  }
  void on_close(ws::Session& session) noexcept override {
    if constexpr (requires(T& object, WebSocket& socket) { object.on_close(socket); }) {
      guard(session, [&](WebSocket& socket) { object_.on_close(socket); });
    }
  }
  void dispose() noexcept override { delete this; }

 private:
  ~SocketObject() = default;
  template <class Call>
  void guard(ws::Session& session, Call&& call) noexcept {
    WebSocket socket(session);
    try {
      call(socket);
    } catch (...) {
      end_socket_by(session, std::current_exception());
    }
  }

  T object_;
};

// Parameters that stay whole without the request they came from.
template <class T>
inline constexpr bool kOwnsValue = std::is_arithmetic_v<T> || std::is_same_v<T, std::string>;
template <class P>
inline constexpr bool kOutlivesRequest = false;
template <class T>
inline constexpr bool kOutlivesRequest<Path<T>> = kOwnsValue<T>;
template <class T>
  requires(!std::is_same_v<T, Exchange> && !HandlerParameter<std::remove_const_t<T>>)
inline constexpr bool kOutlivesRequest<T&> = !std::is_same_v<std::remove_const_t<T>, Request>;

template <class T>
concept SocketCallbacks =
    requires(T& object, WebSocket& socket, ws::Message message) { object.on_message(socket, std::move(message)); };

template <class F>
struct CheckSocketHandler {
  static_assert(SignatureOf<F>::is_known && SignatureOf<F>::is_const,
                "violet: a WebSocket's handler is a function or an object with one const operator() whose parameter "
                "types are written out");
  static_assert(
      !SignatureOf<F>::is_known,
      "violet: a WebSocket's handler takes a WebSocket first and returns Task<>, or takes none and returns an "
      "object with on_message(WebSocket&, ws::Message)");
};

template <class... P>
struct SocketShape {
  static constexpr std::array<Input, sizeof...(P) + 1> inputs{Input{.kind = Input::Kind::Socket}, Extract<P>::input...};
  static constexpr auto replies =
      web::replies(ReplyShape{.status = 101}, ReplyShape{.status = 426, .is_problem = true});
  static constexpr Shape shape{inputs, replies};
};

template <class F, class R, class Parameters>
class SocketRouteOf;

// (WebSocket, P...) -> Task<>
template <class F, class... P>
class SocketRouteOf<F, Task<void>, Types<WebSocket, P...>> final : public SocketRoute {
  static_assert(!Arguments<P...>::wants_body && !Arguments<P...>::needs_task,
                "violet: a request that becomes a WebSocket has no body to take");

 public:
  SocketRouteOf(F&& f, ws::Options options) : SocketRoute(std::move(options)), f_(std::move(f)) {}
  void bind(Binding& binding) override {
    bind_options(binding);
    arguments_.bind(binding);
  }
  [[nodiscard]] const Shape& shape() const noexcept override { return SocketShape<P...>::shape; }
  void run(Exchange& exchange) override {
    constexpr bool keeps = !(kOutlivesRequest<P> && ...);
    if constexpr (keeps) exchange.pin();
    arguments_.call(exchange, [&](P&&... values) {
      auto* task = new SocketTask(keeps ? Ref<Exchange>(&exchange) : Ref<Exchange>());
      ws::Session* session = open(exchange, task);
      if (session == nullptr) return task->dispose();
      task->start(*session, make_frame(*task, *session, static_cast<P&&>(values)...));
    });
  }

 private:
  Task<void> make_frame(SocketTask& task, ws::Session& session, P&&... values) {
    const TaskRoot::Enter scope(task.root());
    const F& f = f_;
    return f(WebSocket(session), static_cast<P&&>(values)...);
  }
  F f_;
  Arguments<P...> arguments_;
};

// (P...) -> an object with callbacks
template <class F, class R, class... P>
  requires SocketCallbacks<R>
class SocketRouteOf<F, R, Types<P...>> final : public SocketRoute {
  static_assert(!Arguments<P...>::wants_body && !Arguments<P...>::needs_task,
                "violet: a request that becomes a WebSocket has no body to take");

 public:
  SocketRouteOf(F&& f, ws::Options options) : SocketRoute(std::move(options)), f_(std::move(f)) {}
  void bind(Binding& binding) override {
    bind_options(binding);
    arguments_.bind(binding);
  }
  [[nodiscard]] const Shape& shape() const noexcept override { return SocketShape<P...>::shape; }
  void run(Exchange& exchange) override {
    arguments_.call(exchange, [&](P&&... values) {
      const F& f = f_;
      auto* object = new SocketObject<R>(f(static_cast<P&&>(values)...));
      ws::Session* session = open(exchange, object);
      if (session == nullptr) return object->dispose();
      object->open(*session);
    });
  }

 private:
  F f_;
  Arguments<P...> arguments_;
};

class SocketHandler final : public Handler {
 public:
  explicit SocketHandler(std::shared_ptr<SocketRoute> route) noexcept : route_(std::move(route)) {
    if (route_ != nullptr) shape = &route_->shape();
  }
  void bind(Binding& binding) override { route_->bind(binding); }
  void run(Exchange& exchange) override {
    if (route_->check(exchange)) route_->run(exchange);
  }

 private:
  std::shared_ptr<SocketRoute> route_;
};

template <class F>
std::shared_ptr<SocketRoute> make_socket_route(F f, ws::Options options) {
  using S = SignatureOf<F>;
  using Route = SocketRouteOf<F, typename S::Result, typename S::Parameters>;
  if constexpr (requires { sizeof(Route); }) {
    return std::make_shared<Route>(std::move(f), std::move(options));
  } else {
    static_cast<void>(CheckSocketHandler<F>{});
    return nullptr;
  }
}

Route& add_socket_route(Routes& routes, std::string_view pattern, std::shared_ptr<SocketRoute> route, Where where);

}  // namespace web

// Opens WebSockets for `pattern`, over HTTP/1.1 by GET, over HTTP/2 and HTTP/3 by extended CONNECT.
template <class F>
Route& websocket(Routes& routes, std::string_view pattern, F&& handler, WebSocketOptions options = {},
                 web::Where where = web::Where::current()) {
  auto route = web::make_socket_route<std::decay_t<F>>(std::forward<F>(handler), std::move(options));
  return web::add_socket_route(routes, pattern, std::move(route), where);
}

}  // namespace violet
