#pragma once

// Values out of texts that are not JSON: fields of forms, queries, heads.

#include "violet/data/type.h"
#include "violet/memory/arena.h"

#include <string>
#include <string_view>

namespace violet::data {

// Writes what `text` says into `out`, an object of that type: numbers in decimal, true, false, 1 or 0, texts as they
// are, names of enumerators, times, base64. An optional gets a value, a list one more. "": good; otherwise what is
// wrong with it. `text` has to live as long as std::string_view members.
[[nodiscard]] std::string set_text(const Type& type, void* out, std::string_view text, Arena& arena);

// The value of an enumerator, a point in time; false when the text is none.
[[nodiscard]] bool set_enum(const Type& type, void* out, std::string_view name) noexcept;
[[nodiscard]] bool set_time(const Type& type, void* out, std::string_view text) noexcept;
// "one of Red, Green", "a whole number from 0 to 255"
[[nodiscard]] std::string what_is_expected(const Type& type);

// Whether such a text can become a value of that type.
[[nodiscard]] bool takes_text(const Type& type) noexcept;
// It takes any number of them.
[[nodiscard]] bool takes_many(const Type& type) noexcept;

}  // namespace violet::data
