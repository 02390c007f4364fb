#pragma once

// What an Authorization field holds (RFC 9110 §11.6.2, RFC 7617, RFC 6750 §2.1).

#include "violet/http/fields.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace violet::identity {

enum class Found : std::uint8_t {
  None,  // no Authorization, or one of another scheme
  Good,
  Malformed,  // of this scheme, or several fields of which nobody knows the one that counts
};

// The token68 of `scheme`, whose name any case may have.
Found find_credentials(const http::Fields& request, std::string_view scheme, std::string_view& token);

struct NameAndPassword {
  std::string name;
  std::string password;
};
// Base64 of name:password in UTF-8 without controls; the name has no colon (RFC 7617 §2). False: it is none.
bool read_basic(std::string_view token, NameAndPassword& out);

// `text` as a quoted-string; controls become '?'.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace violet::identity
