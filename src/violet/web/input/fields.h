#pragma once

// Header<"name">: one field of the request; CookieValue<"name">: one cookie; Cookies: all of them.
//
//   app.get("/", [](Header<"User-Agent"> agent) { … *agent … });                // "" when it did not come
//   app.get("/", [](Header<"X-Count", int> count) { … });                       // 400 when it did not come or is no
//   number app.get("/", [](Header<"X-Count", std::optional<int>> count) { … });        // empty when it did not come

#include "violet/data/literal.h"
#include "violet/data/type_of.h"
#include "violet/web/input/extract.h"
#include "violet/web/input/value.h"

#include <cstddef>
#include <optional>
#include <string_view>

namespace violet {

namespace web {

template <class T>
struct Inner {
  using Type = T;
  static constexpr bool is_optional = false;
};
template <class T>
struct Inner<std::optional<T>> {
  using Type = T;
  static constexpr bool is_optional = true;
};

// True when there is a value, which then is in `out`.
bool fetch_field(Fetch& fetch, std::string_view name, const ParameterSlot& slot, bool is_required, ValueType type,
                 void* out);
bool fetch_cookie(Fetch& fetch, std::string_view name, bool is_required, ValueType type, void* out);
void bind_field(Binding& binding, ParameterSlot& slot, std::string_view name);

template <class T>
consteval Input input_of(Input::Kind kind, std::string_view name) {
  using Of = typename Inner<T>::Type;
  return {.kind = kind,
          .is_required = !Inner<T>::is_optional && !kIsText<T>,
          .is_checked = !kIsText<Of>,
          .name = name,
          .type = &data::kType<Of>};
}

}  // namespace web

template <Literal name, class T = std::string_view>
struct Header {
  using Wrapped = T;
  T value{};

  operator const T&() const noexcept { return value; }  // NOLINT(google-explicit-constructor)
  const T& operator*() const noexcept { return value; }
  const T* operator->() const noexcept { return &value; }
};

template <Literal name, class T>
  requires web::Value<typename web::Inner<T>::Type>
struct Extract<Header<name, T>> : Extractor {
  static constexpr web::Input input = web::input_of<T>(web::Input::Kind::Header, name.text());
  static void bind(web::Binding& binding, web::ParameterSlot& slot, std::size_t) {
    web::bind_field(binding, slot, name.text());
  }
  static Header<name, T> from(Fetch& fetch, const web::ParameterSlot& slot, std::size_t) {
    using Inner = web::Inner<T>;
    constexpr web::ValueType kType = web::value_type<typename Inner::Type>();
    constexpr bool kIsText = kType.kind == web::ValueType::Kind::View || kType.kind == web::ValueType::Kind::String;
    Header<name, T> header;
    if constexpr (Inner::is_optional) {
      typename Inner::Type value{};
      if (web::fetch_field(fetch, name.text(), slot, false, kType, &value)) header.value = std::move(value);
    } else {
      web::fetch_field(fetch, name.text(), slot, !kIsText, kType, &header.value);
    }
    return header;
  }
};

// One cookie of the request, by name; as Header.
template <Literal name, class T = std::string_view>
struct CookieValue {
  using Wrapped = T;
  T value{};

  operator const T&() const noexcept { return value; }  // NOLINT(google-explicit-constructor)
  const T& operator*() const noexcept { return value; }
  const T* operator->() const noexcept { return &value; }
};

template <Literal name, class T>
  requires web::Value<typename web::Inner<T>::Type>
struct Extract<CookieValue<name, T>> : Extractor {
  static constexpr web::Input input = web::input_of<T>(web::Input::Kind::Cookie, name.text());
  static CookieValue<name, T> from(Fetch& fetch) {
    using Inner = web::Inner<T>;
    constexpr web::ValueType kType = web::value_type<typename Inner::Type>();
    constexpr bool kIsText = kType.kind == web::ValueType::Kind::View || kType.kind == web::ValueType::Kind::String;
    CookieValue<name, T> cookie;
    if constexpr (Inner::is_optional) {
      typename Inner::Type value{};
      if (web::fetch_cookie(fetch, name.text(), false, kType, &value)) cookie.value = std::move(value);
    } else {
      web::fetch_cookie(fetch, name.text(), !kIsText, kType, &cookie.value);
    }
    return cookie;
  }
};

class Cookies {
 public:
  explicit Cookies(Request request) noexcept : request_(request) {}
  [[nodiscard]] std::optional<std::string_view> get(std::string_view name) const noexcept {
    return request_.cookie(name);
  }
  // f(name, value) for each.
  template <class F>
  void for_each(F&& f) const {
    for (const http::Field& field : request_.fields()) {
      if (field.id != http::FieldId::Cookie) continue;
      std::string_view rest = field.value;
      std::string_view name;
      std::string_view value;
      while (web::next_cookie(rest, name, value)) f(name, value);
    }
  }

 private:
  Request request_;
};

template <>
struct Extract<Cookies> : Extractor {
  static Cookies from(Fetch& fetch) noexcept { return Cookies(fetch.request()); }
};

}  // namespace violet
