// What the decoder takes, refuses and notes.

#include "tests/hpack/blocks.h"
#include "violet/hpack/huffman.h"
#include "violet/hpack/integer.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace violet::test {
namespace {

using hpack::Decoder;
using hpack::Pseudo;
using hpack::Section;
using hpack::Verdict;
using Lines = std::vector<std::string>;
using namespace std::string_literals;

std::string raw(std::string_view text) {
  char out[8];
  char* end = hpack::write_integer(out, 7, 0, static_cast<std::uint32_t>(text.size()));
  return std::string(out, end).append(text);
}
std::string coded(std::string_view text) {
  std::string code(text.size() * 4 + 16, '\0');
  code.resize(static_cast<std::size_t>(hpack::encode_huffman(text, code.data()) - code.data()));
  char out[8];
  char* end = hpack::write_integer(out, 7, 0x80, static_cast<std::uint32_t>(code.size()));
  return std::string(out, end).append(code);
}
// Literals with a new name (RFC 7541 §6.2): with indexing, without, and never.
std::string indexed(std::string_view name, std::string_view value) { return "\x40" + raw(name) + raw(value); }
std::string plain(std::string_view name, std::string_view value) { return "\0"s + raw(name) + raw(value); }
std::string never(std::string_view name, std::string_view value) { return "\x10" + raw(name) + raw(value); }

TEST(HpackDecoder, RefusesWhatIsNoBlock) {
  struct Case {
    std::string_view hex;
    std::string_view why;
  };
  for (const Case& c : {
           Case{"80", "index 0"},
           Case{"be", "an index beyond the tables"},
           Case{"ffff7f", "an index far beyond"},
           Case{"ffffffffff0f", "an index that overflows"},
           Case{"7e0161", "the name of an index beyond the tables"},
           Case{"0f2f0161", "the same without indexing"},
           Case{"1f2f0161", "the same never indexed"},
           Case{"ff", "an index that is cut off"},
           Case{"40", "a literal without name"},
           Case{"4001", "a name that is cut off"},
           Case{"400161", "a literal without value"},
           Case{"40016101", "a value that is cut off"},
           Case{"4001617f", "a length that is cut off"},
           Case{"4001617fffffffff0f61", "a length of four gigabytes"},
           Case{"400161ff", "a coded length that is cut off"},
           Case{"40016181ff", "Huffman padding of eight bits"},
           Case{"4001618106", "Huffman padding of zeros"},
           Case{"40016184ffffffff", "EOS"},
           Case{"4081ff0161", "Huffman padding of eight bits in a name"},
           Case{"8220", "a size update behind a line"},
           Case{"3fe21f", "a size update above the setting: 4097"},
           Case{"3fffffffff0f", "a size update above everything"},
           Case{"3fffffffffff0f", "a size update that overflows"},
           Case{"3f", "a size update that is cut off"},
           Case{"202020", "three size updates"},
       }) {
    Decoder decoder;
    EXPECT_EQ(decode(decoder, from_hex(c.hex)).verdict, Verdict::Broken) << c.why;
    EXPECT_EQ(decode(decoder, from_hex("82")).verdict, Verdict::Broken) << "for ever";
    // The same behind lines that are good.
    if (c.hex.substr(0, 2) == "3f" || c.hex == "202020") continue;
    Decoder second;
    EXPECT_EQ(decode(second, from_hex("8284") + plain("a", "b") + from_hex(c.hex)).verdict, Verdict::Broken) << c.why;
  }
}

TEST(HpackDecoder, TakesABlockOnlyWhole) {
  const std::string lines[] = {"\x82",
                               "\x84",
                               "\x41" + coded("www.example.com"),
                               indexed("custom-key", "custom-value"),
                               "\x40" + coded("another-name") + coded("another value"),
                               plain("x", std::string(200, 'v')),
                               never("password", "secret"),
                               "\xbe",
                               "\x5f" + raw("text/html")};
  std::string block;
  std::vector<std::size_t> ends = {0};
  for (const std::string& line : lines) {
    block += line;
    ends.push_back(block.size());
  }
  for (std::size_t cut = 0; cut <= block.size(); ++cut) {
    Decoder decoder;
    const bool is_end = std::ranges::find(ends, cut) != ends.end();
    EXPECT_EQ(decode(decoder, block.substr(0, cut)).verdict, is_end ? Verdict::Done : Verdict::Broken) << cut;
  }
}

TEST(HpackDecoder, KnowsFieldsByTheirIds) {
  Decoder decoder;
  const Decoded decoded = decode(
      decoder, "\x82" + plain("content-type", "a") + "\0"s + coded("x-request-id") + raw("b") + plain("x-own", "c"));
  ASSERT_EQ(decoded.verdict, Verdict::Done);
  ASSERT_EQ(decoded.section.fields.count(), 3u);
  const http::Field* field = decoded.section.fields.begin();
  EXPECT_EQ(field[0].id, http::FieldId::ContentType);
  EXPECT_EQ(field[0].name, "Content-Type");
  EXPECT_EQ(field[1].id, http::FieldId::XRequestId);
  EXPECT_EQ(field[1].name, "X-Request-ID");
  EXPECT_EQ(field[2].id, http::FieldId::Other);
  EXPECT_EQ(field[2].name, "x-own");
  EXPECT_TRUE(decoded.section.has(http::FieldId::ContentType) && decoded.section.has(http::FieldId::XRequestId));
  EXPECT_FALSE(decoded.section.has(http::FieldId::Host));
  EXPECT_TRUE(decoded.section.has(Pseudo::Method));
  EXPECT_FALSE(decoded.section.has(Pseudo::Path));
}

TEST(HpackDecoder, RemembersWhatIsNeverIndexed) {
  Decoder decoder;
  const Decoded decoded =
      decode(decoder, "\x14" + raw("/secret") + "\x1f\x08" + raw("Basic x") + never("x-token", "t") + plain("x", "y"));
  EXPECT_EQ(decoded.lines(),
            (Lines{":path: /secret (never)", "authorization: Basic x (never)", "x-token: t (never)", "x: y"}));
  EXPECT_EQ(decoder.table().count(), 0u);
}

// ---- flaws

std::uint8_t flaws_of(Decoder& decoder, const std::string& block) {
  const Decoded decoded = decode(decoder, block);
  EXPECT_EQ(decoded.verdict, Verdict::Done);
  return decoded.section.flaws;
}

TEST(HpackDecoder, NotesBadNamesAlsoWhenTheyComeFromTheTable) {
  const std::string names[] = {
      "",      "A",        "conteNt-type", "a b", "a\0b"s, "a:b", "a\r", "\n",
      "a\x7f", "\xc3\xa4", " a",           "a ",  "a/b",   "(a)", "a\"", std::string(300, 'X')};
  for (const std::string& name : names) {
    for (const bool is_coded : {false, true}) {
      Decoder decoder;
      const std::string line = "\x40" + (is_coded ? coded(name) : raw(name)) + raw("v");
      EXPECT_EQ(flaws_of(decoder, line), Section::kBadName) << name;
      EXPECT_EQ(flaws_of(decoder, "\xbe"), Section::kBadName) << "an entry";
      EXPECT_EQ(flaws_of(decoder, "\x7e" + raw("w")), Section::kBadName) << "the name of an entry";
      EXPECT_EQ(flaws_of(decoder, "\x0f\x2f" + raw("w")), Section::kBadName);
      EXPECT_EQ(flaws_of(decoder, "\x82"), 0);
    }
  }
  Decoder decoder;
  EXPECT_EQ(flaws_of(decoder, plain("abcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~", "v")), 0);
}

TEST(HpackDecoder, NotesBadValuesAtEveryPlace) {
  for (std::size_t size = 1; size <= 40; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      for (int c = 0; c < 256; ++c) {
        std::string value(size, 'v');
        value[at] = static_cast<char>(c);
        const bool is_white = c == ' ' || c == '\t';
        const bool is_end = at == 0 || at + 1 == size;
        const bool is_bad = is_white ? is_end : c < 0x20 || c == 0x7f;
        Decoder decoder;
        // All bytes in short values, where the differences lie; some in long ones.
        if (size > 20 && c > 0x21 && c < 0x7e) continue;
        ASSERT_EQ(flaws_of(decoder, plain("a", value)), is_bad ? Section::kBadValue : 0)
            << size << ' ' << at << ' ' << c;
        ASSERT_EQ(flaws_of(decoder, "\x40" + raw("a") + coded(value)), is_bad ? Section::kBadValue : 0);
        ASSERT_EQ(flaws_of(decoder, "\xbe"), is_bad ? Section::kBadValue : 0);
        ASSERT_EQ(flaws_of(decoder, "\x7e" + raw("good")), 0) << "the flaw is the value's";
      }
    }
  }
}

TEST(HpackDecoder, NotesPseudoFieldsThatAreOutOfPlace) {
  struct Case {
    std::string block;
    int flaws;
  };
  const std::string path = "\x04" + raw("/a");
  for (const Case& c : {
           Case{"\x82\x84\x86", 0},
           Case{"\x82\x83", Section::kRepeatedPseudo},
           Case{"\x84" + path, Section::kRepeatedPseudo},
           Case{"\x82" + plain("a", "b") + "\x84", Section::kLatePseudo},
           Case{plain("a", "b") + "\x82\x83", Section::kLatePseudo | Section::kRepeatedPseudo},
           Case{plain(":unknown", "b"), Section::kUnknownPseudo},
           Case{plain(":", "b"), Section::kUnknownPseudo},
           Case{plain(":PATH", "b"), Section::kUnknownPseudo},
           Case{plain(":path", "/b") + plain(":protocol", "websocket"), 0},
           Case{plain(":path", "/\n"), Section::kBadValue},
       }) {
    Decoder decoder;
    EXPECT_EQ(flaws_of(decoder, c.block), c.flaws);
  }
  Decoder decoder;
  EXPECT_EQ(decode(decoder, "\x84" + path).lines(), Lines{":path: /"}) << "the first one counts";
  EXPECT_EQ(decode(decoder, indexed(":unknown", "b")).lines(), Lines{});
  EXPECT_EQ(flaws_of(decoder, "\xbe"), Section::kUnknownPseudo);
}

// ---- the table

TEST(HpackDecoder, InsertsALineWhoseNameIsTheEntryThatItEvicts) {
  Decoder decoder;
  const std::string value(200, 'v');
  ASSERT_EQ(decode(decoder, from_hex("3fe101")).verdict, Verdict::Done);  // 256
  ASSERT_EQ(decode(decoder, indexed("a-name", "short")).verdict, Verdict::Done);
  EXPECT_EQ(decode(decoder, "\x7e" + raw(value)).lines(), Lines{"a-name: " + value});
  EXPECT_EQ(decoder.table().count(), 1u);
  EXPECT_EQ(decode(decoder, "\xbe").lines(), Lines{"a-name: " + value});
  // Larger than the table: nothing stays (RFC 7541 §4.4).
  EXPECT_EQ(decode(decoder, "\x7e" + raw(std::string(300, 'w'))).verdict, Verdict::Done);
  EXPECT_EQ(decoder.table().count(), 0u);
}

TEST(HpackDecoder, TakesSizeUpdatesUpToTheSetting) {
  Decoder decoder;
  ASSERT_EQ(decode(decoder, indexed("a", "b")).verdict, Verdict::Done);
  EXPECT_EQ(decode(decoder, from_hex("203fe11f82")).lines(), Lines{":method: GET"});  // 0, then 4096
  EXPECT_EQ(decoder.table().count(), 0u);
  EXPECT_EQ(decoder.table().capacity(), 4096u);
  EXPECT_EQ(decode(decoder, from_hex("3fe11f3fe11f82")).verdict, Verdict::Done);
  decoder.set_table_bytes_max(8192);
  EXPECT_EQ(decoder.table().capacity(), 4096u) << "until the peer says so";
  EXPECT_EQ(decode(decoder, from_hex("3fe13f")).verdict, Verdict::Done);  // 8192
  EXPECT_EQ(decoder.table().capacity(), 8192u);
}

TEST(HpackDecoder, WantsAnUpdateAfterASmallerSetting) {
  struct Case {
    std::vector<std::uint32_t> settings;
    std::string_view hex;
    Verdict verdict;
  };
  for (const Case& c : {
           Case{{100}, "82", Verdict::Broken}, Case{{100}, "3f4582", Verdict::Done},  // 100
           Case{{100}, "3f4682", Verdict::Broken},                                    // 101
           Case{{100}, "2082", Verdict::Done},                                        // 0
           Case{{100, 4096}, "82", Verdict::Broken},                                  // it was smaller in between
           Case{{100, 4096}, "3fe11f82", Verdict::Broken},                            // 4096
           Case{{100, 4096}, "3f453fe11f82", Verdict::Done}, Case{{100, 4096}, "3f4582", Verdict::Done},
           Case{{100, 50}, "3f4582", Verdict::Broken}, Case{{100, 50}, "3f1382", Verdict::Done},  // 50
           Case{{4096}, "82", Verdict::Done}, Case{{8192}, "82", Verdict::Done},
           Case{{8192, 4096}, "82", Verdict::Done},  // the peer has used 4096 all the time
       }) {
    Decoder decoder;
    // What comes again is known, and must not come back unchecked.
    for (int i = 0; i < 4; ++i) ASSERT_EQ(decode(decoder, from_hex("82")).verdict, Verdict::Done);
    for (const std::uint32_t bytes : c.settings) decoder.set_table_bytes_max(bytes);
    EXPECT_EQ(decode(decoder, from_hex(c.hex)).verdict, c.verdict) << c.hex;
    if (c.verdict == Verdict::Done) {
      EXPECT_EQ(decode(decoder, from_hex("82")).verdict, Verdict::Done);
    }
  }
}

// ---- the budget

TEST(HpackDecoder, GoesOnOverItsBudgetAndStoresNothing) {
  Decoder decoder;
  const hpack::Budget budget{.bytes_max = 100, .count_max = 2};
  Decoded decoded = decode(decoder, plain("a", "1") + plain("b", "2") + indexed("c", "3") + indexed("d", "4"),
                           {.bytes_max = 1000, .count_max = 2});
  EXPECT_EQ(decoded.verdict, Verdict::OverCount);
  EXPECT_EQ(decoded.lines(), (Lines{"a: 1", "b: 2"}));
  EXPECT_EQ(decode(decoder, "\xbf\xbe").lines(), (Lines{"c: 3", "d: 4"})) << "the table is in step";

  const Decoded second = decode(decoder, plain("a", std::string(80, 'x')) + indexed("e", "5"), budget);
  EXPECT_EQ(second.verdict, Verdict::OverBytes);
  EXPECT_EQ(second.lines(), Lines{});
  EXPECT_EQ(decode(decoder, "\xbe").lines(), Lines{"e: 5"});
  // What is broken is broken over the budget, too.
  Decoder other;
  EXPECT_EQ(decode(other, plain("a", std::string(80, 'x')) + "\x80", budget).verdict, Verdict::Broken);
  // Exactly as much as there is.
  EXPECT_EQ(decode(decoder, plain("a", std::string(67, 'x')), budget).verdict, Verdict::Done);
  EXPECT_EQ(decode(decoder, plain("a", std::string(68, 'x')), budget).verdict, Verdict::OverBytes);
  EXPECT_EQ(decode(decoder, "\x82\x84\x86", budget).verdict, Verdict::OverBytes) << "42, 38 and 43 of 100";
  EXPECT_EQ(decode(decoder, "\x82\x84" + plain("a", "1"), {.bytes_max = 1000, .count_max = 1}).verdict, Verdict::Done)
      << "pseudo-fields are not counted";
}

TEST(HpackDecoder, UnpacksABombNoFurtherThanItsBudget) {
  Decoder decoder;
  const std::string value(4000, 'b');
  ASSERT_EQ(decode(decoder, indexed("bomb", value)).verdict, Verdict::Done);
  const Decoded decoded = decode(decoder, std::string(16'000, '\xbe'), {.bytes_max = 32'768, .count_max = 100});
  EXPECT_EQ(decoded.verdict, Verdict::OverBytes);
  EXPECT_EQ(decoded.section.fields.count(), 8u);
  EXPECT_LE(decoded.arena->heap_bytes(), 64u * 1024);
}

TEST(HpackDecoder, StoresNothingOfLinesOverItsBudget) {
  Decoder decoder;
  std::string block;
  for (int i = 0; i < 200; ++i) block += indexed("name-" + std::to_string(i), std::string(100, 'v'));
  const Decoded decoded = decode(decoder, block, {.bytes_max = 0, .count_max = 0});
  EXPECT_EQ(decoded.verdict, Verdict::OverBytes);
  EXPECT_LE(decoded.arena->heap_bytes(), 16u * 1024) << "each line takes the place of the one before";
}

// ---- blocks that come again

TEST(HpackDecoder, RecognisesABlockThatComesAgain) {
  Decoder decoder;
  const std::string first = "\x41" + coded("www.example.com") + indexed("x-own", "value");
  ASSERT_EQ(decode(decoder, first).verdict, Verdict::Done);
  const std::string again = "\x82\x86\xbf\x04" + coded("/path?a=b") + "\xbe" + plain("accept", "*/*") + never("k", "s");
  const Lines lines = {":authority: www.example.com",
                       ":method: GET",
                       ":path: /path?a=b",
                       ":scheme: http",
                       "x-own: value",
                       "accept: */*",
                       "k: s (never)"};
  std::uint32_t identity = 0;
  for (int i = 0; i < 5; ++i) {
    const Decoded decoded = decode(decoder, again);
    EXPECT_EQ(decoded.verdict, Verdict::Done);
    EXPECT_EQ(decoded.lines(), lines);
    EXPECT_EQ(decoded.section.fields.begin()[0].name, "x-own");
    EXPECT_TRUE(decoded.section.has(http::FieldId::Accept));
    if (i == 1) identity = decoded.section.identity;
    EXPECT_EQ(decoded.section.identity, i == 0 ? 0 : identity);
  }
  EXPECT_NE(identity, 0u);
  // Not the same when anything else is: one more line, another byte, another budget.
  EXPECT_EQ(decode(decoder, again + "\xbe").section.identity, 0u);
  std::string other = again;
  other[other.size() - 1] = 't';
  EXPECT_EQ(decode(decoder, other).lines().back(), "k: t (never)");
  EXPECT_EQ(decode(decoder, again).lines(), lines);
  EXPECT_EQ(decode(decoder, again, {.bytes_max = 100, .count_max = 100}).verdict, Verdict::OverBytes);
  EXPECT_EQ(decode(decoder, again, {.bytes_max = 1000, .count_max = 2}).verdict, Verdict::OverCount);
  EXPECT_EQ(decode(decoder, again).lines(), lines);
}

TEST(HpackDecoder, RecognisesSeveralBlocksInTurn) {
  Decoder decoder;
  ASSERT_EQ(decode(decoder, "\x41" + coded("www.example.com")).verdict, Verdict::Done);
  std::size_t recognised = 0;
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 7; ++i) {
      const std::string path = "/json/" + std::to_string(10 + i) + "?m=" + std::to_string(i);
      const Decoded decoded = decode(decoder, "\x82\x04" + coded(path) + "\x86\xbe");
      EXPECT_EQ(decoded.lines(),
                (Lines{":authority: www.example.com", ":method: GET", ":path: " + path, ":scheme: http"}));
      if (round >= 2) recognised += decoded.section.identity != 0;
    }
  }
  // Two of them may have one place.
  EXPECT_GE(recognised, 10u);
}

TEST(HpackDecoder, RecognisesNothingInAnEmptyBlock) {
  Decoder decoder;
  for (int i = 0; i < 3; ++i) ASSERT_EQ(decode(decoder, "\x82").verdict, Verdict::Done);
  Arena arena;
  http::Fields fields(arena);
  Section section(fields);
  EXPECT_EQ(decoder.decode({}, {.bytes_max = 100, .count_max = 100}, section), Verdict::Done);
  EXPECT_EQ(section.fields.count(), 0u);
  EXPECT_EQ(section.identity, 0u);
}

TEST(HpackDecoder, ForgetsABlockWhenTheTableChanges) {
  Decoder decoder;
  ASSERT_EQ(decode(decoder, indexed("x", "old")).verdict, Verdict::Done);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(decode(decoder, "\xbe").lines(), Lines{"x: old"});
  ASSERT_EQ(decode(decoder, indexed("x", "new")).verdict, Verdict::Done);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(decode(decoder, "\xbe").lines(), Lines{"x: new"});
  ASSERT_EQ(decode(decoder, from_hex("20")).verdict, Verdict::Done);
  EXPECT_EQ(decode(decoder, "\xbe").verdict, Verdict::Broken);
}

TEST(HpackDecoder, RecognisesNoBlockThatHasAFlaw) {
  Decoder decoder;
  for (int i = 0; i < 4; ++i) {
    const Decoded decoded = decode(decoder, plain("A", "b"));
    EXPECT_EQ(decoded.section.flaws, Section::kBadName);
    EXPECT_EQ(decoded.section.identity, 0u);
  }
}

}  // namespace
}  // namespace violet::test
