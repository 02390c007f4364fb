#pragma once

// Wire: what a Connection needs of a protocol, whichever it is: a place for one more request, and the same events for
// each. One for each connection, the Worker's thread's alone.

#include "load/plan.h"
#include <violet/core/limits.h>
#include <violet/core/stream.h>
#include <violet/h1/client/session.h>
#include <violet/h2/session.h>
#include <violet/http/head.h>
#include <violet/memory/arena.h>
#include <violet/net/io/buffers.h>
#include <violet/net/transport.h>
#include <violet/ws/settings.h>

#include <memory>
#include <optional>
#include <string>

namespace violet::load {

// A request as a thread's wires send it.
struct Prepared {
  explicit Prepared(const Request& request);

  const Request& request;
  Arena arena;
  http::Head head{arena};
};

// What the wires of one loop share.
struct WireShared {
  WireShared(Loop& on, const Limits& within, const Options& options, const Plan& plan);

  net::Buffers buffers;
  Limits limits;
  Protocol protocol;
  Loop* loop;
  h1::client::Shared h1;
  h2::Shared h2;
  // Of WebSocket: the request that asks for it but for the key, and how its sockets behave.
  const std::string* handshake = nullptr;
  std::optional<ws::Settings> socket_settings;
};

class Wire {
 public:
  class Owner {
   public:
    // It is gone, and all that was asked has been told. The owner deletes it.
    virtual void on_wire_closed(Error why) noexcept = 0;
    // It was not ready and will not be. The owner deletes it.
    virtual void on_wire_refused() noexcept = 0;
    // is_ready() is true from now on.
    virtual void on_wire_ready() noexcept = 0;

   protected:
    ~Owner() = default;
  };

  Wire() noexcept = default;
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  virtual ~Wire() = default;

  // A stream for one more request, which has to be sent before anything else; nullptr where there is no room for it.
  virtual Stream* open(Receiver& receiver) = 0;
  virtual void send(Stream& stream, const Prepared& prepared) = 0;
  // False while there is something to be agreed upon first.
  [[nodiscard]] virtual bool is_ready() const noexcept { return true; }
  // No more requests are taken.
  [[nodiscard]] virtual bool is_leaving() const noexcept = 0;
  virtual void drain() noexcept = 0;
  virtual void abort(Error why) noexcept = 0;
};

// Takes the transport over and begins.
std::unique_ptr<Wire> make_wire(WireShared& shared, Wire::Owner& owner, net::Transport& transport);

}  // namespace violet::load
