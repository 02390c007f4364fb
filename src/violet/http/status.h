#pragma once

// Status codes (RFC 9110 §15 and the IANA registry): reason phrases and the rules that hang on the number.

#include <cstddef>
#include <string_view>

namespace violet::http {

// "Not Found"; "" for a code without a registered phrase.
std::string_view reason(int status) noexcept;

[[nodiscard]] constexpr bool is_informational(int status) noexcept { return status >= 100 && status < 200; }
// Responses of these codes have no body, whatever the handler says (RFC 9110 §6.4.1).
[[nodiscard]] constexpr bool is_bodyless(int status) noexcept {
  return is_informational(status) || status == 204 || status == 304;
}

// "HTTP/1.1 404 Not Found\r\n", for every code from 100 to 999. kStatusLineMax bytes may be read from its start.
std::string_view status_line(int status) noexcept;
inline constexpr std::size_t kStatusLineMax = 52;

}  // namespace violet::http
