// Media types, byte ranges and entity tags, each by itself; tests/files asks them through a server.

#include "violet/http/value/condition.h"
#include "violet/http/value/media_type.h"
#include "violet/http/value/range.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace violet::http {
namespace {

TEST(MediaType, IsFoundByTheEndingInAnyCase) {
  EXPECT_EQ(media_type_of("index.html"), "text/html; charset=utf-8");
  EXPECT_EQ(media_type_of("a/b.min.JS"), "text/javascript; charset=utf-8");
  EXPECT_EQ(media_type_of("data.json"), "application/json");
  EXPECT_EQ(media_type_of("x.wasm"), "application/wasm");
  EXPECT_EQ(media_type_of("x.woff2"), "font/woff2");
  EXPECT_EQ(media_type_of("x.svg"), "image/svg+xml");
  for (const char* unknown :
       {"", "Makefile", "a.b/c", "x.", "x.unknown", ".", "a.html/", "x.averyveryverylongending"}) {
    EXPECT_EQ(media_type_of(unknown), kOctetStream) << unknown;
  }
  EXPECT_EQ(media_type_of_extension("3gp"), "video/3gpp");
  EXPECT_EQ(media_type_of_extension("zst"), "application/zstd");
  EXPECT_EQ(media_type_of_extension(""), "");
}

std::string ranges(std::string_view value, std::uint64_t size, std::size_t most = 8) {
  std::vector<ByteRange> out(most);
  std::size_t count = 0;
  switch (parse_range(value, size, out, count)) {
    case RangeVerdict::Whole: return "whole";
    case RangeVerdict::Unsatisfiable: return "none";
    case RangeVerdict::Some: break;
  }
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += (i > 0 ? "," : "") + std::to_string(out[i].first) + "-" + std::to_string(out[i].last);
  }
  return text;
}

TEST(Range, KeepsItsOrderAndJoinsWhatIsNear) {
  EXPECT_EQ(ranges("bytes=0-0", 1), "0-0");
  EXPECT_EQ(ranges("bytes=500-599,0-9", 1000), "500-599,0-9");
  EXPECT_EQ(ranges("bytes=0-9,90-99", 1000), "0-9,90-99");
  EXPECT_EQ(ranges("bytes=0-9,89-99", 1000), "0-99");
  // The last one joins the others.
  EXPECT_EQ(ranges("bytes=900-,0-9,200-209,10-200", 1000), "900-999,0-209");
  EXPECT_EQ(ranges("bytes=-5,-10", 1000), "990-999");
  EXPECT_EQ(ranges("bytes=18446744073709551615-", 1000), "none");
  EXPECT_EQ(ranges("bytes=0-18446744073709551616", 1000), "0-999");
  EXPECT_EQ(ranges("bytes=1-2,3-4", 1000, 1), "whole");
  EXPECT_EQ(ranges("bytes=-1", 0), "whole");
}

TEST(ETag, IsComparedStronglyOrWeakly) {
  using enum Comparison;
  EXPECT_TRUE(has_etag("\"a\"", "\"a\"", Strong));
  EXPECT_FALSE(has_etag("W/\"a\"", "\"a\"", Strong));
  EXPECT_FALSE(has_etag("\"a\"", "W/\"a\"", Strong));
  EXPECT_TRUE(has_etag("W/\"a\"", "W/\"a\"", Weak));
  EXPECT_TRUE(has_etag("\"x,\" , \"a\"", "\"a\"", Strong));
  EXPECT_TRUE(has_etag("\"\\\",\"a\"", "\"a\"", Strong));
  EXPECT_TRUE(has_etag(" * ", "", Strong));
  for (const char* list : {"", "a", "\"a", "*, \"b\"", "w/\"a\"", "x \"a\"", "\"A\""}) {
    EXPECT_FALSE(has_etag(list, "\"a\"", Weak)) << list;
  }
}

}  // namespace
}  // namespace violet::http
