#include "violet/app/tell.h"

#include "violet/core/limits.h"
#include "violet/json/writer.h"
#include "violet/web/endpoint.h"
#include "violet/web/route/listing.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

namespace violet {
namespace {

constexpr std::string_view kVariable = "VIOLET_TELL";
constexpr std::string_view kOpenApi = "openapi:";
constexpr std::string_view kRoutes = "routes:";

bool takes(const web::Shape* shape, web::Input::Kind kind) {
  return shape != nullptr && std::any_of(shape->inputs.begin(), shape->inputs.end(),
                                         [&](const web::Input& input) { return input.kind == kind; });
}

RouteRow row_of(const web::RouteInfo& route, const Limits& limits) {
  RouteRow row{.method = route.is_any ? "ANY" : std::string(http::name(route.method)),
               .pattern = std::string(route.pattern),
               .chain = {},
               .body_bytes_max = route.body_bytes_max.value_or(limits.body_bytes_max),
               .handler_ms = route.handler_ms.value_or(limits.handler_ms),
               .takes_body = takes(route.shape, web::Input::Kind::Body),
               .is_websocket = takes(route.shape, web::Input::Kind::Socket),
               .source = web::to_string(route.where)};
  for (const web::RouteInfo::Hook& hook : route.hooks) {
    row.chain.push_back({std::string(hook.name), web::to_string(hook.where), hook.is_before, hook.is_behind});
  }
  return row;
}

bool write_all(int descriptor, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

std::optional<Tell> Tell::wanted() {
  const char* const value = std::getenv(kVariable.data());
  if (value == nullptr) return std::nullopt;
  const std::string_view text = value;
  if (text.starts_with(kOpenApi)) return Tell{What::OpenApi, std::string(text.substr(kOpenApi.size()))};
  if (text.starts_with(kRoutes)) return Tell{What::Routes, std::string(text.substr(kRoutes.size()))};
  return std::nullopt;
}

std::string Tell::variable() const {
  return std::string(kVariable) + "=" + std::string(what == What::OpenApi ? kOpenApi : kRoutes) + file;
}

bool Tell::write(std::string_view text) const {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) return false;
  const bool is_whole = write_all(descriptor, text);
  return ::close(descriptor) == 0 && is_whole;
}

std::string routes_json(const std::vector<web::RouteInfo>& routes, const Limits& limits) {
  std::vector<RouteRow> rows;
  rows.reserve(routes.size());
  for (const web::RouteInfo& route : routes) rows.push_back(row_of(route, limits));
  return json::to_string(rows);
}

}  // namespace violet
