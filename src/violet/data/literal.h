#pragma once

// Literal: a string literal as a template argument, Header<"Host">, pattern<"^[a-z]+$">.

#include <cstddef>
#include <string_view>

namespace violet {

template <std::size_t N>
struct Literal {
  consteval Literal(const char (&text)[N]) {  // NOLINT(google-explicit-constructor)
    for (std::size_t i = 0; i < N; ++i) characters[i] = text[i];
  }
  [[nodiscard]] constexpr std::string_view text() const noexcept { return {characters, N - 1}; }
  char characters[N];
};

}  // namespace violet
