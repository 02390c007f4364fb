#pragma once

// Errors of TLS for those above it: what ErrorKind::Tls means. OpenSSL's headers are not needed to ask.

#include "violet/base/error.h"

#include <string>

namespace violet::tls {

// "no shared cipher", "certificate verify failed", "unexpected eof while reading"; message() for errors of other kinds.
std::string reason(const Error& error);
// The peer speaks HTTP without TLS.
[[nodiscard]] bool is_plain_http(const Error& error) noexcept;
// The peer closed the connection without close_notify: what it sent may not be all (RFC 8446 §6.1).
[[nodiscard]] bool is_truncation(const Error& error) noexcept;

}  // namespace violet::tls
