#pragma once

// A second decoder of chunked bodies (RFC 9112 §7.1), for comparison: it reads the grammar rule by rule, keeps
// everything in memory, and of all limits knows only the number of trailer fields.

#include <cstdint>
#include <string>
#include <string_view>

namespace violet::fuzz {

struct ChunkedOutcome {
  enum Verdict : std::uint8_t { More, Done, Bad } verdict = More;
  std::string body;
  std::size_t used = 0;
};

ChunkedOutcome decode_chunked(std::string_view text);

}  // namespace violet::fuzz
