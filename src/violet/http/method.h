#pragma once

// Method: the request methods of the IANA registry that servers meet (RFC 9110 §9, RFC 5789, WebDAV, QUERY). A method
// outside the list is Method::Other; its text stays in the head.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace violet::http {

enum class Method : std::uint8_t {
  Get,
  Head,
  Post,
  Put,
  Delete,
  Connect,
  Options,
  Trace,
  Patch,
  Query,
  Acl,
  BaselineControl,
  Bind,
  Checkin,
  Checkout,
  Copy,
  Label,
  Link,
  Lock,
  Merge,
  MkActivity,
  MkCalendar,
  MkCol,
  MkRedirectRef,
  MkWorkspace,
  Move,
  OrderPatch,
  PropFind,
  PropPatch,
  Rebind,
  Report,
  Search,
  Unbind,
  Uncheckout,
  Unlink,
  Unlock,
  Update,
  UpdateRedirectRef,
  VersionControl,
  Other,
};
inline constexpr std::size_t kMethodCount = static_cast<std::size_t>(Method::Other);

namespace detail {
inline constexpr std::string_view kMethodNames[] = {
    "GET",
    "HEAD",
    "POST",
    "PUT",
    "DELETE",
    "CONNECT",
    "OPTIONS",
    "TRACE",
    "PATCH",
    "QUERY",
    "ACL",
    "BASELINE-CONTROL",
    "BIND",
    "CHECKIN",
    "CHECKOUT",
    "COPY",
    "LABEL",
    "LINK",
    "LOCK",
    "MERGE",
    "MKACTIVITY",
    "MKCALENDAR",
    "MKCOL",
    "MKREDIRECTREF",
    "MKWORKSPACE",
    "MOVE",
    "ORDERPATCH",
    "PROPFIND",
    "PROPPATCH",
    "REBIND",
    "REPORT",
    "SEARCH",
    "UNBIND",
    "UNCHECKOUT",
    "UNLINK",
    "UNLOCK",
    "UPDATE",
    "UPDATEREDIRECTREF",
    "VERSION-CONTROL",
    "",
};
static_assert(sizeof kMethodNames / sizeof *kMethodNames == kMethodCount + 1);
}  // namespace detail

// "GET"; "" for Other.
[[nodiscard]] constexpr std::string_view name(Method method) noexcept {
  return detail::kMethodNames[static_cast<std::size_t>(method)];
}
// Method names are case-sensitive (RFC 9110 §9.1); Other when unknown.
[[nodiscard]] constexpr Method find_method(std::string_view text) noexcept {
  for (std::size_t i = 0; i < kMethodCount; ++i) {
    if (detail::kMethodNames[i] == text) return static_cast<Method>(i);
  }
  return Method::Other;
}

[[nodiscard]] constexpr bool is_safe(Method method) noexcept {
  return method == Method::Get || method == Method::Head || method == Method::Options || method == Method::Trace ||
         method == Method::Query || method == Method::PropFind || method == Method::Report || method == Method::Search;
}
[[nodiscard]] constexpr bool is_idempotent(Method method) noexcept {
  return is_safe(method) || method == Method::Put || method == Method::Delete;
}

}  // namespace violet::http
