#include "tests/support/h2_wire.h"

#include "violet/base/check.h"

#include <tuple>

namespace violet::test {

H2Wire::~H2Wire() {
  service.held.clear();
  if (session != nullptr) session->abort(Error(ErrorKind::ShuttingDown));
  settle();
  VIOLET_CHECK(session == nullptr);
}

void H2Wire::connect_silently() {
  if (session != nullptr) {
    session->abort(Error(ErrorKind::Cancelled));
    settle();
  }
  static std::uint64_t next_id = 1;
  wire = net::MemoryTransport::make(loop);
  reader = std::make_unique<FrameReader>();
  Connection connection;
  connection.id = next_id++;
  session = new h2::Session(shared, *this, *wire, connection);
  session->open();
}

void H2Wire::connect() {
  connect_silently();
  send(std::string(h2::kPreface) + hello_);
}

FrameReader& H2Wire::read() {
  reader->add(wire->take());
  return *reader;
}

std::optional<h2::Code> H2Wire::goaway() {
  const Frame* last = read().goaway();
  if (last == nullptr) return std::nullopt;
  return static_cast<h2::Code>(last->number(4));
}

void H2Wire::settle() {
  const auto state = [this] {
    return std::tuple(wire->unread_bytes(), wire->written().size(), wire->read_count(), wire->write_count(),
                      wire->is_closed(), service.call_count, closed_count);
  };
  // Some turns without a change: one may only have queued work for the next.
  for (int quiet = 0, turns = 0; quiet < 3 && turns < 1'000'000; ++turns) {
    const auto before = state();
    loop.step(0);
    quiet = before == state() ? quiet + 1 : 0;
  }
}

bool H2Wire::until(const std::function<bool()>& is_true, std::uint64_t most_ms) {
  const std::uint64_t end_us = Loop::clock_us() + most_ms * 1000;
  while (!is_true()) {
    if (Loop::clock_us() > end_us) return false;
    loop.step(5);
  }
  return true;
}

void H2Wire::on_session_closed(h2::Session& closed) noexcept {
  VIOLET_CHECK(&closed == session);
  session = nullptr;
  ++closed_count;
  delete &closed;
}

}  // namespace violet::test
