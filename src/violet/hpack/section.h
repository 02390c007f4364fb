#pragma once

// Section: what a field block says, and Budget: how much it may say.
//
// The decoder reports facts and judges nothing. A name in upper case or a pseudo-field that comes twice is a flaw of
// the section; that a request with a flaw is malformed, which pseudo-fields it needs and which fields it may not carry
// is for HTTP/2 to say (RFC 9113 §8). The characters of names and values are looked at here, because here each text is
// seen once: an entry of the table keeps what was found when it came in.

#include "violet/http/fields.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace violet::hpack {

// The pseudo-fields of RFC 9113 §8.3 and RFC 8441 §4.
enum class Pseudo : std::uint8_t { Authority, Method, Path, Protocol, Scheme, Status };
inline constexpr std::size_t kPseudoCount = 6;

// ":path"
[[nodiscard]] constexpr std::string_view name(Pseudo pseudo) noexcept {
  constexpr std::string_view kNames[kPseudoCount] = {":authority", ":method", ":path",
                                                     ":protocol",  ":scheme", ":status"};
  return kNames[static_cast<std::size_t>(pseudo)];
}

struct Budget {
  // Of names, values and 32 for each line, as SETTINGS_MAX_HEADER_LIST_SIZE counts (RFC 9113 §6.5.2).
  std::uint64_t bytes_max = 0;
  // Of lines that are no pseudo-fields.
  std::uint64_t count_max = 0;
};

struct Section {
  enum Flaw : std::uint8_t {
    kBadName = 1,         // empty, in upper case, or no token otherwise (RFC 9113 §8.2.1)
    kBadValue = 2,        // CR, LF, NUL or another control, or white space at an end (RFC 9113 §8.2.1)
    kUnknownPseudo = 4,   // (RFC 9113 §8.3)
    kRepeatedPseudo = 8,  // the section has the first one
    kLatePseudo = 16,     // behind another field
  };

  explicit Section(http::Fields& into) noexcept : fields(into) {}

  // Lines that are no pseudo-fields, not even unknown ones, in their order; those with a flaw, too. Names of known
  // fields have their canonical spelling. All texts live as long as the arena of `fields`.
  http::Fields& fields;
  std::uint8_t flaws = 0;
  std::uint8_t seen = 0;       // a bit for each Pseudo that occurs
  std::uint8_t sensitive = 0;  // a bit for each Pseudo that came never-indexed
  // Not 0: of two sections of one decoder that have the same number here, everything is the same. What was found out
  // about the first holds for the second.
  std::uint32_t identity = 0;
  // A word that is kept with an identity, for what was found out: 0 at first. nullptr where there is no identity.
  std::uint32_t* note = nullptr;
  std::uint64_t ids[2] = {};  // a bit for each FieldId that occurs
  std::string_view pseudo[kPseudoCount];

  [[nodiscard]] static constexpr std::uint8_t bit(Pseudo which) noexcept {
    return static_cast<std::uint8_t>(1u << static_cast<unsigned>(which));
  }
  [[nodiscard]] bool has(Pseudo which) const noexcept { return (seen & bit(which)) != 0; }
  // "" when it does not occur.
  [[nodiscard]] std::string_view get(Pseudo which) const noexcept { return pseudo[static_cast<std::size_t>(which)]; }
  [[nodiscard]] bool has(http::FieldId id) const noexcept {
    return (ids[static_cast<std::size_t>(id) / 64] >> (static_cast<std::size_t>(id) % 64) & 1) != 0;
  }
};
static_assert(http::kFieldIdCount <= 128);

}  // namespace violet::hpack
