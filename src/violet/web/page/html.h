#pragma once

// HTML of pages that violet makes by itself.

#include <string>
#include <string_view>

namespace violet::web {

// A text as it may stand between tags and in quoted attributes. Control characters become '?'.
void append_html(std::string& out, std::string_view text);

}  // namespace violet::web
