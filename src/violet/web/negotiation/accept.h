#pragma once

// Accept: which media types a client wants, and how much (RFC 9110 §12.5.1). A look at the request's fields; nothing is
// kept.

#include "violet/http/fields.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace violet::web {

class Accept {
 public:
  explicit Accept(const http::Fields& request) noexcept : fields_(request) {}

  // In thousandths, 0 when it is not acceptable. The most specific range that fits decides: with parameters before
  // without, "text/html" before "text/*" before "*/*". Ranges and weights that are malformed are passed over; without
  // any good one everything is acceptable.
  [[nodiscard]] std::uint16_t weight(std::string_view media_type) const noexcept;
  // The index of the one with the highest weight, among equals of the first; nullopt when none is acceptable.
  [[nodiscard]] std::optional<std::size_t> choose(std::span<const std::string_view> media_types) const noexcept;

 private:
  const http::Fields& fields_;
};

}  // namespace violet::web
