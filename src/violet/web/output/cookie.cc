#include "violet/web/output/cookie.h"

#include "violet/base/ascii.h"

namespace violet {
namespace {

// cookie-octet (RFC 6265 §4.1.1).
bool is_octet(char c) noexcept { return c > 0x20 && c < 0x7f && c != '"' && c != ',' && c != ';' && c != '\\'; }

bool is_attribute(std::string_view text) noexcept {
  for (char c : text) {
    if (c < 0x20 || c >= 0x7f || c == ';') return false;
  }
  return true;
}

}  // namespace

Cookie Cookie::removal(std::string name) {
  Cookie cookie;
  cookie.name = std::move(name);
  cookie.max_age_seconds = 0;
  return cookie;
}

Result<std::string> Cookie::to_field() const {
  if (!ascii::is_token(name)) return fail(ErrorKind::Invalid);
  for (char c : value) {
    if (!is_octet(c)) return fail(ErrorKind::Invalid);
  }
  if (!is_attribute(path) || !is_attribute(domain)) return fail(ErrorKind::Invalid);
  if (!path.empty() && path.front() != '/') return fail(ErrorKind::Invalid);
  if (same_site == SameSite::None && !secure) return fail(ErrorKind::Invalid);
  const std::string_view prefix = name;
  if (prefix.starts_with("__Secure-") && !secure) return fail(ErrorKind::Invalid);
  if (prefix.starts_with("__Host-") && (!secure || path != "/" || !domain.empty())) return fail(ErrorKind::Invalid);
  std::string text = name + "=" + value;
  if (!path.empty()) text += "; Path=" + path;
  if (!domain.empty()) text += "; Domain=" + domain;
  if (max_age_seconds) text += "; Max-Age=" + std::to_string(*max_age_seconds);
  if (secure) text += "; Secure";
  if (http_only) text += "; HttpOnly";
  switch (same_site) {
    case SameSite::Lax: text += "; SameSite=Lax"; break;
    case SameSite::Strict: text += "; SameSite=Strict"; break;
    case SameSite::None: text += "; SameSite=None"; break;
  }
  return text;
}

}  // namespace violet
