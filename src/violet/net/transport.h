#pragma once

// Transport: a byte stream under a session: a plain socket, TLS, or memory in tests. Sessions pull: they are told that
// something can be read and read it into their own block.
//
// A session owns its transport through close(): after it the owner hears nothing more, and the transport frees itself
// once the loop has let go of it. Deleting the owner right after close() is legal, also from inside an event.

#include "violet/base/address.h"
#include "violet/base/error.h"

#include <cstdint>
#include <sys/types.h>
#include <sys/uio.h>

namespace violet::net {

class Transport {
 public:
  class Owner {
   public:
    virtual void on_readable() noexcept = 0;
    virtual void on_writable() noexcept = 0;
    // While nobody wants to read: the peer has closed its side (there may be unread bytes before that), once.
    virtual void on_peer_closed() noexcept = 0;
    // The connection is broken; nothing can be read or written any more.
    virtual void on_broken() noexcept = 0;

   protected:
    ~Owner() = default;
  };

  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  void set_owner(Owner& owner) noexcept { owner_ = &owner; }

  // Bytes read; 0 at the end of the stream; -EAGAIN when there is nothing now; another negated errno on failure.
  [[nodiscard]] virtual ssize_t read(char* to, std::size_t size) noexcept = 0;
  // The same, and the bytes stay to be read.
  [[nodiscard]] virtual ssize_t peek(char* to, std::size_t size) noexcept = 0;
  // Bytes taken, perhaps fewer than given; -EAGAIN when there is no room; another negated errno on failure. What was
  // not taken stands, unchanged, at the front of what is offered next: TLS may have sealed it already.
  [[nodiscard]] virtual ssize_t write(const iovec* pieces, int count) noexcept = 0;
  // The same for a range of a file; 0 means that the file ends before `size`.
  [[nodiscard]] virtual ssize_t send_file(int descriptor, std::uint64_t offset, std::size_t size) noexcept = 0;
  // After on_peer_closed(): no more than so many bytes can still be read.
  [[nodiscard]] virtual std::uint64_t unread_bytes_max() const noexcept { return ~std::uint64_t{0}; }
  // What the owner wants to be told about. A broken connection is told while any of the two is wanted, the peer's close
  // while reading is not.
  virtual void want(bool read, bool write) noexcept = 0;
  // Ends our direction once everything written has left (FIN, close_notify).
  virtual void shutdown() noexcept = 0;
  virtual void close() noexcept = 0;
  // The same by a reset (RST, and no close_notify), where the peer must not take the end of the stream for the end of a
  // message.
  virtual void close_by_reset() noexcept { close(); }

  [[nodiscard]] virtual Address local() const noexcept = 0;
  [[nodiscard]] virtual bool is_secure() const noexcept = 0;

 protected:
  Transport() noexcept = default;
  ~Transport() = default;

  Owner* owner_ = nullptr;
};

}  // namespace violet::net
