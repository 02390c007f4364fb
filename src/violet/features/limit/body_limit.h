#pragma once

// body_limit: how large bodies may be, for an app or a group, instead of limits.body_bytes_max. Larger ones are refused
// with 413, before they are read where their length is declared, and while they are read otherwise. A route's own
// body_max() and an inner group's limit go before it. Settled when the app starts; costs no request anything.
//
//   Group uploads = app.group("/uploads");
//   uploads.use(body_limit(50 << 20));

#include <cstdint>

namespace violet {

class Route;

class BodyLimit {
 public:
  constexpr explicit BodyLimit(std::uint64_t bytes) noexcept : bytes_(bytes) {}
  void on_route(Route& route) const noexcept;

 private:
  std::uint64_t bytes_;
};

[[nodiscard]] constexpr BodyLimit body_limit(std::uint64_t bytes) noexcept { return BodyLimit(bytes); }

}  // namespace violet
