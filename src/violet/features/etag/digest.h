#pragma once

// Digest: 128 bits that stand for a text, piece by piece: the same for the same bytes however they are cut, in every
// process and on every machine. Not for secrets: who wants two texts with one digest can find them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace violet::etags {

class Digest {
 public:
  void add(std::string_view text) noexcept;
  // Once, at the end.
  [[nodiscard]] std::array<std::uint64_t, 2> finish() noexcept;

 private:
  void mix(const char* block) noexcept;

  static constexpr std::size_t kBlock = 16;
  std::uint64_t first_ = 0x243f6a8885a308d3;  // of pi, like the constants below
  std::uint64_t second_ = 0x13198a2e03707344;
  std::uint64_t size_ = 0;
  char rest_[kBlock] = {};
};

}  // namespace violet::etags
