// Bytes of HTTP/2 as they are, behind the preface.
//
//   byte 0: how the bytes are cut     byte 1: where they are cut once     the rest: what the peer sends
//
// What must hold: no assertion; what comes back are well-formed frames in an order that a client may expect; and every
// stream and the connection get the same verdict however the bytes are cut.

#include "fuzz/expect.h"
#include "fuzz/wire.h"
#include "tests/support/h2_wire.h"
#include "violet/base/log.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace violet;

struct Verdict {
  std::vector<int> streams;  // status and code of a reset, of the first streams
  std::vector<std::string> bodies;
  int goaway = -1;
};

// What comes behind the end of a request is the stream's fault while our answer is on its way, and the connection's
// once it has left (RFC 9113 §5.1): then nothing that follows needs to be the same.
bool is_late(const Verdict& verdict) {
  constexpr int kStreamClosed = 5;
  return verdict.goaway == kStreamClosed || std::any_of(verdict.streams.begin(), verdict.streams.end(),
                                                        [](int stream) { return stream % 100 == kStreamClosed + 1; });
}

// The same for a window that runs over: on a stream that has been answered and is gone it is nobody's any more.
bool is_same_stream(int stream, int other) {
  const bool was_answered = stream >= 100 && stream / 100 == other / 100;
  return stream == other || (was_answered && (stream % 100 == 0 || other % 100 == 0));
}

bool are_same(const Verdict& verdict, const Verdict& other) {
  if (is_late(verdict) || is_late(other)) return is_late(verdict) && is_late(other);
  if (verdict.goaway != other.goaway || verdict.bodies.size() != other.bodies.size()) return false;
  for (std::size_t i = 0; i < verdict.streams.size(); ++i) {
    if (!is_same_stream(verdict.streams[i], other.streams[i])) return false;
    const bool has_bodies = i < verdict.bodies.size() && verdict.streams[i] == other.streams[i];
    if (has_bodies && verdict.bodies[i] != other.bodies[i]) return false;
  }
  return true;
}

// No time, and no budget that depends on where a turn ends.
Limits wide_limits() {
  Limits limits = fuzz::limits_without_time();
  limits.h2_stream_deaths_max = limits.h2_control_frames_max = 1'000'000'000;
  return limits;
}

Verdict run(const Limits& limits, std::string_view bytes, std::size_t read_max, std::size_t cut) {
  test::H2Wire wire(limits);
  wire.service.handler = test::Echo::serve;
  wire.wire->set_read_max(read_max);
  wire.send(bytes.substr(0, cut));
  wire.send(bytes.substr(cut));
  EXPECT(wire.read().error().empty());
  Verdict verdict;
  for (std::uint32_t id = 1; id < 64; id += 2) {
    const test::StreamReply& reply = wire.stream(id);
    verdict.streams.push_back(reply.status * 100 + (reply.is_reset ? static_cast<int>(reply.code) + 1 : 0));
    verdict.bodies.push_back(reply.is_ended ? reply.body : "");
  }
  if (const auto code = wire.goaway()) verdict.goaway = static_cast<int>(*code);
  // What a turn has not sent yet when the peer breaks the connection is not sent any more.
  if (verdict.goaway > 0) verdict.bodies.clear();
  wire.wire->feed_end();
  wire.settle();
  return verdict;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  violet::set_log_level(violet::LogLevel::Off);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > 100'000) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  constexpr std::size_t kAll = ~std::size_t{0};
  const Verdict whole = run(wide_limits(), bytes, kAll, bytes.size());
  EXPECT(are_same(run(wide_limits(), bytes, data[0] == 0 ? 1 : data[0], bytes.size()), whole));
  EXPECT(are_same(run(wide_limits(), bytes, kAll, bytes.size() * data[1] / 255), whole));
  // As it is served.
  run(violet::fuzz::limits_without_time(), bytes, kAll, bytes.size());
  return 0;
}
