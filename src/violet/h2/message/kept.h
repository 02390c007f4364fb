#pragma once

// Heads and trailers in as few bytes as they take, for requests that wait until there is room for an exchange: an
// exchange holds kilobytes, a kept head a few hundred bytes.

#include "violet/http/head.h"

#include <string>
#include <string_view>

namespace violet::h2 {

[[nodiscard]] std::string keep(const http::Fields& fields);
[[nodiscard]] std::string keep(const http::Head& request);

// What keep() made, back in the arena of `fields` or of `request`.
void restore(std::string_view kept, http::Fields& fields);
void restore(std::string_view kept, http::Head& request);

}  // namespace violet::h2
