#pragma once

// The document of an API: OpenAPI 3.1, made from the routes themselves. One pass over their tables; nothing is read
// from the disk and nothing is kept.

#include "violet/features/openapi/options.h"
#include "violet/web/route/listing.h"

#include <span>
#include <string>
#include <vector>

namespace violet::openapi {

// JSON. What does not fit together, such as a security scheme that nobody declared, goes to `errors`, one sentence
// each.
[[nodiscard]] std::string write_document(std::span<const web::RouteInfo> routes, const DocsOptions& options,
                                         std::vector<std::string>& errors);

}  // namespace violet::openapi
