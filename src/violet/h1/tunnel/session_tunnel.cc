// h1::Session where a tunnel takes its place.

#include "violet/h1/session.h"

namespace violet::h1 {

violet::Stream& Stream::as_tunnel() { return session_->make_tunnel(*this); }

// One that stands alone on its connection and still sends needs no session any more.
violet::Stream& Session::make_tunnel(Stream& stream) {
  if (is_closed_ || !stream.is_raw_ || stream.is_answered_ || stream.reset_why_ || stream_count_ != 1 ||
      stream.body_.source() == nullptr || !stream.body_.chain().is_empty()) {
    return stream;
  }
  Tunnel::Host* const host = host_.tunnels();
  if (host == nullptr) return stream;
  stream.tunnel_ = new Tunnel(shared_, *host, *transport_, connection_, *stream.receiver_, stream.body_.take_source(),
                              stream.is_source_waiting_);
  return *stream.tunnel_;
}

// The end of the turn in which it was made: everything that the session holds goes over.
void Session::open_tunnel(Stream& stream) noexcept {
  Tunnel& tunnel = *std::exchange(stream.tunnel_, nullptr);
  const net::Bytes received = partial_ ? partial_.bytes() : net::Bytes{};
  const Ref<HeapBuffer> held = partial_.buffer();
  partial_.clear();
  const Tunnel::Held connection{std::exchange(output_, nullptr), is_write_blocked_, writing_,
                                held ? &received : nullptr};
  stream.unlink();
  --stream_count_;
  receiving_ = nullptr;
  shared_.streams.give(&stream);
  let_go();
  tunnel.open(connection);
}

}  // namespace violet::h1
