#pragma once

// What stands before the content of a part of multipart/form-data (RFC 7578 §4), and the boundary that a Content-Type
// names (RFC 2046 §5.1.1). Nothing here waits or keeps what it is given.

#include <optional>
#include <string>
#include <string_view>

namespace violet::web {

struct PartHead {
  std::string name;
  std::optional<std::string> file_name;  // its last segment alone; nothing: the part is no file
  std::string content_type;              // "" when it does not say
};

// Reads the field lines of a part, each with its line break, without the empty line behind them. Returns what is wrong
// with them; "" when they are good.
//
// Browsers write quotes and line breaks in names as %22, %0D and %0A, and nothing else encoded; others put a backslash
// before a quote. A filename* (RFC 8187, which RFC 7578 does not want here) goes before filename.
[[nodiscard]] std::string_view read_part_head(std::string_view lines, PartHead& out);

// The media type is multipart/form-data.
[[nodiscard]] bool is_form_data(std::string_view content_type) noexcept;
// The boundary of such a type; nullopt when there is none, two, or one that may not be.
[[nodiscard]] std::optional<std::string> boundary_of(std::string_view content_type);

}  // namespace violet::web
