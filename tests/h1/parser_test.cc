#include "violet/h1/parser.h"

#include "violet/base/ascii.h"
#include "violet/memory/buffer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace violet::h1 {
namespace {

using namespace std::string_literals;

// What a parse came to, with every text copied.
struct Seen {
  Parsed parsed;
  std::size_t used = 0;
  Framing framing;
  http::Method method = http::Method::Other;
  http::TargetForm form = http::TargetForm::Origin;
  http::Version version = http::Version::Http11;
  std::string method_text, target, scheme, authority, path, query;
  std::vector<std::pair<std::string, std::string>> fields;

  [[nodiscard]] std::string text() const {
    std::string all = std::to_string(static_cast<int>(parsed.verdict)) + "|" + std::to_string(parsed.status) + "|" +
                      std::to_string(static_cast<int>(parsed.limit)) + "|" + std::to_string(used);
    if (parsed.verdict != Verdict::Done) return all;
    all += "|" + method_text + "|" + target + "|" + scheme + "|" + authority + "|" + path + "|" + query;
    for (const auto& [name, value] : fields) all += "|" + name + "=" + value;
    return all;
  }
};

// The bytes stand at the very end of their heap block but for the padding, which holds what would be read as input.
Seen parse(std::string_view bytes, const Limits& limits = {}) {
  const auto memory = std::make_unique<char[]>(bytes.size() + kScanPadding);
  std::memcpy(memory.get(), bytes.data(), bytes.size());
  const char kNoise[] = "\r\n\r\n: HTTP/1.1\r\nHost: x\r\n\r\nGET";
  for (std::size_t i = 0; i < kScanPadding; ++i) memory[bytes.size() + i] = kNoise[i % (sizeof kNoise - 1)];
  alignas(16) std::byte room[512];
  Arena arena(room, sizeof room);
  http::Head head(arena);
  Seen seen;
  seen.parsed = parse_head(memory.get(), memory.get() + bytes.size(), limits, head, seen.framing);
  if (seen.parsed.verdict != Verdict::Done) return seen;
  seen.used = static_cast<std::size_t>(seen.parsed.end - memory.get());
  seen.method = head.method;
  seen.form = head.form;
  seen.version = head.version;
  seen.method_text = head.method_text;
  seen.target = head.target;
  seen.scheme = head.scheme;
  seen.authority = head.authority;
  seen.path = head.path;
  seen.query = head.query;
  for (const http::Field& field : head.fields) seen.fields.emplace_back(field.name, field.value);
  return seen;
}

// Every prefix is More until the verdict comes, and the verdict of a longer input never differs from it.
Seen parse_every_way(const std::string& bytes, const Limits& limits = {}) {
  Seen whole = parse(bytes, limits);
  const std::string expected = whole.text();
  bool is_decided = false;
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    const Seen part = parse(std::string_view(bytes).substr(0, size), limits);
    if (part.parsed.verdict == Verdict::More) {
      EXPECT_FALSE(is_decided) << "took its verdict back at " << size << " of " << bytes;
      continue;
    }
    is_decided = true;
    EXPECT_EQ(part.text(), expected) << "at " << size << " of " << bytes;
  }
  return whole;
}

const std::string kHost = "Host: a\r\n\r\n";

void expect_bad(const std::string& bytes, int status = 400) {
  const Seen seen = parse_every_way(bytes);
  EXPECT_EQ(seen.parsed.verdict, Verdict::Bad) << bytes;
  EXPECT_EQ(seen.parsed.status, status) << bytes;
}
Seen expect_good(const std::string& bytes) {
  Seen seen = parse_every_way(bytes);
  EXPECT_EQ(seen.parsed.verdict, Verdict::Done) << bytes;
  return seen;
}

TEST(H1Parser, ReadsAWholeHead) {
  const Seen seen = expect_good(
      "GET /a%20b?c=d&e HTTP/1.1\r\nHost: example.com:8080\r\nX-One:  two words \t\r\nX-Empty:\r\nx-one:\xff\r\n\r\n"
      "next");
  EXPECT_EQ(seen.method, http::Method::Get);
  EXPECT_EQ(seen.method_text, "GET");
  EXPECT_EQ(seen.target, "/a%20b?c=d&e");
  EXPECT_EQ(seen.path, "/a%20b");
  EXPECT_EQ(seen.query, "c=d&e");
  EXPECT_EQ(seen.authority, "example.com:8080");
  EXPECT_EQ(seen.version, http::Version::Http11);
  ASSERT_EQ(seen.fields.size(), 4u);
  EXPECT_EQ(seen.fields[1], std::pair("X-One"s, "two words"s));
  EXPECT_EQ(seen.fields[2], std::pair("X-Empty"s, ""s));
  EXPECT_EQ(seen.fields[3], std::pair("x-one"s, "\xff"s));
  EXPECT_TRUE(seen.framing.keeps_alive);
  EXPECT_FALSE(seen.framing.has_body());
}

TEST(H1Parser, ReadsEveryMethodAndKeepsUnknownOnes) {
  for (std::size_t i = 0; i < http::kMethodCount; ++i) {
    const auto method = static_cast<http::Method>(i);
    if (method == http::Method::Connect) continue;
    const Seen seen = expect_good(std::string(http::name(method)) + " /x HTTP/1.1\r\n" + kHost);
    EXPECT_EQ(seen.method, method);
    EXPECT_EQ(seen.method_text, http::name(method));
  }
  for (const char* text : {"GETX", "get", "G", "GE", "POS", "POSTS", "M-SEARCH", "!#$%&'*+-.^_`|~09az"}) {
    const Seen seen = expect_good(text + " /x HTTP/1.1\r\n"s + kHost);
    EXPECT_EQ(seen.method, http::Method::Other) << text;
    EXPECT_EQ(seen.method_text, text);
  }
}

TEST(H1Parser, RefusesMalformedRequestLines) {
  for (const char* line : {" GET / HTTP/1.1",
                           "GET  / HTTP/1.1",
                           "GET /  HTTP/1.1",
                           "GET / HTTP/1.1 ",
                           "GET\t/ HTTP/1.1",
                           "GET /\tHTTP/1.1",
                           "GET /",
                           "GET / ",
                           "GET",
                           "G@T / HTTP/1.1",
                           "G(T / HTTP/1.1",
                           "\x01GET / HTTP/1.1",
                           "GET /\x01 HTTP/1.1",
                           "GET /\x7f HTTP/1.1",
                           "GET /\x80 HTTP/1.1",
                           "GET /a\"b HTTP/1.1",
                           "GET /#f HTTP/1.1",
                           "GET /<a HTTP/1.1",
                           "GET /a> HTTP/1.1",
                           "GET / http/1.1",
                           "GET / HTTP/1.1x",
                           "GET / HTTP/1.",
                           "GET / HTTP/11",
                           "GET / HTTP/1,1",
                           "GET / HTTP/a.1",
                           "GET / HTTP/1.a",
                           "GET / HTTPS/1.1",
                           "GET / HTTP /1.1",
                           "GET / HTTP/1.10",
                           "GET / HTTP/01.1",
                           "GET HTTP/1.1",
                           "GET ? HTTP/1.1",
                           "GET a HTTP/1.1",
                           "GET * HTTP/1.1",
                           "{\"a\":1}",
                           "GET ftp://a/ HTTP/1.1",
                           "GET http:// HTTP/1.1",
                           "GET http:///x HTTP/1.1",
                           "GET http://u@h/ HTTP/1.1",
                           "GET a:80 HTTP/1.1",
                           "CONNECT / HTTP/1.1",
                           "CONNECT a HTTP/1.1",
                           "CONNECT a: HTTP/1.1",
                           "CONNECT http://a:1/ HTTP/1.1",
                           "CONNECT [::1] HTTP/1.1",
                           "OPTIONS ** HTTP/1.1"}) {
    expect_bad(line + "\r\n"s + kHost);
  }
  expect_bad("GET / HTTP/1.1\n" + kHost);
  expect_bad("GET / HTTP/1.1\r" + kHost);
  expect_bad("GET / HTTP/1.1\r\r\n" + kHost);
  expect_bad("GET /\0 HTTP/1.1\r\n"s + kHost);
  expect_bad("GET /\r\n" + kHost);
  expect_bad("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505);
}

TEST(H1Parser, AnswersOtherVersions) {
  EXPECT_EQ(expect_good("GET / HTTP/1.0\r\n" + kHost).version, http::Version::Http10);
  EXPECT_EQ(expect_good("GET / HTTP/1.9\r\n" + kHost).version, http::Version::Http11);
  for (const char* version : {"0.9", "2.0", "3.0", "9.9", "0.0"}) {
    expect_bad("GET / HTTP/"s + version + "\r\n" + kHost, 505);
  }
}

TEST(H1Parser, SkipsEmptyLinesBeforeTheRequest) {
  EXPECT_EQ(expect_good("\r\nGET / HTTP/1.1\r\n" + kHost).method, http::Method::Get);
  EXPECT_EQ(expect_good("\r\n\r\n\r\nGET / HTTP/1.1\r\n" + kHost).method, http::Method::Get);
  expect_bad("\nGET / HTTP/1.1\r\n" + kHost);
  expect_bad("\r\rGET / HTTP/1.1\r\n" + kHost);
  expect_bad(" \r\nGET / HTTP/1.1\r\n" + kHost);
  Limits limits;
  limits.request_line_bytes_max = 64;
  std::string many;
  for (int i = 0; i < 100; ++i) many += "\r\n";
  EXPECT_EQ(parse_every_way(many + "GET / HTTP/1.1\r\n" + kHost, limits).parsed.verdict, Verdict::Bad);
}

TEST(H1Parser, KnowsTheFourTargetForms) {
  EXPECT_EQ(expect_good("GET /x HTTP/1.1\r\n" + kHost).form, http::TargetForm::Origin);
  EXPECT_EQ(expect_good("OPTIONS * HTTP/1.1\r\n" + kHost).form, http::TargetForm::Asterisk);
  Seen seen = expect_good("GET http://b.example:81/p?q HTTP/1.1\r\n" + kHost);
  EXPECT_EQ(seen.form, http::TargetForm::Absolute);
  EXPECT_EQ(seen.authority, "b.example:81");
  EXPECT_EQ(seen.scheme, "http");
  EXPECT_EQ(seen.path, "/p");
  EXPECT_EQ(seen.query, "q");
  EXPECT_EQ(expect_good("GET HTTPS://b HTTP/1.1\r\n" + kHost).path, "/");
  EXPECT_EQ(expect_good("OPTIONS http://b HTTP/1.1\r\n" + kHost).path, "*");
  seen = expect_good("GET http://b?q HTTP/1.1\r\n" + kHost);
  EXPECT_EQ(seen.path, "/");
  EXPECT_EQ(seen.query, "q");
  seen = expect_good("CONNECT b:443 HTTP/1.1\r\n" + kHost);
  EXPECT_EQ(seen.form, http::TargetForm::Authority);
  EXPECT_EQ(seen.authority, "b:443");
  EXPECT_EQ(seen.path, "");
  EXPECT_EQ(expect_good("CONNECT [::1]:443 HTTP/1.1\r\n" + kHost).authority, "[::1]:443");
}

TEST(H1Parser, TwoContentTypesHaveToAgree) {
  expect_bad("GET / HTTP/1.1\r\nHost: a\r\nContent-Type: text/html\r\nX: 1\r\ncontent-type: text/plain\r\n\r\n");
  expect_bad("GET / HTTP/1.1\r\nHost: a\r\nContent-Type:\r\nContent-Type: text/plain\r\n\r\n");
  expect_good("GET / HTTP/1.1\r\nHost: a\r\nContent-Type: text/html\r\nContent-Type: text/html\r\n\r\n");
}

TEST(H1Parser, WantsExactlyOneGoodHost) {
  expect_bad("GET / HTTP/1.1\r\n\r\n");
  expect_bad("GET http://b/ HTTP/1.1\r\n\r\n");
  expect_bad("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n");
  expect_bad("GET / HTTP/1.1\r\nhost: a\r\nHOST: b\r\n\r\n");
  expect_bad("GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n");
  for (const char* host :
       {"a b", "a/b",    "a,b",     "a@b", "http://a", "a:b", "a:1:2", "a:65536", "a:123456", ":80", "[::1",
        "[]",  "[::1]x", "[::1]:x", "a\"", "a%",       "a%2", "a%zz",  "::1",     "a#b",      "a?b", "a\\b"}) {
    expect_bad("GET / HTTP/1.1\r\nHost: "s + host + "\r\n\r\n");
  }
  for (const char* host : {"", "a", "a:", "a:0", "a:65535", "1.2.3.4:80", "[::1]", "[::1]:80", "[2001:db8::1]", "a%20b",
                           "xn--bcher-kva.example", "a_b~c"}) {
    EXPECT_EQ(expect_good("GET / HTTP/1.1\r\nHost: "s + host + "\r\n\r\n").authority, host);
  }
  EXPECT_EQ(expect_good("GET / HTTP/1.0\r\n\r\n").authority, "");
}

TEST(H1Parser, RefusesMalformedFields) {
  for (const std::string& line : {"X : 1"s,
                                  "X\t: 1"s,
                                  " X: 1"s,
                                  "\tX: 1"s,
                                  ": 1"s,
                                  "X"s,
                                  "X;: 1"s,
                                  "X(: 1"s,
                                  "X\x80: 1"s,
                                  "X\0: 1"s,
                                  "X: a\0b"s,
                                  "X: a\x01"s,
                                  "X: a\x7f"s,
                                  "X: a\rb"s,
                                  "X: a\nb"s,
                                  "X: a\x1b[0m"s,
                                  "X: a\x0b"s,
                                  "X: 1\r\n folded"s,
                                  "X: 1\r\n\tfolded"s,
                                  "Content-Length : 1"s,
                                  "Transfer-Encoding\t: chunked"s,
                                  "Con\x0dtent: 1"s,
                                  "content\x0dlength: 1"s}) {
    expect_bad("GET / HTTP/1.1\r\n" + line + "\r\n" + kHost);
    expect_bad("GET / HTTP/1.1\r\nHost: a\r\n" + line + "\r\n\r\n");
  }
  expect_bad("GET / HTTP/1.1\r\nHost: a\n\r\n");
  expect_bad("GET / HTTP/1.1\r\nHost: a\r\n\n");
  expect_bad("GET / HTTP/1.1\r\nHost: a\r\n\rX");
  expect_bad("GET / HTTP/1.1\r\nHost: a\r\r\n\r\n");
}

// Every byte, in a name, in a value and in a target: exactly the allowed ones pass.
TEST(H1Parser, KnowsEveryByte) {
  for (int c = 0; c < 256; ++c) {
    const std::string byte(1, static_cast<char>(c));
    for (std::size_t before : {std::size_t{0}, std::size_t{1}, std::size_t{15}, std::size_t{16}, std::size_t{40}}) {
      const std::string fill(before, 'x');
      if (c != ':') {
        const Seen name = parse("GET / HTTP/1.1\r\nN" + fill + byte + "n: v\r\n" + kHost);
        EXPECT_EQ(name.parsed.verdict == Verdict::Done, ascii::is(static_cast<char>(c), ascii::kToken)) << c;
      }
      const Seen value = parse("GET / HTTP/1.1\r\nN: v" + fill + byte + "v\r\n" + kHost);
      EXPECT_EQ(value.parsed.verdict == Verdict::Done, ascii::is(static_cast<char>(c), ascii::kFieldValue)) << c;
      const Seen target = parse("GET /" + fill + byte + "t HTTP/1.1\r\n" + kHost);
      EXPECT_EQ(target.parsed.verdict == Verdict::Done, ascii::is(static_cast<char>(c), ascii::kTarget)) << c;
    }
  }
}

TEST(H1Parser, ReadsContentLength) {
  const auto length = [](const std::string& value) {
    return parse_every_way("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + value + "\r\n\r\n");
  };
  EXPECT_EQ(length("0").framing.content_length, 0u);
  EXPECT_FALSE(length("0").framing.has_body());
  EXPECT_EQ(length("42").framing.content_length, 42u);
  EXPECT_EQ(length("0042").framing.content_length, 42u);
  EXPECT_EQ(length("9999999999999999999").framing.content_length, 9999999999999999999u);
  for (const char* value :
       {"", "-1", "+1", "1 1", "1,1", "1, 1", "0x1", "1a", "a", "1.0", "1e3", "10000000000000000000",
        "18446744073709551616", "99999999999999999999999", "1;", "\"1\"", "1\t1"}) {
    EXPECT_EQ(length(value).parsed.status, 400) << value;
  }
  expect_bad("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n");
  expect_bad("POST / HTTP/1.1\r\nContent-Length: 1\r\nHost: a\r\ncontent-length: 2\r\n\r\n");
}

TEST(H1Parser, TakesNoTransferEncodingButChunked) {
  const auto coding = [](const std::string& lines, const char* version = "1.1") {
    return parse_every_way("POST / HTTP/"s + version + "\r\nHost: a\r\n" + lines + "\r\n\r\n").parsed;
  };
  EXPECT_EQ(coding("Transfer-Encoding: chunked").verdict, Verdict::Done);
  EXPECT_EQ(coding("Transfer-Encoding: Chunked").verdict, Verdict::Done);
  EXPECT_EQ(coding("transfer-encoding:\tCHUNKED \t").verdict, Verdict::Done);
  EXPECT_EQ(coding("Transfer-Encoding: gzip, chunked").status, 501);
  EXPECT_EQ(coding("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked").status, 501);
  for (const char* lines :
       {"Transfer-Encoding: gzip", "Transfer-Encoding: chunked, gzip", "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "Transfer-Encoding: identity", "Transfer-Encoding:",
        "Transfer-Encoding: xchunked", "Transfer-Encoding: chunkedx", "Transfer-Encoding: chunked;q=1",
        "Transfer-Encoding: \"chunked\"", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Transfer-Encoding: \x0b"
        "chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding:", "Transfer-Encoding: chunked,",
        "Content-Length: 3\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 3",
        "Transfer-Encoding: chunked\r\nContent-Length: 0"}) {
    EXPECT_EQ(coding(lines).status, 400) << lines;
  }
  EXPECT_EQ(coding("Transfer-Encoding: , chunked").verdict, Verdict::Bad);
  EXPECT_EQ(coding("Transfer-Encoding: chunked", "1.0").status, 400);
}

TEST(H1Parser, ReadsConnectionAsAList) {
  const auto framing = [](const std::string& lines, const char* version = "1.1") {
    return parse_every_way("GET / HTTP/"s + version + "\r\nHost: a\r\n" + lines + "\r\n").framing;
  };
  EXPECT_TRUE(framing("").keeps_alive);
  EXPECT_FALSE(framing("", "1.0").keeps_alive);
  EXPECT_FALSE(framing("Connection: close\r\n").keeps_alive);
  EXPECT_FALSE(framing("Connection: foo, CLOSE\r\n").keeps_alive);
  EXPECT_FALSE(framing("Connection: keep-alive, close\r\n").keeps_alive);
  EXPECT_FALSE(framing("Connection: keep-alive\r\nConnection: close\r\n").keeps_alive);
  EXPECT_TRUE(framing("Connection: closed\r\n").keeps_alive);
  EXPECT_TRUE(framing("Connection: foo,\tKeep-Alive\r\n", "1.0").keeps_alive);
  EXPECT_FALSE(framing("Connection: keep-alive, close\r\n", "1.0").keeps_alive);
  EXPECT_TRUE(framing("Connection: Upgrade\r\nUpgrade: websocket\r\n").wants_upgrade);
  EXPECT_TRUE(framing("Connection: keep-alive, upgrade\r\nUpgrade: websocket\r\n").wants_upgrade);
  EXPECT_FALSE(framing("Upgrade: websocket\r\n").wants_upgrade);
  EXPECT_FALSE(framing("Connection: upgrade\r\n").wants_upgrade);
  EXPECT_FALSE(framing("Connection: upgrade\r\nUpgrade: websocket\r\n", "1.0").wants_upgrade);
}

TEST(H1Parser, HoldsTheRequestLineToItsLimit) {
  Limits limits;
  limits.request_line_bytes_max = 100;
  const auto line = [](std::size_t size) {
    const std::string rest = "GET / HTTP/1.1\r\n";
    return "GET /" + std::string(size - rest.size(), 'a') + " HTTP/1.1\r\n" + kHost;
  };
  EXPECT_EQ(parse_every_way(line(100), limits).parsed.verdict, Verdict::Done);
  const Parsed over = parse_every_way(line(101), limits).parsed;
  EXPECT_EQ(over.status, 414);
  EXPECT_EQ(over.limit, LimitId::request_line_bytes_max);
  EXPECT_EQ(parse_every_way(std::string(101, 'M'), limits).parsed.status, 414);
  EXPECT_EQ(parse_every_way(std::string(100, 'M'), limits).parsed.verdict, Verdict::More);
  EXPECT_EQ(parse_every_way(line(500), limits).parsed.status, 414);
}

TEST(H1Parser, HoldsTheFieldsToTheirLimits) {
  Limits limits;
  limits.field_bytes_max = 60;
  const auto head = [](std::size_t section) {
    const std::string rest = "Host: a\r\nX: \r\n\r\n";
    return "GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(section - rest.size(), 'v') + "\r\n\r\n";
  };
  EXPECT_EQ(parse_every_way(head(60), limits).parsed.verdict, Verdict::Done);
  const Parsed over = parse_every_way(head(61), limits).parsed;
  EXPECT_EQ(over.status, 431);
  EXPECT_EQ(over.limit, LimitId::field_bytes_max);
  EXPECT_EQ(parse_every_way(head(4000), limits).parsed.status, 431);

  limits = {};
  limits.field_count_max = 5;
  const auto many = [](int count) {
    std::string text = "GET / HTTP/1.1\r\nHost: a\r\n";
    for (int i = 1; i < count; ++i) text += "X: 1\r\n";
    return text + "\r\n";
  };
  EXPECT_EQ(parse_every_way(many(5), limits).parsed.verdict, Verdict::Done);
  EXPECT_EQ(parse_every_way(many(6), limits).parsed.status, 431);
  EXPECT_EQ(parse_every_way(many(6), limits).parsed.limit, LimitId::field_count_max);
}

TEST(H1Parser, TakesAnyLimitHoweverLarge) {
  Limits limits;
  limits.request_line_bytes_max = limits.field_bytes_max = limits.field_count_max = ~std::uint64_t{0};
  limits.chunk_extension_bytes_max = limits.trailer_bytes_max = ~std::uint64_t{0};
  EXPECT_EQ(parse_every_way("GET /x HTTP/1.1\r\nX: 1\r\n" + kHost, limits).parsed.verdict, Verdict::Done);
  EXPECT_EQ(parse_every_way("GET /x HTTP/1.1\r\nX", limits).parsed.verdict, Verdict::More);
}

TEST(H1Parser, HoldsMoreFieldsThanASixteenBitCount) {
  Limits limits;
  limits.field_bytes_max = limits.field_count_max = 1'000'000;
  std::string text = "GET / HTTP/1.1\r\nHost: a\r\n";
  for (int i = 0; i < 70'000; ++i) text += "X: 1\r\n";
  text += "\r\n";
  const Seen seen = parse(text, limits);
  EXPECT_EQ(seen.parsed.verdict, Verdict::Done);
  EXPECT_EQ(seen.fields.size(), 70'001u);
}

}  // namespace
}  // namespace violet::h1
