#include "violet/features/limit/rate/key.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <sys/random.h>

namespace violet::rate {
namespace {

using Family = Address::Family;

struct Sip {
  std::uint64_t v0;
  std::uint64_t v1;
  std::uint64_t v2;
  std::uint64_t v3;

  void round() noexcept {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }
  void add(std::uint64_t word) noexcept {
    v3 ^= word;
    round();
    v0 ^= word;
  }
};

// SipHash with one round a word and three at the end (Aumasson, Bernstein 2012).
std::uint64_t siphash(const Secret& secret, std::string_view text) noexcept {
  Sip sip{secret[0] ^ 0x736f6d6570736575, secret[1] ^ 0x646f72616e646f6d, secret[0] ^ 0x6c7967656e657261,
          secret[1] ^ 0x7465646279746573};
  std::string_view rest = text;
  std::uint64_t word = 0;
  for (; rest.size() >= sizeof word; rest.remove_prefix(sizeof word)) {
    std::memcpy(&word, rest.data(), sizeof word);
    sip.add(word);
  }
  word = 0;
  std::memcpy(&word, rest.data(), rest.size());
  sip.add(word | static_cast<std::uint64_t>(text.size()) << 56);
  sip.v2 ^= 0xff;
  for (int i = 0; i < 3; ++i) sip.round();
  return sip.v0 ^ sip.v1 ^ sip.v2 ^ sip.v3;
}

}  // namespace

Secret make_secret() noexcept {
  Secret secret{};
  // Never fails for so few bytes; without it places could be foreseen, no more.
  static_cast<void>(::getrandom(secret.data(), sizeof secret, 0));
  return secret;
}

Key::Key(const Address& address) noexcept : kind_(Kind::Address), address_(address.plain()) {
  address_bytes_ = address_.family == Family::Ipv4 ? 4 : address_.family == Family::Ipv6 ? 8 : 0;
  std::fill(address_.bytes.begin() + static_cast<std::ptrdiff_t>(address_bytes_), address_.bytes.end(),
            std::uint8_t{0});
}

std::uint64_t Key::hash(const Secret& secret) const noexcept {
  const Secret of_kind = {secret[0] ^ static_cast<unsigned char>(kind_), secret[1]};
  if (kind_ != Kind::Address) return siphash(of_kind, text_);
  return siphash(of_kind, {reinterpret_cast<const char*>(address_.bytes.data()), address_bytes_});
}

std::string Key::text() const {
  const std::string kind = std::string(1, static_cast<char>(kind_)) + ":";
  return kind_ == Kind::Address ? kind + address_.host() : kind + std::string(text_);
}

}  // namespace violet::rate
