#pragma once

// Memos: field blocks that came twice, with all that they say. A client that asks for a few things again and again
// sends the same bytes for each, most of them references into a table that does not change, and comparing them is then
// all the decoding there is to do.
//
// Only blocks that leave the table alone are remembered, and only until another one changes it: what such a block says
// follows from its bytes. The table's states are told apart by a number, the epoch. One for each decoder; it starts
// with a few pointers, and takes memory for each block that it remembers.

#include "violet/hpack/section.h"
#include "violet/http/fields.h"
#include "violet/memory/text.h"

#include <cstdint>
#include <memory>
#include <string_view>

namespace violet::hpack {

class Memo {
 public:
  Memo() noexcept = default;
  Memo(const Memo&) = delete;
  Memo& operator=(const Memo&) = delete;

  static constexpr std::size_t kBlockMax = 64;

  // Fills the section, whose fields are empty. False, and nothing has happened: another block, or over the budget.
  [[nodiscard]] bool recall(std::string_view block, const Budget& budget, std::uint64_t epoch, Section& section) const;

  // `bytes` is what the block counted against its budget. False: the section is too large, or has a flaw.
  [[nodiscard]] bool learn(std::string_view block, std::uint64_t bytes, std::uint64_t epoch,
                           const Section& section) noexcept;
  void set_identity(std::uint32_t identity) noexcept { identity_ = identity; }

 private:
  static constexpr std::size_t kTextMax = 256;
  static constexpr std::size_t kLinesMax = 8;
  static constexpr std::size_t kCopyStep = 32;
  [[nodiscard]] std::string_view keep(std::string_view text) noexcept;

  std::uint8_t block_bytes_ = 0;  // 0: nothing is remembered
  std::uint8_t line_count_ = 0;
  std::uint8_t seen_ = 0;
  std::uint8_t sensitive_ = 0;
  std::uint16_t text_bytes_ = 0;
  std::uint64_t epoch_ = 0;
  std::uint32_t identity_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t ids_[2] = {};
  // Views into text_, but for the names of known fields.
  std::string_view pseudo_[kPseudoCount];
  http::Field lines_[kLinesMax];
  char block_[kBlockMax] = {};
  char text_[kTextMax] = {};
};

class Memos {
 public:
  // As Memo::recall(). REQUIRES: eight readable bytes behind `block`.
  [[nodiscard]] bool recall(std::string_view block, const Budget& budget, std::uint64_t epoch, Section& section) const {
    if (!fits(block)) return false;
    const Place& place = places_[hash_of(block) % kPlaces];
    return place.memo != nullptr && place.memo->recall(block, budget, epoch, section);
  }
  // A block that has left the table alone: when it has come before, the section gets its identity. REQUIRES: the same.
  void note(std::string_view block, std::uint64_t bytes, std::uint64_t epoch, Section& section);

 private:
  static constexpr std::size_t kPlaces = 16;
  struct Place {
    std::unique_ptr<Memo> memo;
    std::uint32_t last_hash = 0;  // of the last block that was noted and not remembered
  };
  // An empty block may have no bytes at all, not even readable ones behind it.
  [[nodiscard]] static bool fits(std::string_view block) noexcept {
    return !block.empty() && block.size() <= Memo::kBlockMax;
  }
  [[nodiscard]] static std::uint32_t hash_of(std::string_view block) noexcept;

  Place places_[kPlaces];
  std::uint32_t last_identity_ = 0;
};

// The beginning, the middle and the end: enough to tell a client's few blocks apart.
inline std::uint32_t Memos::hash_of(std::string_view block) noexcept {
  const char* p = block.data();
  const std::size_t size = block.size();
  std::uint64_t hash = detail::load_word<std::uint64_t>(p);
  if (size < 8) {
    hash <<= 64 - 8 * size;
  } else {
    hash ^= detail::load_word<std::uint64_t>(p + size / 2 - 4) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29 ^ detail::load_word<std::uint64_t>(p + size - 8);
  }
  return static_cast<std::uint32_t>((hash ^ size) * 0xff51afd7ed558ccdu >> 32);
}

}  // namespace violet::hpack
