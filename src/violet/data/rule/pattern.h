#pragma once

// Pattern: a regular expression (RE2's syntax: linear time whatever the text). Made once, used by any thread.

#include <memory>
#include <string_view>

namespace violet::data {

class Pattern {
 public:
  explicit Pattern(std::string_view text);
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;
  ~Pattern();

  // Found anywhere in `text`, as in JSON Schema: "^" and "$" bind it to the ends.
  [[nodiscard]] bool matches(std::string_view text) const noexcept;
  // What is wrong with it; "" when it can be used. Such a pattern matches nothing.
  [[nodiscard]] std::string_view defect() const noexcept;

 private:
  struct Compiled;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace violet::data
