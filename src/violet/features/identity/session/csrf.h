#pragma once

// csrf: refuses what another site makes a browser send, 403. GET, HEAD, OPTIONS and TRACE pass, for they change
// nothing.
//
//   app.use(sessions(), csrf());
//   app.post("/name", [](CsrfForm<Name> form) { … form->name … });     // and its field "csrf" is checked
//
// A request passes by a token of its session in X-CSRF-Token, or because the browser says that the page which sends it
// is this site's (Sec-Fetch-Site, or where that is missing Origin). One that says neither passes only without cookies:
// no browser of these days, and nothing that a session stands behind. A token that is wrong never passes.
//
// CsrfForm<T> is Form<T> whose field "csrf" has to hold a token that session.csrf_token() gave, whatever else holds.

#include "violet/features/identity/session/session.h"
#include "violet/web/content/form.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace violet {

struct CsrfOptions {
  // Other origins that may send: "https://app.example".
  std::vector<std::string> trusted_origins = {};
};

class Csrf {
 public:
  static constexpr auto replies = web::replies({.status = 403, .is_problem = true});

  explicit Csrf(CsrfOptions options) : options_(std::make_shared<const CsrfOptions>(std::move(options))) {}
  Verdict on_request(Exchange& exchange) const;

 private:
  std::shared_ptr<const CsrfOptions> options_;
};
[[nodiscard]] inline Csrf csrf(CsrfOptions options = {}) { return Csrf(std::move(options)); }

template <class T>
struct CsrfForm {
  using Wrapped = T;
  T value{};

  const T& operator*() const noexcept { return value; }
  T& operator*() noexcept { return value; }
  const T* operator->() const noexcept { return &value; }
};

namespace identity {

// What such a form has beside its own members, for documents.
struct CsrfToken {
  std::string_view csrf;

  static constexpr violet::Note describe[] = {
      {.member = "csrf", .about = "The token of a page that the session was given"}};
};

// Refuses the request unless its form has a good token.
void check_form_token(Fetch& fetch);

}  // namespace identity

template <class T>
  requires data::Structure<T>
struct Extract<CsrfForm<T>> : Extractor {
  static constexpr web::Input input{.kind = web::Input::Kind::Body,
                                    .is_checked = true,
                                    .media = "application/x-www-form-urlencoded",
                                    .other_media = "multipart/form-data",
                                    .type = &data::kType<T>,
                                    .beside = &data::kType<identity::CsrfToken>,
                                    .refused_status = 403};
  static constexpr bool wants_body = true;
  static void bind(web::Binding& binding, web::ParameterSlot&, std::size_t) {
    web::bind_pairs(binding, data::kType<T>, "CsrfForm<>");
  }
  static void admit(Fetch& fetch) { web::admit_form(fetch); }
  static CsrfForm<T> from(Fetch& fetch) {
    CsrfForm<T> form;
    identity::check_form_token(fetch);
    web::fetch_form(fetch, data::kType<T>, &form.value);
    return form;
  }
};

}  // namespace violet
