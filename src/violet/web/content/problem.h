#pragma once

// Errors as JSON: application/problem+json (RFC 9457), for clients that speak JSON and for every answer that lists what
// is wrong with a request's values:
//
//   {"type":"about:blank","title":"Unprocessable Content","status":422,"detail":"…",
//    "errors":[{"in":"body","pointer":"/name","detail":"has to have 1 to 80 characters"}]}
//
// `pointer` is a JSON pointer into the body; for the other parts of a request `name` stands instead. `limit` and
// `limit_value` name the bound that was passed, `id` the log line of a handler that failed.

#include "violet/core/body.h"

#include <string_view>

namespace violet {

class ErrorInfo;
class Exchange;

namespace web {

// The request has a JSON body, or asks for JSON and not for a page.
[[nodiscard]] bool speaks_json(const Exchange& exchange) noexcept;
// Sets the Content-Type.
Body problem_body(Exchange& exchange, const ErrorInfo& error);

}  // namespace web
}  // namespace violet
