#pragma once

// TlsWire: two tls::Transports, a server and a client, over two MemoryTransports, with everything between them carried
// by hand: whole, in pieces of any size, or held back.
//
//   TlsWire wire({.server = {.certificates = {{pem.certificate, pem.key}}}, .client = {.ca =
//   authority.certificate()}}); ASSERT_TRUE(wire.shake()); wire.client.send("ping"); wire.run();
//   EXPECT_EQ(wire.server.received, "ping");

#include "tests/support/certificates.h"
#include "violet/net/memory.h"
#include "violet/tls/certificate/credentials.h"
#include "violet/tls/transport.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace violet::test {

// One end as its owner sees it.
class TlsEnd final : public net::Transport::Owner, public tls::Transport::Handshake {
 public:
  void send(std::string_view bytes);  // as much as is taken now, the rest when there is room
  void finish();                      // ends our direction behind what was sent
  void set_reading(bool reads);
  void close();
  void drop();  // closes by a reset

  tls::Transport* transport = nullptr;
  Ref<net::MemoryTransport> below;
  std::string received;
  ssize_t end = 1;  // what read() answered last that was neither bytes nor EAGAIN
  std::size_t read_bytes_max = 65'536;
  std::size_t read_count = 0;  // calls that gave bytes
  std::size_t write_count = 0;
  int secure_count = 0;
  int refused_count = 0;
  int peer_closed_count = 0;
  int broken_count = 0;
  Error why;
  Error error;  // of the transport, when it had one
  // What the handshake has brought.
  std::string protocol;
  std::string server_name;
  bool is_resumed = false;
  bool has_certificate = false;  // the peer's, verified
  tls::PeerCertificate certificate;
  std::function<void()> then;          // inside on_readable, after the read
  std::function<void()> before_close;  // of a refused handshake

  void on_readable() noexcept override;
  void on_writable() noexcept override;
  void on_peer_closed() noexcept override { ++peer_closed_count; }
  void on_broken() noexcept override { ++broken_count; }
  void on_secure(tls::Transport& secure) noexcept override;
  void on_refused(tls::Transport& secure, Error reason) noexcept override;

 private:
  void flush();
  std::string unsent_;
  bool is_finishing_ = false;
  bool reads_ = true;
};

struct TlsWireSettings {
  tls::ServerSettings server;
  tls::ClientSettings client;
  std::string host = "a.example";
};

class TlsWire {
 public:
  explicit TlsWire(const TlsWireSettings& settings);
  TlsWire(const TlsWire&) = delete;
  TlsWire& operator=(const TlsWire&) = delete;
  ~TlsWire();

  // New transports on both ends; earlier ones are dropped.
  void connect();
  // Until the handshake is over on both ends; true when both are secure.
  bool shake();
  // Carries bytes, `piece` at a time, until nothing moves any more.
  void run(std::size_t piece = ~std::size_t{0});
  // Runs the loop until it has nothing to do, and carries nothing.
  void settle();

  Loop loop;
  tls::Shared shared{loop};
  std::shared_ptr<tls::Credentials> credentials;
  Ref<tls::ServerContext> server_context;
  Ref<tls::ClientContext> client_context;
  TlsEnd server;
  TlsEnd client;

 private:
  static bool carry(net::MemoryTransport& from, std::string& held, net::MemoryTransport& to, std::size_t piece);
  std::string host_;
  std::string to_server_;  // taken from one end and not fed to the other yet
  std::string to_client_;
  bool is_server_end_told_ = false;
  bool is_client_end_told_ = false;
};

// A server for a.example whose authority the client trusts.
TlsWireSettings usual_settings();
const Authority& usual_authority();

}  // namespace violet::test
