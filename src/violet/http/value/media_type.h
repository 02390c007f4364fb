#pragma once

// Media types by the ending of a file's name. The table is made from tools/media_types.txt by
// tools/make_media_types.py.

#include <string_view>

namespace violet::http {

inline constexpr std::string_view kOctetStream = "application/octet-stream";

// By the text behind the last dot of the last segment, in any case: "a/b.HTML" is "text/html; charset=utf-8". Types of
// text say that they are UTF-8. Names without an ending that is known are kOctetStream.
[[nodiscard]] std::string_view media_type_of(std::string_view file_name) noexcept;

// The same for an ending alone, "html"; "" when it is not known.
[[nodiscard]] std::string_view media_type_of_extension(std::string_view extension) noexcept;

}  // namespace violet::http
