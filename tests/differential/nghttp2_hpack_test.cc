// violet's ends of HPACK beside nghttp2's: each reads what the other writes, on sequences of heads that share most of
// their lines, over tables that fill up and change their size.

#include <gtest/gtest.h>

#ifndef VIOLET_HAS_NGHTTP2

TEST(Nghttp2Hpack, ReadsWhatVioletWrites) { GTEST_SKIP() << "libnghttp2-dev is not installed"; }

#else

#include "fuzz/nghttp2_hpack.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace violet {
namespace {

using fuzz::HpackLine;
using Lines = std::vector<HpackLine>;

class Heads {
 public:
  explicit Heads(unsigned seed) : random_(seed) {}

  unsigned below(unsigned count) { return static_cast<unsigned>(random_() % count); }

  Lines next() {
    Lines lines;
    if (below(2) == 0) {
      lines.push_back({":method", one_of({"GET", "POST", "PUT", "OPTIONS"})});
      lines.push_back({":scheme", one_of({"http", "https"})});
      lines.push_back({":path", below(3) == 0 ? "/" : "/items/" + std::to_string(below(50)) + "?page=2"});
      lines.push_back({":authority", one_of({"www.example.com", "127.0.0.1:8080"})});
    } else {
      lines.push_back({":status", one_of({"200", "204", "206", "304", "400", "404", "500", "201", "302", "503"})});
    }
    for (unsigned i = below(12); i > 0; --i) lines.push_back(field());
    return lines;
  }

 private:
  std::string one_of(std::initializer_list<const char*> texts) { return texts.begin()[below(texts.size())]; }
  HpackLine field() {
    HpackLine line;
    switch (below(4)) {
      case 0: {
        const auto id = static_cast<http::FieldId>(1 + below(http::kFieldIdCount - 1));
        line.name = http::lower_name(id);
        break;
      }
      case 1: line.name = one_of({"x-own", "x-other", "refresh", "x-very-own-name-of-some-length"}); break;
      case 2: line.name = one_of({"content-type", "date", "content-length", "server", "accept", "user-agent"}); break;
      default: line.name = "x-" + std::to_string(below(1000)); break;
    }
    switch (below(5)) {
      case 0: line.value = one_of({"", "1", "gzip, deflate", "text/html; charset=utf-8", "no-cache"}); break;
      case 1: line.value = std::to_string(below(100'000)); break;
      case 2:
        line.value.resize(1 + below(60));
        for (char& c : line.value) c = static_cast<char>(0x21 + below(94));
        break;
      case 3:
        line.value.resize(1 + below(30));
        for (char& c : line.value) c = static_cast<char>(0x80 + below(128));
        break;
      default: line.value = std::string(below(20) == 0 ? 100 + below(5000) : below(30), 'v'); break;
    }
    // nghttp2 takes these for secrets by itself, as violet does.
    line.is_sensitive =
        below(20) == 0 || line.name == "authorization" || (line.name == "cookie" && line.value.size() < 20);
    return line;
  }

  std::mt19937 random_;
};

std::string encode(hpack::Encoder& encoder, const Lines& lines) {
  std::size_t room = hpack::Encoder::kBeginBytesMax;
  for (const HpackLine& line : lines) room += hpack::Encoder::bound(line.name.size(), line.value.size());
  std::string out(room, '\0');
  char* p = encoder.begin(out.data());
  for (const HpackLine& line : lines) {
    if (line.name == ":status") {
      p = encoder.status(p, std::stoi(line.value));
      continue;
    }
    const char* const before = p;
    for (std::size_t i = 0; i < hpack::kPseudoCount; ++i) {
      const auto which = static_cast<hpack::Pseudo>(i);
      if (line.name == hpack::name(which)) p = encoder.pseudo(p, which, line.value, line.is_sensitive);
    }
    if (p != before) continue;
    p = encoder.field(
        p,
        {.name = line.name, .value = line.value, .id = http::find_field(line.name), .is_sensitive = line.is_sensitive});
  }
  out.resize(static_cast<std::size_t>(p - out.data()));
  return out;
}

constexpr std::uint32_t kSizes[] = {0, 31, 64, 100, 300, 1000, 4096, 65'536};

TEST(Nghttp2Hpack, ReadsWhatVioletWrites) {
  std::size_t written = 0, evicted = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    Heads heads(seed);
    hpack::Encoder encoder;
    fuzz::Nghttp2Inflater inflater;
    for (int round = 0; round < 60; ++round) {
      for (unsigned i = heads.below(10); i > 7; --i) {
        const std::uint32_t bytes = kSizes[heads.below(std::size(kSizes))];
        inflater.set_table_bytes_max(bytes);
        encoder.set_peer_table_bytes_max(bytes);
      }
      const Lines lines = heads.next();
      const auto read = inflater.inflate(encode(encoder, lines));
      ASSERT_TRUE(read) << "seed " << seed << ", round " << round;
      ASSERT_EQ(read->size(), lines.size());
      for (std::size_t i = 0; i < lines.size(); ++i) {
        ASSERT_EQ((*read)[i].name, lines[i].name);
        ASSERT_EQ((*read)[i].value, lines[i].value);
        const bool is_secret =
            lines[i].is_sensitive || lines[i].name == "set-cookie" || lines[i].name == "proxy-authorization";
        ASSERT_EQ((*read)[i].is_sensitive, is_secret) << lines[i].name;
      }
      ASSERT_EQ(inflater.table_bytes(), encoder.table().size());
      ++written;
    }
    evicted += encoder.table().newest() - encoder.table().count();
  }
  EXPECT_EQ(written, 12'000u);
  EXPECT_GT(evicted, 1000u);
}

TEST(Nghttp2Hpack, WritesWhatVioletReads) {
  std::size_t recognised = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    Heads heads(seed);
    fuzz::Nghttp2Deflater deflater;
    hpack::Decoder decoder;
    Lines lines;
    for (int round = 0; round < 60; ++round) {
      for (unsigned i = heads.below(10); i > 7; --i) {
        const std::uint32_t bytes = kSizes[heads.below(std::size(kSizes))];
        decoder.set_table_bytes_max(bytes);
        deflater.set_table_bytes_max(bytes);
      }
      // Half of them are the one before.
      if (heads.below(2) == 0) lines = heads.next();
      const auto decoded = test::decode(decoder, deflater.deflate(lines));
      ASSERT_EQ(decoded.verdict, hpack::Verdict::Done) << "seed " << seed << ", round " << round;
      ASSERT_TRUE(fuzz::ExpectedSection(lines).is(decoded.section)) << "seed " << seed << ", round " << round;
      ASSERT_EQ(decoder.table().size(), deflater.table_bytes());
      recognised += decoded.section.identity != 0;
    }
  }
  EXPECT_GT(recognised, 100u);
}

}  // namespace
}  // namespace violet

#endif
