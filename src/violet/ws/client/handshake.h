#pragma once

// The client's side of the opening handshake (RFC 6455 §4.1): a request is sent on a transport, and the head of the
// answer read and judged.

#include "violet/event/task.h"
#include "violet/net/transport.h"
#include "violet/ws/deflate/params.h"
#include "violet/ws/settings.h"

#include <string>
#include <string_view>

namespace violet::ws {

// Sends `request` and reads until the end of a head. `head` gets it, and what came behind it goes to `early`. The
// transport has no owner afterwards.
class [[nodiscard("co_await it")]] AskForSwitch final : public Waiter, private net::Transport::Owner {
 public:
  AskForSwitch(net::Transport& transport, std::string request) noexcept
      : transport_(transport), request_(std::move(request)) {
    transport.set_owner(*this);
  }
  ~AskForSwitch() override = default;
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> handle) noexcept;
  Result<void> await_resume() const noexcept {
    if (error()) return fail(error());
    return {};
  }
  std::string head;
  std::string early;

 private:
  void on_readable() noexcept override;
  void on_writable() noexcept override;
  void on_peer_closed() noexcept override {}
  void on_broken() noexcept override { finish(Error(ErrorKind::Closed)); }
  void on_stop(Error why) noexcept override { finish(why); }
  void finish(Error why) noexcept;

  net::Transport& transport_;
  std::string request_;
  std::size_t sent_ = 0;
};

// What a server has agreed to. Refused: another status than 101, the detail. Protocol: it breaks RFC 6455 §4.1.
struct Agreement {
  DeflateParams deflate;
  std::string protocol;
};
Result<Agreement> read_agreement(std::string_view head, std::string_view key, const Options& options);

}  // namespace violet::ws
