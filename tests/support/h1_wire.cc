#include "tests/support/h1_wire.h"

#include "violet/base/check.h"

namespace violet::test {

H1Wire::~H1Wire() {
  service.held.clear();
  abort(ErrorKind::ShuttingDown);
  VIOLET_CHECK(is_gone());
}

void H1Wire::abort(ErrorKind why) {
  if (session != nullptr) session->abort(Error(why));
  tunnel.abort(Error(why));
  settle();
}

void H1Wire::connect() {
  if (!is_gone()) abort(ErrorKind::Cancelled);
  static std::uint64_t next_id = 1;
  wire = net::MemoryTransport::make(loop);
  Connection connection;
  connection.id = next_id++;
  session = new h1::Session(shared, *this, *wire, connection);
  session->open();
}

void H1Wire::settle() {
  const auto state = [this] {
    return std::tuple(wire->unread_bytes(), wire->written().size(), wire->read_count(), wire->write_count(),
                      wire->is_closed(), service.call_count, closed_count, tunnel.closed_count());
  };
  // Two turns without a change: one may only have queued work for the next.
  for (int quiet = 0, turns = 0; quiet < 3 && turns < 1'000'000; ++turns) {
    const auto before = state();
    loop.step(0);
    quiet = before == state() ? quiet + 1 : 0;
  }
}

bool H1Wire::until(const std::function<bool()>& is_true, std::uint64_t most_ms) {
  const std::uint64_t end_us = Loop::clock_us() + most_ms * 1000;
  while (!is_true()) {
    if (Loop::clock_us() > end_us) return false;
    loop.step(5);
  }
  return true;
}

void H1Wire::on_session_closed(h1::Session& closed) noexcept {
  VIOLET_CHECK(&closed == session);
  session = nullptr;
  if (!closed.was_handed_over()) ++closed_count;
  delete &closed;
}

}  // namespace violet::test
