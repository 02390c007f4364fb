#pragma once

// Priority: the extensible priorities of RFC 9218, as they stand in the Priority field and in PRIORITY_UPDATE.

#include <cstdint>
#include <string_view>

namespace violet::h2 {

struct Priority {
  static constexpr std::uint8_t kUrgencyCount = 8;
  std::uint8_t urgency = 3;     // 0 goes first (§4.1)
  bool is_incremental = false;  // shares the wire with others of its urgency (§4.2)
};

// A dictionary of structured fields, "u=1, i". Members that are unknown, out of range or of another type are ignored
// (§4); so is all of a text that is no dictionary (RFC 8941 §4.2).
[[nodiscard]] Priority parse_priority(std::string_view text) noexcept;

}  // namespace violet::h2
