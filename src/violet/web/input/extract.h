#pragma once

// Extract<P>: how a handler gets a parameter of type P. Specialise it to have parameters of your own:
//
//   struct Session { std::string_view user; };
//   template <>
//   struct violet::Extract<Session> : violet::Extractor {
//     static Session from(violet::Fetch& fetch) {
//       auto id = fetch.request().cookie("session");
//       if (!id) fetch.refuse(violet::Error(violet::ErrorKind::Invalid, 0, 401), "log in first");
//       return Session{id.value_or("")};
//     }
//   };
//
// All parameters are fetched before the handler is called; when one of them failed the handler is not called and the
// client is told about each that failed.

#include "violet/base/reflect.h"
#include "violet/core/exchange.h"
#include "violet/data/findings.h"
#include "violet/web/endpoint.h"
#include "violet/web/request.h"
#include "violet/web/route/shape.h"

#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>

namespace violet {

class Fetch {
 public:
  explicit Fetch(Exchange& exchange) noexcept : exchange_(exchange) {}

  [[nodiscard]] Exchange& exchange() noexcept { return exchange_; }
  [[nodiscard]] Request request() noexcept { return Request(exchange_); }

  // One more value that is wrong: Part::Query, "limit", "has to be …". The answer will list all of them: a 422 when one
  // of them is part of the body, a 400 otherwise.
  void fail(data::Part part, std::string_view name, std::string_view what) { findings().add(part, name, what); }
  // Everything that is wrong so far.
  [[nodiscard]] data::Findings& findings();
  // The answer will be this error; the first one counts. `field` goes with it, and lives as long as the exchange.
  void refuse(Error why, std::string_view detail, const http::Field* field = nullptr);

  [[nodiscard]] bool has_failed() const noexcept {
    return static_cast<bool>(why_) || (findings_ != nullptr && !findings_->is_empty());
  }
  // Answers with what failed.
  void answer();

 private:
  Exchange& exchange_;
  data::Findings* findings_ = nullptr;
  Error why_;
  std::string_view detail_;
  const http::Field* field_ = nullptr;
};

// Base of extractors: what most of them have in common.
struct Extractor {
  // The body is collected before the handler is called.
  static constexpr bool wants_body = false;
  // Reads the body by itself.
  static constexpr bool takes_body = false;
  // Only for handlers that are coroutines.
  static constexpr bool needs_task = false;
  // Takes its value from the next parameter of the path.
  static constexpr bool takes_path_value = false;
  // For documents.
  static constexpr web::Input input{};
  static void bind(web::Binding&, web::ParameterSlot&, std::size_t) {}
  // Of those that want the body: refuses what the head alone shows to be wrong, before any of the body is read.
  static void admit(Fetch&) {}
};

template <class P>
struct Extract;

template <class P>
concept HandlerParameter = requires { sizeof(Extract<P>); };

template <>
struct Extract<Exchange&> : Extractor {
  static constexpr web::Input input{.kind = web::Input::Kind::Exchange};
  static Exchange& from(Fetch& fetch) noexcept { return fetch.exchange(); }
};
template <>
struct Extract<Request> : Extractor {
  static Request from(Fetch& fetch) noexcept { return fetch.request(); }
};
template <>
struct Extract<const Request&> : Extractor {
  // In the arena, so that a coroutine may keep the reference.
  static const Request& from(Fetch& fetch) { return *fetch.exchange().arena().make<Request>(fetch.exchange()); }
};

namespace web {

void fail_provided(Binding& binding, std::string_view type);

template <class T>
struct ExtractProvided : Extractor {
  static void bind(Binding& binding, ParameterSlot& slot, std::size_t) {
    slot.object = binding.providers.find(&kTypeKey<T>);
    if (slot.object == nullptr) fail_provided(binding, reflect::type_name<T>());
  }
  static T& from(Fetch&, const ParameterSlot& slot, std::size_t) noexcept { return *static_cast<T*>(slot.object); }
};

}  // namespace web

// What app.provide<T>() was given.
template <class T>
  requires(std::is_class_v<T> && !std::is_const_v<T> && !HandlerParameter<T>)
struct Extract<T&> : web::ExtractProvided<T> {};
template <class T>
  requires(std::is_class_v<T> && !HandlerParameter<T>)
struct Extract<const T&> : web::ExtractProvided<T> {};

}  // namespace violet
