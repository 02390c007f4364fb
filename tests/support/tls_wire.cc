#include "tests/support/tls_wire.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace violet::test {

// --- one end

void TlsEnd::send(std::string_view bytes) {
  unsent_ += bytes;
  flush();
}

void TlsEnd::finish() {
  is_finishing_ = true;
  flush();
}

void TlsEnd::set_reading(bool reads) {
  reads_ = reads;
  transport->want(reads_, !unsent_.empty());
}

void TlsEnd::close() { std::exchange(transport, nullptr)->close(); }
void TlsEnd::drop() { std::exchange(transport, nullptr)->close_by_reset(); }

void TlsEnd::flush() {
  while (transport != nullptr && !unsent_.empty()) {
    const iovec piece{unsent_.data(), unsent_.size()};
    const ssize_t n = transport->write(&piece, 1);
    if (n < 0) {
      if (n != -EAGAIN) error = transport->error();
      break;
    }
    ++write_count;
    unsent_.erase(0, static_cast<std::size_t>(n));
  }
  if (transport == nullptr) return;
  if (unsent_.empty() && is_finishing_) {
    is_finishing_ = false;
    transport->shutdown();
  }
  transport->want(reads_ && end == 1, !unsent_.empty());
}

void TlsEnd::on_readable() noexcept {
  std::string bytes(read_bytes_max, '\0');
  const ssize_t n = transport->read(bytes.data(), bytes.size());
  if (n > 0) {
    ++read_count;
    received.append(bytes, 0, static_cast<std::size_t>(n));
  } else if (n != -EAGAIN) {
    end = n;
    error = transport->error();
    transport->want(false, !unsent_.empty());
  }
  if (then) then();
}

void TlsEnd::on_writable() noexcept { flush(); }

void TlsEnd::on_secure(tls::Transport& secure) noexcept {
  ++secure_count;
  protocol = secure.protocol();
  server_name = secure.server_name();
  is_resumed = secure.is_resumed();
  has_certificate = secure.peer_certificate(certificate);
  secure.set_owner(*this);
  secure.want(true, false);
}

void TlsEnd::on_refused(tls::Transport& secure, Error reason) noexcept {
  ++refused_count;
  why = reason;
  EXPECT_EQ(&secure, transport);
  if (before_close) before_close();
  close();
}

// --- both

TlsWire::TlsWire(const TlsWireSettings& settings) : host_(settings.host) {
  auto loaded = tls::Credentials::load(settings.server);
  if (!loaded) ADD_FAILURE() << loaded.error();
  credentials = std::move(*loaded);
  auto server_made = tls::ServerContext::make(*credentials, *credentials->snapshot().texts);
  auto client_made = tls::ClientContext::make(settings.client);
  if (!client_made) ADD_FAILURE() << client_made.error();
  server_context = std::move(*server_made);
  client_context = std::move(*client_made);
  connect();
}

TlsWire::~TlsWire() {
  if (server.transport != nullptr) server.drop();
  if (client.transport != nullptr) client.drop();
  loop.step();
}

void TlsWire::connect() {
  for (TlsEnd* end : {&server, &client}) {
    if (end->transport != nullptr) end->drop();
    *end = TlsEnd();
    end->below = net::MemoryTransport::make(loop);
  }
  to_server_.clear();
  to_client_.clear();
  is_server_end_told_ = is_client_end_told_ = false;
  server.transport = tls::Transport::accept(shared, *server_context, *server.below, server);
  client.transport = tls::Transport::connect(shared, *client_context, host_, *client.below, client);
}

void TlsWire::settle() {
  for (int i = 0; i < 4; ++i) loop.step();
}

// True when something has moved.
bool TlsWire::carry(net::MemoryTransport& from, std::string& held, net::MemoryTransport& to, std::size_t piece) {
  held += from.take();
  const std::size_t n = std::min(piece, held.size());
  if (n == 0) return false;
  to.feed(std::string_view(held).substr(0, n));
  held.erase(0, n);
  return true;
}

void TlsWire::run(std::size_t piece) {
  bool is_moving = true;
  while (is_moving) {
    settle();
    is_moving = carry(*client.below, to_server_, *server.below, piece);
    settle();
    is_moving = carry(*server.below, to_client_, *client.below, piece) || is_moving;
    const auto is_over = [](const net::MemoryTransport& wire) { return wire.is_shut_down() || wire.is_closed(); };
    if (!is_moving && is_over(*client.below) && !std::exchange(is_server_end_told_, true)) {
      server.below->feed_end();
      is_moving = true;
    }
    if (!is_moving && is_over(*server.below) && !std::exchange(is_client_end_told_, true)) {
      client.below->feed_end();
      is_moving = true;
    }
  }
}

bool TlsWire::shake() {
  run();
  return server.secure_count == 1 && client.secure_count == 1 && client.transport != nullptr;
}

const Authority& usual_authority() {
  static const Authority kAuthority("Usual CA");
  return kAuthority;
}

TlsWireSettings usual_settings() {
  static const Pem kServer = usual_authority().issue({.common_name = "a.example", .names = "DNS:a.example"});
  TlsWireSettings settings;
  settings.server.certificates = {{kServer.certificate, kServer.key, ""}};
  settings.server.protocols = {"http/1.1"};
  settings.client.ca = usual_authority().certificate();
  settings.client.protocols = {"http/1.1"};
  return settings;
}

}  // namespace violet::test
