#pragma once

// The page of an error for whoever develops: what happened and was thrown, the route with its lines in the source, the
// request. Only in development (app.dev(true), VIOLET_ENV=dev), only for browsers, and only without a hook of the
// program's own: it shows what nobody else may see. What fields say of secrets is left out even so.

#include "violet/core/body.h"
#include "violet/web/route/listing.h"

#include <exception>
#include <span>

namespace violet {

class ErrorInfo;
class Exchange;

namespace web {

// The request asks for a page.
[[nodiscard]] bool wants_html(const Exchange& exchange) noexcept;
// Sets the Content-Type. `routes` are those of the router, to find the one that was taken.
Body dev_page(Exchange& exchange, const ErrorInfo& error, const std::exception_ptr& exception,
              std::span<const RouteInfo> routes);

}  // namespace web
}  // namespace violet
