#include "violet/features/identity/session/csrf.h"

#include "violet/base/ascii.h"
#include "violet/http/method.h"

namespace violet {
namespace identity {

// Not in an unnamed namespace: the names of members are read off this type.
struct TokenField {
  std::optional<std::string_view> csrf;
};

namespace {

constexpr std::string_view kWhy = "the request does not come from a page of this site";

bool is_safe(http::Method method) noexcept {
  return method == http::Method::Get || method == http::Method::Head || method == http::Method::Options ||
         method == http::Method::Trace;
}

bool is_token(Exchange& exchange, std::string_view token) {
  auto* note = exchange.note<SessionNote>();
  return note != nullptr && BrowserSession(exchange, *note).is_csrf_token(token);
}

bool is_own_origin(const Exchange& exchange, std::string_view origin) {
  const std::string_view scheme = exchange.is_secure() ? "https://" : "http://";
  if (!origin.starts_with(scheme)) return false;
  const std::string_view authority = exchange.request().authority;
  return !authority.empty() && ascii::equal_folded(origin.substr(scheme.size()), authority);
}

bool may_pass(Exchange& exchange, const CsrfOptions& options) {
  const http::Fields& fields = exchange.request().fields;
  if (const http::Field* token = fields.find("X-CSRF-Token"); token != nullptr) return is_token(exchange, token->value);
  const http::Field* origin = fields.find(http::FieldId::Origin);
  if (origin != nullptr) {
    for (const std::string& trusted : options.trusted_origins) {
      if (origin->value == trusted) return true;
    }
  }
  if (const http::Field* site = fields.find(http::FieldId::SecFetchSite); site != nullptr) {
    return site->value == "same-origin" || site->value == "none";
  }
  if (origin != nullptr) return is_own_origin(exchange, origin->value);
  return !fields.has(http::FieldId::Cookie);
}

}  // namespace

void check_form_token(Fetch& fetch) {
  TokenField field;
  web::fetch_form(fetch, data::kType<TokenField>, &field);
  if (fetch.has_failed()) return;
  if (field.csrf && is_token(fetch.exchange(), *field.csrf)) return;
  fetch.refuse(Error(ErrorKind::Invalid, 0, 403), kWhy);
}

}  // namespace identity

Verdict Csrf::on_request(Exchange& exchange) const {
  if (identity::is_safe(exchange.request().method) || identity::may_pass(exchange, *options_)) return Verdict::Continue;
  exchange.refuse(Error(ErrorKind::Invalid, 0, 403), identity::kWhy);
  return Verdict::Answered;
}

}  // namespace violet
