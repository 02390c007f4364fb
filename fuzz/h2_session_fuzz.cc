// A whole h2::Session with the real router, and a peer that speaks in frames.
//
//   byte 0: limits     byte 1: how fast the peer reads     byte 2: the peer's end
//   then frames: kind, stream, size, and so many bytes of payload. Sizes in the frames are right, so that what is in
//   them is reached; a kind of its own sends bytes as they are.
//
// What must hold: no assertion, no rest that moves for ever; what comes back are well-formed frames in an order that a
// client may expect; and at the end nothing is left behind.

#include "fuzz/expect.h"
#include "fuzz/wire.h"
#include "tests/support/h2_wire.h"
#include "violet/base/log.h"
#include "violet/web/input/body.h"
#include "violet/web/input/path.h"
#include "violet/web/router.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace {

using namespace violet;
using h2::FrameType;

Limits choose_limits(std::uint8_t byte) {
  Limits limits = fuzz::limits_without_time();
  if ((byte & 1) != 0) limits.h2_streams_max = 2;
  if ((byte & 2) != 0) limits.receive_bytes_max = 8;
  if ((byte & 4) != 0) limits.flush_bytes_max = 32;
  if ((byte & 8) != 0) limits.unsent_bytes_max = 64;
  if ((byte & 16) != 0) limits.discard_bytes_max = 8;
  if ((byte & 32) != 0) limits.body_bytes_max = 16;
  if ((byte & 64) != 0) limits.field_bytes_max = 300;
  if ((byte & 128) != 0) limits.h2_control_frames_max = limits.h2_stream_deaths_max = 4;
  return limits;
}

Router& router() {
  static Router& one = [] -> Router& {
    static Router routes;
    routes.get("/", [] { return "hello"; });
    routes.post("/", [](Text body) { return std::string(*body); });
    routes.get("/large", [] { return std::string(100'000, 'x'); });
    routes.get("/waits/{n}", [](Path<int> n) -> Task<int> { co_return *n; });
    EXPECT(routes.freeze().empty());
    return routes;
  }();
  return one;
}

// One frame off the front of `rest`.
std::string take_frame(std::string_view& rest) {
  const auto kind = static_cast<std::uint8_t>(rest[0]);
  const auto stream = static_cast<std::uint32_t>(static_cast<unsigned char>(rest[1]));
  const std::size_t size = std::min<std::size_t>(static_cast<unsigned char>(rest[2]), rest.size() - 3);
  const std::string_view payload = rest.substr(3, size);
  rest.remove_prefix(3 + size);
  const auto flags = static_cast<std::uint8_t>(kind >> 4);
  const auto end = static_cast<std::uint8_t>(flags & 1 ? h2::flag::kEndStream : 0);
  switch (kind & 15) {
    case 0: return test::data(stream, payload, end != 0);
    case 1: return test::headers(stream, payload, end != 0, (flags & 2) == 0);
    case 2: return test::get(stream, "/" + std::string(payload));
    case 3: return test::post(stream, "/", {{"x", std::string(payload)}});
    case 4: return test::reset(stream, static_cast<h2::Code>(size));
    case 5: return test::window_update(stream & 15, static_cast<std::uint32_t>(size) << (flags * 2));
    case 6: return test::frame(FrameType::Settings, end, 0, payload.substr(0, payload.size() / 6 * 6));
    case 7:
      return test::frame(
          FrameType::Ping, end, 0,
          std::string(payload.substr(0, 8)) + std::string(8 - std::min<std::size_t>(8, payload.size()), '.'));
    case 8: return test::continuation(stream, payload, (flags & 2) == 0);
    case 9: return test::padded_data(stream, payload, flags, end != 0);
    case 10: return test::headers(stream, test::FieldList{{"x-t", std::string(payload)}}, end != 0);
    case 11: return test::frame(FrameType::PriorityUpdate, 0, 0, payload);
    case 12: return test::goaway(stream, static_cast<h2::Code>(flags));
    case 13:
      return test::headers(
          stream,
          test::FieldList{
              {":method", "CONNECT"}, {":protocol", "x"}, {":scheme", "http"}, {":path", "/"}, {":authority", "a"}},
          end != 0);
    case 14: return test::frame(static_cast<FrameType>(stream), kind, static_cast<std::uint32_t>(size & 7), payload);
    default: return std::string(payload);
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  violet::set_log_level(violet::LogLevel::Off);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3 || size > 20'000) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data) + 3, size - 3);
  test::H2Wire wire(choose_limits(data[0]));
  wire.service.handler = [](Exchange& exchange) { router().serve(exchange); };
  const std::size_t room = data[1];
  if (room != 0) wire.wire->set_room(room);
  while (rest.size() >= 3 && !wire.wire->is_closed()) {
    wire.wire->feed(take_frame(rest));
    wire.settle();
    if (room != 0 && !wire.wire->is_closed()) wire.wire->add_room(room);
  }
  if (!wire.wire->is_closed() && (data[2] & 1) != 0) wire.session->drain();
  if (!wire.wire->is_closed() && (data[2] & 2) != 0) wire.wire->add_room(1 << 22);
  wire.settle();
  EXPECT(wire.read().error().empty());
  if (!wire.wire->is_closed()) (data[2] & 4) != 0 ? wire.wire->break_off() : wire.wire->feed_end();
  if (!wire.wire->is_closed()) wire.wire->add_room(1 << 22);
  wire.settle();
  // What is left waits for windows that cannot open any more.
  if (wire.session != nullptr) wire.wire->break_off();
  wire.settle();
  EXPECT(wire.session == nullptr);
  EXPECT(wire.site.exchanges.used_count() <= 1);
  return 0;
}
