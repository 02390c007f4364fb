// The Huffman code and the integers (RFC 7541 §5).

#include "violet/hpack/huffman.h"

#include "tests/hpack/blocks.h"
#include "violet/hpack/integer.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>

namespace violet::test {
namespace {

using namespace std::string_literals;

std::string coded(std::string_view text) {
  std::string out(text.size() * 4 + 16, '\0');
  out.resize(static_cast<std::size_t>(hpack::encode_huffman(text, out.data()) - out.data()));
  return out;
}

// In copies of the sizes that are asked for, with `behind` where the decoder may look.
std::optional<std::string> decoded(std::string_view code, char behind = '\0') {
  const auto in = std::make_unique<char[]>(code.size() + 8);
  code.copy(in.get(), code.size());
  std::fill_n(in.get() + code.size(), 8, behind);
  const auto out = std::make_unique<char[]>(hpack::huffman_room(code.size()));
  const hpack::Huffman made = hpack::decode_huffman({in.get(), code.size()}, out.get());
  if (made.end == nullptr) return std::nullopt;
  std::string text(out.get(), made.end);
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      EXPECT_FALSE(made.is_plain);
    }
  }
  return text;
}

void expect_round_trip(const std::string& text) {
  const std::string code = coded(text);
  EXPECT_EQ(code.size(), hpack::huffman_size(text));
  for (const char behind : {'\0', '\xff', '\x55'}) EXPECT_EQ(decoded(code, behind), text);
}

TEST(HpackHuffman, CodesEveryPairOfSymbols) {
  for (int a = 0; a < 256; ++a) {
    expect_round_trip(std::string(1, static_cast<char>(a)));
    for (int b = 0; b < 256; ++b) expect_round_trip({static_cast<char>(a), static_cast<char>(b)});
  }
}

TEST(HpackHuffman, CodesTextsOfEveryLength) {
  std::mt19937 random(1);
  for (std::size_t size = 0; size < 300; ++size) {
    std::string text(size, '\0');
    // Usual characters, and all of them.
    for (char& c : text) c = "/abcdefghij0123456789-.=&?%ZY"[random() % 29];
    expect_round_trip(text);
    for (char& c : text) c = static_cast<char>(random());
    expect_round_trip(text);
  }
}

TEST(HpackHuffman, KnowsTheCodesOfTheAppendix) {
  EXPECT_EQ(coded("0"), from_hex("07"));      // 00000, padded with ones
  EXPECT_EQ(coded("X"), from_hex("fc"));      // 8 bits: no padding
  EXPECT_EQ(coded("\0"s), from_hex("ffc7"));  // 13 bits
  EXPECT_EQ(coded("\n"), from_hex("fffffff3"));
  EXPECT_EQ(coded("\xff"), from_hex("fffffbbf"));
}

TEST(HpackHuffman, RefusesWhatIsNoCode) {
  for (const std::string_view bad : {
           "ff",                // eight bits of padding
           "07ff",              // the same behind a symbol
           "ffff",              // sixteen
           "06",                // a symbol, and padding that is not of ones
           "00",                // a symbol, and zeros
           "fffffffc",          // EOS, padded with zeros
           "ffffffff",          // EOS, padded with ones
           "07ffffffff",        // EOS behind a symbol
           "07fffffffcffffff",  // EOS in the middle
           "07070707070707fffffffcffffffff07",
           "fffff9",    // a symbol of 24 bits, cut off
           "fffffff0",  // one of 30 bits, padded with zeros
       }) {
    EXPECT_EQ(decoded(from_hex(bad)), std::nullopt) << bad;
  }
  EXPECT_EQ(decoded(from_hex("f8")), "&");
  EXPECT_EQ(decoded(""), "");
}

// What is decoded, coded again, is the same: no text has two codes.
TEST(HpackHuffman, TakesNoTextInTwoCodes) {
  std::mt19937 random(2);
  int good = 0;
  for (int round = 0; round < 200'000; ++round) {
    std::string code(random() % 12, '\0');
    for (char& c : code) c = static_cast<char>(random());
    // Codes of random bytes seldom end well.
    if (!code.empty()) code.back() = static_cast<char>(code.back() | ((1 << random() % 8) - 1));
    const auto text = decoded(code);
    if (!text) continue;
    ++good;
    ASSERT_EQ(coded(*text), code);
  }
  EXPECT_GT(good, 10'000);
}

struct Read {
  bool is_good = false;
  std::uint32_t value = 0;
  std::size_t used = 0;
};
Read read(std::string_view hex, int prefix) {
  const std::string bytes = from_hex(hex);
  const auto copy = std::make_unique<char[]>(bytes.size());
  bytes.copy(copy.get(), bytes.size());
  const char* p = copy.get();
  Read read;
  read.is_good = hpack::read_integer(p, p + bytes.size(), prefix, read.value);
  read.used = static_cast<std::size_t>(p - copy.get());
  return read;
}

TEST(HpackInteger, ComesBackAsItWasWritten) {
  for (int prefix = 1; prefix <= 8; ++prefix) {
    for (const std::uint64_t near : {0ull, 1ull, 30ull, 31ull, 127ull, 128ull, 254ull, 255ull, 16'510ull, 2'097'151ull,
                                     1ull << 28, 1ull << 31, 0xffffffffull}) {
      for (std::uint64_t value = near < 3 ? 0 : near - 3; value <= near + 3 && value <= 0xffffffff; ++value) {
        char out[hpack::kIntegerBytesMax];
        char* end = hpack::write_integer(out, prefix, 0, static_cast<std::uint32_t>(value));
        const char* p = out;
        std::uint32_t back;
        ASSERT_TRUE(hpack::read_integer(p, end, prefix, back));
        EXPECT_EQ(back, value);
        EXPECT_EQ(p, end);
        for (const char* cut = out + 1; cut < end; ++cut) {
          p = out;
          EXPECT_FALSE(hpack::read_integer(p, cut, prefix, back)) << "cut off";
        }
      }
    }
  }
}

TEST(HpackInteger, IsBoundedInValueAndLength) {
  EXPECT_EQ(read("1f e0ffffff0f", 5).value, 0xffffffffu);
  EXPECT_TRUE(read("1f e0ffffff0f", 5).is_good);
  EXPECT_FALSE(read("1f e1ffffff0f", 5).is_good) << "2^32";
  EXPECT_FALSE(read("1f ffffffffff7f", 5).is_good);
  EXPECT_FALSE(read("1f ffffffffffffffffff01", 5).is_good) << "more than 64 bits";
  // Padding with zeros is legal and bounded (RFC 7541 §5.1).
  EXPECT_TRUE(read("1f 80808000", 5).is_good);
  EXPECT_EQ(read("1f 80808000", 5).value, 31u);
  EXPECT_FALSE(read("1f 808080808000", 5).is_good);
  // The bits above the prefix do not count.
  EXPECT_EQ(read("ea", 5).value, 10u);
}

}  // namespace
}  // namespace violet::test
