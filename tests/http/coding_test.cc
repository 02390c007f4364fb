#include "violet/http/value/coding.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace violet::http {
namespace {

using enum Coding;

constexpr Coding kOffers[] = {Zstd, Brotli, Gzip, Identity};

std::string chosen(std::string_view value) {
  const auto coding = AcceptEncoding::parse(value).choose(kOffers);
  return coding ? std::string(name(*coding)) : "none";
}

TEST(Weight, HasAtMostThreeDecimalsAndIsAtMostOne) {
  EXPECT_EQ(parse_weight("0"), 0);
  EXPECT_EQ(parse_weight("0."), 0);
  EXPECT_EQ(parse_weight("0.5"), 500);
  EXPECT_EQ(parse_weight("0.25"), 250);
  EXPECT_EQ(parse_weight("0.001"), 1);
  EXPECT_EQ(parse_weight("1"), 1000);
  EXPECT_EQ(parse_weight("1.000"), 1000);
  for (const char* wrong :
       {"", ".", ".5", "2", "1.001", "0.0001", "-1", "+1", "0,5", "1.0.0", "01", "0.a", "a", "1 "}) {
    EXPECT_EQ(parse_weight(wrong), -1) << wrong;
  }
}

TEST(Weight, IsCutOffItsMember) {
  std::string_view rest = " text/html;level=1 ; Q=0.4;ext=x,, ,a/b;q=7, c;q=, \"x,y\";q=0.1 ,d ";
  std::vector<std::pair<std::string, int>> found;
  for (Weighted member; next_weighted(rest, member);) found.emplace_back(member.value, member.weight);
  const std::vector<std::pair<std::string, int>> expected = {{"text/html;level=1", 400}, {"\"x,y\"", 100}, {"d", 1000}};
  EXPECT_EQ(found, expected);
}

TEST(AcceptEncoding, WithoutTheFieldNothingButIdentityIsSent) {
  const AcceptEncoding none;
  EXPECT_TRUE(none.accepts(Identity));
  for (const Coding coding : {Gzip, Deflate, Brotli, Zstd}) EXPECT_FALSE(none.accepts(coding));
  EXPECT_EQ(none.choose(kOffers), Identity);
  EXPECT_EQ(AcceptEncoding::parse(""), none);
  EXPECT_EQ(AcceptEncoding::parse(" , ,"), none);
}

TEST(AcceptEncoding, TheHighestWeightWinsAndThenTheOrderOfTheServer) {
  EXPECT_EQ(chosen("gzip"), "gzip");
  EXPECT_EQ(chosen("gzip, br"), "br");
  EXPECT_EQ(chosen("gzip, deflate, br, zstd"), "zstd");
  EXPECT_EQ(chosen("br;q=1, gzip;q=0.8"), "br");
  EXPECT_EQ(chosen("br;q=0.5, gzip;q=0.8"), "gzip");
  EXPECT_EQ(chosen("gzip;q=0.5, identity;q=0.6"), "identity");
  EXPECT_EQ(chosen("GZIP;Q=0.2"), "gzip");
  EXPECT_EQ(chosen("x-gzip"), "gzip");
  EXPECT_EQ(chosen("compress, pack200-gzip, gzipped"), "identity");
}

TEST(AcceptEncoding, ZeroRefuses) {
  EXPECT_EQ(chosen("gzip;q=0"), "identity");
  EXPECT_EQ(chosen("gzip;q=0.000, br;q=0.001"), "br");
  EXPECT_EQ(chosen("identity;q=0"), "none");
  EXPECT_EQ(chosen("identity;q=0, gzip"), "gzip");
  EXPECT_EQ(chosen("*;q=0"), "none");
  EXPECT_EQ(chosen("*;q=0, identity"), "identity");
  EXPECT_EQ(chosen("*;q=0, gzip"), "gzip");
}

TEST(AcceptEncoding, TheStarSpeaksForWhatIsNotNamed) {
  EXPECT_EQ(chosen("*"), "zstd");
  EXPECT_EQ(chosen("*, zstd;q=0"), "br");
  EXPECT_EQ(chosen("gzip;q=0.3, *;q=0.5"), "zstd");
  EXPECT_EQ(chosen("gzip, *;q=0.5"), "gzip");
  EXPECT_EQ(chosen("zstd;q=0, br;q=0, gzip;q=0, *"), "identity");
}

TEST(AcceptEncoding, NamedTwiceCountsAsTheLower) {
  EXPECT_EQ(chosen("gzip, gzip;q=0"), "identity");
  EXPECT_EQ(chosen("gzip;q=0, gzip"), "identity");
  EXPECT_EQ(chosen("gzip;q=0, x-gzip"), "identity");
  EXPECT_EQ(chosen("*, *;q=0"), "none");
}

TEST(AcceptEncoding, WhatIsMalformedIsNotAskedFor) {
  EXPECT_EQ(chosen("gzip;q=2"), "identity");
  EXPECT_EQ(chosen("gzip;q=abc, br;q=-1"), "identity");
  EXPECT_EQ(chosen("gzip;q=0.1234"), "identity");
  EXPECT_EQ(chosen(";q=1"), "identity");
  EXPECT_EQ(chosen("gzip br"), "identity");
  EXPECT_EQ(chosen("\"gzip\""), "identity");
}

TEST(AcceptEncoding, LinesAreOneList) {
  Arena arena;
  Fields fields(arena);
  fields.push(FieldId::AcceptEncoding, "br;q=0.5");
  fields.push(FieldId::Accept, "gzip");
  fields.push(FieldId::AcceptEncoding, "zstd;q=0.4, gzip;q=0.6");
  EXPECT_EQ(AcceptEncoding::of(fields), AcceptEncoding::parse("br;q=0.5, zstd;q=0.4, gzip;q=0.6"));
  EXPECT_EQ(AcceptEncoding::of(fields).choose(kOffers), Gzip);
  Fields none(arena);
  EXPECT_EQ(AcceptEncoding::of(none), AcceptEncoding());
}

}  // namespace
}  // namespace violet::http
