#pragma once

// Error: what went wrong, in eight bytes; Result<T>: a value or an Error.
//
// An Error is a kind, the HTTP status that the kind maps to, and a detail whose meaning the kind decides (errno, a
// libuv code, a protocol's own code). It holds no text: message() looks the text up when somebody prints it.
//
//   Result<int> parse(std::string_view text);
//   Result<int> twice(std::string_view text) {
//     VIOLET_TRY(int n, parse(text));      // an error goes up to our caller
//     return 2 * n;
//   }

#include <cstdint>
#include <exception>
#include <expected>
#include <string>
#include <string_view>

namespace violet {

enum class ErrorKind : std::uint16_t {
  None = 0,      // not an error: a stream that ended well closes with it
  Cancelled,     // somebody asked for the end: stop token, reset, client gone
  Timeout,       // a deadline or a timer of core/limits.h passed; detail: the violet::LimitId where one bit
  Closed,        // the peer or the transport is gone
  Reset,         // the peer reset the stream; detail: its protocol code
  Refused,       // not taken, and safe to send again elsewhere (REFUSED_STREAM, GOAWAY)
  Protocol,      // the peer broke its protocol; detail: the protocol's own error code
  TooLarge,      // a size limit of core/limits.h bit; detail: the violet::LimitId
  Invalid,       // an argument or a value is malformed
  NotFound,      // no such thing
  Conflict,      // it is there already, or two things contradict each other
  Unsupported,   // known, but not offered here
  Busy,          // a bounded resource is used up for now
  System,        // detail: errno
  Uv,            // detail: a libuv code (negative)
  Address,       // a URL, host or port cannot be used
  Handler,       // a user's handler failed (threw)
  ShuttingDown,  // the server is draining
  Tls,           // TLS failed; detail: OpenSSL's code, see tls/error.h
};

class Error {
 public:
  constexpr Error() noexcept = default;
  // `status` 0 takes the status that the kind maps to.
  constexpr Error(ErrorKind kind, std::int32_t detail = 0, std::uint16_t status = 0) noexcept
      : kind_(kind), status_(status != 0 ? status : default_status(kind)), detail_(detail) {}

  [[nodiscard]] constexpr ErrorKind kind() const noexcept { return kind_; }
  // The HTTP status a server answers with when this error ends an exchange, 500 when the kind knows none.
  [[nodiscard]] constexpr int status() const noexcept { return status_; }
  [[nodiscard]] constexpr std::int32_t detail() const noexcept { return detail_; }
  // True for anything but ErrorKind::None.
  constexpr explicit operator bool() const noexcept { return kind_ != ErrorKind::None; }

  friend constexpr bool operator==(const Error&, const Error&) noexcept = default;

 private:
  static constexpr std::uint16_t default_status(ErrorKind kind) noexcept;

  ErrorKind kind_ = ErrorKind::None;
  std::uint16_t status_ = 0;
  std::int32_t detail_ = 0;
};
static_assert(sizeof(Error) == 8);

// "timeout", "connection reset by peer (errno 104)"; for logs and messages, never for decisions.
std::string message(const Error& error);
// What a caught exception says of itself; "" for none.
std::string message(const std::exception_ptr& exception);
std::string_view name(ErrorKind kind) noexcept;

template <class T>
using Result = std::expected<T, Error>;

// `return fail(ErrorKind::Invalid);`
[[nodiscard]] constexpr std::unexpected<Error> fail(Error error) noexcept { return std::unexpected<Error>(error); }
[[nodiscard]] constexpr std::unexpected<Error> fail(ErrorKind kind, std::int32_t detail = 0) noexcept {
  return std::unexpected<Error>(Error(kind, detail));
}

constexpr std::uint16_t Error::default_status(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::None: return 0;
    case ErrorKind::Protocol:
    case ErrorKind::Invalid:
    case ErrorKind::Address: return 400;
    case ErrorKind::NotFound: return 404;
    case ErrorKind::Timeout: return 408;
    case ErrorKind::Conflict: return 409;
    case ErrorKind::TooLarge: return 413;
    case ErrorKind::Cancelled:
    case ErrorKind::Closed:
    case ErrorKind::Reset: return 499;
    case ErrorKind::Unsupported: return 501;
    case ErrorKind::Refused:
    case ErrorKind::Busy:
    case ErrorKind::ShuttingDown: return 503;
    case ErrorKind::System:
    case ErrorKind::Uv:
    case ErrorKind::Handler:
    case ErrorKind::Tls: return 500;
  }
  return 500;
}

}  // namespace violet

#define VIOLET_CONCAT_INNER(a, b) a##b
#define VIOLET_CONCAT(a, b) VIOLET_CONCAT_INNER(a, b)

// VIOLET_TRY(declaration, expression): evaluates a Result, passes its error up, else binds its value.
#define VIOLET_TRY(declaration, ...) VIOLET_TRY_INNER(VIOLET_CONCAT(violet_try_, __LINE__), declaration, __VA_ARGS__)
#define VIOLET_TRY_INNER(result, declaration, ...)                      \
  auto result = (__VA_ARGS__);                                          \
  if (!result) return std::unexpected<::violet::Error>(result.error()); \
  declaration = *std::move(result)

// VIOLET_TRY_VOID(expression): the same for Result<void>.
#define VIOLET_TRY_VOID(...) \
  if (auto violet_result = (__VA_ARGS__); !violet_result) return std::unexpected<::violet::Error>(violet_result.error())
