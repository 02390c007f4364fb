#pragma once

// Cookie: one Set-Cookie field (RFC 6265 §4.1). What is not said is safe: the whole site and this host alone, not for
// scripts, not over cleartext, not with foreign requests but top-level navigation.

#include "violet/base/error.h"

#include <cstdint>
#include <optional>
#include <string>

namespace violet {

enum class SameSite : std::uint8_t { Lax, Strict, None };

struct Cookie {
  std::string name;
  std::string value;
  std::string path = "/";
  std::string domain = {};                           // "": this host only
  std::optional<std::int64_t> max_age_seconds = {};  // nothing: until the browser ends
  SameSite same_site = SameSite::Lax;
  bool secure = true;
  bool http_only = true;

  // Makes browsers forget the cookie of that name.
  static Cookie removal(std::string name);

  // The value of the field. Invalid: a character that a cookie may not have, SameSite=None without Secure, or a __Host-
  // or __Secure- prefix whose rules are broken.
  [[nodiscard]] Result<std::string> to_field() const;
};

}  // namespace violet
