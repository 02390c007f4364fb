#include "violet/ws/client/dial.h"

#include "violet/event/offload.h"
#include "violet/net/io/resolve.h"
#include "violet/net/socket.h"
#include "violet/tls/transport.h"

#include <cerrno>
#include <string>
#include <vector>

namespace violet::ws {
namespace {

// Waits until a socket is connected: writable, and without an error that a write of nothing would show.
class Connected final : public Waiter, private net::Transport::Owner {
 public:
  explicit Connected(net::Transport& transport) noexcept : transport_(transport) { transport.set_owner(*this); }
  ~Connected() override = default;
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> handle) noexcept {
    if (!suspend(handle)) return false;
    transport_.want(false, true);
    return true;
  }
  Result<void> await_resume() const noexcept {
    if (error()) return fail(error());
    return {};
  }

 private:
  void on_readable() noexcept override {}
  void on_writable() noexcept override { finish(); }
  void on_peer_closed() noexcept override {}
  void on_broken() noexcept override { finish(); }
  void finish() noexcept {
    const iovec nothing{nullptr, 0};
    const ssize_t n = transport_.write(&nothing, 1);
    if (n == -EAGAIN) return;
    transport_.want(false, false);
    if (n < 0) {
      resume_with(Error(ErrorKind::System, static_cast<std::int32_t>(-n)));
    } else {
      resume();
    }
  }
  void on_stop(Error why) noexcept override {
    transport_.want(false, false);
    resume_with(why);
  }

  net::Transport& transport_;
};

// Waits for the end of a TLS handshake. When the chain is stopped before, the transport is closed.
class Secured final : public Waiter, private tls::Transport::Handshake {
 public:
  Secured(tls::Shared& shared, tls::ClientContext& context, std::string_view host, net::Transport& below)
      : transport_(tls::Transport::connect(shared, context, host, below, *this)) {
    if (transport_ == nullptr) below.close();
  }
  ~Secured() override = default;
  bool await_ready() const noexcept { return transport_ == nullptr; }
  bool await_suspend(std::coroutine_handle<> handle) noexcept {
    if (suspend(handle)) return true;
    drop();
    return false;
  }
  Result<net::Transport*> await_resume() const noexcept {
    if (error()) return fail(error());
    if (transport_ == nullptr) return fail(ErrorKind::Address);
    return transport_;
  }

 private:
  void on_secure(tls::Transport&) noexcept override { resume(); }
  void on_refused(tls::Transport&, Error why) noexcept override {
    drop();
    resume_with(why);
  }
  void on_stop(Error why) noexcept override {
    drop();
    resume_with(why);
  }
  void drop() noexcept { std::exchange(transport_, nullptr)->close(); }

  tls::Transport* transport_;
};

// The first address that takes us.
Task<Result<Dialed>> connect_to_any(Loop& loop, std::vector<Address> addresses) {
  Error why(ErrorKind::Address);
  for (const Address& address : addresses) {
    Result<net::SocketTransport*> transport = net::SocketTransport::connect(loop, address);
    if (!transport) {
      why = transport.error();
      continue;
    }
    Result<void> connected = co_await Connected(**transport);
    if (connected) {
      Dialed dialed;
      dialed.transport = *transport;
      dialed.peer = address;
      co_return dialed;
    }
    (*transport)->close();
    why = connected.error();
    if (this_task().is_stopped()) break;
  }
  co_return fail(why);
}

}  // namespace

Task<Result<Dialed>> dial(Loop& loop, const Url& url, Ref<tls::ClientContext> tls) {
  Result<std::vector<Address>> addresses = co_await offload(net::resolve, url.host, url.port);
  if (!addresses) co_return fail(addresses.error());
  Result<Dialed> dialed = co_await connect_to_any(loop, std::move(*addresses));
  if (!dialed || !url.is_secure) co_return dialed;
  Secured handshake(loop.local<tls::Shared>(), *tls, url.host, *dialed->transport);
  Result<net::Transport*> secured = co_await handshake;
  if (!secured) co_return fail(secured.error());
  dialed->transport = *secured;
  co_return dialed;
}

}  // namespace violet::ws
