#pragma once

// Pattern: what a route is registered for, "/users/{id}/files/{path...}", taken apart and checked.
//
//   literal      matches the same segment, compared after decoding; write it decoded ("/a b", not "/a%20b")
//   {name}       one segment that is not empty
//   {name...}    one segment or more up to the end of the path, the first of them not empty; only as the last one
//
// A trailing slash counts: "/a" and "/a/" are two patterns, the second ends in an empty literal.

#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace violet::web {

struct Segment {
  enum class Kind : unsigned char { Literal, Param, Rest };
  Kind kind = Kind::Literal;
  std::string text;  // the literal, or the parameter's name

  friend bool operator==(const Segment&, const Segment&) = default;
};

struct Pattern {
  std::string text;
  std::vector<Segment> segments;

  // No parameters.
  [[nodiscard]] bool is_literal() const noexcept;
  // The parameters' names in order.
  [[nodiscard]] std::vector<std::string> names() const;

  // The error is a sentence for whoever wrote the pattern.
  static std::expected<Pattern, std::string> parse(std::string_view text);
};

}  // namespace violet::web
