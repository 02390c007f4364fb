#pragma once

// What handlers may ask for beside the request's values:
//
//   State<T>      what app.provide<T>() was given, as a value with -> and *: the same object as a T& parameter
//   Dep<T>        a T made for this request, by Provide<T>::make(), and destroyed when the handler has ended
//   Arena&        memory that lives as long as the request
//   PeerAddress   where the request comes from
//   Deadline      how much time the handler has left
//   StopToken     whether somebody still waits for the answer
//
//   template <>
//   struct violet::Provide<Transaction> {
//     static Transaction make(violet::Request request, violet::State<Db> db) { return db->begin(); }
//   };
//   app.post("/pay", [](Dep<Transaction> transaction) -> Task<> { … });
//
// make() takes what a handler may take, also other Dep<T>s. A test replaces it by app.provide<Factory<T>>(…).

#include "violet/base/function.h"
#include "violet/core/limits.h"
#include "violet/event/task.h"
#include "violet/event/wait.h"
#include "violet/web/handler.h"
#include "violet/web/input/extract.h"

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

namespace violet {

template <class T>
class State {
 public:
  explicit State(T& object) noexcept : object_(&object) {}
  T& operator*() const noexcept { return *object_; }
  T* operator->() const noexcept { return object_; }

 private:
  T* object_;
};

template <class T>
struct Provide;

// Makes T instead of Provide<T>, where one was given to app.provide().
template <class T>
struct Factory {
  Function<T(Request)> make;
};

template <class T>
class Dep {
 public:
  explicit Dep(T&& value) noexcept : value_(std::move(value)) {}
  T& operator*() noexcept { return value_; }
  const T& operator*() const noexcept { return value_; }
  T* operator->() noexcept { return &value_; }
  const T* operator->() const noexcept { return &value_; }

 private:
  T value_;
};

class PeerAddress {
 public:
  explicit PeerAddress(const Address& address) noexcept : address_(address) {}
  const Address& operator*() const noexcept { return address_; }
  const Address* operator->() const noexcept { return &address_; }

 private:
  Address address_;
};

class Deadline {
 public:
  explicit Deadline(std::uint64_t handler_ms) noexcept : handler_ms_(handler_ms) {}
  // What the handler was given; 0: as long as it likes.
  [[nodiscard]] std::uint64_t handler_ms() const noexcept { return handler_ms_; }

 private:
  std::uint64_t handler_ms_;
};

// REQUIRES: used while the handler runs.
class StopToken {
 public:
  explicit StopToken(Exchange& exchange) noexcept : exchange_(&exchange) {}
  // The client has left, or the handler's time is over.
  [[nodiscard]] bool is_stopped() const noexcept { return !exchange_->is_open() || exchange_->is_answered(); }

 private:
  Exchange* exchange_;
};

template <class T>
struct Extract<State<T>> : Extractor {
  static void bind(web::Binding& binding, web::ParameterSlot& slot, std::size_t at) {
    web::ExtractProvided<T>::bind(binding, slot, at);
  }
  static State<T> from(Fetch&, const web::ParameterSlot& slot, std::size_t) noexcept {
    return State<T>(*static_cast<T*>(slot.object));
  }
};
template <>
struct Extract<Arena&> : Extractor {
  static Arena& from(Fetch& fetch) noexcept { return fetch.exchange().arena(); }
};
template <>
struct Extract<PeerAddress> : Extractor {
  static PeerAddress from(Fetch& fetch) noexcept { return PeerAddress(fetch.exchange().peer()); }
};
template <>
struct Extract<Deadline> : Extractor {
  static Deadline from(Fetch& fetch) noexcept { return Deadline(fetch.exchange().limit_value(LimitId::handler_ms)); }
};
template <>
struct Extract<StopToken> : Extractor {
  static StopToken from(Fetch& fetch) noexcept { return StopToken(fetch.exchange()); }
};

namespace web {

// The parameters of Provide<T>::make(), fetched like a handler's.
template <class T, class Parameters>
struct MadeBy;
template <class T, class... P>
struct MadeBy<T, Types<P...>> {
  static_assert((HandlerParameter<P> && ...), "violet: Provide<T>::make() takes what a handler may take");
  static constexpr bool wants_body = (Extract<P>::wants_body || ...);
  static_assert(!(Extract<P>::takes_path_value || ...) && !(Extract<P>::needs_task || ...),
                "violet: Provide<T>::make() can take neither Path<T> nor a body that comes piece by piece");

  struct Slots {
    ParameterSlot of[sizeof...(P) + 1];
  };
  static void bind(Binding& binding, Slots& slots) {
    std::size_t at = 0;
    ((Extract<P>::bind(binding, slots.of[at], 0), ++at), ...);
  }
  static void admit(Fetch& fetch) { ((Extract<P>::wants_body ? Extract<P>::admit(fetch) : void()), ...); }
  static constexpr std::array<Input, sizeof...(P)> inputs{Extract<P>::input...};
  static T make(Fetch& fetch, const Slots& slots) {
    return make(fetch, slots, std::make_index_sequence<sizeof...(P)>{});
  }

 private:
  template <std::size_t... I>
  static T make(Fetch& fetch, [[maybe_unused]] const Slots& slots, std::index_sequence<I...>) {
    return Provide<T>::make(one<P>(fetch, slots.of[I])...);
  }
  template <class Q>
  static decltype(auto) one(Fetch& fetch, [[maybe_unused]] const ParameterSlot& slot) {
    if constexpr (requires { Extract<Q>::from(fetch, slot, 0); }) {
      return Extract<Q>::from(fetch, slot, 0);
    } else {
      return Extract<Q>::from(fetch);
    }
  }
};

}  // namespace web

template <class T>
  requires requires { &Provide<T>::make; }
struct Extract<Dep<T>> : Extractor {
  using Made = web::MadeBy<T, typename web::Signature<decltype(&Provide<T>::make)>::Parameters>;
  static constexpr bool wants_body = Made::wants_body;
  static constexpr web::Input input{.kind = web::Input::Kind::Several, .inputs = Made::inputs};

  static void bind(web::Binding& binding, web::ParameterSlot& slot, std::size_t) {
    auto* bound = new Bound;
    binding.kept.add(bound, bound, [](void* object) noexcept { delete static_cast<Bound*>(object); });
    bound->factory = static_cast<Factory<T>*>(binding.providers.find(&web::kTypeKey<Factory<T>>));
    Made::bind(binding, bound->slots);
    slot.object = bound;
  }
  static void admit(Fetch& fetch) { Made::admit(fetch); }
  static Dep<T> from(Fetch& fetch, const web::ParameterSlot& slot, std::size_t) {
    const Bound& bound = *static_cast<const Bound*>(slot.object);
    if (bound.factory != nullptr) return Dep<T>(bound.factory->make(fetch.request()));
    return Dep<T>(Made::make(fetch, bound.slots));
  }

 private:
  struct Bound {
    Factory<T>* factory = nullptr;
    typename Made::Slots slots;
  };
};

}  // namespace violet
