#include "violet/features/forwarded/network.h"

#include "violet/base/ascii.h"

#include <algorithm>
#include <cstdint>

namespace violet::forwarded {
namespace {

using Family = Address::Family;

int bits_of(Family family) noexcept { return family == Family::Ipv4 ? 32 : 128; }

bool has_bit(const Address& address, int bit) noexcept {
  return (address.bytes[static_cast<std::size_t>(bit / 8)] >> (7 - bit % 8) & 1) != 0;
}

}  // namespace

Result<Network> Network::parse(std::string_view text) {
  if (text == "unix") return Network({.family = Family::Unix}, 0);
  const std::size_t slash = text.find('/');
  VIOLET_TRY(const Address first, Address::parse(text.substr(0, slash), 0));
  int bit_count = bits_of(first.family);
  if (slash != std::string_view::npos) {
    const auto given = ascii::to_number<std::uint8_t>(text.substr(slash + 1));
    if (!given || *given > bit_count) return fail(ErrorKind::Invalid);
    bit_count = *given;
  }
  // "10.1.2.3/8" is a mistake: nobody knows which of the two was meant.
  for (int bit = bit_count; bit < bits_of(first.family); ++bit) {
    if (has_bit(first, bit)) return fail(ErrorKind::Invalid);
  }
  return Network(first, bit_count);
}

bool Network::contains(const Address& address) const noexcept {
  const Address candidate = address.plain();
  if (candidate.family != first_.family) return false;
  const auto whole = static_cast<std::size_t>(bit_count_ / 8);
  if (!std::equal(first_.bytes.begin(), first_.bytes.begin() + static_cast<std::ptrdiff_t>(whole),
                  candidate.bytes.begin())) {
    return false;
  }
  const int rest = bit_count_ % 8;
  return rest == 0 || ((first_.bytes[whole] ^ candidate.bytes[whole]) >> (8 - rest)) == 0;
}

}  // namespace violet::forwarded
