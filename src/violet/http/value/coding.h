#pragma once

// Content codings, and which of them a client accepts (RFC 9110 §8.4.1, §12.5.3).
//
//   const AcceptEncoding accepted = AcceptEncoding::of(exchange.request().fields);
//   static constexpr Coding kOffers[] = {Coding::Zstd, Coding::Brotli, Coding::Gzip, Coding::Identity};
//   if (const auto coding = accepted.choose(kOffers)) … else … 406

#include "violet/http/fields.h"
#include "violet/http/value/weight.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace violet::http {

enum class Coding : std::uint8_t { Identity, Gzip, Deflate, Brotli, Zstd };
inline constexpr std::size_t kCodingCount = 5;

// "gzip", "br"; "identity" is never written into a Content-Encoding.
[[nodiscard]] constexpr std::string_view name(Coding coding) noexcept {
  constexpr std::string_view kNames[kCodingCount] = {"identity", "gzip", "deflate", "br", "zstd"};
  return kNames[static_cast<std::size_t>(coding)];
}
// Case-insensitive, with the old name "x-gzip"; nullopt for codings that violet does not know.
[[nodiscard]] std::optional<Coding> find_coding(std::string_view text) noexcept;

class AcceptEncoding {
 public:
  // No field at all: the client has asked for nothing, so nothing but identity.
  AcceptEncoding() noexcept = default;
  // All lines of the request.
  static AcceptEncoding of(const Fields& fields) noexcept;
  // One line's value. Empty: identity alone is acceptable.
  static AcceptEncoding parse(std::string_view value) noexcept;

  // In thousandths, 0 when it is not acceptable. A coding that is named twice has the lower one; one that is not named
  // has that of "*". Identity that nobody speaks of is acceptable, but everything that is named goes before it.
  [[nodiscard]] std::uint16_t weight(Coding coding) const noexcept {
    return weights_[static_cast<std::size_t>(coding)];
  }
  [[nodiscard]] bool accepts(Coding coding) const noexcept { return weight(coding) > 0; }
  // The one with the highest weight, among equals the first of `offers`; nullopt when none is acceptable.
  [[nodiscard]] std::optional<Coding> choose(std::span<const Coding> offers) const noexcept;

  friend bool operator==(const AcceptEncoding&, const AcceptEncoding&) noexcept = default;

 private:
  class Builder;
  static constexpr std::uint16_t kUnspoken = 1;

  std::array<std::uint16_t, kCodingCount> weights_{kUnspoken};
};

}  // namespace violet::http
