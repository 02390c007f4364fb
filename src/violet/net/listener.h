#pragma once

// Listener: one listening socket on one loop. Accepts in bursts, pauses when there is no room and resumes by itself.
//
//   Endpoint endpoint = *Endpoint::parse("http://[::]:8080");
//   Listener listener(loop, acceptor);
//   listener.open(endpoint, options);
//
// With reuse_port every loop opens its own socket on the same address and the kernel spreads connections over them.

#include "violet/base/address.h"
#include "violet/base/error.h"
#include "violet/event/loop.h"
#include "violet/event/timer.h"
#include "violet/net/watcher.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace violet::net {

// Where to listen: "http://127.0.0.1:8080", "http://[::1]:0", "http://*:8080" (dual stack), "http://localhost:8080",
// "unix:/run/app.sock".
struct Endpoint {
  std::string scheme;    // "http" or "https"
  Address address;       // of the socket; family Unix: see path
  std::string path;      // of a Unix socket
  bool is_dual = false;  // IPv6 socket that takes IPv4 as well

  // Address: the URL has no host, an unknown scheme, a bad port, or a name other than localhost and "*".
  static Result<Endpoint> parse(std::string_view url);
  // "http://127.0.0.1:8080"
  [[nodiscard]] std::string to_string() const;
};

struct ListenOptions {
  int backlog = 4096;
  bool reuse_port = true;
  bool is_first = true;  // of those that share a port: fails when somebody else has it
  int unix_mode = 0660;  // permissions of a Unix socket's file
};

// A socket that is bound and listens, for Listener::take(): made where workers are processes by the one that forks
// them, so that what waits in the socket outlives them. Port 0 becomes the one that was found. Errors: see
// Listener::open().
Result<int> open_listening(Endpoint& endpoint, const ListenOptions& options);

class Listener {
 public:
  class Acceptor {
   public:
    // Takes over a non-blocking descriptor.
    virtual void on_accept(int descriptor, const Address& peer) noexcept = 0;
    // Whether one more connection may be taken now. False pauses the listener until resume().
    virtual bool has_room() noexcept = 0;
    virtual void on_accept_paused(Error why) noexcept = 0;

   protected:
    ~Acceptor() = default;
  };

  Listener(Loop& loop, Acceptor& acceptor) noexcept;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener();  // REQUIRES: closed, and the loop has run since

  // Binds and listens. Port 0 takes a free one, see endpoint(). A Unix socket's file that nobody listens on is removed
  // first; one that is in use, or is no socket, is Conflict.
  Result<void> open(const Endpoint& endpoint, const ListenOptions& options);
  // Takes over a socket of open_listening(). A Unix socket's file stays with whoever made it.
  Result<void> take(const Endpoint& endpoint, int descriptor);
  // Listens on a socket that another loop's listener has opened: Unix sockets cannot be bound once for each loop.
  Result<void> share(const Listener& other);
  void start() noexcept;
  void pause() noexcept;
  // Accepts again after has_room() was false; cheap when it was not.
  void resume() noexcept {
    if (is_full_) [[unlikely]]
      resume_slow();
  }
  // Stops listening; connections in the backlog are reset by the kernel.
  void close() noexcept;
  [[nodiscard]] bool is_closed() const noexcept { return !watcher_.is_open() && !is_closing_; }
  [[nodiscard]] const Endpoint& endpoint() const noexcept { return endpoint_; }

 private:
  static void on_events(Watcher& watcher, int error, int events) noexcept;
  static void on_closed(Watcher& watcher) noexcept;
  static const Watcher::Calls kCalls;
  static void on_retry(Timer& timer) noexcept;
  Result<void> adopt(int descriptor);
  void accept_burst() noexcept;
  void wait_for_room(Error why) noexcept;
  void shed_one() noexcept;
  void resume_slow() noexcept;

  Loop& loop_;
  Acceptor& acceptor_;
  Endpoint endpoint_;
  struct Ready final : Watcher {
    Listener* listener = nullptr;
  } watcher_;
  struct Retry final : Timer {
    using Timer::Timer;
    Listener* listener = nullptr;
  } retry_;
  int descriptor_ = -1;
  int reserve_ = -1;  // given up for a moment when descriptors run out
  int exhausted_count_ = 0;
  bool is_started_ = false;
  bool owns_path_ = false;  // of a Unix socket: removed when we close
  bool is_full_ = false;
  bool is_closing_ = false;
};

}  // namespace violet::net
