#pragma once

// Cursor: walks over JSON text. The part of the reader that knows the grammar and no types. Every function takes the
// place it begins at and returns the place behind what it has read, nullptr when the text is no JSON there: `what()`
// and `where()` then say why.

#include "violet/memory/arena.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace violet::json {

// A string as it stands in the text, and how to get at its characters.
struct StringToken {
  std::string_view raw;  // between the quotes
  bool has_escapes = false;
};

struct NumberToken {
  std::string_view text;
  bool is_whole = true;  // no fraction, no exponent
};

class Cursor {
 public:
  Cursor(std::string_view text, std::uint16_t depth_max) noexcept
      : end_(text.data() + text.size()), depth_max_(depth_max) {}

  [[nodiscard]] const char* end() const noexcept { return end_; }

  // White space is skipped; most of the time there is none.
  [[nodiscard]] const char* skip_space(const char* at) const noexcept {
    while (at < end_ && static_cast<unsigned char>(*at) <= ' ') {
      if (*at != ' ' && *at != '\n' && *at != '\r' && *at != '\t') break;
      ++at;
    }
    return at;
  }
  // '\0' at the end.
  [[nodiscard]] char peek(const char* at) const noexcept { return at < end_ ? *at : '\0'; }

  // REQUIRES: a quote at `at`.
  const char* string(const char* at, StringToken& out) noexcept;
  const char* number(const char* at, NumberToken& out) noexcept;
  // Any value, checked whole.
  const char* value(const char* at) noexcept;
  const char* literal(const char* at, std::string_view word) noexcept;

  // Goes one level down; false when it is one too many.
  bool enter(const char* at) noexcept {
    if (depth_ >= depth_max_) [[unlikely]] {
      is_too_deep_ = true;
      fail(at, "it is nested deeper than allowed");
      return false;
    }
    ++depth_;
    return true;
  }
  void leave() noexcept { --depth_; }

  // Always nullptr.
  const char* fail(const char* at, std::string_view what) noexcept {
    if (what_.empty()) {
      what_ = what;
      where_ = at < end_ ? at : end_;
    }
    return nullptr;
  }
  [[nodiscard]] std::string_view what() const noexcept { return what_; }
  [[nodiscard]] const char* where() const noexcept { return where_; }
  [[nodiscard]] bool is_too_deep() const noexcept { return is_too_deep_; }

 private:
  const char* string_with_care(const char* at, const char* first, StringToken& out) noexcept;
  const char* escape(const char* at) noexcept;
  const char* object(const char* at) noexcept;
  const char* list(const char* at) noexcept;

  const char* end_;
  std::uint16_t depth_ = 0;
  std::uint16_t depth_max_;
  bool is_too_deep_ = false;
  std::string_view what_;
  const char* where_ = nullptr;
};

// The characters of a checked string: itself, or a copy in the arena where something had to be unescaped.
std::string_view unescape(const StringToken& token, Arena& arena);

}  // namespace violet::json
