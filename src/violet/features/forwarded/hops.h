#pragma once

// Hops: what the proxies on a request's way have said about it, in Forwarded (RFC 7239) or in the X-Forwarded fields
// that came before it. Everything here was sent by somebody, and only read, never believed.

#include "violet/base/address.h"
#include "violet/http/fields.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace violet::forwarded {

// In the order of the message: the client first, the nearest proxy's word last. `protos` and `hosts` may have another
// count than `nodes`; "" where one of Forwarded's elements does not say. Texts live in the fields or in the arena.
struct Hops {
  std::span<const std::string_view> nodes;
  std::span<const std::string_view> protos;
  std::span<const std::string_view> hosts;
};

// The last `max` elements. A line that is malformed says nothing, nor does what stands before it: a client could have
// opened a quote that swallows what a proxy has added behind.
[[nodiscard]] Hops read_forwarded(const http::Fields& fields, Arena& arena, std::size_t max);
[[nodiscard]] Hops read_x_forwarded(const http::Fields& fields, Arena& arena, std::size_t max);

// A node's address, with or without port, IPv6 in brackets or not. nullopt: "unknown", an obfuscated identifier
// ("_hidden"), or nonsense.
[[nodiscard]] std::optional<Address> address_of(std::string_view node) noexcept;

}  // namespace violet::forwarded
