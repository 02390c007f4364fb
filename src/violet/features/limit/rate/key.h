#pragma once

// Keys of rate limits: what stands for one client. Hashed with a secret of the process (SipHash-1-3), so that nobody
// can make up names that share a place in the table.

#include "violet/base/address.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace violet::rate {

using Secret = std::array<std::uint64_t, 2>;

[[nodiscard]] Secret make_secret() noexcept;

// What keys are made of: texts of different kinds never are the same key.
enum class Kind : char { Address = 'a', Field = 'f', Named = 'n' };

class Key {
 public:
  // IPv6 addresses count by their first 64 bits, which is what one customer has.
  explicit Key(const Address& address) noexcept;
  // Keeps the view.
  Key(Kind kind, std::string_view text) noexcept : kind_(kind), text_(text) {}

  [[nodiscard]] std::uint64_t hash(const Secret& secret) const noexcept;
  // For stores elsewhere: "a:192.0.2.1", "a:2001:db8::", "f:token".
  [[nodiscard]] std::string text() const;

 private:
  Kind kind_;
  std::string_view text_;
  Address address_;  // the bits behind those that count are 0
  std::size_t address_bytes_ = 0;
};

}  // namespace violet::rate
