#pragma once

// Weighted lists: the members of Accept, Accept-Encoding and the like with their q-values (RFC 9110 §12.4.2).

#include <cstdint>
#include <string_view>

namespace violet::http {

inline constexpr std::uint16_t kWeightMax = 1000;  // q=1

struct Weighted {
  std::string_view value;             // "gzip", "text/html;level=1": the member without its weight
  std::uint16_t weight = kWeightMax;  // in thousandths; 0: not acceptable
};

// Takes the next member off `rest`. Empty members, and those whose weight is malformed, are passed over: what cannot be
// understood is not asked for. False when there is none left.
[[nodiscard]] bool next_weighted(std::string_view& rest, Weighted& out) noexcept;

// "0.5" in thousandths, -1 when it is no qvalue: 0 or 1, with at most three decimals, at most 1.
[[nodiscard]] int parse_weight(std::string_view text) noexcept;

}  // namespace violet::http
