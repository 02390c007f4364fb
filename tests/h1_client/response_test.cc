// The parser of responses: what it takes, what it refuses, and that it does not matter how bytes are split.

#include "violet/h1/client/response.h"

#include "violet/memory/buffer.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace violet::test {
namespace {

using h1::Verdict;
using h1::client::ResponseFraming;
using Kind = ResponseFraming::Kind;

struct Parse {
  explicit Parse(std::string_view text, http::Method method = http::Method::Get, const Limits& limits = {})
      : bytes(text) {
    size = bytes.size();
    bytes.append(kScanPadding, '\0');
    parsed = h1::client::parse_response(bytes.data(), bytes.data() + size, limits, method, head, framing);
  }
  [[nodiscard]] bool is_done() const { return parsed.verdict == Verdict::Done; }
  [[nodiscard]] bool is_bad() const { return parsed.verdict == Verdict::Bad; }
  [[nodiscard]] bool is_more() const { return parsed.verdict == Verdict::More; }

  std::string bytes;
  std::size_t size;
  Arena arena;
  http::Head head{arena};
  ResponseFraming framing;
  h1::Parsed parsed;
};

std::string with(std::string_view fields, std::string_view line = "HTTP/1.1 200 OK") {
  return std::string(line) + "\r\n" + std::string(fields) + "\r\n";
}

TEST(H1Response, IsStatusFieldsAndFraming) {
  const Parse parse("HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\nX-One:  1 \r\n\r\nbody");
  ASSERT_TRUE(parse.is_done());
  EXPECT_EQ(parse.parsed.end - parse.bytes.data(), static_cast<std::ptrdiff_t>(parse.size - 4));
  EXPECT_EQ(parse.head.status, 404);
  EXPECT_EQ(parse.head.version, http::Version::Http11);
  EXPECT_EQ(parse.head.fields.get("x-one"), "1");
  EXPECT_EQ(parse.framing.kind, Kind::Length);
  EXPECT_EQ(parse.framing.content_length, 5u);
  EXPECT_TRUE(parse.framing.keeps_alive);
}

// Every beginning of a good head is no more than a beginning, and every end is the same end.
TEST(H1Response, IsNotDoneBeforeItsLastByte) {
  const std::string head = with("Content-Length: 5\r\nSet-Cookie: a=b\r\nSet-Cookie: c=d\r\n");
  for (std::size_t size = 0; size < head.size(); ++size) EXPECT_TRUE(Parse(head.substr(0, size)).is_more()) << size;
  EXPECT_TRUE(Parse(head).is_done());
}

TEST(H1Response, MayHaveNoReason) {
  EXPECT_TRUE(Parse(with("", "HTTP/1.1 200 ")).is_done());
  EXPECT_TRUE(Parse(with("", "HTTP/1.1 200")).is_done());
  EXPECT_TRUE(Parse(with("", "HTTP/1.1 200 \xc3\xa4\tb")).is_done());
}

TEST(H1Response, RefusesABadStatusLine) {
  for (const char* line : {"HTTP/2.0 200 OK", "HTTP/1.1  200 OK", "HTTP/1.1 2000 OK", "HTTP/1.1 20 OK",
                           "HTTP/1.1 2x0 OK", "http/1.1 200 OK", "HTTP/1.1\t200 OK", "HTTP/1.1 099 OK",
                           "HTTP/1.1 200\tOK", "HTTP/1.12 200 OK", "HTTP/1,1 200 OK", " HTTP/1.1 200 OK",
                           "HTTP/1.1 +20 OK", "\r\nHTTP/1.1 200 OK", "HTTP/1.1 200 O\x01K", "HTTP/1.1 200 O\x7fK"}) {
    EXPECT_TRUE(Parse(with("", line)).is_bad()) << line;
  }
}

// Before the line is complete: nobody waits for the end of what cannot become a response.
TEST(H1Response, RefusesAtTheFirstWrongByte) {
  for (const char* start : {"G", "HTTQ", "HTTP/2", "HTTP/1.1x", "HTTP/1.1 2y"})
    EXPECT_TRUE(Parse(start).is_bad()) << start;
}

TEST(H1Response, RefusesLinesThatEndInAnyOtherWay) {
  EXPECT_TRUE(Parse("HTTP/1.1 200 OK\n\n").is_bad());
  EXPECT_TRUE(Parse("HTTP/1.1 200 OK\r\nA: b\n\r\n").is_bad());
  EXPECT_TRUE(Parse("HTTP/1.1 200 OK\rA: b\r\n\r\n").is_bad());
  EXPECT_TRUE(Parse("HTTP/1.1 200 OK\r\nA: b\r\r\n").is_bad());
  EXPECT_TRUE(Parse("HTTP/1.1 200 OK\r\n\rX").is_bad());
}

TEST(H1Response, RefusesMalformedFields) {
  for (const char* line : {"A : b", " A: b", "A: b\r\n c", "A", ": b", "A\x01: b", "A: b\x01", "A: b\x7f", "(A): b"}) {
    EXPECT_TRUE(Parse(with(std::string(line) + "\r\n")).is_bad()) << line;
  }
  EXPECT_TRUE(Parse(std::string("HTTP/1.1 200 OK\r\nA: b\0c\r\n\r\n", 27)).is_bad());
}

// Each of these has been read as two different messages by two programs (RFC 9112 §6.3, §11.2).
TEST(H1Response, RefusesFramingThatCanBeReadInTwoWays) {
  for (const char* fields :
       {"Content-Length: 5\r\nContent-Length: 5\r\n", "Content-Length: 5\r\nContent-Length: 6\r\n",
        "Content-Length: 5, 5\r\n", "Content-Length: +5\r\n", "Content-Length: -1\r\n", "Content-Length: 0x5\r\n",
        "Content-Length: 5 5\r\n", "Content-Length:\r\n", "Content-Length: 18446744073709551621\r\n",
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "Transfer-Encoding: gzip, chunked\r\n", "Transfer-Encoding: chunked, gzip\r\n",
        "Transfer-Encoding: xchunked\r\n", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: identity\r\n", "Transfer-Encoding: chunked,\r\n", "Transfer-Encoding:\r\n"}) {
    EXPECT_TRUE(Parse(with(fields)).is_bad()) << fields;
  }
  EXPECT_TRUE(Parse(with("Transfer-Encoding: chunked\r\n", "HTTP/1.0 200 OK")).is_bad());
  EXPECT_TRUE(Parse(with("Transfer-Encoding: chunked\r\n", "HTTP/1.1 101 Switching")).is_bad());
}

TEST(H1Response, ChunkedIsFoundInAnySpelling) {
  EXPECT_EQ(Parse(with("transfer-encoding: CHUNKED\r\n")).framing.kind, Kind::Chunked);
}

TEST(H1Response, WithoutAWordAboutItsEndEndsWithTheConnection) {
  const Parse parse(with("A: b\r\n"));
  EXPECT_EQ(parse.framing.kind, Kind::Close);
  EXPECT_FALSE(parse.framing.keeps_alive);
}

TEST(H1Response, SomeHaveNoBodyWhateverTheySay) {
  const std::string length = "Content-Length: 5\r\n";
  EXPECT_EQ(Parse(with(length), http::Method::Head).framing.kind, Kind::None);
  EXPECT_EQ(Parse(with("Transfer-Encoding: chunked\r\n"), http::Method::Head).framing.kind, Kind::None);
  EXPECT_EQ(Parse(with("", "HTTP/1.1 204 No Content")).framing.kind, Kind::None);
  EXPECT_EQ(Parse(with(length, "HTTP/1.1 304 Not Modified")).framing.kind, Kind::None);
  EXPECT_EQ(Parse(with("", "HTTP/1.1 103 Early Hints")).framing.kind, Kind::None);
}

TEST(H1Response, NoHttpFollowsASwitch) {
  EXPECT_EQ(Parse(with("", "HTTP/1.1 101 Switching")).framing.kind, Kind::Raw);
  EXPECT_EQ(Parse(with("Content-Length: 5\r\n", "HTTP/1.1 200 OK"), http::Method::Connect).framing.kind, Kind::Raw);
  EXPECT_EQ(Parse(with("Content-Length: 5\r\n", "HTTP/1.1 404 No"), http::Method::Connect).framing.kind, Kind::Length);
}

TEST(H1Response, SaysWhetherTheConnectionIsKept) {
  EXPECT_TRUE(Parse(with("Content-Length: 0\r\n")).framing.keeps_alive);
  EXPECT_FALSE(Parse(with("Content-Length: 0\r\nConnection: x, Close\r\n")).framing.keeps_alive);
  EXPECT_FALSE(Parse(with("Content-Length: 0\r\n", "HTTP/1.0 200 OK")).framing.keeps_alive);
  EXPECT_TRUE(Parse(with("Content-Length: 0\r\nConnection: keep-alive\r\n", "HTTP/1.0 200 OK")).framing.keeps_alive);
}

TEST(H1Response, LimitsBiteAtTheSameByteHoweverMuchHasCome) {
  Limits limits;
  limits.field_bytes_max = 64;
  const std::string start = "HTTP/1.1 200 OK\r\nA: ";
  for (std::size_t size : {64u, 65u, 1000u}) {
    const Parse parse(start + std::string(size - start.size(), 'x'), http::Method::Get, limits);
    EXPECT_EQ(parse.is_bad(), size > 64) << size;
    if (parse.is_bad()) {
      EXPECT_EQ(parse.parsed.limit, LimitId::field_bytes_max);
    }
  }
  Limits few;
  few.field_count_max = 2;
  EXPECT_TRUE(Parse(with("A: 1\r\nB: 2\r\n"), http::Method::Get, few).is_done());
  const Parse parse(with("A: 1\r\nB: 2\r\nC: 3\r\n"), http::Method::Get, few);
  EXPECT_EQ(parse.parsed.limit, LimitId::field_count_max);
}

}  // namespace
}  // namespace violet::test
