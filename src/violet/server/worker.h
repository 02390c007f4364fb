#pragma once

// Worker: one thread, one loop, one Site, its listeners and its sessions. The room where wire and application meet.
// Made by Server; everything but start(), drain() and join() happens on its own thread.

#include "violet/core/site.h"
#include "violet/h1/session.h"
#include "violet/h2/session.h"
#include "violet/net/listener.h"
#include "violet/server/opening.h"
#include "violet/server/server.h"
#include "violet/tls/certificate/file_watch.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

namespace violet {

class Worker final : public h1::Session::Host,
                     public h1::Tunnel::Host,
                     public h2::Session::Host,
                     private Opening::Host {
 public:
  explicit Worker(Server& server);
  ~Worker();  // REQUIRES: joined, or never started

  // `socket`: one that listens already, or -1. REQUIRES: not started.
  Result<net::Endpoint> listen(const net::Endpoint& endpoint, const net::ListenOptions& options,
                               const Entrance& entrance, const Worker* first, int socket);

  // Calls `on_change` when one of `files` may have changed. REQUIRES: not started.
  void watch(const std::vector<std::string>& files, tls::FileWatch::OnChange on_change);

  void start();
  // Any thread: stop accepting, finish, end at the deadline. A later call with an earlier deadline counts.
  void drain(std::chrono::milliseconds delay, std::chrono::milliseconds deadline);
  void join();

  [[nodiscard]] const Counters& counters() const noexcept { return site_.counters; }

  void on_session_closed(h1::Session& session) noexcept override;
  void on_session_closed(h2::Session& session) noexcept override;
  bool on_http2(h1::Session& session, const h1::Http2Wish& wish) noexcept override;
  h1::Tunnel::Host* tunnels() noexcept override { return this; }
  void on_tunnel_opened(h1::Tunnel& tunnel) noexcept override { tunnels_.push_back(tunnel); }
  void on_tunnel_closed(h1::Tunnel& tunnel) noexcept override;

 private:
  // A listener, and how its connections open.
  class Port final : public net::Listener::Acceptor {
   public:
    Port(Worker& worker, const Entrance& entrance);
    [[nodiscard]] net::Listener& listener() noexcept { return listener_; }
    void on_accept(int descriptor, const Address& peer) noexcept override;
    bool has_room() noexcept override { return worker_.has_room(); }
    void on_accept_paused(Error why) noexcept override { worker_.on_accept_paused(why); }

   private:
    tls::ServerContext* context();

    Worker& worker_;
    Entrance entrance_;
    net::Listener listener_;
    Ref<tls::ServerContext> context_;  // as of generation_ of the credentials
    std::uint64_t generation_ = 0;
  };

  // The host of connections that are to stay HTTP/1.1.
  struct OnlyHttp1 final : h1::Session::Host {
    explicit OnlyHttp1(Worker& of) noexcept : worker(of) {}
    void on_session_closed(h1::Session& session) noexcept override { worker.on_session_closed(session); }
    h1::Tunnel::Host* tunnels() noexcept override { return &worker; }
    Worker& worker;
  };

  void run();
  net::Transport* accept(int descriptor, const Address& peer, Connection& connection) noexcept;
  void open_session(net::Transport& transport, const Connection& connection, std::string_view protocol) noexcept;
  h2::Session& add_http2(net::Transport& transport, const Connection& connection);
  [[nodiscard]] bool is_empty() const noexcept {
    return sessions_.is_empty() && tunnels_.is_empty() && http2_sessions_.is_empty() && openings_.is_empty();
  }
  [[nodiscard]] bool has_room() noexcept;
  void on_accept_paused(Error why) noexcept;
  void on_opened(Opening& opening, net::Transport& transport, const Connection& connection,
                 std::string_view protocol) noexcept override;
  void on_not_opened(Opening& opening, Error why) noexcept override;
  void log_not_opened(const Opening& opening, Error why) noexcept;
  void on_connection_end() noexcept;
  void begin_drain() noexcept;
  void cut() noexcept;
  void end_if_empty() noexcept;
  void trim() noexcept;
  void note_handshake() noexcept;
  void trim_after_crowd() noexcept;

  Server& server_;
  Loop loop_;
  LoopRef loop_ref_;
  Site site_;
  h1::Shared h1_;
  h2::Shared h2_;  // reads and writes through the buffers of h1_
  OnlyHttp1 only_http1_{*this};
  std::unique_ptr<tls::Shared> tls_;  // once a listener speaks TLS
  std::vector<std::unique_ptr<Port>> ports_;
  std::unique_ptr<tls::FileWatch> watch_;
  List<Opening, Opening> openings_;
  List<h1::Session, h1::Session> sessions_;
  List<h1::Tunnel, h1::Tunnel> tunnels_;
  List<h2::Session, h2::Session> http2_sessions_;
  TimerTo<&Worker::begin_drain> drain_timer_{*this};
  TimerTo<&Worker::cut> cut_timer_{*this};
  TimerTo<&Worker::end_if_empty> end_timer_{*this};
  TimerTo<&Worker::trim> trim_timer_{*this};
  TimerTo<&Worker::trim_after_crowd> crowd_timer_{*this};
  std::size_t handshakes_untrimmed_ = 0;
  std::uint64_t give_up_ms_ = 0;  // when tasks that outlive their clients are waited for no longer; 0: not waiting
  std::int64_t not_opened_logged_at_ = 0;  // second of the last line about such a connection
  std::uint64_t not_opened_unlogged_ = 0;  // and how many there were since
  std::thread thread_;
};

}  // namespace violet
