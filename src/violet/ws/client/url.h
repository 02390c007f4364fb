#pragma once

// Url: where a WebSocket client connects to (RFC 6455 §3): "ws://host[:port]/path?query", "wss://…".

#include "violet/base/error.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace violet::ws {

struct Url {
  bool is_secure = false;
  std::string host;  // a name, or an address without its brackets
  std::uint16_t port = 0;
  std::string authority;  // for Host: with the port where it is not the scheme's
  std::string target;     // path and query, "/" at least

  // Address: another scheme, no host, user information, a bad port, a fragment, or a character that no request target
  // has.
  static Result<Url> parse(std::string_view text);
};

}  // namespace violet::ws
