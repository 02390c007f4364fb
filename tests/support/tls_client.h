#pragma once

// TlsClient: a blocking TLS client on a socket, straight on OpenSSL, so that it shares no code with what it tests.
// Every call is bounded in time.

#include "tests/support/client.h"

#include <string>
#include <string_view>

struct ssl_st;
struct ssl_ctx_st;
struct ssl_session_st;

namespace violet::test {

class TlsClient {
 public:
  struct Options {
    std::string host = "a.example";  // SNI; "": none
    std::string protocol = "http/1.1";
    std::string certificate;  // PEM, with key
    std::string key;
    ssl_session_st* session = nullptr;  // to come back with
    std::string before;                 // bytes in front of the handshake
    int version = 0;                    // the only one; 0: any
  };

  TlsClient(const net::Endpoint& endpoint, const Options& options);
  explicit TlsClient(const net::Endpoint& endpoint) : TlsClient(endpoint, Options{}) {}
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;
  ~TlsClient();

  // The handshake is done.
  [[nodiscard]] bool is_open() const { return is_open_; }
  bool send(std::string_view bytes);
  Reply reply();
  Reply ask(std::string_view bytes) { return send(bytes) ? reply() : Reply{}; }
  // Reads to the end; true when it was an end with close_notify.
  bool ends_well();
  [[nodiscard]] bool is_resumed() const;
  // Common name of the server's certificate.
  [[nodiscard]] std::string server() const;
  // Caller's; it has the newest ticket that was read.
  [[nodiscard]] ssl_session_st* session() const;

 private:
  Client client_;
  ssl_ctx_st* context_;
  ssl_st* ssl_;
  ReplyReader reader_;
  bool is_open_ = false;
};

}  // namespace violet::test
