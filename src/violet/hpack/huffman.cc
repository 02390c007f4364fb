#include "violet/hpack/huffman.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace violet::hpack {
namespace {

constexpr int kSymbols = 257;
constexpr int kEos = 256;
constexpr int kLongest = 30;

// The code is canonical: its lengths say all of it. Symbols of one length have consecutive codes, in their own order.
constexpr std::uint8_t kLengths[kSymbols] = {
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28,
    28, 28, 28, 6,  10, 10, 12, 13, 6,  8,  11, 10, 10, 8,  11, 8,  6,  6,  6,  5,  5,  5,  6,  6,  6,  6,  6,  6,  6,
    7,  8,  15, 6,  12, 10, 13, 6,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,
    7,  8,  7,  8,  13, 19, 13, 14, 6,  15, 5,  6,  5,  6,  5,  6,  6,  6,  5,  7,  7,  6,  6,  6,  5,  6,  7,  6,  5,
    5,  6,  7,  7,  7,  7,  7,  15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24,
    24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22,
    23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26,
    27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23,
    22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30};

struct Code {
  std::uint32_t bits;  // right-aligned
  std::uint32_t size;
};

struct Canonical {
  std::array<Code, kSymbols> codes{};
  std::array<std::uint16_t, kSymbols> sorted{};           // symbols by length, then by number
  std::array<std::uint32_t, kLongest + 1> first{};        // the first code of a length
  std::array<std::uint32_t, kLongest + 1> count{};        // how many codes of a length there are
  std::array<std::uint32_t, kLongest + 1> first_place{};  // where they stand in `sorted`
};

constexpr Canonical kCanonical = [] {
  Canonical canonical;
  std::uint32_t code = 0;
  std::uint32_t place = 0;
  for (std::uint32_t size = 1; size <= kLongest; ++size) {
    code <<= 1;
    canonical.first[size] = code;
    canonical.first_place[size] = place;
    for (std::uint32_t symbol = 0; symbol < kSymbols; ++symbol) {
      if (kLengths[symbol] != size) continue;
      canonical.codes[symbol] = {code++, size};
      canonical.sorted[place++] = static_cast<std::uint16_t>(symbol);
      ++canonical.count[size];
    }
  }
  return canonical;
}();
static_assert(kCanonical.codes[kEos].bits == 0x3fffffff);

// What the next kStepBits of a code say: one symbol, or two, or that the first one is longer (no bits).
struct Step {
  std::uint8_t symbols[2];
  std::uint8_t bits;
  std::uint8_t count;

  // Writes two bytes, whatever their count.
  [[nodiscard]] char* put(char* out) const noexcept {
    std::memcpy(out, symbols, sizeof symbols);
    return out + count;
  }
};
constexpr Step single(std::uint32_t symbol, std::uint32_t bits) noexcept {
  return {{static_cast<std::uint8_t>(symbol), 0}, static_cast<std::uint8_t>(bits), 1};
}
constexpr std::uint32_t kStepBits = 12;

constexpr auto kSteps = [] {
  std::array<Step, 1u << kStepBits> steps{};
  for (std::uint32_t symbol = 0; symbol < 256; ++symbol) {
    const Code code = kCanonical.codes[symbol];
    if (code.size > kStepBits) continue;
    const std::uint32_t spread = kStepBits - code.size;
    for (std::uint32_t rest = 0; rest < 1u << spread; ++rest) {
      steps[code.bits << spread | rest] = single(symbol, code.size);
    }
  }
  const auto singles = steps;
  for (std::uint32_t at = 0; at < steps.size(); ++at) {
    const Step one = singles[at];
    const Step two = singles[at << one.bits & (steps.size() - 1)];
    if (one.bits == 0 || two.bits == 0 || one.bits + two.bits > kStepBits) continue;
    steps[at] = {{one.symbols[0], two.symbols[0]}, static_cast<std::uint8_t>(one.bits + two.bits), 2};
  }
  return steps;
}();

// What makes Huffman::is_plain true.
static_assert([] {
  for (int c = 0; c < 0x80; ++c) {
    if ((c < 0x20 || c == 0x7f) && kLengths[c] <= kStepBits) return false;
  }
  return true;
}());

std::uint64_t load_big(const char* from) noexcept {
  std::uint64_t word;
  std::memcpy(&word, from, sizeof word);
  if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap64(word);
  return word;
}

void store_big(char* to, std::uint64_t word) noexcept {
  if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap64(word);
  std::memcpy(to, &word, sizeof word);
}

const Step& step_of(std::uint64_t word) noexcept { return kSteps[word >> (64 - kStepBits)]; }

// The symbol of more than kStepBits that `word` begins with; no bits when it does not fit into `left`, or is EOS.
Step long_step_of(std::uint64_t word, std::size_t left) noexcept {
  for (std::uint32_t size = kStepBits + 1; size <= kLongest && size <= left; ++size) {
    const auto offset = static_cast<std::uint32_t>(word >> (64 - size)) - kCanonical.first[size];
    if (offset >= kCanonical.count[size]) continue;
    const std::uint16_t symbol = kCanonical.sorted[kCanonical.first_place[size] + offset];
    return symbol != kEos ? single(symbol, size) : Step{};
  }
  return {};
}

}  // namespace

Huffman decode_huffman(std::string_view coded, char* out) noexcept {
  const char* const begin = coded.data();
  std::size_t at = 0;                    // in bits
  std::size_t left = coded.size() * 8;   // in bits
  constexpr std::size_t kWordBits = 57;  // of a load at any bit
  constexpr int kStepsInWord = kWordBits / kStepBits;
  bool is_plain = true;
  while (left >= kWordBits) {
    std::uint64_t word = load_big(begin + at / 8) << at % 8;
    std::size_t used = 0;
    for (int i = 0; i < kStepsInWord; ++i) {
      const Step& step = step_of(word);
      out = step.put(out);
      word <<= step.bits;
      used += step.bits;
    }
    if (used == 0) [[unlikely]] {
      is_plain = false;
      const Step step = long_step_of(word, left);
      if (step.bits == 0) return {};
      out = step.put(out);
      used = step.bits;
    }
    at += used;
    left -= used;
  }
  // The rest, with ones behind it as if the padding went on; inverted, so that shifting brings ones.
  std::uint64_t inverse = left == 0 ? 0 : ~(load_big(begin + at / 8) << at % 8 | ~std::uint64_t{0} >> left);
  while (inverse != 0) {
    Step step = step_of(~inverse);
    if (step.bits == 0) [[unlikely]] {
      is_plain = false;
      step = long_step_of(~inverse, left);
      if (step.bits == 0) return {};
    } else if (step.bits > left) [[unlikely]] {
      // The second symbol is made of padding.
      step = single(step.symbols[0], kLengths[step.symbols[0]]);
      if (step.bits > left) return {};
    }
    out = step.put(out);
    inverse <<= step.bits;
    left -= step.bits;
  }
  // Nothing but ones is left: padding, or the beginning of EOS (RFC 7541 §5.2).
  if (left >= 8) return {};
  return {out, is_plain};
}

std::size_t huffman_size(std::string_view text) noexcept {
  std::size_t bits = 0;
  for (char c : text) bits += kLengths[static_cast<unsigned char>(c)];
  return (bits + 7) / 8;
}

char* encode_huffman(std::string_view text, char* out) noexcept {
  std::uint64_t word = 0;  // left-aligned
  std::uint32_t used = 0;
  for (char c : text) {
    const Code code = kCanonical.codes[static_cast<unsigned char>(c)];
    word |= static_cast<std::uint64_t>(code.bits) << (64 - code.size) >> used;
    used += code.size;
    if (used >= 32) {
      store_big(out, word);
      out += 4;
      word <<= 32;
      used -= 32;
    }
  }
  if (used == 0) return out;
  store_big(out, word | ~std::uint64_t{0} >> used);
  return out + (used + 7) / 8;
}

}  // namespace violet::hpack
