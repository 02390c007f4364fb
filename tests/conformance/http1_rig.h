#pragma once

// What the conformance tests of HTTP/1.1 stand on: a real server on a free port with the scripted service, a raw client
// that tells a FIN from a reset, and two questions asked of every case:
//
//   refused(label, bytes, {400})        one answer with one of these statuses, then FIN; nothing behind it is handled
//   accepted(label, bytes, {"200 …"})   exactly these answers, and the next request on the connection is found
//
// Both are asked over a socket in one write and byte by byte, and over memory at every split.

#include "fuzz/wire.h"
#include "tests/conformance/scripted_service.h"
#include "violet/server/server.h"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace violet::test {

class LiveServer {
 public:
  explicit LiveServer(const Limits& limits = {}, std::uint64_t late_ms = 5);
  ~LiveServer();

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  script::ScriptedService service;
  [[nodiscard]] Server& server() noexcept { return *server_; }

 private:
  std::unique_ptr<Server> server_;
  std::uint16_t port_ = 0;
};

// One connection. Every wait is bounded.
class RawClient {
 public:
  enum class End : std::uint8_t { Open, Fin, Reset };

  enum class When : std::uint8_t { Now, Later };

  // `receive_bytes` sets SO_RCVBUF, 0 leaves it. Later: connect() is called by hand.
  explicit RawClient(std::uint16_t port, int receive_bytes = 0, When when = When::Now);
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  ~RawClient();

  void connect();
  // Sends until all is gone or the peer takes no more; answers are read meanwhile, so that nobody blocks for ever.
  // False when the connection broke.
  bool send(std::string_view bytes);
  bool send_bytewise(std::string_view bytes);
  void end_sending();
  void reset();  // RST instead of FIN
  void close();
  // Reads until the end of the connection, or until nothing has come for `quiet_ms`.
  End read_all(int quiet_ms = 5000);
  // Reads until `text` has been received. False: it did not come.
  bool read_until(std::string_view text, int most_ms = 5000);
  [[nodiscard]] const std::string& received() const { return received_; }
  [[nodiscard]] End end() const { return end_; }
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  bool read_some(int wait_ms);
  std::uint16_t port_;
  int descriptor_ = -1;
  std::string received_;
  End end_ = End::Open;
};

// "GET /t HTTP/1.1", Host, these lines, the empty line.
std::string get(std::string_view lines = {}, std::string_view target = "/t");
std::string post(std::string_view lines, std::string_view body, std::string_view target = "/echo");
std::string chunked(std::string_view body, std::string_view target = "/echo");

// The answers as "status body"; "malformed" when they are no answers.
std::vector<std::string> answers_of(std::string_view bytes, const std::vector<std::string>& methods = {});

// Statuses one of which is right.
using Statuses = std::initializer_list<int>;
void refused(std::string_view label, const std::string& bytes, Statuses statuses = {400});
void accepted(std::string_view label, const std::string& bytes, const std::vector<std::string>& answers,
              const std::vector<std::string>& methods = {});
// One request that reaches the handler as "GET /t" for the authority "a".
void accepted(std::string_view label, const std::string& bytes);
// Either is right: taken as `answer`, or refused.
void accepted_or_refused(std::string_view label, const std::string& bytes, const std::string& answer,
                         Statuses statuses);

}  // namespace violet::test
