#pragma once

// Memo: a field block that came twice, with all that it says. A client that asks for one thing again and again sends
// the same few bytes each time, most of them references into a table that does not change, and comparing them is then
// all the decoding there is to do.
//
// Only blocks that leave the table alone are remembered, and only until another one changes it: what such a block says
// follows from its bytes. One for each decoder.

#include "violet/hpack/section.h"
#include "violet/http/fields.h"

#include <cstdint>
#include <string_view>

namespace violet::hpack {

class Memo {
 public:
  Memo() noexcept = default;
  Memo(const Memo&) = delete;
  Memo& operator=(const Memo&) = delete;

  // Fills the section, whose fields are empty. False, and nothing has happened: another block, or over the budget.
  [[nodiscard]] bool recall(std::string_view block, const Budget& budget, Section& section) const;

  // `bytes` is what the block counted against its budget. Blocks that are too large or too odd to be worth it are not
  // remembered; others get a number (Section::identity).
  void learn(std::string_view block, std::uint64_t bytes, Section& section) noexcept;
  void forget() noexcept { block_bytes_ = 0; }

 private:
  static constexpr std::size_t kBlockMax = 64;
  static constexpr std::size_t kTextMax = 256;
  static constexpr std::size_t kLinesMax = 8;
  static constexpr std::size_t kCopyStep = 32;
  [[nodiscard]] std::string_view keep(std::string_view text) noexcept;

  std::uint8_t block_bytes_ = 0;  // 0: nothing is remembered
  std::uint8_t line_count_ = 0;
  std::uint8_t seen_ = 0;
  std::uint8_t sensitive_ = 0;
  std::uint16_t text_bytes_ = 0;
  std::uint32_t identity_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t ids_[2] = {};
  // Views into text_, but for the names of known fields.
  std::string_view pseudo_[kPseudoCount];
  http::Field lines_[kLinesMax];
  char block_[kBlockMax] = {};
  char text_[kTextMax] = {};
};

}  // namespace violet::hpack
