#pragma once

// MemoryTransport: a Transport without a kernel, for tests, benchmarks and the test client. The session has one end;
// the other end is driven by hand through feed() and take(). It can split reads, run out of room, end and break at any
// byte.
//
//   Ref<MemoryTransport> wire = MemoryTransport::make(loop);
//   new h1::Session(shared, host, *wire, connection);
//   wire->feed("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
//   loop.step();
//   std::string answer = wire->take();

#include "violet/event/loop.h"
#include "violet/memory/ref.h"
#include "violet/net/transport.h"

#include <string>
#include <string_view>

namespace violet::net {

class MemoryTransport final : public Transport {
 public:
  static Ref<MemoryTransport> make(Loop& loop) { return Ref<MemoryTransport>::adopt(new MemoryTransport(loop)); }

  // --- the far end
  // Bytes for the session to read.
  void feed(std::string_view bytes);
  // The end of the far end's stream (FIN), behind everything fed.
  void feed_end() noexcept;
  // The connection is gone (RST).
  void break_off() noexcept;
  // What the session has written since the last call.
  [[nodiscard]] std::string take() noexcept;
  [[nodiscard]] const std::string& written() const noexcept { return written_; }
  // The session has ended its direction.
  [[nodiscard]] bool is_shut_down() const noexcept { return is_shut_down_; }
  // The session has closed the transport by a reset.
  [[nodiscard]] bool is_reset() const noexcept { return is_reset_; }
  // The session has closed the transport.
  [[nodiscard]] bool is_closed() const noexcept { return is_closed_; }
  [[nodiscard]] bool wants_to_read() const noexcept { return wants_read_; }
  [[nodiscard]] std::size_t unread_bytes() const noexcept { return incoming_.size() - read_; }
  // Calls of read() that gave bytes, and of write() that took some.
  [[nodiscard]] std::size_t read_count() const noexcept { return read_count_; }
  [[nodiscard]] std::size_t write_count() const noexcept { return write_count_; }

  // Bytes that one read() gives at most.
  void set_read_max(std::size_t bytes) noexcept { read_max_ = bytes; }
  // Bytes that write() will take from now on before it says EAGAIN; add_room() makes more.
  void set_room(std::size_t bytes) noexcept { room_ = bytes; }
  void add_room(std::size_t bytes) noexcept;

  void retain() noexcept { ++count_; }
  void release() noexcept {
    if (--count_ == 0) delete this;
  }

  // --- the session's end
  [[nodiscard]] ssize_t read(char* to, std::size_t size) noexcept override;
  [[nodiscard]] ssize_t peek(char* to, std::size_t size) noexcept override;
  [[nodiscard]] ssize_t write(const iovec* pieces, int count) noexcept override;
  [[nodiscard]] ssize_t send_file(int descriptor, std::uint64_t offset, std::size_t size) noexcept override;
  [[nodiscard]] std::uint64_t unread_bytes_max() const noexcept override { return unread_bytes(); }
  void want(bool read, bool write) noexcept override;
  void shutdown() noexcept override { is_shut_down_ = true; }
  void close() noexcept override;
  void close_by_reset() noexcept override {
    is_reset_ = true;
    close();
  }
  [[nodiscard]] Address local() const noexcept override;
  [[nodiscard]] bool is_secure() const noexcept override { return false; }

 private:
  explicit MemoryTransport(Loop& loop) noexcept : loop_(loop) {}
  ~MemoryTransport() = default;
  void notify() noexcept;
  void on_ready() noexcept;
  [[nodiscard]] bool is_readable() const noexcept { return unread_bytes() > 0 || is_ended_; }

  Loop& loop_;
  std::uint32_t count_ = 2;  // the far end's and the session's
  std::string incoming_;
  std::size_t read_ = 0;
  std::string written_;
  std::size_t read_max_ = ~std::size_t{0};
  std::size_t room_ = ~std::size_t{0};
  std::size_t read_count_ = 0;
  std::size_t write_count_ = 0;
  bool is_ended_ = false;
  bool is_broken_ = false;
  bool is_closed_ = false;
  bool is_shut_down_ = false;
  bool is_reset_ = false;
  bool is_peer_close_told_ = false;
  bool wants_read_ = false;
  bool wants_write_ = false;
  DeferredTo<&MemoryTransport::on_ready> ready_{*this};
};

}  // namespace violet::net
