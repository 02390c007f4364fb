#include "violet/ws/remote.h"

#include "violet/ws/session.h"

namespace violet {

Result<void> SocketHandle::send(ws::Kind kind, std::string_view payload) const {
  if (!is_open()) return fail(ErrorKind::Closed);
  const bool is_posted = remote_->loop().post([remote = remote_, kind, text = std::string(payload)]() mutable {
    ws::Session* session = remote->session();
    if (session != nullptr) session->send_or_drop(kind, Slice::of(std::move(text)));
  });
  if (!is_posted) return fail(ErrorKind::Closed);
  return {};
}

Result<void> SocketHandle::close(std::uint16_t code, std::string_view reason) const {
  if (!is_open()) return fail(ErrorKind::Closed);
  const bool is_posted = remote_->loop().post([remote = remote_, code, text = std::string(reason)] {
    if (ws::Session* session = remote->session(); session != nullptr) session->close(code, text);
  });
  if (!is_posted) return fail(ErrorKind::Closed);
  return {};
}

}  // namespace violet
