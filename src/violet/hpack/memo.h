#pragma once

// Memos: field blocks that came twice, with all that they say. A client that asks for a few things again and again
// sends the same bytes for each, most of them references into a table that does not change, and comparing them is then
// all the decoding there is to do.
//
// Only blocks that leave the table alone are remembered, and only until another one changes it: what such a block says
// follows from its bytes. The table's states are told apart by a number, the epoch. One for each decoder; it has room
// for one block from the first on, and takes memory for each other that it remembers.

#include "violet/hpack/section.h"
#include "violet/http/fields.h"
#include "violet/memory/text.h"

#include <cstdint>
#include <string_view>

namespace violet::hpack {

class Memo {
 public:
  Memo() noexcept = default;
  Memo(const Memo&) = delete;
  Memo& operator=(const Memo&) = delete;

  static constexpr std::size_t kBlockMax = 64;

  // Fills the section, whose fields are empty. False, and nothing has happened: another block, or over the budget.
  [[nodiscard]] bool recall(std::string_view block, const Budget& budget, std::uint64_t epoch, Section& section);

  // `bytes` is what the block counted against its budget. False: the section is too large, or has a flaw.
  [[nodiscard]] bool learn(std::string_view block, std::uint64_t bytes, std::uint64_t epoch,
                           const Section& section) noexcept;
  void identify(std::uint32_t identity, Section& section) noexcept {
    identity_ = section.identity = identity;
    note_ = 0;
    section.note = &note_;
  }

 private:
  static constexpr std::size_t kTextMax = 256;
  static constexpr std::size_t kLinesMax = 8;
  static constexpr std::size_t kCopyStep = 32;
  // A part of text_.
  struct Text {
    std::uint16_t at = 0;
    std::uint16_t size = 0;
  };
  struct Line {
    Text name;  // of an unknown field
    Text value;
    http::FieldId id = http::FieldId::Other;
    bool is_sensitive = false;
  };
  [[nodiscard]] Text keep(std::string_view text) noexcept;

  std::uint8_t block_bytes_ = 0;  // 0: nothing is remembered
  std::uint8_t line_count_ = 0;
  std::uint8_t seen_ = 0;
  std::uint8_t sensitive_ = 0;
  std::uint16_t text_bytes_ = 0;
  std::uint64_t epoch_ = 0;
  std::uint32_t identity_ = 0;
  std::uint32_t note_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t ids_[2] = {};
  Text pseudo_[kPseudoCount];
  Line lines_[kLinesMax];
  char block_[kBlockMax] = {};
  char text_[kTextMax] = {};
};

class Memos {
 public:
  Memos() noexcept = default;
  Memos(const Memos&) = delete;
  Memos& operator=(const Memos&) = delete;
  ~Memos();

  // As Memo::recall(). REQUIRES: eight readable bytes behind `block`.
  [[nodiscard]] bool recall(std::string_view block, const Budget& budget, std::uint64_t epoch, Section& section) {
    if (!fits(block)) return false;
    Memo* const memo = memos_[hash_of(block) % kPlaces];
    return memo != nullptr && memo->recall(block, budget, epoch, section);
  }
  // A block that has left the table alone: when it has come before, the section gets its identity. REQUIRES: the same.
  void note(std::string_view block, std::uint64_t bytes, std::uint64_t epoch, Section& section);

 private:
  static constexpr std::size_t kPlaces = 16;
  // An empty block may have no bytes at all, not even readable ones behind it.
  [[nodiscard]] static bool fits(std::string_view block) noexcept {
    return !block.empty() && block.size() <= Memo::kBlockMax;
  }
  [[nodiscard]] static std::uint32_t hash_of(std::string_view block) noexcept;
  [[nodiscard]] Memo& take_memo();

  Memo* memos_[kPlaces] = {};
  std::uint32_t last_hashes_[kPlaces] = {};  // of the last block that was noted and not remembered
  std::uint32_t last_identity_ = 0;
  bool is_first_used_ = false;
  Memo first_;
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
