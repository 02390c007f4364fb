#include "violet/net/memory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>
#include <utility>

namespace violet::net {

void MemoryTransport::feed(std::string_view bytes) {
  if (read_ == incoming_.size()) {
    incoming_.clear();
    read_ = 0;
  }
  incoming_.append(bytes);
  notify();
}

void MemoryTransport::feed_end() noexcept {
  is_ended_ = true;
  notify();
}

void MemoryTransport::break_off() noexcept {
  is_broken_ = true;
  notify();
}

std::string MemoryTransport::take() noexcept { return std::exchange(written_, {}); }

void MemoryTransport::add_room(std::size_t bytes) noexcept {
  room_ = room_ > ~std::size_t{0} - bytes ? ~std::size_t{0} : room_ + bytes;
  notify();
}

// Level-triggered, like a descriptor: what is not read is told again at the end of the turn.
void MemoryTransport::notify() noexcept {
  if (is_closed_ || owner_ == nullptr) return;
  const bool tells_close = is_ended_ && !wants_read_ && !is_peer_close_told_;
  if ((is_broken_ && (wants_read_ || wants_write_ || !is_peer_close_told_)) || tells_close ||
      (wants_read_ && is_readable()) || (wants_write_ && room_ > 0)) {
    loop_.defer(ready_);
  }
}

void MemoryTransport::on_ready() noexcept {
  if (is_closed_) return;
  const Ref<MemoryTransport> held(this);
  if (is_broken_) {
    owner_->on_broken();
    return;
  }
  if (wants_write_ && room_ > 0) owner_->on_writable();
  if (!is_closed_ && wants_read_ && is_readable()) owner_->on_readable();
  if (!is_closed_ && is_ended_ && !wants_read_ && !is_peer_close_told_) {
    is_peer_close_told_ = true;
    owner_->on_peer_closed();
  }
  notify();
}

ssize_t MemoryTransport::peek(char* to, std::size_t size) noexcept {
  if (is_broken_) return -ECONNRESET;
  const std::size_t n = std::min({size, unread_bytes(), read_max_});
  if (n == 0) return is_ended_ ? 0 : -EAGAIN;
  std::memcpy(to, incoming_.data() + read_, n);
  return static_cast<ssize_t>(n);
}

ssize_t MemoryTransport::read(char* to, std::size_t size) noexcept {
  const ssize_t n = peek(to, size);
  if (n > 0) {
    read_ += static_cast<std::size_t>(n);
    ++read_count_;
  }
  return n;
}

ssize_t MemoryTransport::write(const iovec* pieces, int count) noexcept {
  if (is_broken_ || is_shut_down_) return -EPIPE;
  std::size_t taken = 0;
  for (int i = 0; i < count && room_ > 0; ++i) {
    const std::size_t n = std::min(pieces[i].iov_len, room_);
    written_.append(static_cast<const char*>(pieces[i].iov_base), n);
    taken += n;
    if (room_ != ~std::size_t{0}) room_ -= n;
  }
  if (taken == 0) return -EAGAIN;
  ++write_count_;
  return static_cast<ssize_t>(taken);
}

ssize_t MemoryTransport::send_file(int descriptor, std::uint64_t offset, std::size_t size) noexcept {
  if (is_broken_ || is_shut_down_) return -EPIPE;
  const std::size_t wanted = std::min({size, room_, std::size_t{64 * 1024}});
  if (wanted == 0) return -EAGAIN;
  const std::size_t before = written_.size();
  written_.resize(before + wanted);
  const ssize_t n = ::pread(descriptor, written_.data() + before, wanted, static_cast<off_t>(offset));
  written_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  if (n < 0) return -errno;
  if (room_ != ~std::size_t{0}) room_ -= static_cast<std::size_t>(n);
  if (n > 0) ++write_count_;
  return n;
}

void MemoryTransport::want(bool read, bool write) noexcept {
  wants_read_ = read;
  wants_write_ = write;
  notify();
}

void MemoryTransport::close() noexcept {
  if (is_closed_) return;
  is_closed_ = true;
  ready_.unlink();
  release();
}

Address MemoryTransport::local() const noexcept {
  Address address;
  address.family = Address::Family::Ipv4;
  address.bytes = {127, 0, 0, 1};
  return address;
}

}  // namespace violet::net
