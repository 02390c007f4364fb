// What an attack may make one connection hold, in bytes of heap: the floods of RFC 9113 §10.5, measured while they run.
// The ceiling holds with and without AddressSanitizer, under which pools keep nothing.

#include "tests/h2/verdicts.h"
#include "tests/support/heap.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace violet::test {
namespace {

using h2::Code;
using h2::FrameType;
using h2::Setting;

// A handler that lets go of nothing holds an exchange of 6.4 KB for each stream that h2_stream_deaths_max allows, a
// thousand. All else is small beside it, what the test itself keeps of the answers included.
constexpr std::size_t kCeilingBytes = std::size_t{8} << 20;

using Next = std::function<std::string(std::uint32_t)>;

// The most that the heap grows by while `next` is sent, 20,000 times or until the connection is over.
std::size_t peak_of(H2Wire& wire, const Next& next) {
  HeapPeak heap;
  std::string piece;
  for (std::uint32_t i = 0; i < 20'000 && !wire.has_hung_up() && wire.wire->wants_to_read(); ++i) {
    piece += next(i);
    if (piece.size() < 8000) continue;
    wire.send(piece);
    piece.clear();
    heap.look();
  }
  wire.send(piece);
  heap.look();
  return heap.grown_bytes();
}

Next repeated(std::string bytes) {
  return [bytes = std::move(bytes)](std::uint32_t) { return bytes; };
}

TEST(H2Memory, StaysBelowItsCeilingUnderEveryFlood) {
  const auto id = [](std::uint32_t i) { return 2 * i + 1; };
  const std::string block = test::block(request("GET", "/"));
  const struct {
    const char* name;
    std::string first;
    Next next;
  } floods[] = {
      {"rapid reset", "", [&](std::uint32_t i) { return get(id(i)) + reset(id(i)); }},
      {"resets that we are made to send", "", [&](std::uint32_t i) { return get(id(i)) + window_update(id(i), 0); }},
      {"streams beyond the limit", "", [&](std::uint32_t i) { return get(id(i)); }},
      {"CONTINUATION", headers(1, block, true, false), [](std::uint32_t) { return continuation(1, "", false); }},
      {"full CONTINUATION", headers(1, block, true, false),
       [](std::uint32_t) { return continuation(1, std::string(16'000, '\x82'), false); }},
      {"SETTINGS", "", repeated(settings())},
      {"PING", "", repeated(ping("12345678"))},
      {"PRIORITY", "", repeated(frame(FrameType::Priority, 0, 1, "12345"))},
      {"PRIORITY_UPDATE of streams to come", "",
       [](std::uint32_t i) {
         std::string payload{0, 0, static_cast<char>(i >> 7 & 0xff), static_cast<char>(i << 1 | 1)};
         return frame(FrameType::PriorityUpdate, 0, 0, payload + "u=1");
       }},
      {"WINDOW_UPDATE", "", repeated(window_update(0, 1))},
      {"empty DATA", post(1), repeated(data(1, ""))},
      {"fields without end", "",
       [&](std::uint32_t i) { return get(id(i), "/", {{"x-large", std::string(8'000, 'x')}}); }},
  };
  for (const bool is_read : {true, false}) {
    for (const auto& [name, first, next] : floods) {
      H2Wire wire;
      wire.service.handler = [&](Exchange& exchange) { wire.service.hold(exchange); };
      if (!is_read) wire.wire->set_room(0);
      wire.send(first);
      EXPECT_LT(peak_of(wire, next), kCeilingBytes) << name << (is_read ? "" : ", by a peer that reads nothing");
      wire.service.held.clear();
    }
  }
}

// Answers that nobody gives a window for: beyond unsent_bytes_max no more is asked for.
TEST(H2Memory, HoldsLittleOfAnswersThatHaveNoWindow) {
  H2Wire wire({}, settings({{Setting::InitialWindowSize, 0}}) + settings_ack());
  wire.service.handler = [&](Exchange& exchange) { exchange.reply(Slice::of(pattern(200'000))); };
  EXPECT_LT(peak_of(wire, [](std::uint32_t i) { return get(2 * i + 1); }), kCeilingBytes);
  EXPECT_GT(wire.service.call_count, 1u);
  EXPECT_LT(wire.service.call_count, 20u);
}

// One octet asks for a line of four thousand (RFC 7541 §7.3).
TEST(H2Memory, IsNotFilledByAnHpackBomb) {
  H2Wire wire;
  wire.service.handler = [&](Exchange& exchange) { wire.service.hold(exchange); };
  std::string large("\x40\x01x\x7f\x91\x1e", 6);  // a literal of 4,000 octets, to be indexed
  large += std::string(4'000, 'y');
  const std::string bomb = test::block(request("GET", "/")) + large + std::string(12'000, '\xbe');
  EXPECT_LT(peak_of(wire, [&](std::uint32_t i) { return headers(2 * i + 1, bomb, true); }), kCeilingBytes);
  EXPECT_EQ(wire.service.call_count, 0u);
  wire.service.held.clear();
}

// The control: without its budget a flood goes through the ceiling, and that is seen.
TEST(H2Memory, IsSeenToGrowWhereABudgetIsMissing) {
  Limits limits;
  limits.h2_stream_deaths_max = limits.h2_control_frames_max = 1'000'000'000;
  H2Wire wire(limits);
  wire.service.handler = [&](Exchange& exchange) { wire.service.hold(exchange); };
  EXPECT_GT(peak_of(wire, [](std::uint32_t i) { return get(2 * i + 1) + reset(2 * i + 1); }), kCeilingBytes);
  wire.service.held.clear();
}

}  // namespace
}  // namespace violet::test
