// h1::client::Session against a server that sends anything.
//
//   byte 0: limits     byte 1: how the bytes are cut     byte 2: what is asked     byte 3: how it ends (FIN, RST,
//   stays) the rest: what the server sends
//
// What must hold: no assertion; every stream hears its events in order and its end exactly once; however the bytes are
// cut, each stream gets the same answer; and a session that was sent bytes nobody asked for is closed.

#include "fuzz/expect.h"
#include "tests/support/h1_client_wire.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using namespace violet;

Limits choose_limits(std::uint8_t byte) {
  Limits limits;
  if ((byte & 1) != 0) {
    limits.field_bytes_max = 160;
    limits.field_count_max = 4;
  }
  if ((byte & 2) != 0) limits.informational_max = 2;
  if ((byte & 4) != 0) limits.receive_bytes_max = 8;
  if ((byte & 8) != 0)
    limits.chunk_extension_bytes_max = limits.chunk_overhead_bytes_max = limits.trailer_bytes_max = 24;
  return limits;
}

// Three requests, two bits of `choice` for each.
void ask(test::H1ClientWire& client, std::array<test::Answers, 3>& answers, std::uint8_t choice) {
  for (test::Answers& one : answers) {
    switch (choice & 3) {
      case 0: client.get(one, "/"); break;
      case 1: client.get(one, "/", "HEAD"); break;
      case 2: client.get(one, "/", "POST", Body(Slice::literal("body")), {{"Expect", "100-continue"}}); break;
      case 3: client.get(one, "/", "GET", {}, {{"Upgrade", "x"}}); break;
    }
    choice >>= 2;
  }
  client.settle();
}

void send(test::H1ClientWire& client, std::string_view bytes, std::size_t step) {
  for (std::size_t at = 0; at < bytes.size() && client.session != nullptr; at += step)
    client.feed(bytes.substr(at, step));
}

std::string run(const std::uint8_t* data, std::string_view bytes, std::size_t step) {
  std::array<test::Answers, 3> answers;
  {
    test::H1ClientWire client(choose_limits(data[0]));
    ask(client, answers, data[2]);
    send(client, bytes, step);
    const bool is_open = client.session != nullptr;
    if (is_open && data[3] % 3 == 0) client.feed_end();
    if (is_open && data[3] % 3 == 1) {
      client.wire->break_off();
      client.settle();
    }
    EXPECT(client.is_closed() || data[3] % 3 == 2);
  }
  std::string story;
  for (const test::Answers& one : answers) {
    EXPECT(one.close_count <= 1 && one.stream == nullptr);
    story += one.story() + "\n";
  }
  return story;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 4, size - 4);
  const std::string whole = run(data, bytes, bytes.size() + 1);
  EXPECT(run(data, bytes, data[1] == 0 ? 1 : data[1]) == whole);
  return 0;
}
