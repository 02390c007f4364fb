#pragma once

// What a path below a mount may look like, and patterns that are compared with it. Pure text: nothing here asks a disk.

#include "violet/features/files/options.h"

#include <cstdint>
#include <string_view>

namespace violet::files {

enum class PathVerdict : std::uint8_t {
  Good,
  Never,   // it can name nothing here: 404
  Hidden,  // a segment begins with a dot
};

// `path` is decoded, without a '/' in front; one at its end means a folder, "" is the root. Never: empty segments, "."
// and "..", backslashes, NUL.
[[nodiscard]] PathVerdict check_path(std::string_view path) noexcept;

// See FileOptions::Rule.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view path) noexcept;

// Whether the name has a hash of its content in it, as bundlers write it: "app.3f9a1c07.js", "index-BX3kQ9fa.css". At
// least eight hex digits, letters and figures both among them, or eight characters of mixed case with a figure.
[[nodiscard]] bool is_hashed_name(std::string_view path) noexcept;

}  // namespace violet::files
