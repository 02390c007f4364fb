#pragma once

// Secrets: compared in a time that says nothing of where they differ, hashed, and drawn from the system's generator.

#include "violet/base/error.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace violet {

// Whether they are equal. How long it takes depends on the length of either alone.
[[nodiscard]] bool equal_secrets(std::string_view a, std::string_view b) noexcept;

namespace identity {

// 32 bytes each.
[[nodiscard]] std::string sha256(std::string_view text);
[[nodiscard]] std::string hmac_sha256(std::string_view key, std::string_view text);
// `count` random bytes. Fails only where the system has no generator.
[[nodiscard]] Result<std::string> random_bytes(std::size_t count);

// Base64 of the URL's alphabet, without padding (RFC 4648 §5, RFC 7515 §2).
[[nodiscard]] std::string base64url(std::string_view bytes);
// False: it is none. Padding, white space and bits that are left over and not 0 are none, so that no two texts are the
// same bytes.
[[nodiscard]] bool from_base64url(std::string_view text, std::string& out);

}  // namespace identity
}  // namespace violet
