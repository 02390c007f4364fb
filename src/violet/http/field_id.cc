#include "violet/http/field_id.h"

#include "violet/base/ascii.h"

#include <array>
#include <cstring>

namespace violet::http {
namespace {

constexpr std::string_view kNames[kFieldIdCount] = {"",
#define VIOLET_FIELD_TEXT(id, text) text,
                                                    VIOLET_FIELD_NAMES(VIOLET_FIELD_TEXT)
#undef VIOLET_FIELD_TEXT
};

constexpr std::size_t kLongest = 32;

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

constexpr std::uint64_t word_at(const char* text, std::size_t size) {
  std::uint64_t word = 0;
  for (std::size_t i = size; i-- > 0;) word = word << 8 | static_cast<unsigned char>(text[i]);
  return word;
}

std::uint64_t load(const char* from, std::size_t size) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, from, size);
  return word;
}

}  // namespace

namespace detail {

constinit const FieldSlots kFieldSlots = [] {
  FieldSlots slots{};
  for (std::size_t i = 1; i < kFieldIdCount; ++i) {
    const std::size_t size = kLower[i].size;
    FieldSlot slot{.first = word_at(kLower[i].text, size < 8 ? size : 8) | kFieldCase};
    slot.last = size < 8 ? slot.first : word_at(kLower[i].text + size - 8, 8) | kFieldCase;
    slot.size = static_cast<std::uint8_t>(size);
    slot.id = static_cast<std::uint8_t>(i);
    std::size_t at = field_slot_of(slot.first, slot.last, size);
    while (slots.at[at].id != 0) ++at;
    slots.at[at] = slot;
  }
  return slots;
}();

}  // namespace detail

std::string_view name(FieldId id) noexcept { return kNames[static_cast<std::size_t>(id)]; }

std::string_view wire_name(FieldId id) noexcept {
  const WireName& known = kWireNames[static_cast<std::size_t>(id)];
  return {known.text, known.size};
}

std::string_view lower_name(FieldId id) noexcept {
  const Lower& known = kLower[static_cast<std::size_t>(id)];
  return {known.text, known.size};
}

bool detail::is_middle_equal(std::string_view text, std::uint8_t id) noexcept {
  return ascii::equal_folded(text, {kLower[id].text, kLower[id].size});
}

FieldId find_field(std::string_view text) noexcept {
  const char* p = text.data();
  const std::size_t size = text.size();
  if (size == 0 || !ascii::all_are(text, ascii::kToken)) return FieldId::Other;
  if (size >= 8) return detail::find_field(text, load(p, 8), load(p + size - 8, 8));
  std::uint64_t word;
  if (size >= 4) {
    word = load(p, 4) | load(p + size - 4, 4) << ((size - 4) * 8);
  } else {
    word = load(p, 1) | load(p + size / 2, 1) << (size / 2 * 8) | load(p + size - 1, 1) << ((size - 1) * 8);
  }
  return detail::find_field(text, word, word);
}

}  // namespace violet::http
