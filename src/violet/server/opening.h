#pragma once

// Opening: a connection on its way from accept() to its session, where the way is longer than one step:
//
//   accept --[PROXY header]--> --[TLS handshake]--> Host::on_opened(transport, connection, protocol)
//      \________________________/
//        time over, malformed, refused --> Host::on_not_opened(why)
//
// One time, handshake_ms, bounds all of it. Cleartext connections without a PROXY header need no Opening.
//
// Owned by its Host until one of the two calls. The loop's thread.

#include "violet/base/list.h"
#include "violet/core/limits.h"
#include "violet/core/stream.h"
#include "violet/event/loop.h"
#include "violet/event/timer.h"
#include "violet/net/transport.h"
#include "violet/tls/transport.h"

#include <string>
#include <string_view>

namespace violet {

class Opening final : public ListNode<Opening>, private net::Transport::Owner, private tls::Transport::Handshake {
 public:
  class Host {
   public:
    // The transport is the host's now, and ready for a session of `protocol` (an ALPN name, "" when none was agreed
    // on). Deletes the opening.
    virtual void on_opened(Opening& opening, net::Transport& transport, const Connection& connection,
                           std::string_view protocol) noexcept = 0;
    // The transport is closed. Deletes the opening.
    virtual void on_not_opened(Opening& opening, Error why) noexcept = 0;

   protected:
    ~Host() = default;
  };

  struct Way {
    bool expects_proxy = false;
    std::string_view protocol;  // of a connection without TLS, see Entrance
    tls::Shared* shared = nullptr;
    tls::ServerContext* context = nullptr;  // TLS follows; nullptr: it does not
  };

  // Takes the transport over.
  Opening(Loop& loop, const Limits& limits, Host& host, net::Transport& transport, Connection connection) noexcept;
  ~Opening();  // REQUIRES: opened, not opened, or never started

  // May end in one of the host's calls.
  void start(const Way& way) noexcept;
  // Closes it now.
  void abort(Error why) noexcept;
  [[nodiscard]] const Connection& connection() const noexcept { return connection_; }

 private:
  void on_readable() noexcept override;
  void on_writable() noexcept override {}
  void on_peer_closed() noexcept override;
  void on_broken() noexcept override;
  void on_secure(tls::Transport& transport) noexcept override;
  void on_refused(tls::Transport& transport, Error why) noexcept override;

  void on_timer() noexcept;
  void take_proxy_header(const Address& source) noexcept;
  void begin_handshake() noexcept;
  void end(std::string_view protocol) noexcept;

  Loop& loop_;
  const Limits& limits_;
  Host& host_;
  net::Transport* transport_;
  Connection connection_;
  Way way_;
  std::string header_;  // what has come of the PROXY header
  TimerTo<&Opening::on_timer> timer_{*this};
};

}  // namespace violet
