#include "violet/http/field_id.h"

#include <array>
#include <cstring>

namespace violet::http {
namespace {

constexpr std::string_view kNames[kFieldIdCount] = {
    "",
#define VIOLET_FIELD_TEXT(id, text) text,
    VIOLET_FIELD_NAMES(VIOLET_FIELD_TEXT)
#undef VIOLET_FIELD_TEXT
};

constexpr std::size_t kLongest = 32;
constexpr std::size_t kSlots = 512;

struct Lower {
  char text[kLongest + 8];
  unsigned char size;
};

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

constexpr auto kLower = [] {
  std::array<Lower, kFieldIdCount> names{};
  for (std::size_t i = 0; i < kFieldIdCount; ++i) {
    for (std::size_t k = 0; k < kNames[i].size(); ++k) names[i].text[k] = lower(kNames[i][k]);
    names[i].size = static_cast<unsigned char>(kNames[i].size());
  }
  return names;
}();

// Length, first, last and middle letter tell the known names apart well enough for a short probe.
constexpr std::size_t slot_of(const char* text, std::size_t size) {
  const auto at = [text](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(text[i]) | 0x20); };
  return (size * 61 + at(0) * 7 + at(size - 1) * 31 + at(size / 2) * 129) % kSlots;
}

constexpr auto kSlotIds = [] {
  std::array<std::uint8_t, kSlots> slots{};
  for (std::size_t i = 1; i < kFieldIdCount; ++i) {
    std::size_t slot = slot_of(kNames[i].data(), kNames[i].size());
    while (slots[slot] != 0) slot = (slot + 1) % kSlots;
    slots[slot] = static_cast<std::uint8_t>(i);
  }
  return slots;
}();

std::uint64_t load(const char* from, std::size_t size) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, from, size);
  return word;
}

// `known` is lower case letters, digits and '-'. OR-ing 0x20 folds case; it would also fold controls onto '-' and the
// digits, so every byte must have one of the bits 0x20 and 0x40 already.
bool equal_word(std::uint64_t word, std::uint64_t known, std::uint64_t mask) noexcept {
  constexpr std::uint64_t kCase = 0x2020202020202020u;
  constexpr std::uint64_t kHigh = 0x4040404040404040u;
  return ((word | kCase) & mask) == (known & mask) && (((word | (word << 1)) ^ kHigh) & kHigh & mask) == 0;
}

bool equal_folded(const char* text, const Lower& known) noexcept {
  std::size_t size = known.size;
  const char* name = known.text;
  while (size >= 8) {
    if (!equal_word(load(text, 8), load(name, 8), ~std::uint64_t{0})) return false;
    text += 8;
    name += 8;
    size -= 8;
  }
  if (size == 0) return true;
  std::uint64_t word = 0;
  if (size >= 4) {
    word = load(text, 4) | load(text + size - 4, 4) << ((size - 4) * 8);
  } else {
    word = load(text, 1) | load(text + size / 2, 1) << (size / 2 * 8) | load(text + size - 1, 1) << ((size - 1) * 8);
  }
  return equal_word(word, load(name, 8), ~std::uint64_t{0} >> (64 - size * 8));
}

}  // namespace

std::string_view name(FieldId id) noexcept { return kNames[static_cast<std::size_t>(id)]; }

std::string_view lower_name(FieldId id) noexcept {
  const Lower& known = kLower[static_cast<std::size_t>(id)];
  return {known.text, known.size};
}

FieldId find_field(std::string_view text) noexcept {
  if (text.empty() || text.size() > kLongest) return FieldId::Other;
  std::size_t slot = slot_of(text.data(), text.size());
  while (const std::uint8_t id = kSlotIds[slot]) {
    if (kLower[id].size == text.size() && equal_folded(text.data(), kLower[id])) return static_cast<FieldId>(id);
    slot = (slot + 1) % kSlots;
  }
  return FieldId::Other;
}

}  // namespace violet::http
