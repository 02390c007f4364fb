#pragma once

// Base64 (RFC 4648 §4), with padding.

#include <cstddef>
#include <optional>
#include <string_view>

namespace violet::base64 {

[[nodiscard]] constexpr std::size_t encoded_size(std::size_t bytes) noexcept { return (bytes + 2) / 3 * 4; }
// Writes encoded_size() characters to `out`.
void encode(std::string_view bytes, char* out) noexcept;

[[nodiscard]] constexpr std::size_t decoded_size_max(std::size_t characters) noexcept { return characters / 4 * 3; }
// Writes at most decoded_size_max() bytes; returns how many. nullopt: not base64, or bits are left over that are not 0.
[[nodiscard]] std::optional<std::size_t> decode(std::string_view text, char* out) noexcept;

}  // namespace violet::base64
