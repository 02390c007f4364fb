#pragma once

// Connection: one of the load's connections, made anew whenever it has ended, with a slot for each request that may be
// in flight on it. Owned by its Worker, on whose thread everything happens.
//
//   closed --(open())--> connecting, over TLS: shaking hands --> asking --(wire closed)--> closed, and so on

#include "load/engine/wire.h"
#include "load/result/tally.h"
#include <violet/event/timer.h>
#include <violet/tls/transport.h>

#include <cstdint>
#include <memory>
#include <string>

namespace violet::load {

class Worker;

class Connection final : Wire::Owner, tls::Transport::Handshake {
 public:
  explicit Connection(Worker& worker);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();  // REQUIRES: close(), and the loop has run since

  void open() noexcept;
  // Fills the free slots with what there is to send.
  void fill();
  // No more: the connection is cut.
  void close() noexcept;
  // Gives up a connection whose oldest request, or whose handshake, waits since before `then_ns`.
  void look(std::uint64_t then_ns) noexcept;

 private:
  // One request in flight, and what its answer has to be.
  class Slot final : public Receiver {
   public:
    void on_head(http::Head& head, bool has_body) override;
    void on_data(Slice data) override;
    void on_end(const http::Fields* trailers) override;
    void on_close(Error why) noexcept override;

    Connection* connection = nullptr;
    Stream* stream = nullptr;  // nullptr: free
    std::uint32_t request = 0;
    std::uint64_t since_ns = 0;  // what its latency counts from
    std::uint64_t sent_ns = 0;
    int status = 0;
    std::uint64_t bytes = 0;
    std::size_t body_bytes = 0;
    bool is_right = true;
    bool learns = false;
    std::string learned;
  };

  bool ask(Slot& slot, std::uint64_t now_ns);
  void on_slot_free(Slot& slot, std::uint64_t now_ns);
  void fail_to_open(std::uint64_t Tally::* kind) noexcept;
  void note_malformed() noexcept;
  void again() noexcept;
  void begin(net::Transport& transport);
  void on_secure(tls::Transport& transport) noexcept override;
  void on_refused(tls::Transport& transport, Error why) noexcept override;
  void on_wire_closed(Error why) noexcept override;
  void on_wire_refused() noexcept override;
  void on_wire_ready() noexcept override { fill(); }
  [[nodiscard]] bool may_ask() const noexcept;

  Worker& worker_;
  tls::Transport* handshake_ = nullptr;  // while it lasts
  std::unique_ptr<Wire> wire_;
  std::unique_ptr<Slot[]> slots_;
  int slot_count_;
  int busy_count_ = 0;
  std::uint64_t opened_ns_ = 0;
  std::uint64_t asked_count_ = 0;     // on this wire
  std::uint64_t answered_count_ = 0;  // on this wire
  bool is_given_up_ = false;
  bool is_malformed_ = false;  // and that was counted
  TimerTo<&Connection::open> again_{*this};
};

}  // namespace violet::load
