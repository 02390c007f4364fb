#include "violet/tls/openssl.h"

#include "violet/tls/error.h"

#include <openssl/err.h>

namespace violet::tls {

BioPtr reader_of(std::string_view text) noexcept {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

Error take_error() noexcept {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  return Error(ErrorKind::Tls, static_cast<std::int32_t>(static_cast<std::uint32_t>(code)));
}

std::string take_error_text() { return reason(take_error()); }

std::string reason(const Error& error) {
  if (error.kind() != ErrorKind::Tls) return message(error);
  const auto code = static_cast<std::uint32_t>(error.detail());
  if (code == 0) return "unknown";
  if (ERR_SYSTEM_ERROR(code)) return message(Error(ErrorKind::System, ERR_GET_REASON(code)));
  const char* const text = ERR_reason_error_string(code);
  return text != nullptr ? text : "code " + std::to_string(code);
}

bool is_plain_http(const Error& error) noexcept {
  const auto code = static_cast<std::uint32_t>(error.detail());
  return error.kind() == ErrorKind::Tls && ERR_GET_LIB(code) == ERR_LIB_SSL &&
         ERR_GET_REASON(code) == SSL_R_HTTP_REQUEST;
}

bool is_truncation(const Error& error) noexcept {
  const auto code = static_cast<std::uint32_t>(error.detail());
  return error.kind() == ErrorKind::Tls && ERR_GET_LIB(code) == ERR_LIB_SSL &&
         ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
}

}  // namespace violet::tls
