#include "violet/features/etag/digest.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace violet::etags {
namespace {

constexpr std::uint64_t kFirst = 0xa4093822299f31d1;
constexpr std::uint64_t kSecond = 0x082efa98ec4e6c89;

std::uint64_t load(const char* from) noexcept {
  std::uint64_t word;
  std::memcpy(&word, from, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word;
}

// Both halves of the whole product, so that every bit has a say in every bit.
std::uint64_t fold(std::uint64_t a, std::uint64_t b) noexcept {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

}  // namespace

// A product with zero forgets the other factor: each lane therefore keeps its own state beside it.
void Digest::mix(const char* block) noexcept {
  const std::uint64_t low = load(block);
  const std::uint64_t high = load(block + 8);
  first_ = std::rotl(first_, 23) + fold(low ^ kFirst, high ^ first_);
  second_ = std::rotl(second_, 41) + fold(high ^ kSecond, low ^ second_);
}

void Digest::add(std::string_view text) noexcept {
  if (const std::size_t used = size_ % kBlock; used > 0) {
    const std::size_t taken = std::min(kBlock - used, text.size());
    std::memcpy(rest_ + used, text.data(), taken);
    size_ += taken;
    text.remove_prefix(taken);
    if (size_ % kBlock != 0) return;
    mix(rest_);
  }
  size_ += text.size();
  for (; text.size() >= kBlock; text.remove_prefix(kBlock)) mix(text.data());
  if (!text.empty()) std::memcpy(rest_, text.data(), text.size());
}

std::array<std::uint64_t, 2> Digest::finish() noexcept {
  const std::size_t used = size_ % kBlock;
  if (used > 0) {
    std::memset(rest_ + used, 0, kBlock - used);
    mix(rest_);
  }
  char end[kBlock];
  std::memcpy(end, &size_, sizeof size_);
  std::memset(end + sizeof size_, 0xff, sizeof end - sizeof size_);
  mix(end);
  mix(end);
  return {fold(first_ ^ kFirst, second_ ^ kSecond), fold(second_ ^ kFirst, std::rotl(first_, 32) ^ kSecond)};
}

}  // namespace violet::etags
