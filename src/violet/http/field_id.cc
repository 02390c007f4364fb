#include "violet/http/field_id.h"

#include <array>
#include <cstring>

#include "violet/base/ascii.h"

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

constexpr auto kLower = [] {
  std::array<Lower, kFieldIdCount> names{};
  for (std::size_t i = 0; i < kFieldIdCount; ++i) {
    for (std::size_t k = 0; k < kNames[i].size(); ++k) names[i].text[k] = ascii::lower(kNames[i][k]);
    names[i].size = static_cast<unsigned char>(kNames[i].size());
  }
  return names;
}();

struct WireName {
  char text[kWireNameMax];
  std::size_t size;
};

constexpr auto kWireNames = [] {
  std::array<WireName, kFieldIdCount> names{};
  for (std::size_t i = 1; i < kFieldIdCount; ++i) {
    for (std::size_t k = 0; k < kNames[i].size(); ++k) names[i].text[k] = kNames[i][k];
    names[i].text[kNames[i].size()] = ':';
    names[i].text[kNames[i].size() + 1] = ' ';
    names[i].size = kNames[i].size() + 2;
  }
  return names;
}();

// A name's first and last eight bytes (they overlap in short ones) with bit 0x20 set in every byte, which folds case.
struct Key {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t size = 0;
  friend constexpr bool operator==(const Key&, const Key&) = default;
};

constexpr std::uint64_t kCase = 0x2020202020202020u;
constexpr std::uint64_t kHigh = 0x4040404040404040u;

constexpr std::size_t slot_of(const Key& key) {
  const std::uint64_t mixed = (key.first ^ (key.last << 7 | key.last >> 57) ^ key.size) * 0x9e3779b97f4a7c15u;
  return static_cast<std::size_t>(mixed >> 55);
}
static_assert(kSlots == 1u << (64 - 55));

constexpr std::uint64_t word_at(const char* text, std::size_t size) {
  std::uint64_t word = 0;
  for (std::size_t i = size; i-- > 0;) word = word << 8 | static_cast<unsigned char>(text[i]);
  return word;
}

struct Slot {
  Key key;
  std::uint8_t id = 0;
};

constexpr auto kSlotTable = [] {
  std::array<Slot, kSlots> slots{};
  for (std::size_t i = 1; i < kFieldIdCount; ++i) {
    const std::size_t size = kLower[i].size;
    Key key{.size = size};
    key.first = word_at(kLower[i].text, size < 8 ? size : 8) | kCase;
    key.last = size < 8 ? key.first : word_at(kLower[i].text + size - 8, 8) | kCase;
    std::size_t slot = slot_of(key);
    while (slots[slot].id != 0) slot = (slot + 1) % kSlots;
    slots[slot] = {key, static_cast<std::uint8_t>(i)};
  }
  return slots;
}();

std::uint64_t load(const char* from, std::size_t size) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, from, size);
  return word;
}

// Setting bit 0x20 folds case, but would fold controls onto '-' and the digits as well: every byte must have one of the
// bits 0x20 and 0x40 already. Zero bytes behind a short name are let through.
bool is_printable(std::uint64_t word, std::size_t size) noexcept {
  const std::uint64_t used = ~std::uint64_t{0} >> (64 - size * 8);
  return ((word | (word << 1)) & kHigh & used) == (kHigh & used);
}

}  // namespace

std::string_view name(FieldId id) noexcept { return kNames[static_cast<std::size_t>(id)]; }

std::string_view wire_name(FieldId id) noexcept {
  const WireName& known = kWireNames[static_cast<std::size_t>(id)];
  return {known.text, known.size};
}

std::string_view lower_name(FieldId id) noexcept {
  const Lower& known = kLower[static_cast<std::size_t>(id)];
  return {known.text, known.size};
}

FieldId find_field(std::string_view text) noexcept {
  const char* p = text.data();
  const std::size_t size = text.size();
  if (size == 0 || size > kLongest) return FieldId::Other;
  std::uint64_t first;
  std::uint64_t last;
  if (size >= 8) {
    first = load(p, 8);
    last = load(p + size - 8, 8);
    if (!is_printable(first, 8) || !is_printable(last, 8)) return FieldId::Other;
  } else {
    if (size >= 4) {
      first = load(p, 4) | load(p + size - 4, 4) << ((size - 4) * 8);
    } else {
      first = load(p, 1) | load(p + size / 2, 1) << (size / 2 * 8) | load(p + size - 1, 1) << ((size - 1) * 8);
    }
    if (!is_printable(first, size)) return FieldId::Other;
    last = first;
  }
  const Key key{first | kCase, last | kCase, size};
  std::size_t slot = slot_of(key);
  while (kSlotTable[slot].id != 0) {
    const auto& [known, id] = kSlotTable[slot];
    // The key leaves out only the middle of a long name.
    if (known == key && (size <= 16 || ascii::equal_folded(text, {kLower[id].text, size}))) {
      return static_cast<FieldId>(id);
    }
    slot = (slot + 1) % kSlots;
  }
  return FieldId::Other;
}

}  // namespace violet::http
