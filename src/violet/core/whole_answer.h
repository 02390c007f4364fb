#pragma once

// WholeAnswer: what a 304 or a 206 stands for, the 200 that the client would have got. A note of the exchange, left by
// whoever answers so, for middleware that would have changed that one and has to say so here as well (RFC 9110 §15.3.7,
// §15.4.5). One thread, the loop's.

#include <cstdint>
#include <string_view>

namespace violet {

struct WholeAnswer {
  std::string_view content_type;  // lives as long as the exchange
  std::uint64_t bytes = 0;
};

}  // namespace violet
