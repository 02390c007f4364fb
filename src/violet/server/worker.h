#pragma once

// Worker: one thread, one loop, one Site, its listeners and its sessions. The room where wire and application meet.
// Made by Server; everything but start(), drain() and join() happens on its own thread.

#include "violet/core/site.h"
#include "violet/h1/session.h"
#include "violet/net/listener.h"
#include "violet/server/server.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace violet {

class Worker final : public net::Listener::Acceptor, public h1::Session::Host {
 public:
  explicit Worker(Server& server);
  ~Worker();  // REQUIRES: joined, or never started

  // REQUIRES: not started.
  Result<net::Endpoint> listen(const net::Endpoint& endpoint, const net::ListenOptions& options, const Worker* first);

  void start();
  // Any thread: stop accepting, finish, end at the deadline. A later call with an earlier deadline counts.
  void drain(std::chrono::milliseconds delay, std::chrono::milliseconds deadline);
  void join();

  [[nodiscard]] const Counters& counters() const noexcept { return site_.counters; }

  void on_accept(int descriptor, const Address& peer) noexcept override;
  bool has_room() noexcept override;
  void on_accept_paused(Error why) noexcept override;
  void on_session_closed(h1::Session& session) noexcept override;

 private:
  void run();
  void begin_drain() noexcept;
  void cut() noexcept;
  void end_if_empty() noexcept;
  void trim() noexcept;

  Server& server_;
  Loop loop_;
  LoopRef loop_ref_;
  Site site_;
  h1::Shared h1_;
  std::vector<std::unique_ptr<net::Listener>> listeners_;
  List<h1::Session, h1::Session> sessions_;
  TimerTo<&Worker::begin_drain> drain_timer_{*this};
  TimerTo<&Worker::cut> cut_timer_{*this};
  TimerTo<&Worker::end_if_empty> end_timer_{*this};
  TimerTo<&Worker::trim> trim_timer_{*this};
  std::uint64_t give_up_ms_ = 0;  // when tasks that outlive their clients are waited for no longer; 0: not waiting
  std::thread thread_;
};

}  // namespace violet
