#pragma once

// Plan: what is sent where, prepared to the byte, and in which order. Made once; all threads read it.

#include "load/options.h"
#include <violet/base/address.h>
#include <violet/base/error.h>
#include <violet/http/method.h>
#include <violet/ws/message.h>

#include <cstdint>
#include <expected>
#include <string>
#include <utility>
#include <vector>

namespace violet::load {

struct Request {
  std::string bytes;  // head and body as HTTP/1.1 sends them; of a WebSocket the handshake, without its key
  http::Method method = http::Method::Get;
  bool is_raw = false;
  // Of those that are not raw, for wires that frame them.
  std::string method_text;
  std::string target;
  std::string scheme;
  std::string authority;
  std::vector<std::pair<std::string, std::string>> fields;
  std::string body;
  ws::Kind kind = ws::Kind::Text;  // of a WebSocket, whose messages are the body
};

struct Plan {
  Address address;
  std::string host;  // for the certificate
  bool is_secure = false;
  bool is_socket = false;
  std::vector<Request> requests;
  std::vector<std::uint32_t> order;  // indices of requests, each as often as its weight says, well mixed

  // What to send as the n-th request.
  [[nodiscard]] std::uint32_t at(std::uint64_t n) const noexcept { return order[n % order.size()]; }
};

// Resolves the host and reads the files. An error is a text for whoever typed the command.
std::expected<Plan, std::string> make_plan(const Options& options);

// Indices of `weights`, each as often as its weight, spread as evenly as can be: {3, 1} is 0 0 1 0.
std::vector<std::uint32_t> spread(const std::vector<std::uint32_t>& weights);

}  // namespace violet::load
