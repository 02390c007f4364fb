// Masks, UTF-8, frame heads, SHA-1: each against the plainest way to do it.

#include "violet/ws/codec/frame.h"
#include "violet/ws/codec/mask.h"
#include "violet/ws/codec/sha1.h"
#include "violet/ws/codec/utf8.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace violet::ws {
namespace {

std::string by_bytes(std::string_view text, MaskKey key) {
  std::string result(text);
  char bytes[4];
  std::memcpy(bytes, &key, 4);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = static_cast<char>(result[i] ^ bytes[i % 4]);
  return result;
}

std::string random_bytes(std::mt19937& random, std::size_t size) {
  std::string bytes(size, 0);
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

TEST(WsMask, IsWhatAByteLoopDoesForEverySizeAndPlace) {
  std::mt19937 random(1);
  std::vector<MaskFunction> ways{mask_by_words(), [](char* to, const char* from, std::size_t size,
                                                     MaskKey key) noexcept { apply_mask(to, from, size, key); }};
  if (mask_by_avx2() != nullptr) ways.push_back(mask_by_avx2());
  for (std::size_t size = 0; size < 300; ++size) {
    for (std::size_t offset = 0; offset < 9; ++offset) {
      const std::string bytes = random_bytes(random, size + 40);
      const MaskKey key = static_cast<MaskKey>(random());
      const std::string expected = by_bytes(std::string_view(bytes).substr(offset, size), key);
      for (const MaskFunction way : ways) {
        std::string in_place = bytes;
        way(in_place.data() + offset, in_place.data() + offset, size, key);
        EXPECT_EQ(in_place.substr(offset, size), expected);
        // Nothing around it changes.
        EXPECT_EQ(in_place.substr(0, offset), bytes.substr(0, offset));
        EXPECT_EQ(in_place.substr(offset + size), bytes.substr(offset + size));
        std::string copy(size + 8, '!');
        way(copy.data(), bytes.data() + offset, size, key);
        EXPECT_EQ(copy, expected + "!!!!!!!!");
      }
    }
  }
}

TEST(WsMask, ARotatedKeyGoesOnWhereAPieceEnded) {
  const std::string text = "the quick brown fox jumps over the lazy dog, and over the fence";
  const MaskKey key = 0x8f3c2b1d;
  const std::string expected = by_bytes(text, key);
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    std::string pieces = text;
    apply_mask(pieces.data(), pieces.data(), cut, key);
    apply_mask(pieces.data() + cut, pieces.data() + cut, text.size() - cut, rotate_key(key, cut));
    EXPECT_EQ(pieces, expected) << cut;
  }
}

// RFC 3629 §4, written as its grammar says it.
bool is_utf8_by_grammar(std::string_view text) {
  const auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto is_between = [&](std::size_t i, unsigned low, unsigned high) { return at(i) >= low && at(i) <= high; };
  for (std::size_t i = 0; i < text.size();) {
    if (at(i) < 0x80) {
      i += 1;
    } else if (is_between(i, 0xc2, 0xdf) && is_between(i + 1, 0x80, 0xbf)) {
      i += 2;
    } else if (((at(i) == 0xe0 && is_between(i + 1, 0xa0, 0xbf)) ||
                (is_between(i, 0xe1, 0xec) && is_between(i + 1, 0x80, 0xbf)) ||
                (at(i) == 0xed && is_between(i + 1, 0x80, 0x9f)) ||
                (is_between(i, 0xee, 0xef) && is_between(i + 1, 0x80, 0xbf))) &&
               is_between(i + 2, 0x80, 0xbf)) {
      i += 3;
    } else if (((at(i) == 0xf0 && is_between(i + 1, 0x90, 0xbf)) ||
                (is_between(i, 0xf1, 0xf3) && is_between(i + 1, 0x80, 0xbf)) ||
                (at(i) == 0xf4 && is_between(i + 1, 0x80, 0x8f))) &&
               is_between(i + 2, 0x80, 0xbf) && is_between(i + 3, 0x80, 0xbf)) {
      i += 4;
    } else {
      return false;
    }
  }
  return true;
}

void expect_all_ways(std::string_view text) {
  const bool expected = is_utf8_by_grammar(text);
  EXPECT_EQ(is_utf8(text), expected) << testing::PrintToString(std::string(text));
  EXPECT_EQ(utf8_by_bytes()(text), expected) << testing::PrintToString(std::string(text));
  if (utf8_by_avx2() != nullptr) {
    EXPECT_EQ(utf8_by_avx2()(text), expected) << testing::PrintToString(std::string(text));
  }
}

TEST(WsUtf8, EveryTwoBytesAtEveryPlaceOfAVector) {
  for (unsigned first = 0; first < 256; ++first) {
    for (unsigned second = 0; second < 256; ++second) {
      const std::string pair{static_cast<char>(first), static_cast<char>(second)};
      expect_all_ways(pair);
      for (const std::size_t at : {0u, 29u, 30u, 31u, 32u, 62u, 127u}) {
        std::string text(at, 'x');
        expect_all_ways(text + pair + "\x80\x80yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy");
      }
    }
  }
}

TEST(WsUtf8, TheBordersOfEveryRange) {
  const char* const texts[] = {"\xc2\x80",
                               "\xdf\xbf",
                               "\xe0\xa0\x80",
                               "\xed\x9f\xbf",
                               "\xee\x80\x80",
                               "\xef\xbf\xbf",
                               "\xf0\x90\x80\x80",
                               "\xf4\x8f\xbf\xbf",
                               "\xc0\x80",
                               "\xc1\xbf",
                               "\xe0\x9f\xbf",
                               "\xed\xa0\x80",
                               "\xed\xbf\xbf",
                               "\xf0\x8f\xbf\xbf",
                               "\xf4\x90\x80\x80",
                               "\xf5\x80\x80\x80",
                               "\xf8\x88\x80\x80\x80",
                               "\xfc\x84\x80\x80\x80\x80",
                               "\xfe",
                               "\xff",
                               "\x80",
                               "\xbf",
                               "\xe2\x82",
                               "\xf0\x9f\x98",
                               "\xc3"};
  for (const char* text : texts) {
    for (std::size_t before = 0; before < 70; ++before) {
      expect_all_ways(std::string(before, 'a') + text);
      expect_all_ways(std::string(before, 'a') + text + std::string(40, 'b'));
    }
  }
}

TEST(WsUtf8, RandomTextsWithOneByteChanged) {
  std::mt19937 random(2);
  const char* const points[] = {
      "a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"};
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (std::size_t count = random() % 60; count > 0; --count) text += points[random() % std::size(points)];
    expect_all_ways(text);
    if (text.empty()) continue;
    text[random() % text.size()] = static_cast<char>(random());
    expect_all_ways(text);
  }
}

TEST(WsUtf8, PiecesAreTheSameAsTheWhole) {
  std::mt19937 random(3);
  const char* const points[] = {"aaaaaaaaaaaaaaaaaaaaaaaaaaa", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
  for (int round = 0; round < 3'000; ++round) {
    std::string text;
    for (std::size_t count = random() % 20; count > 0; --count) text += points[random() % std::size(points)];
    if (round % 2 == 0 && !text.empty()) text[random() % text.size()] = static_cast<char>(random());
    Utf8 state;
    bool is_right = true;
    for (std::size_t at = 0; at < text.size() && is_right;) {
      const std::size_t size = 1 + random() % 50;
      is_right = state.add(std::string_view(text).substr(at, size));
      at += size;
    }
    EXPECT_EQ(is_right && state.is_complete(), is_utf8_by_grammar(text)) << testing::PrintToString(text);
  }
}

TEST(WsUtf8, WhatCannotBecomeRightIsRefusedAtOnce) {
  for (const char* begin : {"\xc0", "\xe0\x80", "\xed\xa0", "\xf0\x80", "\xf4\x90", "\xf5", "\x80"}) {
    Utf8 state;
    EXPECT_FALSE(state.add(begin)) << testing::PrintToString(begin);
  }
}

TEST(WsFrame, HeadsAreReadAsTheyAreWritten) {
  const MaskKey key = 0x01020304;
  for (const std::uint64_t size : {0ull, 1ull, 125ull, 126ull, 65535ull, 65536ull, 1ull << 40, (1ull << 63) - 1}) {
    for (const bool is_server : {false, true}) {
      char bytes[kFrameHeadMax];
      const std::size_t written = write_frame_head(bytes, kFin | kBinary, size, is_server ? &key : nullptr);
      for (std::size_t there = 0; there < written; ++there) {
        FrameHead head;
        EXPECT_EQ(parse_frame_head(bytes, there, {.is_server = is_server}, head), FrameVerdict::More);
      }
      FrameHead head;
      ASSERT_EQ(parse_frame_head(bytes, written, {.is_server = is_server}, head), FrameVerdict::Done);
      EXPECT_EQ(head.size, size);
      EXPECT_EQ(head.head_bytes, written);
      EXPECT_EQ(head.first, kFin | kBinary);
      EXPECT_EQ(head.key, is_server ? key : 0);
    }
  }
}

FrameVerdict verdict_of(std::string bytes, FrameRules rules = {}) {
  FrameHead head;
  bytes.resize(kFrameHeadMax);
  return parse_frame_head(bytes.data(), bytes.size(), rules, head);
}

TEST(WsFrame, WhatNoFrameMayBeIsBad) {
  for (unsigned first = 0; first < 256; ++first) {
    const unsigned opcode = first & 0x0f;
    const bool is_control = opcode >= 8 && opcode <= 10;
    const bool is_known = opcode <= 2 || is_control;
    const bool has_fin = (first & 0x80) != 0;
    const unsigned rsv = first & 0x70;
    const bool is_plain = is_known && rsv == 0 && (!is_control || has_fin);
    const bool is_deflated = is_plain || (rsv == 0x40 && (opcode == 1 || opcode == 2));
    const std::string bytes{static_cast<char>(first), static_cast<char>(0x80)};
    EXPECT_EQ(verdict_of(bytes) == FrameVerdict::Done, is_plain) << first;
    EXPECT_EQ(verdict_of(bytes, {.has_deflate = true}) == FrameVerdict::Done, is_deflated) << first;
  }
  EXPECT_EQ(verdict_of("\x82\x05"), FrameVerdict::Bad) << "not masked";
  EXPECT_EQ(verdict_of("\x82\x85", {.is_server = false}), FrameVerdict::Bad) << "masked";
  EXPECT_EQ(verdict_of("\x89\xfe"), FrameVerdict::Bad) << "a long control frame";
  EXPECT_EQ(verdict_of(std::string("\x82\xfe\x00\x7d", 4)), FrameVerdict::Bad) << "126-form for 125";
  EXPECT_EQ(verdict_of(std::string("\x82\xfe\x00\x7e", 4)), FrameVerdict::Done);
  EXPECT_EQ(verdict_of(std::string("\x82\xff\x00\x00\x00\x00\x00\x00\xff\xff", 10)), FrameVerdict::Bad);
  EXPECT_EQ(verdict_of(std::string("\x82\xff\x00\x00\x00\x00\x00\x01\x00\x00", 10)), FrameVerdict::Done);
  EXPECT_EQ(verdict_of(std::string("\x82\xff\x80\x00\x00\x00\x00\x00\x00\x00", 10)), FrameVerdict::Bad)
      << "the top bit";
}

TEST(WsFrame, OnlyCodesOfTheRegistryAndOfApplicationsAreOnTheWire) {
  for (unsigned code = 0; code < 6000; ++code) {
    const bool is_right =
        (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999);
    EXPECT_EQ(is_wire_close_code(code), is_right) << code;
  }
}

std::string hex(const std::array<std::uint8_t, 20>& digest) {
  std::string text;
  for (const std::uint8_t byte : digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

// The vectors of FIPS 180 and of RFC 3174.
TEST(WsSha1, GivesTheKnownDigests) {
  EXPECT_EQ(hex(sha1("")), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(hex(sha1("abc")), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(hex(sha1("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
  EXPECT_EQ(hex(sha1(std::string(1'000'000, 'a'))), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
}

}  // namespace
}  // namespace violet::ws
