// Chunked bodies: h1/parser.h's chunk lines and trailers, and the decoding of a whole body by a session, against a
// decoder written a second time, slowly, from the grammar of RFC 9112 §7.1.
//
// The first byte chooses how the body is cut; the rest is the body.

#include "fuzz/chunked_reference.h"
#include "fuzz/expect.h"
#include "fuzz/wire.h"
#include "violet/h1/parser.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace {

using namespace violet;

constexpr std::string_view kHead = "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

// parse(begin, end) on each prefix must agree with the whole.
template <class Parse>
void check_prefixes(std::string_view text, Parse parse) {
  const auto bytes = std::make_unique<char[]>(text.size() + kScanPadding);
  std::ranges::copy(text, bytes.get());
  const h1::Parsed whole = parse(bytes.get(), bytes.get() + text.size());
  const std::size_t step = text.size() <= 256 ? 1 : text.size() / 64;
  for (std::size_t size = 0; size < text.size(); size += step) {
    const auto part_bytes = std::make_unique<char[]>(size + kScanPadding);
    std::ranges::copy(text.substr(0, size), part_bytes.get());
    const h1::Parsed part = parse(part_bytes.get(), part_bytes.get() + size);
    if (part.verdict == h1::Verdict::More) {
      EXPECT(whole.verdict != h1::Verdict::Done || whole.end > bytes.get() + size);
    } else {
      EXPECT(part.verdict == whole.verdict && part.status == whole.status);
      if (part.verdict == h1::Verdict::Done) EXPECT(part.end - part_bytes.get() == whole.end - bytes.get());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Above this the limits of a body's framing would bite, which the second decoder does not know.
  if (size == 0 || size > 6000) return 0;
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  Limits limits;
  check_prefixes(body, [&](const char* begin, const char* end) {
    h1::ChunkLine line;
    return h1::parse_chunk_line(begin, end, limits, line);
  });
  check_prefixes(body, [&](const char* begin, const char* end) {
    Arena arena;
    http::Fields trailers(arena);
    return h1::parse_trailers(begin, end, limits, trailers);
  });

  const fuzz::ChunkedOutcome expected = fuzz::decode_chunked(body);
  fuzz::Wire wire(fuzz::limits_without_time());
  wire.read_max = data[0] == 0 ? ~std::size_t{0} : data[0];
  const std::string answers = wire.run(std::string(kHead).append(body));
  switch (expected.verdict) {
    case fuzz::ChunkedOutcome::More: EXPECT(answers.empty()); break;
    case fuzz::ChunkedOutcome::Bad: EXPECT(answers.starts_with("HTTP/1.1 4") && wire.was_closed_by_session()); break;
    case fuzz::ChunkedOutcome::Done: {
      EXPECT(answers.starts_with("HTTP/1.1 200 "));
      const std::size_t end = answers.find("\r\n\r\n");
      EXPECT(end != std::string::npos);
      EXPECT(std::string_view(answers).substr(end + 4, expected.body.size()) == expected.body);
      break;
    }
  }
  return 0;
}
