#include "violet/ws/client/handshake.h"

#include "violet/base/ascii.h"
#include "violet/ws/handshake.h"

#include <algorithm>
#include <cerrno>

namespace violet::ws {
namespace {

constexpr std::size_t kHeadBytesMax = 16 * 1024;

// Status line and fields, read strictly; 0 when it is no head of HTTP/1.1.
int parse_head(std::string_view head, http::Fields& fields) {
  if (!head.starts_with("HTTP/1.1 ") || head.size() < 14) return 0;
  const auto status = ascii::to_number<int>(head.substr(9, 3));
  if (!status || *status < 100 || (head[12] != ' ' && head[12] != '\r')) return 0;
  head.remove_prefix(std::min(head.find("\r\n") + 2, head.size()));
  while (!head.empty() && head != "\r\n") {
    const std::size_t end = head.find("\r\n");
    if (end == std::string_view::npos) return 0;
    const std::string_view line = head.substr(0, end);
    const std::size_t colon = line.find(':');
    // add() refuses what is no token, so folded lines too.
    if (colon == std::string_view::npos || !fields.add(line.substr(0, colon), ascii::trim(line.substr(colon + 1)))) {
      return 0;
    }
    head.remove_prefix(end + 2);
  }
  return *status;
}

std::size_t count(const http::Fields& fields, http::FieldId id) {
  return static_cast<std::size_t>(
      std::count_if(fields.begin(), fields.end(), [id](const http::Field& field) { return field.id == id; }));
}

}  // namespace

bool AskForSwitch::await_suspend(std::coroutine_handle<> handle) noexcept {
  if (!suspend(handle)) return false;
  transport_.want(true, true);
  return true;
}

void AskForSwitch::on_writable() noexcept {
  const iovec piece{request_.data() + sent_, request_.size() - sent_};
  const ssize_t n = transport_.write(&piece, 1);
  if (n < 0 && n != -EAGAIN) return finish(Error(ErrorKind::System, static_cast<std::int32_t>(-n)));
  if (n > 0) sent_ += static_cast<std::size_t>(n);
  transport_.want(true, sent_ < request_.size());
}

void AskForSwitch::on_readable() noexcept {
  char bytes[4096];
  const ssize_t n = transport_.read(bytes, sizeof bytes);
  if (n == -EAGAIN) return;
  if (n == 0) return finish(Error(ErrorKind::Closed));
  if (n < 0) return finish(Error(ErrorKind::System, static_cast<std::int32_t>(-n)));
  head.append(bytes, static_cast<std::size_t>(n));
  const std::size_t end = head.find("\r\n\r\n");
  if (end == std::string::npos) {
    if (head.size() > kHeadBytesMax) finish(Error(ErrorKind::TooLarge));
    return;
  }
  early = head.substr(end + 4);
  head.resize(end + 4);
  finish({});
}

void AskForSwitch::finish(Error why) noexcept {
  transport_.want(false, false);
  if (why) {
    resume_with(why);
  } else {
    resume();
  }
}

Result<Agreement> read_agreement(std::string_view head, std::string_view key, const Options& options) {
  Arena arena;
  http::Fields fields(arena);
  const int status = parse_head(head, fields);
  if (status == 0) return fail(ErrorKind::Protocol);
  if (status != 101) return fail(ErrorKind::Refused, status);
  const auto accept = accept_value(key);
  // RFC 6455 §4.1, the numbered list at its end.
  if (!fields.has_member(http::FieldId::Upgrade, "websocket") ||
      !fields.has_member(http::FieldId::Connection, "upgrade") ||
      count(fields, http::FieldId::SecWebSocketAccept) != 1 ||
      fields.get(http::FieldId::SecWebSocketAccept) != std::string_view(accept.data(), accept.size())) {
    return fail(ErrorKind::Protocol);
  }
  Agreement agreement;
  const auto deflate = read_deflate_answer(fields, options.compression);
  if (!deflate) return fail(ErrorKind::Protocol);
  agreement.deflate = *deflate;
  if (const std::size_t lines = count(fields, http::FieldId::SecWebSocketProtocol); lines > 0) {
    agreement.protocol = fields.get(http::FieldId::SecWebSocketProtocol);
    const auto& offered = options.protocols;
    if (lines > 1 || std::find(offered.begin(), offered.end(), agreement.protocol) == offered.end()) {
      return fail(ErrorKind::Protocol);
    }
  }
  return agreement;
}

}  // namespace violet::ws
