// H1-D03 and H1-D14 to H1-D24 of the cases: where a body ends, and what stands in the way of finding out; each with its
// neighbours.

#include "tests/conformance/http1_rig.h"

#include <gtest/gtest.h>

namespace violet::test {
namespace {

using std::string;
using namespace std::string_literals;

TEST(Http1D03, FindsTheNextRequestBehindABodyThatNobodyRead) {
  accepted("by length", post("Content-Length: 11\r\n", "hello world", "/t") + get(),
           {"200 POST /t a\n", "200 GET /t a\n"});
  accepted("chunked", chunked("b\r\nhello world\r\n0\r\n\r\n", "/t") + get(), {"200 POST /t a\n", "200 GET /t a\n"});
  accepted("a body that looks like a request",
           post("Content-Length: 41\r\n", "GET /smuggled HTTP/1.1\r\nHost: a\r\nX: 012\r\n\r\n", "/t"),
           {"200 POST /t a\n"});
  accepted("of a GET", get("Content-Length: 5\r\n") + "hello" + get(), {"200 GET /t a\n", "200 GET /t a\n"});
  accepted("counted", post("Content-Length: 11\r\n", "hello world", "/sink"), {"200 11"});
  accepted("none at all", post("Content-Length: 0\r\n", ""), {"200 "});
  accepted("no word about one", post("", ""), {"200 "});
  for (const char* target : {"/late", "/stream", "/known", "/twice", "/hints"}) {
    fuzz::Wire wire(fuzz::limits_without_time());
    const auto answers = answers_of(wire.run(post("Content-Length: 5\r\n", "hello", target) + get()));
    ASSERT_GE(answers.size(), 2u) << target;
    EXPECT_EQ(answers.back(), "200 GET /t a\n") << target;
  }
}

TEST(Http1D14, RefusesLengthAndChunkedTogether) {
  const string body = "0\r\n\r\n";
  for (const char* length :
       {"Content-Length: 5\r\n", "content-length:5\r\n", "Content-Length: 0\r\n", "Content-Length: 999\r\n",
        "Content-Length: x\r\n", "Content-Length:\r\n", "Content-Length: 5\r\nContent-Length: 5\r\n"}) {
    for (const char* coding :
         {"Transfer-Encoding: chunked\r\n", "transfer-encoding:chunked\r\n", "Transfer-Encoding: CHUNKED\r\n",
          "Transfer-Encoding: identity\r\n", "Transfer-Encoding: x\r\n", "Transfer-Encoding:\r\n",
          "Transfer-Encoding: gzip, chunked\r\n"}) {
      refused("length first", post(length + ""s + coding, body), {400, 501});
      refused("coding first", post(coding + ""s + length, body), {400, 501});
      refused("far apart", post(coding + "X: y\r\nConnection: close\r\n"s + length, body), {400, 501});
    }
  }
}

TEST(Http1D15, RefusesASecondContentLength) {
  refused("different", post("Content-Length: 5\r\nContent-Length: 10\r\n", "helloworld"));
  refused("the other way", post("Content-Length: 10\r\nContent-Length: 5\r\n", "helloworld"));
  refused("three", post("Content-Length: 5\r\nX: y\r\nContent-Length: 5\r\nContent-Length: 6\r\n", "hello!"));
  refused("a list", post("Content-Length: 5, 10\r\n", "helloworld"));
  refused("zero and more", post("Content-Length: 0\r\nContent-Length: 5\r\n", "hello"));
  refused("one empty", post("Content-Length: 5\r\nContent-Length:\r\n", "hello"));
  for (const char* equal :
       {"Content-Length: 5, 5\r\n", "Content-Length: 5,5\r\n", "Content-Length: 5\r\nContent-Length: 5\r\n"}) {
    accepted_or_refused(equal, post(equal, "hello"), "200 hello", {400});
  }
}

TEST(Http1D16, RefusesALengthThatIsNoNumber) {
  for (const char* length : {"+5",
                             "-1",
                             "-0",
                             "5 5",
                             "0x5",
                             "5,",
                             ",5",
                             "",
                             "1e1",
                             "5.0",
                             "5.",
                             ".5",
                             "5;",
                             "5a",
                             "a5",
                             "\"5\"",
                             "5_0",
                             "0b1",
                             "0o5",
                             "five",
                             "5-",
                             "5\t5",
                             "18446744073709551621",
                             "18446744073709551616",
                             "99999999999999999999",
                             "100000000000000000000",
                             "184467440737095516160",
                             "9223372036854775808000",
                             "00000000000000000000000000000000005",
                             "\xd9\xa5",
                             "5\x0b",
                             "5\x0c",
                             "\x0b"
                             "5",
                             "(5)",
                             "NaN",
                             "Infinity",
                             "*",
                             "5/5",
                             "5:5",
                             "5=5"}) {
    refused(length, post("Content-Length: "s + length + "\r\n", "hello"));
  }
  refused("the greatest is too much, but a number", post("Content-Length: 9223372036854775807\r\n", "hello"),
          {413, 400});
  refused("and so is this", post("Content-Length: 18446744073709551615\r\n", "hello"), {413, 400});
  for (const char* length : {"5", " 5", "5 ", "\t5\t", "05", "0005"}) {
    accepted_or_refused(length, post("Content-Length:"s + length + "\r\n", "hello"), "200 hello", {400});
  }
  refused("without a space nothing changes", post("Content-Length:+5\r\n", "hello"));
}

TEST(Http1D17, RefusesEveryCodingButChunked) {
  const string body = "5\r\nhello\r\n0\r\n\r\n";
  for (const char* coding :
       {"gzip, chunked", "deflate, chunked", "gzip,chunked", "x, y, chunked", "identity, chunked"}) {
    refused(coding, post("Transfer-Encoding: "s + coding + "\r\n", body), {501, 400});
  }
  for (const char* coding : {"chunked, gzip",
                             "xchunked",
                             "identity",
                             "gzip",
                             "chunkedx",
                             "chunked, chunked",
                             "chunked,chunked",
                             "chunked;q=1",
                             "chunked; x",
                             "\"chunked\"",
                             "'chunked'",
                             "chunked x",
                             "x chunked",
                             "chunke",
                             "hunked",
                             "",
                             ",",
                             ", ,",
                             "chunked,",
                             "chunked, ",
                             ",chunked",
                             ", chunked",
                             "chunked,,",
                             "chunk ed",
                             "chunked, identity",
                             "none",
                             "true",
                             "1",
                             "chunked\x0b",
                             "\x0b"
                             "chunked",
                             "chunked\x0c",
                             "\x0c"
                             "chunked",
                             "chunked\x01",
                             "\xa0"
                             "chunked",
                             "chunked\xa0",
                             "chunked\x7f",
                             "c\xc4\xb1hunked",
                             "Chun\xe2\x84\xaa"
                             "ed",
                             "ch\xc5\xab"
                             "nked",
                             "chunked:",
                             ":chunked",
                             "=chunked",
                             "chunked\t, x",
                             "chunked/1",
                             "\\chunked"}) {
    refused(coding, post("Transfer-Encoding: "s + coding + "\r\n", body), {400, 501});
  }
  for (const char* lines :
       {"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding:\r\n", "Transfer-Encoding:\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nX: y\r\nTransfer-Encoding: gzip\r\n", "Transfer-Encoding : chunked\r\n",
        "Transfer-Encoding\t: chunked\r\n", " Transfer-Encoding: chunked\r\n",
        "X: y\r\n Transfer-Encoding: chunked\r\n", "Transfer-Encoding\x0b: chunked\r\n"}) {
    refused(lines, post(lines, body), {400, 501});
  }
  for (const char* coding : {"chunked", "Chunked", "CHUNKED", " \tchunked", "chunked \t", "cHuNkEd"}) {
    accepted(coding, post("Transfer-Encoding:"s + coding + "\r\n", body), {"200 hello"});
  }
  // Another field frames nothing: the body is the next request, and none.
  fuzz::Wire other(fuzz::limits_without_time());
  EXPECT_EQ(answers_of(other.run(post("Transfer_Encoding: chunked\r\n", body, "/t") + get())).at(0), "200 POST /t a\n");
  EXPECT_EQ(answers_of(other.received()).size(), 2u);
  EXPECT_TRUE(other.was_closed_by_session());
}

TEST(Http1D18, RefusesChunkedInHttp10) {
  for (const char* lines : {"", "Connection: keep-alive\r\n", "Host: a\r\n", "Content-Length: 3\r\n"}) {
    refused(lines, "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n"s + lines + "\r\n5\r\nhello\r\n0\r\n\r\n");
  }
}

TEST(Http1D19, RefusesAChunkSizeThatIsNone) {
  for (const char* size : {"5 ",
                           "0x5",
                           "+5",
                           "-0",
                           "-5",
                           "5_0",
                           "",
                           "FFFFFFFFFFFFFFFF1",
                           "10000000000000000",
                           "00000000000000005",
                           " 5",
                           "\t5",
                           "5\t",
                           "5 ;a=b",
                           "g",
                           "5g",
                           "5.0",
                           "5,",
                           "5:",
                           "5=a",
                           "\"5\"",
                           "0X5",
                           "5h",
                           "\xd9\xa5",
                           "5\x0b",
                           "5\x0c",
                           "five",
                           "--5",
                           "5-",
                           "x5",
                           "%35",
                           "\\x35",
                           "5/",
                           "5\"a\"",
                           ";a=b",
                           ";",
                           "*"}) {
    refused(size, chunked(size + "\r\nhello\r\n0\r\n\r\n"s));
    refused("as the second", chunked("1\r\nx\r\n"s + size + "\r\nhello\r\n0\r\n\r\n"));
    refused("as the last", chunked("5\r\nhello\r\n"s + size + "\r\n\r\n"));
  }
  for (const char* size : {"5", "05", "0000000000000005"})
    accepted(size, chunked(size + "\r\nhello\r\n0\r\n\r\n"s), {"200 hello"});
  accepted("letters of both cases", chunked("a\r\n0123456789\r\nA\r\n0123456789\r\n00\r\n\r\n"),
           {"200 01234567890123456789"});
  accepted("nothing", chunked("0\r\n\r\n"), {"200 "});
  refused("larger than a body may be", chunked("FFFFFFFFFFFFFFF\r\n" + string(1100000, 'x')), {413, 400});
}

TEST(Http1D20, RefusesAnythingButCrlfBehindAChunk) {
  for (const char* end :
       {"X\r\n", "", "\r", "\n", "\rX", "\n\r", " \r\n", "\r\r\n", "\n\n", "\r\n\r\n", "XX", "\0\r\n"}) {
    refused(end, chunked("5\r\nhello"s + end + "0\r\n\r\n"));
  }
  refused("NUL", chunked("5\r\nhello\0\r\n0\r\n\r\n"s));
  refused("a size too small", chunked("4\r\nhello\r\n0\r\n\r\n"));
  refused("a size too large", chunked("6\r\nhello\r\n0\r\n\r\n"));
}

TEST(Http1D21, ReadsExtensionsAndIgnoresThem) {
  for (const char* extensions :
       {";a", ";a=b", ";a=b;c=\"d;e\"", ";a=\"\"", ";a=\"\\\"\"", ";a=\"\\\\\"", "; a = b", ";a=\"x\ty\"", ";\ta\t=\tb",
        ";a ;b", ";a=b ; c=d", ";a=\"\xff\"", ";!#$%&'*+-.^_`|~=x", ";a=\"\\x\"", ";a=\"\\\t\"", ";5=5", ";a;a;a"}) {
    accepted(extensions, chunked("5"s + extensions + "\r\nhello\r\n0" + extensions + "\r\n\r\n"), {"200 hello"});
  }
  for (const char* extensions : {";",
                                 ";;",
                                 ";a;",
                                 ";a=",
                                 ";=",
                                 ";=b",
                                 ";a=;b",
                                 ";a==b",
                                 ";a=b=c",
                                 ";a b",
                                 ";a=b c",
                                 ";\"a\"",
                                 "; \"a\"",
                                 ";a=\"",
                                 ";a=\"b",
                                 ";a=\"b\"c",
                                 ";a\"b\"",
                                 ";a=b\"c\"",
                                 ";a=\"b\"\"c\"",
                                 ";a=(b)",
                                 ";a=b,c",
                                 ";a,b",
                                 ";a:b",
                                 ";a@b",
                                 ";a=\"\\",
                                 ";a ",
                                 ";a=b ",
                                 ";a\t",
                                 "; ",
                                 ";a=b;",
                                 ";a=b; ",
                                 ";a=\"\x01\"",
                                 ";a=\"\x7f\"",
                                 ";a=\"\\\x01\"",
                                 ";\x01",
                                 ";a\x0b",
                                 ";a=\xff",
                                 ";a=\"\r\"",
                                 ";a\r",
                                 ";a\n",
                                 ";a=\"\n\"",
                                 ";a=b\n",
                                 ";a=\"b\nc\"",
                                 "=a",
                                 "\"a\""}) {
    refused(extensions, chunked("5"s + extensions + "\r\nhello\r\n0\r\n\r\n"));
    refused("of the last chunk", chunked("5\r\nhello\r\n0"s + extensions + "\r\n\r\n"));
  }
  refused("NUL", chunked("5;a=\"\0\"\r\nhello\r\n0\r\n\r\n"s));
}

TEST(Http1D21, BoundsExtensionsOverAMessage) {
  refused("16 KiB in one", chunked("5;a=" + string(16384, 'b') + "\r\nhello\r\n0\r\n\r\n"), {400, 413});
  refused("16 KiB without an end", chunked("5;a=" + string(16384, 'b')), {400, 413});
  refused("16 KiB quoted", chunked("5;a=\"" + string(16384, ' ') + "\"\r\nhello\r\n0\r\n\r\n"), {400, 413});
  refused("16 KiB of white space", chunked("5;" + string(16384, ' ') + "a\r\nhello\r\n0\r\n\r\n"), {400, 413});
  string many;
  for (int i = 0; i < 160; ++i) many += "1;a=" + string(98, 'b') + "\r\nx\r\n";
  refused("16 KiB in 160", chunked(many + "0\r\n\r\n"), {400, 413});
  string much;
  for (int i = 0; i < 70; ++i) much += "1;a=" + string(98, 'b') + "\r\nx\r\n";
  accepted("7 KiB", chunked(much + "0\r\n\r\n"), {"200 " + string(70, 'x')});
  string zeros;
  for (int i = 0; i < 3000; ++i) zeros += "0000000000000001\r\nx\r\n";
  refused("leading zeros, without end", chunked(zeros + "0\r\n\r\n"), {400, 413});
  string single;
  for (int i = 0; i < 20000; ++i) single += "1\r\nx\r\n";
  accepted("20,000 chunks of a byte", chunked(single + "0\r\n\r\n"), {"200 " + string(20000, 'x')});
}

TEST(Http1D22, RefusesALineFeedAloneInChunks) {
  for (const char* body :
       {"5\nhello\r\n0\r\n\r\n", "5\r\nhello\n0\r\n\r\n", "5\r\nhello\r\n0\n\r\n", "5\r\nhello\r\n0\n\n",
        "5\r\nhello\r\n0\r\n\n", "5\nhello\n0\n\n", "5;a=b\nhello\r\n0\r\n\r\n", "5\rhello\r\n0\r\n\r\n",
        "5\r\nhello\r0\r\n\r\n", "5\r\nhello\r\n0\r\r\n", "5\r\nhello\r\n0\r\n\r", "5\n\r\nhello\r\n0\r\n\r\n",
        "5\r\r\nhello\r\n0\r\n\r\n", "5\r\nhello\r\n0\r\nX: y\n\r\n", "5\r\nhello\r\n0\r\nX: y\r\n\n"}) {
    refused(body, chunked(body));
  }
}

TEST(Http1D23, KeepsTrailersOutOfTheHead) {
  accepted("one", chunked("5\r\nhello\r\n0\r\nX-T: 1\r\n\r\n"), {"200 hello"});
  accepted("several", chunked("5\r\nhello\r\n0\r\nX-T: 1\r\nY-T:\r\nZ: a b\r\n\r\n"), {"200 hello"});
  fuzz::Wire wire(fuzz::limits_without_time());
  const string received = wire.run(
      chunked(
          "0\r\nX-T: 1\r\nContent-Length: 99\r\nTransfer-Encoding: x\r\nHost: evil\r\nTrailer: x\r\nAuthorization: "
          "x\r\n"
          "Connection: close\r\nContent-Type: x\r\nCookie: x\r\nContent-Encoding: x\r\nContent-Range: x\r\nTE: "
          "x\r\nExpect: x\r\n"
          "Upgrade: x\r\nKeep-Alive: x\r\nCache-Control: x\r\nRange: x\r\nSet-Cookie: x\r\nMax-Forwards: x\r\n\r\n") +
      get());
  EXPECT_EQ(answers_of(received), (std::vector<string>{"200 ", "200 GET /t a\n"}));
  // The service names each trailer that it is shown.
  EXPECT_EQ(received.find("X-Trailer"), received.rfind("X-Trailer"));
  EXPECT_NE(received.find("X-Trailer: X-T\r\n"), string::npos);
  for (const char* lines : {"X : y\r\n", "X: a\r\n b\r\n", " X: y\r\n", "X\r\n", ": y\r\n", "X: a\rb\r\n",
                            "X: a\nb\r\n", "X y: z\r\n", "\tX: y\r\n", "GET / HTTP/1.1\r\n"}) {
    refused(lines, chunked("5\r\nhello\r\n0\r\n"s + lines + "\r\n"));
  }
  refused("NUL", chunked("0\r\nX: a\0b\r\n\r\n"s));
  refused("too large", chunked("0\r\nX: " + string(16000, 'y') + "\r\n\r\n"), {431, 400, 413});
  refused("without end", chunked("0\r\nX: " + string(16000, 'y')), {431, 400, 413});
  string many;
  for (int i = 0; i < 101; ++i) many += "a:\r\n";
  refused("too many", chunked("0\r\n" + many + "\r\n"), {431, 400, 413});
}

TEST(Http1D24, AsksForABodyThatIsWithheld) {
  LiveServer live;
  for (const char* expect : {"100-continue", "100-Continue", "100-CONTINUE"}) {
    RawClient client(live.port());
    ASSERT_TRUE(client.send(post("Expect: "s + expect + "\r\nContent-Length: 5\r\n", "")));
    ASSERT_TRUE(client.read_until("\r\n\r\n")) << expect;
    EXPECT_TRUE(client.received().starts_with("HTTP/1.1 100 Continue\r\n\r\n")) << client.received();
    ASSERT_TRUE(client.send("hello" + get("Connection: close\r\n")));
    EXPECT_EQ(client.read_all(), RawClient::End::Fin);
    EXPECT_EQ(answers_of(client.received()), (std::vector<string>{"100 ", "200 hello", "200 GET /t a\n"}));
  }
  // Nobody asks for it: the final answer, and the end, for who knows whether the body still comes.
  RawClient unread(live.port());
  ASSERT_TRUE(unread.send(post("Expect: 100-continue\r\nContent-Length: 5\r\n", "", "/t")));
  EXPECT_EQ(unread.read_all(), RawClient::End::Fin);
  EXPECT_EQ(answers_of(unread.received()), std::vector<string>{"200 POST /t a\n"});
  // Too much is refused before it is sent.
  RawClient large(live.port());
  ASSERT_TRUE(large.send(post("Expect: 100-continue\r\nContent-Length: 99999999\r\n", "")));
  EXPECT_EQ(large.read_all(), RawClient::End::Fin);
  EXPECT_EQ(answers_of(large.received()).at(0).substr(0, 4), "413 ");
}

TEST(Http1D24, KnowsNoOtherExpectation) {
  for (const char* expect :
       {"200-ok", "100-continue, x", "x", "100", "continue", "100-continue;q=1", "100-continuex"}) {
    refused(expect, post("Expect: "s + expect + "\r\nContent-Length: 5\r\n", "hello"), {417});
  }
  fuzz::Wire old(fuzz::limits_without_time());
  const string received = old.run("POST /echo HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello");
  EXPECT_EQ(answers_of(received), std::vector<string>{"200 hello"}) << "HTTP/1.0 knows no 1xx";
  fuzz::Wire none(fuzz::limits_without_time());
  EXPECT_EQ(answers_of(none.run(get("Expect: 100-continue\r\n") + get())),
            (std::vector<string>{"200 GET /t a\n", "200 GET /t a\n"}));
}

TEST(Http1Connect, HasNoBody) {
  for (const char* lines : {"Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n"}) {
    const string connect = "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n"s + lines + "\r\n5\r\nhello\r\n0\r\n\r\n";
    refused(lines, connect);
    // Also when the same field lines came before with another method.
    const string before = post(lines, lines[0] == 'C' ? "hello" : "5\r\nhello\r\n0\r\n\r\n");
    fuzz::Wire wire(fuzz::limits_without_time());
    const auto answers = answers_of(wire.run(before + before + before + connect));
    ASSERT_EQ(answers.size(), 4u);
    EXPECT_EQ(answers.back().substr(0, 4), "400 ");
  }
}

}  // namespace
}  // namespace violet::test
