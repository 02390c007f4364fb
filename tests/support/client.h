#pragma once

// Client: a blocking TCP or Unix socket for tests over the real network, every call bounded in time. And children: a
// piece of a test in a process of its own, for signals and resource limits.

#include "tests/support/reply.h"
#include "violet/net/listener.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace violet::test {

class Client {
 public:
  Client() = default;
  explicit Client(const net::Endpoint& endpoint) { connect(endpoint); }
  Client(Client&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), reader_(std::move(other.reader_)) {}
  Client& operator=(Client&& other) noexcept {
    close();
    descriptor_ = std::exchange(other.descriptor_, -1);
    reader_ = std::move(other.reader_);
    return *this;
  }
  ~Client() { close(); }

  bool connect(const net::Endpoint& endpoint);
  // False when the peer is gone.
  bool send(std::string_view bytes);
  // The next whole reply; status 0 when the peer closes first or nothing comes for `most_ms`.
  Reply reply(int most_ms = 10'000, ReadAs as = {});
  Reply ask(std::string_view bytes) { return send(bytes) ? reply() : Reply{}; }
  // Reads some bytes, at most `most`; "" at the end or when nothing comes.
  std::string read_some(std::size_t most = 65'536, int most_ms = 10'000);
  // Whether the end of the stream (or a reset) comes within `most_ms`; what comes before is read away.
  bool is_closed_within(int most_ms);
  void half_close();
  // Closes with a reset.
  void reset();
  void close();
  void shrink_receive_buffer();
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }

 private:
  bool wait_readable(int most_ms);
  int descriptor_ = -1;
  ReplyReader reader_;
};

// Runs `body` in a child process; its exit status, or 1000 + signal. Killed (1009) after `most_ms`.
int in_child(const std::function<int()>& body, int most_ms = 60'000);
// The same without waiting: the pid.
int start_child(const std::function<int()>& body);
int wait_child(int pid, int most_ms = 60'000);

// Waits until `is_true()`, looking every millisecond; false after `most_ms`.
bool eventually(const std::function<bool()>& is_true, int most_ms = 10'000);

}  // namespace violet::test
