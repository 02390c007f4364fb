// The fields of a WebSocket handshake: extension offers and answers, subprotocols, origins, keys.
//
// What must hold: no assertion; what a server answers to an offer is right to a client that has offered the same.

#include "fuzz/expect.h"
#include "violet/ws/handshake.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using namespace violet;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  static_cast<void>(ws::is_origin_allowed(text, "a.example:8080", {"https://b.example"}));
  if (ws::is_key(text)) static_cast<void>(ws::accept_value(text));
  Arena arena;
  http::Fields fields(arena);
  if (!fields.add(http::FieldId::SecWebSocketExtensions, text)) return 0;
  if (!fields.add(http::FieldId::SecWebSocketProtocol, text)) return 0;
  const std::vector<std::string> known{"chat", "superchat"};
  const std::string_view protocol = ws::choose_protocol(fields, known);
  EXPECT(protocol.empty() || protocol == "chat" || protocol == "superchat");

  ws::Compression wanted;
  wanted.is_on = true;
  wanted.keeps_own_context = (data[0] & 1) != 0;
  wanted.lets_peer_keep_context = (data[0] & 2) != 0;
  wanted.own_window_bits = 9 + data[0] % 7;
  wanted.peer_window_bits = 9 + data[0] / 7 % 7;
  std::string answer;
  const ws::DeflateParams params = ws::choose_deflate(fields, wanted, answer);
  EXPECT(params.is_on == !answer.empty());
  EXPECT(!params.is_on || (params.own_bits >= 9 && params.peer_bits >= 8));
  static_cast<void>(ws::read_deflate_answer(fields, wanted));

  // A client of our own against a server of our own.
  http::Fields offer(arena);
  EXPECT(offer.add(http::FieldId::SecWebSocketExtensions, ws::deflate_offer(wanted)));
  std::string ours;
  const ws::DeflateParams server = ws::choose_deflate(offer, wanted, ours);
  EXPECT(server.is_on);
  http::Fields response(arena);
  EXPECT(response.add(http::FieldId::SecWebSocketExtensions, ours));
  const auto client = ws::read_deflate_answer(response, wanted);
  EXPECT(client && client->is_on);
  EXPECT(client->own_bits <= server.peer_bits && client->peer_bits >= server.own_bits);
  EXPECT(client->keeps_peer || !server.keeps_own);
  EXPECT(server.keeps_peer || !client->keeps_own);
  return 0;
}
