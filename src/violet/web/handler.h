#pragma once

// How a callable becomes a Handler: its parameters are fetched by type (Extract), its result is answered by type
// (Respond). Synchronous handlers run without a coroutine frame; a Task runs in the exchange's own task, with its
// frames in the exchange's arena, and the handler's time starts only if it really waits.

#include "violet/event/task.h"
#include "violet/web/endpoint.h"
#include "violet/web/input/extract.h"
#include "violet/web/output/generator.h"
#include "violet/web/output/respond.h"

#include <array>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace violet::web {

template <class... P>
struct Types {};

// Result and parameters of a callable. `is_const` false: calling it may change it.
template <class F>
struct Signature {
  static constexpr bool is_known = false;
  static constexpr bool is_const = true;
  using Result = void;
  using Parameters = Types<>;
};
template <class R, class... P>
struct Signature<R (*)(P...)> {
  static constexpr bool is_known = true;
  static constexpr bool is_const = true;
  using Result = R;
  using Parameters = Types<P...>;
};
template <class R, class... P>
struct Signature<R (*)(P...) noexcept> : Signature<R (*)(P...)> {};
template <class C, class R, class... P>
struct Signature<R (C::*)(P...) const> : Signature<R (*)(P...)> {};
template <class C, class R, class... P>
struct Signature<R (C::*)(P...) const noexcept> : Signature<R (*)(P...)> {};
template <class C, class R, class... P>
struct Signature<R (C::*)(P...)> : Signature<R (*)(P...)> {
  static constexpr bool is_const = false;
};
template <class C, class R, class... P>
struct Signature<R (C::*)(P...) noexcept> : Signature<R (C::*)(P...)> {};

template <class F>
consteval auto signature_of() {
  if constexpr (requires { &F::operator(); }) {
    return Signature<decltype(&F::operator())>{};
  } else {
    return Signature<F>{};
  }
}
template <class F>
using SignatureOf = decltype(signature_of<F>());

template <class R>
struct TaskResult {
  static constexpr bool is_task = false;
  using Type = R;
};
template <class R>
struct TaskResult<Task<R>> {
  static constexpr bool is_task = true;
  using Type = R;
};
template <class R>
inline constexpr bool kIsGenerator = false;
template <class T>
inline constexpr bool kIsGenerator<Generator<T>> = true;

template <class R>
inline constexpr bool kIsResult = std::is_void_v<R> || Replyable<R>;

// Each of these is one error for one wrong handler; its template arguments name the position and the type.
#define VIOLET_CHECK_PARAMETER(number)                                                                              \
  static_assert(Position != number || !is_reference_to_value, "violet: a handler takes its parameter " #number      \
                                                              " by value (Path, Query, Json, Text and the like), "  \
                                                              "because a coroutine may outlive a reference to it"); \
  static_assert(Position != number || HandlerParameter<P> || is_reference_to_value,                                 \
                "violet: parameter " #number                                                                        \
                " cannot be a handler's parameter. Take Path<T>, Query<T>, Json<T>, "                               \
                "Form<T>, Header<\"Name\">, CookieValue<\"name\">, RawQuery, Cookies, Text, Bytes, BodyStream, "    \
                "Multipart, EventStream, Request, State<T>, Dep<T>, Arena&, PeerAddress, Deadline, StopToken, "     \
                "Exchange&, a T& given to app.provide<T>(), or specialise violet::Extract")

template <class P, std::size_t Position>
struct CheckParameter {
  static constexpr bool is_reference_to_value = !HandlerParameter<P> && HandlerParameter<std::remove_cvref_t<P>>;
  VIOLET_CHECK_PARAMETER(1);
  VIOLET_CHECK_PARAMETER(2);
  VIOLET_CHECK_PARAMETER(3);
  VIOLET_CHECK_PARAMETER(4);
  VIOLET_CHECK_PARAMETER(5);
  VIOLET_CHECK_PARAMETER(6);
  VIOLET_CHECK_PARAMETER(7);
  VIOLET_CHECK_PARAMETER(8);
  static_assert(Position <= 8 || HandlerParameter<P>, "violet: a parameter behind the eighth cannot be a handler's");
};
#undef VIOLET_CHECK_PARAMETER

template <class... P, std::size_t... I>
constexpr void check_parameters(std::index_sequence<I...>) {
  (static_cast<void>(CheckParameter<P, I + 1>{}), ...);
}

template <class... P>
struct CheckBody {
  static_assert((0 + ... + (Extract<P>::wants_body || Extract<P>::takes_body)) <= 1,
                "violet: only one parameter of a handler can take the body (Json, Form, Multipart, Text, Bytes, "
                "BodyStream)");
};
template <class R>
struct CheckResult {
  static_assert(kIsResult<R>,
                "violet: a handler cannot return this type. Return text (std::string, std::string_view, a literal), a "
                "number, Status, Reply, Answer<T>, Slice, Body, a Source, Generator<T>, FileReply, std::optional or "
                "Result of those, Task of those, void, or specialise violet::Respond");
};
template <class F>
struct CheckCallable {
  static_assert(
      SignatureOf<F>::is_known,
      "violet: a handler is a function or an object with one operator() whose parameter types are written out "
      "(no auto, no overloads)");
  static_assert(SignatureOf<F>::is_const,
                "violet: a handler is called by several loops at once, so it cannot be mutable. Capture a reference to "
                "something that is safe to share, or app.provide<T>() it");
};

// Out of line: the same for all handlers.
void begin_task(Exchange& exchange);
void wait_for_task(Exchange& exchange);
void end_task(Exchange& exchange, const std::exception_ptr& exception, Error error) noexcept;
void answer_nothing(Exchange& exchange);
void require_answer(Exchange& exchange);

// Fetches parameters and calls f(value...) with them, or answers what is wrong with them.
template <class... P>
class Arguments {
 public:
  static constexpr bool wants_body = (Extract<P>::wants_body || ...);
  static constexpr bool needs_task = (Extract<P>::needs_task || ...);
  static constexpr bool takes_exchange = (std::is_same_v<P, Exchange&> || ...);

  void bind(Binding& binding) {
    std::size_t at = 0;
    [[maybe_unused]] std::size_t path_at = 0;
    ((Extract<P>::bind(binding, slots_[at], path_at), ++at, path_at += Extract<P>::takes_path_value), ...);
  }
  // False: the request is refused before its body is read.
  static bool admit(Exchange& exchange) {
    Fetch fetch(exchange);
    ((Extract<P>::wants_body ? Extract<P>::admit(fetch) : void()), ...);
    if (fetch.has_failed()) fetch.answer();
    return !fetch.has_failed();
  }
  template <class F>
  void call(Exchange& exchange, F&& f) const {
    call(exchange, std::forward<F>(f), std::make_index_sequence<sizeof...(P)>{});
  }

 private:
  template <class F, std::size_t... I>
  void call(Exchange& exchange, F&& f, std::index_sequence<I...>) const {
    Fetch fetch(exchange);
    call_if_good(fetch, f, fetch_one<P>(fetch, slots_[I], path_at<I>())...);
  }
  template <class F, class... A>
  static void call_if_good(Fetch& fetch, F& f, A&&... values) {
    if (fetch.has_failed()) [[unlikely]] {
      fetch.answer();
    } else {
      f(std::forward<A>(values)...);
    }
  }
  template <class Q>
  static decltype(auto) fetch_one(Fetch& fetch, [[maybe_unused]] const ParameterSlot& slot,
                                  [[maybe_unused]] std::size_t at) {
    if constexpr (requires { Extract<Q>::from(fetch, slot, at); }) {
      return Extract<Q>::from(fetch, slot, at);
    } else {
      return Extract<Q>::from(fetch);
    }
  }
  template <std::size_t I>
  static consteval std::size_t path_at() {
    constexpr bool kTakes[] = {Extract<P>::takes_path_value..., false};
    std::size_t count = 0;
    for (std::size_t i = 0; i < I; ++i) count += kTakes[i];
    return count;
  }

  ParameterSlot slots_[sizeof...(P) + 1];
};

template <class R, class... P>
struct ShapeOf {
  static constexpr std::array<Input, sizeof...(P)> inputs{Extract<P>::input...};
  static constexpr auto replies = replies_of<typename TaskResult<R>::Type>();
  static constexpr Shape shape{inputs, replies};
};

template <class F, class R, class Parameters>
class HandlerOf;

template <class F, class R, class... P>
class HandlerOf<F, R, Types<P...>> final : public Handler {
  using Returned = TaskResult<R>;
  static_assert(Returned::is_task || !Arguments<P...>::needs_task,
                "violet: a handler that takes a BodyStream has to be a coroutine: return a Task");

 public:
  explicit HandlerOf(F&& f) : f_(std::move(f)) {
    wants_body = Arguments<P...>::wants_body;
    shape = &ShapeOf<R, P...>::shape;
  }

  void bind(Binding& binding) override { arguments_.bind(binding); }
  bool admit(Exchange& exchange) const override { return Arguments<P...>::admit(exchange); }

  void run(Exchange& exchange) override {
    if constexpr (Returned::is_task || kIsGenerator<R>) begin_task(exchange);
    arguments_.call(exchange, [&](P&&... values) {
      const F& f = f_;
      if constexpr (Returned::is_task) {
        start(exchange, make_frame(exchange, f, static_cast<P&&>(values)...));
      } else if constexpr (kIsGenerator<R>) {
        respond(exchange, make_frame(exchange, f, static_cast<P&&>(values)...));
      } else if constexpr (!std::is_void_v<R>) {
        respond(exchange, f(static_cast<P&&>(values)...));
      } else {
        f(static_cast<P&&>(values)...);
        // Who takes the exchange itself answers it.
        if constexpr (!Arguments<P...>::takes_exchange) answer_nothing(exchange);
      }
    });
  }

 private:
  using Result = typename Returned::Type;

  // The coroutine does not begin yet.
  static R make_frame(Exchange& exchange, const F& f, P&&... values) {
    const TaskRoot::Enter scope(exchange.task());
    return f(static_cast<P&&>(values)...);
  }
  static void start(Exchange& exchange, Task<Result>&& task) {
    exchange.retain();
    exchange.task().start(std::move(task), [&exchange](Outcome<Result>&& outcome) noexcept {
      if (outcome.has_value()) [[likely]] {
        exchange.guard([&] {
          if constexpr (!std::is_void_v<Result>) {
            respond(exchange, std::move(outcome.value()));
          } else if constexpr (Arguments<P...>::takes_exchange) {
            require_answer(exchange);
          } else {
            answer_nothing(exchange);
          }
        });
        exchange.release();
      } else {
        end_task(exchange, outcome.exception(), outcome.error());
      }
    });
    wait_for_task(exchange);
  }

  F f_;
  Arguments<P...> arguments_;
};

template <class F, class R, class... P>
Handler* make_handler(F&& f, Types<P...>) {
  using Value = typename TaskResult<R>::Type;
  if constexpr ((HandlerParameter<P> && ...) && kIsResult<Value>) {
    static_cast<void>(CheckBody<P...>{});
    return new HandlerOf<std::remove_cvref_t<F>, R, Types<P...>>(std::forward<F>(f));
  } else {
    check_parameters<P...>(std::index_sequence_for<P...>{});
    static_cast<void>(CheckResult<Value>{});
    return nullptr;
  }
}

template <class F>
Handler* make_handler(F&& f) {
  using Callable = std::decay_t<F>;
  using S = SignatureOf<Callable>;
  if constexpr (S::is_known && S::is_const) {
    return make_handler<Callable, typename S::Result>(Callable(std::forward<F>(f)), typename S::Parameters{});
  } else {
    static_cast<void>(CheckCallable<Callable>{});
    return nullptr;
  }
}

}  // namespace violet::web
