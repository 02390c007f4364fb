#pragma once

// WireFixture: what the contract suite needs of a wire to speak to a server on it as a client. One class for each wire
// implements it; contract_test.cc is written against it alone and against core/stream.h.
//
// A fixture owns the loop, the site, one connection and its client's side. Requests are numbered in the order of
// open().

#include "tests/support/script.h"
#include "violet/core/site.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace violet::test {

struct ClientRequest {
  std::string method = "GET";
  std::string path = "/";
  std::vector<std::pair<std::string, std::string>> fields;
  bool has_body = false;              // send() and end() follow
  std::optional<std::size_t> length;  // of the body, where it is declared
  bool is_tunnel = false;             // asks for a tunnel; send() and end() follow once it is accepted
};

// What the client has of one answer so far.
struct ClientReply {
  std::vector<int> informational;
  int status = 0;  // 0: no final head yet
  std::vector<std::pair<std::string, std::string>> fields;
  std::string body;
  std::vector<std::pair<std::string, std::string>> trailers;
  bool is_whole = false;  // it has ended as it should; a tunnel: its server's direction has
  bool is_cut = false;    // it never will
};

class WireFixture {
 public:
  virtual ~WireFixture() = default;

  virtual ScriptService& service() = 0;
  virtual Site& site() = 0;

  // Sends a request's head; its number.
  virtual std::size_t open(const ClientRequest& request) = 0;
  // Sends body bytes of a request, and its end.
  virtual void send(std::size_t request, std::string_view bytes) = 0;
  virtual void end(std::size_t request, const std::vector<std::pair<std::string, std::string>>& trailers = {}) = 0;
  // Takes up to `bytes` of answer from now on; unlimited at first.
  virtual void set_room(std::size_t bytes) = 0;
  virtual void add_room(std::size_t bytes) = 0;
  // The client is gone.
  virtual void vanish() = 0;
  // Runs the loop until nothing moves.
  virtual void settle() = 0;
  virtual ClientReply reply(std::size_t request) = 0;

  // Requests may ask for tunnels, and what status accepts one.
  [[nodiscard]] virtual int tunnel_status() const { return 0; }
};

}  // namespace violet::test
