// Chunk size lines, trailer sections, and the budgets that bound them.

#include "violet/h1/guard.h"
#include "violet/h1/parser.h"
#include "violet/memory/buffer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace violet::h1 {
namespace {

using namespace std::string_literals;

struct Line {
  Parsed parsed;
  ChunkLine line;
  std::size_t used = 0;
};

class Padded {
 public:
  explicit Padded(std::string_view bytes) : memory_(std::make_unique<char[]>(bytes.size() + kScanPadding)) {
    std::memcpy(memory_.get(), bytes.data(), bytes.size());
    std::memset(memory_.get() + bytes.size(), '1', kScanPadding);
    end_ = memory_.get() + bytes.size();
  }
  [[nodiscard]] const char* begin() const { return memory_.get(); }
  [[nodiscard]] const char* end() const { return end_; }

 private:
  std::unique_ptr<char[]> memory_;
  const char* end_;
};

Line parse_line(std::string_view bytes, const Limits& limits) {
  const Padded padded(bytes);
  Line line;
  line.parsed = parse_chunk_line(padded.begin(), padded.end(), limits, line.line);
  if (line.parsed.verdict == Verdict::Done) line.used = static_cast<std::size_t>(line.parsed.end - padded.begin());
  return line;
}

Line chunk(const std::string& bytes, const Limits& limits = {}) {
  const Line whole = parse_line(bytes, limits);
  bool is_decided = false;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Line part = parse_line(std::string_view(bytes).substr(0, size), limits);
    if (part.parsed.verdict == Verdict::More) {
      EXPECT_FALSE(is_decided) << bytes;
      continue;
    }
    is_decided = true;
    EXPECT_EQ(part.parsed.verdict, whole.parsed.verdict) << bytes << " at " << size;
    EXPECT_EQ(part.parsed.status, whole.parsed.status) << bytes << " at " << size;
    EXPECT_EQ(part.used, whole.used);
  }
  return whole;
}

TEST(H1ChunkLine, ReadsSizes) {
  for (const auto& [text, size] :
       std::vector<std::pair<std::string, std::uint64_t>>{{"0", 0},
                                                          {"1", 1},
                                                          {"a", 10},
                                                          {"F", 15},
                                                          {"1a", 26},
                                                          {"DeadBeef", 0xdeadbeef},
                                                          {"0000000000000001", 1},
                                                          {"7fffffffffffffff", ~0ull >> 1}}) {
    const Line line = chunk(text + "\r\nrest");
    EXPECT_EQ(line.parsed.verdict, Verdict::Done) << text;
    EXPECT_EQ(line.line.size, size);
    EXPECT_EQ(line.used, text.size() + 2);
    EXPECT_EQ(line.line.extension_bytes, 0u);
  }
}

TEST(H1ChunkLine, RefusesWhatIsNoSize) {
  for (const std::string& text : {""s, "g"s, "-1"s, "+1"s, " 1"s, "1 "s, "1\t"s, "0x1"s, "1 2"s, "00000000000000001"s,
                                  "10000000000000000"s, "1,"s, "1.0"s, "\t1"s, "1\0"s, "\xff"s, "_1"s}) {
    EXPECT_EQ(chunk(text + "\r\n").parsed.status, 400) << text;
  }
  for (const char* text : {"1\n", "1\r\r\n", "1\rx", "\n1\r\n", "1;a\n", "1;a\r\r"}) {
    EXPECT_EQ(chunk(text).parsed.status, 400) << text;
  }
}

// chunk-ext = *( BWS ";" BWS chunk-ext-name [ BWS "=" BWS chunk-ext-val ] ) (RFC 9112 §7.1.1)
TEST(H1ChunkLine, ChecksExtensions) {
  for (const char* good : {";a", ";a=b", ";a=\"b\"", ";a=\"\"", ";a=\"b;c\\\"d\"", ";a;b;c=d", "; a", ";a =b", ";a= b",
                           ";a = \"x\"", ";a ;b", ";a\t=\tb ; c", ";a=\"\t\xff\"", ";a=\"\\\xff\""}) {
    const Line line = chunk("1"s + good + "\r\n");
    EXPECT_EQ(line.parsed.verdict, Verdict::Done) << good;
    EXPECT_EQ(line.line.extension_bytes, std::strlen(good));
  }
  for (const std::string& bad :
       {";"s,        "; "s,     ";;"s,        ";a;"s,           ";=b"s,         ";a="s,           ";a= "s,
        ";a=;b"s,    ";a==b"s,  ";a=b=c"s,    ";a b"s,          ";a=b c"s,      ";\"a\""s,        ";a\"b\""s,
        ";a \"b\""s, ";a=\"b"s, ";a=\"b\"c"s, ";a=\"b\"\"c\""s, ";a=\"\x01\""s, ";a=\"\\\x01\""s, ";a=\"\n\""s,
        ";a@"s,      ";a=b@"s,  ";a\0"s,      ";a=\"\0\""s,     ";a,b"s,        ";\x80"s,         ";a=b;"s}) {
    EXPECT_EQ(chunk("1" + bad + "\r\n").parsed.status, 400) << bad;
  }
}

TEST(H1ChunkLine, HoldsExtensionsToTheirLimit) {
  Limits limits;
  limits.chunk_extension_bytes_max = 20;
  EXPECT_EQ(chunk("1;" + std::string(19, 'a') + "\r\n", limits).parsed.verdict, Verdict::Done);
  for (const std::string& text : {"1;" + std::string(20, 'a') + "\r\n", "1;" + std::string(5000, 'a'),
                                  "1;a=\"" + std::string(5000, '"' + 1), "1;a=\"" + std::string(5000, '\\')}) {
    const Parsed over = chunk(text, limits).parsed;
    EXPECT_EQ(over.status, 413) << text.substr(0, 40);
    EXPECT_EQ(over.limit, LimitId::chunk_extension_bytes_max);
  }
}

struct Trailers {
  Parsed parsed;
  std::vector<std::pair<std::string, std::string>> fields;
};

Trailers parse_section(std::string_view bytes, const Limits& limits) {
  const Padded padded(bytes);
  Arena arena;
  http::Fields fields(arena);
  Trailers trailers;
  trailers.parsed = parse_trailers(padded.begin(), padded.end(), limits, fields);
  for (const http::Field& field : fields) trailers.fields.emplace_back(field.name, field.value);
  return trailers;
}

Trailers section(const std::string& bytes, const Limits& limits = {}) {
  const Trailers whole = parse_section(bytes, limits);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Trailers part = parse_section(std::string_view(bytes).substr(0, size), limits);
    if (part.parsed.verdict == Verdict::More) continue;
    EXPECT_EQ(part.parsed.verdict, whole.parsed.verdict) << bytes;
    EXPECT_EQ(part.parsed.status, whole.parsed.status) << bytes;
  }
  return whole;
}

TEST(H1Trailers, ReadsFields) {
  EXPECT_EQ(section("\r\n").parsed.verdict, Verdict::Done);
  const Trailers two = section("X-Sum: 1 \r\nx-b:\r\n\r\n");
  EXPECT_EQ(two.parsed.verdict, Verdict::Done);
  ASSERT_EQ(two.fields.size(), 2u);
  EXPECT_EQ(two.fields[0], std::pair("X-Sum"s, "1"s));
  EXPECT_EQ(two.fields[1], std::pair("x-b"s, ""s));
}

TEST(H1Trailers, LeavesOutFieldsThatFrameRouteOrAuthenticate) {
  for (const char* name : {"Transfer-Encoding",
                           "Content-Length",
                           "Content-Encoding",
                           "Content-Type",
                           "Content-Range",
                           "Host",
                           "Connection",
                           "Keep-Alive",
                           "Upgrade",
                           "TE",
                           "Trailer",
                           "Cache-Control",
                           "Expect",
                           "Max-Forwards",
                           "Pragma",
                           "Range",
                           "Authorization",
                           "Proxy-Authorization",
                           "Cookie",
                           "Set-Cookie"}) {
    const Trailers trailers = section(name + ": 1\r\nX-Kept: 2\r\n\r\n"s);
    EXPECT_EQ(trailers.parsed.verdict, Verdict::Done) << name;
    ASSERT_EQ(trailers.fields.size(), 1u) << name;
    EXPECT_EQ(trailers.fields[0].first, "X-Kept");
  }
}

TEST(H1Trailers, RefusesMalformedOnes) {
  for (const std::string& bytes : {"X : 1\r\n\r\n"s, " X: 1\r\n\r\n"s, "X\r\n\r\n"s, "X: 1\n\r\n"s, "X: a\0\r\n\r\n"s,
                                   "\n"s, "\rX"s, "X: 1\r\n folded\r\n\r\n"s, "GET / HTTP/1.1\r\n\r\n"s}) {
    EXPECT_EQ(section(bytes).parsed.status, 400) << bytes;
  }
}

TEST(H1Trailers, HoldsThemToTheirLimits) {
  Limits limits;
  limits.trailer_bytes_max = 30;
  const auto sized = [](std::size_t size) { return "X: " + std::string(size - 7, 'v') + "\r\n\r\n"; };
  EXPECT_EQ(section(sized(30), limits).parsed.verdict, Verdict::Done);
  const Parsed over = section(sized(31), limits).parsed;
  EXPECT_EQ(over.status, 431);
  EXPECT_EQ(over.limit, LimitId::trailer_bytes_max);
  limits = {};
  limits.field_count_max = 2;
  EXPECT_EQ(section("A: 1\r\nB: 1\r\n\r\n", limits).parsed.verdict, Verdict::Done);
  EXPECT_EQ(section("A: 1\r\nHost: 1\r\nB: 1\r\n\r\n", limits).parsed.limit, LimitId::field_count_max);
}

TEST(H1Guard, ChunkBudgetCountsExtensionsAndOverhead) {
  ChunkBudget budget;
  budget.add(10, 6, 1);
  EXPECT_FALSE(budget.is_over_extensions(6));
  EXPECT_TRUE(budget.is_over_extensions(5));
  EXPECT_FALSE(budget.is_over_overhead(10));
  EXPECT_FALSE(budget.is_over_overhead(2));  // 8 bytes of framing for the one byte of data
  EXPECT_TRUE(budget.is_over_overhead(1));
  budget.reset();
  EXPECT_FALSE(budget.is_over_extensions(0));
  EXPECT_FALSE(budget.is_over_overhead(0));
}

TEST(H1Guard, ChunkBudgetDoesNotOverflow) {
  ChunkBudget budget;
  budget.add(20, 0, ~std::uint64_t{0});
  budget.add(1'000'000, 0, ~std::uint64_t{0});
  EXPECT_FALSE(budget.is_over_overhead(10));
}

}  // namespace
}  // namespace violet::h1
