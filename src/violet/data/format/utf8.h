#pragma once

// UTF-8 (RFC 3629): no surrogates, nothing beyond U+10FFFF, no longer form than needed.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace violet::utf8 {

// The size of the character that begins at `at`, 0 when it is ill-formed. REQUIRES: at < end.
[[nodiscard]] std::size_t length(const char* at, const char* end) noexcept;
[[nodiscard]] bool is_valid(std::string_view text) noexcept;
// Code points. REQUIRES: valid.
[[nodiscard]] std::size_t count(std::string_view text) noexcept;
// Writes one to four bytes; returns how many. REQUIRES: a code point that is no surrogate.
std::size_t write(std::uint32_t code_point, char* out) noexcept;

inline constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

}  // namespace violet::utf8
