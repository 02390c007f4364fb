#include "violet/base/error.h"

#include <cstring>

namespace violet {

std::string_view name(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::None: return "none";
    case ErrorKind::Cancelled: return "cancelled";
    case ErrorKind::Timeout: return "timeout";
    case ErrorKind::Closed: return "closed";
    case ErrorKind::Reset: return "reset by peer";
    case ErrorKind::Refused: return "refused";
    case ErrorKind::Protocol: return "protocol error";
    case ErrorKind::TooLarge: return "too large";
    case ErrorKind::Invalid: return "invalid";
    case ErrorKind::NotFound: return "not found";
    case ErrorKind::Conflict: return "conflict";
    case ErrorKind::Unsupported: return "unsupported";
    case ErrorKind::Busy: return "busy";
    case ErrorKind::System: return "system error";
    case ErrorKind::Uv: return "libuv error";
    case ErrorKind::Address: return "bad address";
    case ErrorKind::Handler: return "handler failed";
    case ErrorKind::ShuttingDown: return "shutting down";
    case ErrorKind::Tls: return "TLS failed";
  }
  return "unknown";
}

std::string message(const Error& error) {
  std::string text(name(error.kind()));
  if (error.kind() == ErrorKind::System || error.kind() == ErrorKind::Uv) {
    // On the platforms we run on a libuv code is a negated errno.
    const int code = error.detail() < 0 ? -error.detail() : error.detail();
    char buffer[128];
    text += ": ";
    text += strerror_r(code, buffer, sizeof buffer);
    text += " (errno " + std::to_string(code) + ")";
  } else if (error.detail() != 0) {
    text += " (" + std::to_string(error.detail()) + ")";
  }
  return text;
}

std::string message(const std::exception_ptr& exception) {
  if (exception == nullptr) return {};
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

}  // namespace violet
