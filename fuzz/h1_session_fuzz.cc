// A whole h1::Session with a service that does all that services do, over memory.
//
//   byte 0: limits     byte 1: how the bytes are cut     byte 2: how fast the peer reads
//   byte 3: the peer's end (stays, FIN, RST, RST after so many bytes)     the rest: what it sends
//
// What must hold: no assertion and no rest that moves for ever; what comes back is a sequence of well-formed answers,
// nothing behind one that says close; no more answers than requests that the service or the refusal of one can explain;
// and the same answers however the bytes are cut and the peer reads.

#include "fuzz/expect.h"
#include "fuzz/wire.h"
#include "violet/base/log.h"
#include "violet/h1/parser.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace violet;

Limits choose_limits(std::uint8_t byte) {
  Limits limits = fuzz::limits_without_time();
  if ((byte & 1) != 0) {
    limits.request_line_bytes_max = 64;
    limits.field_bytes_max = 160;
    limits.field_count_max = 4;
  }
  if ((byte & 2) != 0) limits.body_bytes_max = 16;
  if ((byte & 4) != 0) limits.pipeline_max = 2;
  if ((byte & 8) != 0) limits.receive_bytes_max = 8;
  if ((byte & 16) != 0) limits.flush_bytes_max = 64;
  if ((byte & 32) != 0) limits.discard_bytes_max = 16;
  if ((byte & 64) != 0)
    limits.chunk_extension_bytes_max = limits.chunk_overhead_bytes_max = limits.trailer_bytes_max = 24;
  return limits;
}

// The methods of the requests, read off the front with the parser alone, as far as no body stands between. Answers to
// HEAD and CONNECT cannot be read without them; where they end, inputs that use them are not looked at closer.
std::vector<std::string> methods_of(std::string_view bytes, const Limits& limits, bool& is_whole) {
  std::vector<std::string> methods;
  std::string padded(bytes);
  padded.append(kScanPadding, 0);
  const char* p = padded.data();
  const char* end = p + bytes.size();
  is_whole = true;
  while (p < end) {
    Arena arena;
    http::Head head(arena);
    h1::Framing framing;
    const h1::Parsed parsed = h1::parse_head(p, end, limits, head, framing);
    if (parsed.verdict != h1::Verdict::Done) {
      methods.emplace_back(head.method == http::Method::Head ? "HEAD" : "");
      return methods;
    }
    methods.emplace_back(head.method_text);
    p = parsed.end;
    if (framing.is_chunked || static_cast<std::size_t>(end - p) < framing.content_length) {
      is_whole = false;
      return methods;
    }
    p += framing.content_length;
  }
  return methods;
}

bool is_ambiguous(std::string_view bytes) {
  return bytes.find("HEAD") != std::string_view::npos || bytes.find("CONNECT") != std::string_view::npos;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  violet::set_log_level(violet::LogLevel::Off);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  const Limits limits = choose_limits(data[0]);
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 4, size - 4);

  // Whole and unhindered.
  std::vector<fuzz::Answer> whole;
  bool is_whole = false;
  const std::vector<std::string> methods = methods_of(bytes, limits, is_whole);
  const bool is_readable = is_whole || !is_ambiguous(bytes);
  std::string whole_bytes;
  {
    fuzz::Wire wire(limits);
    whole_bytes = wire.run(bytes);
    if (is_readable) EXPECT(fuzz::read_answers(whole_bytes, methods, false, whole));
    // An answer that says close is followed by the end.
    if (!whole.empty() && whole.back().closes) EXPECT(wire.was_closed_by_session());
  }

  // Cut and throttled. Held answers are given when everything is there, as before.
  {
    fuzz::Wire wire(limits);
    wire.read_max = data[1] == 0 ? ~std::size_t{0} : data[1];
    wire.room = data[2] == 0 ? ~std::size_t{0} : data[2];
    const std::string cut_bytes = wire.run(bytes);
    std::vector<fuzz::Answer> cut;
    if (is_readable) {
      EXPECT(fuzz::read_answers(cut_bytes, methods, false, cut));
      // A head that drips in is looked at when a line ends, so a line that never does may not have been refused yet.
      const bool may_wait = !bytes.ends_with('\n') && !whole.empty() && whole.back().status >= 400;
      if (may_wait && cut.size() + 1 == whole.size()) whole.pop_back();
      EXPECT(cut == whole);
    }
  }

  // In pieces, held answers being given in between, with an end that may come at any time.
  {
    fuzz::Wire wire(limits);
    wire.room = data[2] == 0 ? ~std::size_t{0} : data[2];
    wire.open();
    const std::size_t step = data[1] == 0 ? bytes.size() + 1 : data[1];
    const std::size_t stop = data[3] < 192 ? bytes.size() : bytes.size() * (data[3] - 192u) / 64;
    for (std::size_t at = 0; at < stop; at += step) {
      wire.send(bytes.substr(at, std::min(step, stop - at)));
      wire.finish();
    }
    if (data[3] >= 128) {
      wire.break_off();
    } else if (data[3] >= 64) {
      wire.end();
      wire.finish();
    }
    std::vector<fuzz::Answer> answers;
    if (is_readable) EXPECT(fuzz::read_answers(wire.received(), methods, true, answers));
  }
  return 0;
}
