#pragma once

// Reader: JSON (RFC 8259) into values, in one pass over the text, without a tree. What is to come it learns from a
// value's table (data/type.h), so one compiled reader serves all types; where a type is known to the compiler, members
// in their order and plain values take a shorter way (json/read/typed.h) to the same result.
//
//   auto user = json::read<User>(text);
//   if (!user) … user.error().to_string() …         // "line 1, column 9: …", or every member that is wrong
//
// The text is checked whole, also what nobody asked for: well-formed, UTF-8, nothing behind the value, no deeper than
// ReadOptions::depth_max. Then there are two kinds of trouble: text that is no JSON ends the reading, with its place;
// values that do not fit are all found, each by its JSON pointer (RFC 6901), up to data::Findings::kMax. Numbers are
// exact: what does not fit its type is wrong, 1.0 and 1e2 are whole numbers.
//
// A member has to come unless it is a std::optional, has a default that is not empty, or was described as optional.
// std::string_view members look into the text, or into the arena where they had to be unescaped.

#include "violet/data/findings.h"
#include "violet/data/type_of.h"
#include "violet/json/read/typed.h"
#include "violet/memory/arena.h"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace violet::json {

// Where a text is no JSON.
struct SyntaxError {
  std::string_view what = {};  // "a value is expected"; "" when the text is JSON
  std::size_t offset = 0;
  std::size_t line = 1;
  std::size_t column = 1;  // in characters
  bool is_too_deep = false;
};

// Reads `text` into `out`, an object of that type. False when something is wrong: `syntax` says what where the text is
// no JSON, `findings` where values do not fit. What does not fit keeps its default.
bool read(std::string_view text, const data::Type& type, void* out, const ReadOptions& options,
          data::Findings& findings, SyntaxError& syntax);
// The same for one type: read(text, kGet<User>, &user, …).
template <data::Known T>
inline constexpr detail::Get kGet = &detail::TypedReader::get<T>;
bool read(std::string_view text, detail::Get get, void* out, const ReadOptions& options, data::Findings& findings,
          SyntaxError& syntax);

// What read<T>() says, for programs without an arena of their own.
struct ReadError {
  struct Finding {
    std::string pointer;
    std::string what;
  };
  std::string syntax;  // "" when the text is JSON
  std::size_t line = 0;
  std::size_t column = 0;
  std::vector<Finding> findings;

  [[nodiscard]] std::string to_string() const;
};

namespace detail {
std::expected<void, ReadError> read(std::string_view text, Get get, void* out, const ReadOptions& options,
                                    Arena& arena);
}

// `text` and `arena` have to outlive std::string_view members.
template <data::Known T>
[[nodiscard]] std::expected<T, ReadError> read(std::string_view text, Arena& arena, const ReadOptions& options = {}) {
  T value{};
  if (auto done = detail::read(text, kGet<T>, &value, options, arena); !done) {
    return std::unexpected(std::move(done.error()));
  }
  return value;
}
template <data::Known T>
[[nodiscard]] std::expected<T, ReadError> read(std::string_view text, const ReadOptions& options = {}) {
  Arena arena;
  return read<T>(text, arena, options);
}

}  // namespace violet::json
