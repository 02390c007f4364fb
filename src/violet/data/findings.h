#pragma once

// Findings: everything that is wrong with a request, place by place, up to a bound. Texts are copied into the arena.

#include "violet/memory/arena.h"

#include <cstddef>
#include <span>
#include <string_view>

namespace violet::data {

enum class Part : std::uint8_t { Body, Path, Query, Header, Cookie };
// "body"
[[nodiscard]] std::string_view name(Part part) noexcept;

struct Finding {
  Part part;
  std::string_view where;  // of a JSON body its pointer (RFC 6901), "/users/0/name"; otherwise the name
  std::string_view what;   // "has to be a whole number from 0 to 255"
};

class Findings {
 public:
  static constexpr std::size_t kMax = 32;

  explicit Findings(Arena& arena) noexcept : arena_(arena) {}
  // Counted, and not kept, once there are kMax.
  void add(Part part, std::string_view where, std::string_view what);

  [[nodiscard]] bool is_empty() const noexcept { return count_ == 0; }
  [[nodiscard]] std::span<const Finding> list() const noexcept { return {list_, kept()}; }
  // More were found than list() holds.
  [[nodiscard]] std::size_t omitted_count() const noexcept { return count_ - kept(); }
  [[nodiscard]] Arena& arena() noexcept { return arena_; }

 private:
  [[nodiscard]] std::size_t kept() const noexcept { return count_ < kMax ? count_ : kMax; }
  Arena& arena_;
  Finding* list_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace violet::data
