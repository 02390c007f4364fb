#pragma once

// A case: what is sent to an echo, and what has to come back. Each is tried on our server over HTTP/1.1 and HTTP/2 and
// on our client, whole, byte by byte, and cut in two at every byte (at some of the long ones).

#include "tests/conformance/websocket/rig.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace violet::test {

struct Case {
  std::string name;
  std::string sent;
  Frames expected;             // in order; a Close is compared by its code alone
  int close_code = 0;          // of the Close that has to come last; 0: none comes
  bool is_of_servers = false;  // says nothing about a client: it is about masks
};

// `more_fields` go into the handshake.
void expect_case(const Case& one, const WebSocketOptions& options = {}, std::string_view more_fields = {});

std::string text(std::string_view payload);
std::string binary(std::string_view payload);
// The payload in frames of `size` bytes.
std::string fragments(std::uint8_t opcode, std::string_view payload, std::size_t size);
inline std::string frame(unsigned first, std::string_view payload) {
  return masked(static_cast<std::uint8_t>(first), payload);
}

}  // namespace violet::test
