#pragma once

// The static table of HPACK (RFC 7541 Appendix A), and Key: what the name of a line is, in one byte.

#include "violet/hpack/section.h"
#include "violet/http/field_id.h"

#include <cstdint>
#include <string_view>

namespace violet::hpack {

// A known field, a pseudo-field, or neither.
class Key {
 public:
  static constexpr std::size_t kCount = http::kFieldIdCount + kPseudoCount;

  constexpr Key() noexcept = default;
  constexpr Key(http::FieldId id) noexcept : value_(static_cast<std::uint8_t>(id)) {}
  constexpr Key(Pseudo pseudo) noexcept
      : value_(static_cast<std::uint8_t>(kFirstPseudo + static_cast<unsigned>(pseudo))) {}

  [[nodiscard]] constexpr bool is_other() const noexcept { return value_ == 0; }
  [[nodiscard]] constexpr bool is_pseudo() const noexcept { return value_ >= kFirstPseudo; }
  // Other for pseudo-fields.
  [[nodiscard]] constexpr http::FieldId id() const noexcept {
    return is_pseudo() ? http::FieldId::Other : static_cast<http::FieldId>(value_);
  }
  // REQUIRES: is_pseudo().
  [[nodiscard]] constexpr Pseudo pseudo() const noexcept { return static_cast<Pseudo>(value_ - kFirstPseudo); }
  // Below kCount.
  [[nodiscard]] constexpr std::size_t index() const noexcept { return value_; }

  friend constexpr bool operator==(Key, Key) noexcept = default;

 private:
  static constexpr std::uint8_t kFirstPseudo = http::kFieldIdCount;
  std::uint8_t value_ = 0;
};
static_assert(Key::kCount <= 256);

inline constexpr std::uint32_t kStaticCount = 61;

struct StaticEntry {
  std::string_view name;  // canonical spelling of known fields
  std::string_view value;
  Key key;
};

// From index 1; the one at 0 is empty.
struct StaticTable {
  StaticEntry at[kStaticCount + 1];
};
extern const StaticTable kStaticTable;

// By Key::index(): the first entry of that name, 0 when there is none.
struct StaticNames {
  std::uint8_t at[Key::kCount];
};
extern const StaticNames kStaticNames;

}  // namespace violet::hpack
