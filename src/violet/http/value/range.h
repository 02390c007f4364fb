#pragma once

// Byte ranges: what a Range field asks of a representation of known size (RFC 9110 §14).

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace violet::http {

struct ByteRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;  // inclusive

  [[nodiscard]] std::uint64_t size() const noexcept { return last - first + 1; }
  friend bool operator==(const ByteRange&, const ByteRange&) noexcept = default;
};

enum class RangeVerdict : std::uint8_t {
  Whole,          // no range that has to be obeyed: another unit, malformed, too many; 200
  Some,           // 206
  Unsatisfiable,  // 416
};

// What a part of a multipart/byteranges answer costs beside its bytes, about: ranges closer than this are one.
inline constexpr std::uint64_t kRangeGap = 80;

// Writes the ranges to send into `out` and their number into `count`: in the order they were asked for, those that
// overlap or nearly touch joined, those beyond the end left out. A field that asks for more than out.size() ranges is
// Whole.
[[nodiscard]] RangeVerdict parse_range(std::string_view value, std::uint64_t size, std::span<ByteRange> out,
                                       std::size_t& count) noexcept;

}  // namespace violet::http
