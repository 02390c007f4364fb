#include "violet/http/method.h"

#include <iterator>

namespace violet::http {
namespace {

constexpr std::string_view kNames[] = {
    "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY",
    "ACL", "BASELINE-CONTROL", "BIND", "CHECKIN", "CHECKOUT", "COPY", "LABEL", "LINK", "LOCK", "MERGE", "MKACTIVITY",
    "MKCALENDAR", "MKCOL", "MKREDIRECTREF", "MKWORKSPACE", "MOVE", "ORDERPATCH", "PROPFIND", "PROPPATCH", "REBIND",
    "REPORT", "SEARCH", "UNBIND", "UNCHECKOUT", "UNLINK", "UNLOCK", "UPDATE", "UPDATEREDIRECTREF", "VERSION-CONTROL",
    "",
};
static_assert(std::size(kNames) == kMethodCount + 1);

}  // namespace

std::string_view name(Method method) noexcept { return kNames[static_cast<std::size_t>(method)]; }

Method find_method(std::string_view text) noexcept {
  for (std::size_t i = 0; i < kMethodCount; ++i) {
    if (kNames[i] == text) return static_cast<Method>(i);
  }
  return Method::Other;
}

}  // namespace violet::http
