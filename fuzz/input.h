#pragma once

// Input: the bytes of a fuzz target, read as numbers and texts. Reading past the end gives zeros and empty texts.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace violet::fuzz {

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) noexcept : rest_(reinterpret_cast<const char*>(data), size) {}

  [[nodiscard]] bool is_empty() const noexcept { return rest_.empty(); }
  std::uint8_t byte() noexcept {
    const std::string_view one = text(1);
    return one.empty() ? 0 : static_cast<std::uint8_t>(one[0]);
  }
  std::string_view text(std::size_t size_max) noexcept {
    const std::string_view taken = rest_.substr(0, size_max);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  // Up to 127 bytes, or with the top bit of their count set, 128 times as many.
  std::string_view sized_text() noexcept {
    const std::size_t size = byte();
    return text(size < 0x80 ? size : (size & 0x7f) * 128);
  }

 private:
  std::string_view rest_;
};

}  // namespace violet::fuzz
