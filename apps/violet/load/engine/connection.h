#pragma once

// Connection: one of the load's connections, made anew whenever it has ended, with a slot for each request that may be
// in flight on it. Owned by its Worker, on whose thread everything happens.

#include <violet/event/timer.h>
#include <violet/h1/client/session.h>

#include <cstdint>
#include <memory>
#include <string>

namespace violet::load {

class Worker;

class Connection final : h1::client::Session::Host {
 public:
  explicit Connection(Worker& worker);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();  // REQUIRES: closed, and the loop has run since

  void open() noexcept;
  // Fills the free slots with what there is to send.
  void fill();
  // No more: the connection is cut.
  void close() noexcept;
  [[nodiscard]] bool is_closed() const noexcept { return session_ == nullptr; }
  // Gives up a connection whose oldest request waits since before `then_ns`.
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
    h1::client::Stream* stream = nullptr;  // nullptr: free
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
  void on_slot_free(std::uint64_t now_ns);
  void on_session_closed(h1::client::Session& session, Error why) noexcept override;
  [[nodiscard]] bool may_ask() const noexcept;

  Worker& worker_;
  h1::client::Session* session_ = nullptr;
  std::unique_ptr<Slot[]> slots_;
  int slot_count_;
  int busy_count_ = 0;
  std::uint64_t asked_count_ = 0;     // on this session
  std::uint64_t answered_count_ = 0;  // on this session
  bool is_given_up_ = false;
  TimerTo<&Connection::open> again_{*this};
};

}  // namespace violet::load
