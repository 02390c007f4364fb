#pragma once

// Middleware: what stands before handlers and behind them. app.use() and group.use() take
//
//   - an object with on_request(Exchange&), on_reply(Exchange&, http::Head&, Body&), or both, or with on_route(Route&),
//     which sets options of every route that it stands before, when the app starts, and costs no request anything;
//   - a callable that takes what handlers take (but no body).
//
// on_request and callables decide: they return Verdict, or nothing (goes on unless the exchange is answered), or
// std::optional<R> or Result<void> (answers with what is inside, or with the error), or a Task of these. What is
// Answered reaches neither the next middleware nor the handler, but passes through each on_reply of the route.
//
//   struct Timing {
//     Verdict on_request(Exchange& exchange);
//     void on_reply(Exchange& exchange, http::Head& head, Body& body);    // may change both, may wrap the body
//   };
//   api.use([](Header<"Authorization"> who) -> std::optional<Status> {
//     if (!is_known(*who)) return Status::Unauthorized;
//     return {};
//   });
//
// An object that has to wait only now and then returns Verdict::Wait from on_request; then its on_wait(Exchange&), a
// Task<Verdict>, decides. One with on_use() is told so when use() takes it, one with bind(web::Binding&) when the app
// starts, which does not start if it calls fail().
//
// The order is that of use(), outer groups first, whether use() stands before or behind the routes; on_reply runs the
// other way round. Objects are shared by all loops. Middleware runs before the body is read.

#include "violet/web/handler.h"

#include <cstdint>
#include <memory>
#include <source_location>
#include <type_traits>
#include <utility>

namespace violet {

class Route;

enum class Verdict : std::uint8_t { Continue, Answered, Wait };

namespace web {

class Middleware : public ReplyHook {
 public:
  Middleware() noexcept = default;
  Middleware(const Middleware&) = delete;
  Middleware& operator=(const Middleware&) = delete;
  virtual ~Middleware() = default;

  virtual void bind(Binding&) {}
  virtual Verdict on_request(Exchange&) { return Verdict::Continue; }
  // After on_request has said Wait.
  virtual Task<Verdict> wait_on_request(Exchange& exchange);
  void on_reply(Exchange&, http::Head&, Body&) override {}
  virtual void on_route(Route&) {}

  bool has_request_hook = false;
  bool has_reply_hook = false;
  std::source_location where;  // what named it in use()
  // --- for those who show routes; see web/route/listing.h
  std::string_view name;          // of its type; "" of a lambda or a function
  std::string_view process_note;  // what it says when several processes serve: `std::string_view process_note() const`
  std::string_view security;      // the scheme it wants: `static constexpr std::string_view security = "bearer";`
  // How to say who one is, where it lets pass whom it does not know: `std::string challenge() const`. What
  // WWW-Authenticate has in a 401 that is not its own (RFC 9110 §11.6.1).
  std::string challenge;
  const Shape* shape = nullptr;  // its answers: `static constexpr std::array replies{web::ReplyShape{.status = 429}};`
};

// What a hook returned, as a Verdict; answers where it says so.
template <class R>
struct ToVerdict {
  static constexpr bool is_known = false;
};
template <>
struct ToVerdict<Verdict> {
  static constexpr bool is_known = true;
  static Verdict from(Exchange&, Verdict verdict) noexcept { return verdict; }
};
template <class R>
  requires Replyable<R>
struct ToVerdict<std::optional<R>> {
  static constexpr bool is_known = true;
  static Verdict from(Exchange& exchange, std::optional<R>&& answer) {
    if (!answer) return Verdict::Continue;
    respond(exchange, std::move(*answer));
    return Verdict::Answered;
  }
};
template <>
struct ToVerdict<Result<void>> {
  static constexpr bool is_known = true;
  static Verdict from(Exchange& exchange, Result<void>&& result) {
    if (result) return Verdict::Continue;
    exchange.refuse(result.error());
    return Verdict::Answered;
  }
};

template <class R>
inline constexpr bool kIsVerdict = std::is_void_v<R> || ToVerdict<R>::is_known;

template <class R>
struct CheckVerdict {
  static_assert(
      kIsVerdict<R>,
      "violet: middleware cannot return this type. Return Verdict, void, std::optional<R> of something that a "
      "handler may return, Result<void>, or a Task of these");
};

template <class F, class... A>
Verdict verdict_of(Exchange& exchange, const F& f, A&&... values) {
  using R = std::invoke_result_t<const F&, A&&...>;
  if constexpr (std::is_void_v<R>) {
    f(std::forward<A>(values)...);
    return Verdict::Continue;
  } else {
    return ToVerdict<R>::from(exchange, f(std::forward<A>(values)...));
  }
}

template <class R>
Task<Verdict> verdict_of_task(Exchange& exchange, Task<R> task) {
  if constexpr (std::is_void_v<R>) {
    co_await std::move(task);
    co_return Verdict::Continue;
  } else {
    R result = co_await std::move(task);
    co_return ToVerdict<R>::from(exchange, std::move(result));
  }
}

// An object with hooks.
template <class M>
class HookedMiddleware final : public Middleware {
  static constexpr bool kHasRequest = requires(M& object, Exchange& exchange) { object.on_request(exchange); };
  static constexpr bool kHasReply =
      requires(M& object, Exchange& exchange, http::Head& head, Body& body) { object.on_reply(exchange, head, body); };
  static constexpr bool kHasRoute = requires(M& object, Route& route) { object.on_route(route); };
  static constexpr bool kHasWait = requires(M& object, Exchange& exchange) { object.on_wait(exchange); };

  template <bool has>
  static auto returned() {
    if constexpr (has) return TaskResult<decltype(std::declval<M&>().on_request(std::declval<Exchange&>()))>{};
  }

 public:
  static constexpr bool is_hooked = kHasRequest || kHasReply || kHasRoute;

  explicit HookedMiddleware(M&& object) : object_(std::move(object)) {
    has_request_hook = kHasRequest;
    has_reply_hook = kHasReply;
    name = reflect::type_name<M>();
    if constexpr (requires { requires std::is_same_v<decltype(&M::security), const std::string_view*>; }) {
      security = M::security;
    }
    if constexpr (requires { std::span<const ReplyShape>(M::replies); }) {
      static constexpr Shape kShape{{}, M::replies};
      shape = &kShape;
    }
    if constexpr (requires { object_.process_note(); }) process_note = object_.process_note();
    if constexpr (requires { object_.challenge(); }) challenge = object_.challenge();
    if constexpr (requires { object_.on_use(); }) object_.on_use();
  }
  void bind([[maybe_unused]] Binding& binding) override {
    if constexpr (requires { object_.bind(binding); }) object_.bind(binding);
  }
  void on_route([[maybe_unused]] Route& route) override {
    if constexpr (kHasRoute) object_.on_route(route);
  }
  Verdict on_request(Exchange& exchange) override {
    if constexpr (kHasRequest) {
      using Returned = decltype(returned<true>());
      static_cast<void>(CheckVerdict<typename Returned::Type>{});
      if constexpr (Returned::is_task) return Verdict::Wait;
      if constexpr (!Returned::is_task) {
        const auto call = [this](Exchange& to) { return object_.on_request(to); };
        return verdict_of(exchange, call, exchange);
      }
    }
    return Verdict::Continue;
  }
  Task<Verdict> wait_on_request(Exchange& exchange) override {
    if constexpr (kHasRequest) {
      if constexpr (decltype(returned<true>())::is_task) return verdict_of_task(exchange, object_.on_request(exchange));
    }
    if constexpr (kHasWait) return object_.on_wait(exchange);
    return Middleware::wait_on_request(exchange);
  }
  void on_reply([[maybe_unused]] Exchange& exchange, [[maybe_unused]] http::Head& head,
                [[maybe_unused]] Body& body) override {
    if constexpr (kHasReply) object_.on_reply(exchange, head, body);
  }

 private:
  M object_;
};

// A callable.
template <class F, class R, class Parameters>
class CalledMiddleware;
template <class F, class R, class... P>
class CalledMiddleware<F, R, Types<P...>> final : public Middleware {
  using Returned = TaskResult<R>;
  static constexpr std::array<Input, sizeof...(P)> kInputs{Extract<P>::input...};
  static constexpr Shape kShape{kInputs, {}};
  static_assert(!Arguments<P...>::wants_body && !Arguments<P...>::needs_task,
                "violet: middleware runs before the body is read and cannot take it");

 public:
  explicit CalledMiddleware(F&& f) : f_(std::move(f)) {
    has_request_hook = true;
    shape = &kShape;
  }
  void bind(Binding& binding) override { arguments_.bind(binding); }
  Verdict on_request(Exchange& exchange) override {
    if constexpr (Returned::is_task) return Verdict::Wait;
    Verdict verdict = Verdict::Answered;
    if constexpr (!Returned::is_task) {
      arguments_.call(exchange,
                      [&](P&&... values) { verdict = verdict_of(exchange, f_, static_cast<P&&>(values)...); });
    }
    return verdict;
  }
  Task<Verdict> wait_on_request(Exchange& exchange) override {
    if constexpr (Returned::is_task) {
      auto task = Middleware::wait_on_request(exchange);  // Answered, unless the parameters are good
      arguments_.call(exchange,
                      [&](P&&... values) { task = verdict_of_task(exchange, f_(static_cast<P&&>(values)...)); });
      return task;
    } else {
      return Middleware::wait_on_request(exchange);
    }
  }

 private:
  F f_;
  Arguments<P...> arguments_;
};

template <class F, class R, class... P>
Middleware* make_called(F&& f, Types<P...>) {
  using Value = typename TaskResult<R>::Type;
  if constexpr ((HandlerParameter<P> && ...) && kIsVerdict<Value>) {
    return new CalledMiddleware<F, R, Types<P...>>(std::forward<F>(f));
  } else {
    check_parameters<P...>(std::index_sequence_for<P...>{});
    static_cast<void>(CheckVerdict<Value>{});
    return nullptr;
  }
}

template <class M>
Middleware* make_middleware(M&& object) {
  using Object = std::decay_t<M>;
  if constexpr (requires { requires HookedMiddleware<Object>::is_hooked; }) {
    return new HookedMiddleware<Object>(Object(std::forward<M>(object)));
  } else if constexpr (SignatureOf<Object>::is_known && SignatureOf<Object>::is_const) {
    using S = SignatureOf<Object>;
    return make_called<Object, typename S::Result>(Object(std::forward<M>(object)), typename S::Parameters{});
  } else {
    static_cast<void>(CheckCallable<Object>{});
    return nullptr;
  }
}

// What use() was given, with its own line of the source; or nothing.
class Used {
 public:
  Used() noexcept = default;
  template <class M>
    requires(!std::is_same_v<std::remove_cvref_t<M>, Used>)
  Used(M&& middleware,  // NOLINT(google-explicit-constructor)
       const std::source_location& where = std::source_location::current())
      : middleware_(make_middleware(std::forward<M>(middleware))) {
    if (middleware_ != nullptr) middleware_->where = where;
  }
  [[nodiscard]] std::unique_ptr<Middleware> take() noexcept { return std::move(middleware_); }

 private:
  std::unique_ptr<Middleware> middleware_;
};

}  // namespace web
}  // namespace violet
