#include "load/engine/socket_wire.h"

#include <violet/ws/client/stream.h>
#include <violet/ws/handshake.h>

#include <array>

namespace violet::load {

class SocketWire::Peer final : public ws::Application {
 public:
  explicit Peer(SocketWire& wire) noexcept : wire_(&wire) { takes_messages = true; }
  void forget() noexcept { wire_ = nullptr; }
  void on_message(ws::Session&, ws::Message&& message) override {
    if (wire_ != nullptr) wire_->on_message(message);
  }
  void on_close(ws::Session& session) noexcept override {
    if (wire_ != nullptr) wire_->on_closed(session.end_error());
  }
  void dispose() noexcept override { delete this; }

 private:
  ~Peer() = default;
  SocketWire* wire_;
};

SocketWire::SocketWire(WireShared& shared, Owner& owner, net::Transport& transport)
    : shared_(shared), owner_(owner), transport_(&transport), waiting_(shared.limits.pipeline_max) {
  Task<Result<ws::Agreement>> task = agree();
  root_.start(std::move(task),
              [this](Outcome<Result<ws::Agreement>>&& outcome) noexcept { finish(std::move(outcome)); });
}

SocketWire::~SocketWire() {
  if (peer_ != nullptr) peer_->forget();
  if (transport_ != nullptr) transport_->close();
}

// --- coming about

Task<Result<ws::Agreement>> SocketWire::agree() {
  std::array<std::uint8_t, 16> nonce;
  VIOLET_CHECK(uv_random(nullptr, nullptr, nonce.data(), nonce.size(), 0, nullptr) == 0);
  const auto bytes = ws::key_of(nonce);
  const std::string key(bytes.data(), bytes.size());
  ws::AskForSwitch asked(*transport_, *shared_.handshake + "Sec-WebSocket-Key: " + key + "\r\n\r\n");
  Result<void> answered = co_await asked;
  if (!answered) co_return fail(answered.error());
  early_ = std::move(asked.early);
  co_return ws::read_agreement(asked.head, key, ws::Options());
}

void SocketWire::finish(Outcome<Result<ws::Agreement>>&& outcome) noexcept {
  if (aborted_) return owner_.on_wire_closed(*aborted_);
  if (!outcome.has_value() || !outcome.value()) return owner_.on_wire_refused();
  peer_ = new Peer(*this);
  ws::Session& session = ws::Session::make(*shared_.loop, *shared_.socket_settings, ws::Role::Client);
  auto* stream = new ws::ClientStream(*shared_.loop, *std::exchange(transport_, nullptr), connection_);
  session.open(*stream, peer_);
  socket_.emplace(session);
  stream->open(session, session.body(), early_);
  owner_.on_wire_ready();
}

// --- messages

Stream* SocketWire::open(Receiver& receiver) {
  if (is_leaving() || count_ == waiting_.size()) return nullptr;
  waiting_[(first_ + count_++) % waiting_.size()] = &receiver;
  return this;
}

void SocketWire::send(Stream&, const Prepared& prepared) {
  static_cast<void>(socket_->session().send(prepared.request.kind, Slice::borrowed(prepared.request.body)));
}

Receiver* SocketWire::next_receiver() noexcept {
  if (count_ == 0) return nullptr;
  Receiver* receiver = waiting_[first_];
  first_ = (first_ + 1) % waiting_.size();
  --count_;
  return receiver;
}

// What nobody has asked for is let be: some servers greet.
void SocketWire::on_message(const ws::Message& message) {
  Receiver* receiver = next_receiver();
  if (receiver == nullptr) return;
  if (message.size() > 0) receiver->on_data(message.slice());
  receiver->on_end(nullptr);
  receiver->on_close({});
}

// --- ending

void SocketWire::drain() noexcept {
  if (socket_) socket_->close();
}

void SocketWire::abort(Error why) noexcept {
  if (socket_) return socket_->session().abort(why);
  aborted_ = why;
  root_.stop(why);
}

void SocketWire::on_closed(Error why) noexcept {
  std::exchange(peer_, nullptr)->forget();
  while (Receiver* receiver = next_receiver()) receiver->on_close(why);
  owner_.on_wire_closed(why);
}

}  // namespace violet::load
