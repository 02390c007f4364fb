#pragma once

// SocketTransport: a connected TCP or Unix stream socket as a Transport. Lives on the heap and frees itself; see
// Transport.

#include "violet/memory/pool.h"
#include "violet/net/transport.h"
#include "violet/net/watcher.h"

namespace violet::net {

class SocketTransport final : public Transport, private Watcher {
 public:
  // Takes over a non-blocking, connected descriptor. On failure it is closed.
  static Result<SocketTransport*> open(Loop& loop, int descriptor);
  // Begins to connect to a TCP address; once it is writable a write tells whether that went well. REQUIRES: IPv4 or
  // IPv6.
  static Result<SocketTransport*> connect(Loop& loop, const Address& address);

  [[nodiscard]] ssize_t read(char* to, std::size_t size) noexcept override;
  [[nodiscard]] ssize_t peek(char* to, std::size_t size) noexcept override;
  [[nodiscard]] ssize_t write(const iovec* pieces, int count) noexcept override;
  [[nodiscard]] ssize_t send_file(int descriptor, std::uint64_t offset, std::size_t size) noexcept override;
  [[nodiscard]] std::uint64_t unread_bytes_max() const noexcept override;
  void want(bool read, bool write) noexcept override;
  void shutdown() noexcept override;
  void close() noexcept override;
  void close_by_reset() noexcept override;
  [[nodiscard]] Address local() const noexcept override;
  [[nodiscard]] bool is_secure() const noexcept override { return false; }

  // Bytes of heap a connection's transport takes.
  static constexpr std::size_t kBytes = 200;

 private:
  explicit SocketTransport(int descriptor) noexcept : descriptor_(descriptor) {}
  ~SocketTransport() = default;
  static SocketTransport& of(Watcher& watcher) noexcept;
  static void on_events(Watcher& watcher, int error, int events) noexcept;
  static void on_closed(Watcher& watcher) noexcept;
  static const Calls kCalls;

  int descriptor_;
  bool is_peer_closed_ = false;
};
static_assert(sizeof(SocketTransport) <= SocketTransport::kBytes);

// sockaddr <-> Address.
struct SocketAddress {
  alignas(8) unsigned char storage[112];  // room for sockaddr_un
  unsigned size = 0;
};
Address address_of(const void* sockaddr_storage) noexcept;
// REQUIRES: an IPv4 or IPv6 address.
SocketAddress socket_address(const Address& address) noexcept;

}  // namespace violet::net
