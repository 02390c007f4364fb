#pragma once

// Request targets and authorities: split, check, decode. Everything here looks at bytes a peer sent and answers false
// or nullopt for what is malformed.

#include "violet/http/head.h"
#include "violet/memory/arena.h"

#include <optional>
#include <string_view>

namespace violet::http {

// Splits head.target by head.method into form, scheme, authority, path and query (RFC 9112 §3.2). The target's
// characters must be ascii::kTarget already. False: malformed, or a form that the method does not allow.
[[nodiscard]] bool split_target(Head& head) noexcept;

// uri-host [":" port] as in Host (RFC 9110 §7.2): a reg-name, an IPv4 address or a bracketed IP literal; no user info,
// no spaces, a port of at most five digits up to 65535. An empty host is allowed only where `allow_empty` is set.
[[nodiscard]] bool is_authority(std::string_view text, bool allow_empty) noexcept;

// Percent-decodes once. Texts without '%' come back as they are; others are copied into the arena. With `plus_is_space`
// a '+' is a space, as in form data. nullopt: a '%' without two hex digits behind it.
[[nodiscard]] std::optional<std::string_view> decode(std::string_view text, Arena& arena, bool plus_is_space = false);

// Percent-encodes everything outside RFC 3986's unreserved characters.
[[nodiscard]] std::string_view encode(std::string_view text, Arena& arena);

}  // namespace violet::http
