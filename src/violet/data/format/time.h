#pragma once

// Points in time as texts (RFC 3339): "2024-02-29T12:30:00.25Z", "2024-02-29". Years 0000 to 9999.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace violet::data {

struct Instant {
  std::int64_t seconds;  // since 1970-01-01T00:00:00Z
  std::uint32_t nanoseconds;
};

// Zones are taken into account, leap seconds count as the second before. A fraction beyond nanoseconds is cut.
[[nodiscard]] std::optional<Instant> read_time(std::string_view text) noexcept;
// Days since 1970-01-01.
[[nodiscard]] std::optional<std::int64_t> read_date(std::string_view text) noexcept;

inline constexpr std::size_t kTimeRoom = 32;
// `digits` of a fraction, 0 to 9. Returns how many bytes, 0 for a year that has no four digits.
std::size_t write_time(Instant instant, int digits, char* out) noexcept;
std::size_t write_date(std::int64_t days, char* out) noexcept;

}  // namespace violet::data
