// H1-D01 to H1-D13 and H1-D27 to H1-D29 of the cases: request lines, Host, field lines, versions, connections; each
// with its neighbours.

#include "tests/conformance/http1_rig.h"

#include <gtest/gtest.h>

namespace violet::test {
namespace {

using std::string;
using namespace std::string_literals;

string line(std::string_view request_line, std::string_view lines = "Host: a\r\n") {
  return string(request_line).append("\r\n").append(lines).append("\r\n");
}

TEST(Http1D01, AnswersTheSameHoweverTheBytesAreCut) {
  accepted("plain", get());
  accepted("with a query", line("GET /t?a=13&b=42 HTTP/1.1"), {"200 GET /t?a=13&b=42 a\n"});
  accepted("many fields", get("User-Agent: x\r\nAccept: */*\r\nX-Empty:\r\nX-Blank:   \r\nX-Tab:\tv\t\r\n"));
}

TEST(Http1D02, AnswersPipelinedRequestsInOrder) {
  accepted("two", get("", "/1") + get("", "/2"), {"200 GET /1 a\n", "200 GET /2 a\n"});
  accepted("late and at once", get("", "/late") + get("", "/2") + get("", "/stream"),
           {"200 GET /late a\n", "200 GET /2 a\n",
            "200 a piece of text;a piece of text;a piece of text;a piece of text;a piece of text;"});
  string bytes;
  std::vector<string> answers;
  for (int i = 0; i < 200; ++i) {
    bytes += get("", "/" + std::to_string(i));
    answers.push_back("200 GET /" + std::to_string(i) + " a\n");
  }
  accepted("200, more than may be in flight", bytes, answers);
}

TEST(Http1D04, RefusesARequestWithoutHost) {
  refused("none", line("GET / HTTP/1.1", ""));
  refused("another field", line("GET / HTTP/1.1", "X-Host: a\r\n"));
  refused("absolute form", line("GET http://a/ HTTP/1.1", ""));
  refused("asterisk form", line("OPTIONS * HTTP/1.1", ""));
  refused("a higher minor version", line("GET / HTTP/1.2", ""));
  accepted("HTTP/1.0 needs none", line("GET /t HTTP/1.0", "Connection: keep-alive\r\n"), {"200 GET /t \n"});
}

TEST(Http1D05, RefusesASecondHost) {
  refused("equal", get("Host: a\r\n"));
  refused("different", get("Host: b\r\n"));
  refused("far apart", get("X: 1\r\nY: 2\r\nhOST: a\r\n"));
  refused("empty ones", line("GET / HTTP/1.1", "Host:\r\nHost:\r\n"));
  refused("in HTTP/1.0", line("GET / HTTP/1.0", "Host: a\r\nHost: a\r\n"));
  refused("absolute form", line("GET http://a/ HTTP/1.1", "Host: a\r\nHost: a\r\n"));
}

TEST(Http1D06, RefusesAHostThatIsNone) {
  for (const char* host :
       {"a b",       "a,b",       "a, b",      "user@a", "user:pw@a", "a/x",           "a?x",     "a#x",        "a\\b",
        "http://a",  "a:b",       "a:80:90",   ":80",    "a:65536",   "a:99999999999", "a:-1",    "a:+80",      "a:8 0",
        "a:0x50",    "[::1",      "::1",       "[]",     "[:]",       "[::1]a",        "[::1]:x", "[::1%eth0]", "[::g]",
        "[1.2.3.4]", "[12345::]", "[::1]::80", "a[b]",   "a%",        "a%4",           "a%zz",    "a\"b",       "<a>",
        "a|b",       "a^b",       "a`b",       "{a}",    "\xc3\xa4",  "a\x7f",         "a\x0b",   "[v.x]",      "[v1x]",
        "[v1.]",     "[v1.a/b]",  "[::1]@a",   "a@",     "@"}) {
    refused(host, line("GET /t HTTP/1.1", "Host: "s + host + "\r\n"));
    refused("HTTP/1.0 too", line("GET /t HTTP/1.0", "Host: "s + host + "\r\n"));
  }
  for (const char* host : {"a",
                           "A.example",
                           "a:80",
                           "a:",
                           "a:0",
                           "a:65535",
                           "127.0.0.1",
                           "127.0.0.1:8080",
                           "[::1]",
                           "[::1]:443",
                           "[::]",
                           "[2001:db8::ff00:42:8329]",
                           "[::ffff:192.0.2.1]",
                           "[v1.fe80::a+en1]",
                           "a-b_c~d",
                           "xn--bcher-kva.example",
                           "a%41",
                           "a;b",
                           "a=b",
                           "*",
                           "a..b"}) {
    accepted(host, line("GET /t HTTP/1.1", "Host: "s + host + "\r\n"), {"200 GET /t "s + host + "\n"});
    accepted("with white space around", line("GET /t HTTP/1.1", "Host: \t "s + host + " \t\r\n"),
             {"200 GET /t "s + host + "\n"});
  }
  accepted("empty", line("GET /t HTTP/1.1", "Host:\r\n"), {"200 GET /t \n"});
}

TEST(Http1D06, TheTargetsAuthorityReplacesHost) {
  accepted("absolute", line("GET http://b/t HTTP/1.1"), {"200 GET http://b/t b\n"});
  accepted("with a port", line("GET http://b:81/t?q HTTP/1.1"), {"200 GET http://b:81/t?q b:81\n"});
  accepted("upper case", line("GET HTTPS://B HTTP/1.1"), {"200 GET HTTPS://B B\n"});
  accepted("without a path", line("GET http://b?q HTTP/1.1"), {"200 GET http://b?q b\n"});
  for (const char* target :
       {"http://",    "http:///t", "http://u@b/",  "http://b:x/", "http://b:65536/", "http:/b", "http:b", "ftp://b/",
        "httpx://b/", "://b/",     "http://[::1/", "http://a,b/", "http://a%zz/",    "b",       "b/t",    "?q",
        "t",          ".",         "mailto:a@b",   "javascript:x"}) {
    refused(target, line("GET "s + target + " HTTP/1.1"));
  }
  refused("a bad Host is bad beside it as well", line("GET http://b/ HTTP/1.1", "Host: a b\r\n"));
}

TEST(Http1D07, RefusesWhiteSpaceBeforeTheColon) {
  for (const char* field : {"Host : a", "Host\t: a", "Host  : a"})
    refused(field, line("GET / HTTP/1.1", field + "\r\n"s));
  for (const char* field : {"X-Y : 1", "X-Y\t: 1", "X Y: 1", "X\tY: 1", "Content-Length : 0",
                            "Transfer-Encoding : chunked", "Transfer-Encoding\t: chunked", "Connection : close"}) {
    refused(field, get(field + "\r\n"s));
  }
}

TEST(Http1D08, RefusesFoldedLines) {
  for (const char* lines :
       {"X: a\r\n b\r\n", "X: a\r\n\tb\r\n", "X: a\r\n \r\n", "X:\r\n a\r\n", "X: a\r\n  b: c\r\n",
        "Transfer-Encoding:\r\n chunked\r\n", "Transfer-Encoding: gzip,\r\n chunked\r\n",
        "Transfer-Encoding: chunked\r\n , identity\r\n", "Content-Length: 1\r\n 0\r\n", "Host:\r\n b\r\n"}) {
    refused(lines, get(lines));
  }
  refused("the last line before the body", post("Content-Length: 3\r\n \r\n", "abc"));
}

TEST(Http1D09, RefusesLinesThatAreNoFields) {
  for (const char* field :
       {"no colon", "nocolon", ": x",         ":",        "",         "a",       "=",      "\"q\": x",
        "(c): x",   "a@b: x",  "a/b: x",      "a[b]: x",  "a{b}: x",  "a,b: x",  "a;b: x", "a<b: x",
        "a?b: x",   "a\\b: x", "\xc3\xa4: x", "a\x7f: x", "a\x01: x", "a\x80: x"}) {
    if (*field == 0) continue;
    refused(field, get(field + "\r\n"s));
    refused("before Host", line("GET / HTTP/1.1", field + "\r\nHost: a\r\n"s));
  }
  accepted("every character of a token", get("!#$%&'*+-.^_`|~0aZ: x\r\n"));
  accepted("a value full of everything", get("X: !\"#$%&'()*+,-./09:;<=>?@AZ[\\]^_`az{|}~\t\x80\xff\r\n"));
}

TEST(Http1D10, RefusesALoneCarriageReturn) {
  for (const char* lines : {"X: a\rb\r\n", "X: a\r\r\n", "X: \r\r\n", "X\r: a\r\n", "X:\ra\r\n", "\rX: a\r\n",
                            "X: a\rY: b\r\n", "X: a\r Y: b\r\n", "X: a\r\rGET /\r\n"}) {
    refused(lines, get(lines));
  }
  for (const char* request_line : {"GET\r / HTTP/1.1", "GET /\r HTTP/1.1", "GET / HTTP/1.1\r", "GET / HTTP\r/1.1",
                                   "GE\rT / HTTP/1.1", "GET /a\rb HTTP/1.1", "\rGET / HTTP/1.1", "GET / \rHTTP/1.1"}) {
    refused(request_line, line(request_line));
  }
  refused("for the empty line", "GET / HTTP/1.1\r\nHost: a\r\n\rGET / HTTP/1.1\r\n\r\n");
}

TEST(Http1D10, RefusesALoneLineFeed) {
  for (const char* lines : {"X: a\nY: b\r\n", "X: a\n\r\n", "\nX: a\r\n", "X\n: a\r\n", "X:\na\r\n", "X: a\r\n\n"}) {
    refused(lines, get(lines));
  }
  refused("request line", "GET / HTTP/1.1\nHost: a\r\n\r\n");
  refused("everywhere", "GET / HTTP/1.1\nHost: a\n\n");
  refused("at the end of the head", "GET / HTTP/1.1\r\nHost: a\r\n\nX: y\r\n\r\n");
  refused("in the target", line("GET /a\nb HTTP/1.1"));
  refused("before the request line", "\n" + get());
  refused("behind an empty line", "\r\n\n" + get());
}

TEST(Http1D11, RefusesControls) {
  for (int c = 0; c < 0x20; ++c) {
    if (c == '\t' || c == '\r' || c == '\n') continue;
    const string byte(1, static_cast<char>(c));
    refused("in a value", get("X: a" + byte + "b\r\n"));
    refused("at a value's end", get("X: a" + byte + "\r\n"));
    refused("at its begin", get("X:" + byte + "a\r\n"));
    refused("in a name", get("X" + byte + "Y: a\r\n"));
    refused("in a target", line("GET /a" + byte + "b HTTP/1.1"));
    refused("in a method", line("G" + byte + "T / HTTP/1.1"));
    refused("behind the version", line("GET / HTTP/1.1" + byte));
    refused("as separator", line("GET" + byte + "/ HTTP/1.1"));
    refused("in front", byte + get());
  }
  refused("DEL", get("X: a\x7f\r\n"));
  refused("DEL in a target", line("GET /\x7f HTTP/1.1"));
}

TEST(Http1D12, IgnoresEmptyLinesBeforeARequest) {
  accepted("one", "\r\n" + get());
  accepted("some", "\r\n\r\n\r\n" + get());
  accepted("between two", get() + "\r\n" + get(), {"200 GET /t a\n", "200 GET /t a\n"});
  accepted("behind a body", post("Content-Length: 2\r\n", "ab\r\n") + get(), {"200 ab", "200 GET /t a\n"});
  string many;
  for (int i = 0; i < 5000; ++i) many += "\r\n";
  refused("without end", many + get());
  refused("a space before it", " \r\n" + get());
}

TEST(Http1D13, RefusesWhiteSpaceBehindTheRequestLine) {
  for (const char* first : {" Host: a\r\n", "\tHost: a\r\n", " X: y\r\nHost: a\r\n", " \r\nHost: a\r\n", "  \r\n"}) {
    refused(first, line("GET / HTTP/1.1", first));
  }
}

TEST(Http1RequestLine, RefusesEveryOtherShape) {
  for (const char* request_line : {"GET  / HTTP/1.1",
                                   "GET /  HTTP/1.1",
                                   "GET / HTTP/1.1 ",
                                   " GET / HTTP/1.1",
                                   "GET\t/ HTTP/1.1",
                                   "GET /\tHTTP/1.1",
                                   "GET /a b HTTP/1.1",
                                   "GET",
                                   "GET ",
                                   "GET /",
                                   "GET / ",
                                   "/ HTTP/1.1",
                                   "HTTP/1.1",
                                   "GET HTTP/1.1",
                                   "GET / HTTP/1.1 x",
                                   "GET /a\"b HTTP/1.1",
                                   "GET /<a> HTTP/1.1",
                                   "GET /a#b HTTP/1.1",
                                   "GET # HTTP/1.1",
                                   "GET /\xc3\xa4 HTTP/1.1",
                                   "GET /\xff HTTP/1.1",
                                   "G(T / HTTP/1.1",
                                   "G:T / HTTP/1.1",
                                   "G,T / HTTP/1.1",
                                   "\xc3\xa4 / HTTP/1.1",
                                   "GET * HTTP/1.1",
                                   "POST * HTTP/1.1",
                                   "OPTIONS ** HTTP/1.1",
                                   "OPTIONS x HTTP/1.1",
                                   "GET a:80 HTTP/1.1",
                                   "CONNECT / HTTP/1.1",
                                   "CONNECT a HTTP/1.1",
                                   "CONNECT a: HTTP/1.1",
                                   "CONNECT :80 HTTP/1.1",
                                   "CONNECT http://a:80/ HTTP/1.1",
                                   "CONNECT a:80/ HTTP/1.1",
                                   "CONNECT u@a:80 HTTP/1.1",
                                   "CONNECT * HTTP/1.1",
                                   "CONNECT [::1] HTTP/1.1",
                                   "CONNECT a:65536 HTTP/1.1"}) {
    refused(request_line, line(request_line));
  }
}

TEST(Http1RequestLine, TakesEveryMethodAndForm) {
  for (const char* method : {"GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "QUERY", "PROPFIND",
                             "MKCALENDAR", "get", "Get", "GETT", "GE", "X", "M-SEARCH", "FOO", "!#$%&'*+-.^_`|~"}) {
    accepted(method, line(method + " /t HTTP/1.1"s), {"200 "s + method + " /t a\n"});
  }
  accepted("asterisk", line("OPTIONS * HTTP/1.1"), {"200 OPTIONS * a\n"});
  accepted("a target of everything", line("GET /!$%&'()*+,-./09:;=?@AZ[\\]^_`az{|}~ HTTP/1.1"),
           {"200 GET /!$%&'()*+,-./09:;=?@AZ[\\]^_`az{|}~ a\n"});
  accepted("two slashes", line("GET //t//x HTTP/1.1"), {"200 GET //t//x a\n"});
  accepted("dots stay", line("GET /../t HTTP/1.1"), {"200 GET /../t a\n"});
}

TEST(Http1D27, HandlesNothingBehindAClose) {
  for (const char* value : {"close", "Close", "CLOSE", "keep-alive, close", "close, keep-alive", "x,close",
                            " , close ,", "\tclose\t", "foo,close;x, close"}) {
    fuzz::Wire wire(fuzz::limits_without_time());
    const string received = wire.run(get("Connection: "s + value + "\r\n") + get("", "/second"));
    EXPECT_EQ(answers_of(received), std::vector<string>{"200 GET /t a\n"}) << value;
    EXPECT_NE(received.find("\r\nConnection: close\r\n"), string::npos) << value;
    EXPECT_TRUE(wire.was_closed_by_session()) << value;
    EXPECT_EQ(wire.service.served_count, 1u) << value;
  }
  for (const char* value : {"closed", "clos", "\"close\"", "close;x", "xclose", "keep-alive", "foo"}) {
    accepted(value, get("Connection: "s + value + "\r\n"));
  }
  accepted("several lines", get("Connection: x\r\nConnection: y\r\n"));
}

TEST(Http1D27, OnlyTheLastOfSeveralAnswersSaysClose) {
  LiveServer live;
  RawClient client(live.port());
  ASSERT_TRUE(
      client.send(get("", "/late") + get("", "/late") + get("Connection: close\r\n", "/late") + get("", "/not")));
  EXPECT_EQ(client.read_all(), RawClient::End::Fin);
  EXPECT_EQ(answers_of(client.received()),
            (std::vector<string>{"200 GET /late a\n", "200 GET /late a\n", "200 GET /late a\n"}));
  EXPECT_EQ(client.received().find("Connection: close"), client.received().rfind("Connection: close"));
}

TEST(Http1D28, EndsAnHttp10ConnectionUnlessAskedToKeepIt) {
  fuzz::Wire plain(fuzz::limits_without_time());
  const string received = plain.run(line("GET /t HTTP/1.0", "") + line("GET /second HTTP/1.0", ""));
  EXPECT_EQ(answers_of(received), std::vector<string>{"200 GET /t \n"});
  EXPECT_TRUE(plain.was_closed_by_session());

  fuzz::Wire stream(fuzz::limits_without_time());
  const string streamed =
      stream.run(line("GET /stream HTTP/1.0", "Connection: keep-alive\r\n") + line("GET /second HTTP/1.0", ""));
  EXPECT_EQ(streamed.find("Transfer-Encoding"), string::npos);
  EXPECT_NE(streamed.find("Connection: close"), string::npos);
  EXPECT_TRUE(streamed.ends_with("a piece of text;"));
  EXPECT_TRUE(stream.was_closed_by_session());

  for (const char* value : {"keep-alive", "Keep-Alive", "x, keep-alive"}) {
    fuzz::Wire kept(fuzz::limits_without_time());
    const string answer = kept.run(line("GET /t HTTP/1.0", "Connection: "s + value + "\r\n"));
    EXPECT_NE(answer.find("Connection: keep-alive\r\n"), string::npos) << value;
    EXPECT_NE(answer.find("Content-Length: 8\r\n"), string::npos) << value;
    EXPECT_FALSE(kept.was_closed_by_session()) << value;
  }
  for (const char* value : {"keep-alive, close", "close", "x", ""}) {
    fuzz::Wire closed(fuzz::limits_without_time());
    static_cast<void>(closed.run(line("GET /t HTTP/1.0", "Connection: "s + value + "\r\n")));
    EXPECT_TRUE(closed.was_closed_by_session()) << value;
  }
}

TEST(Http1D28, NothingFollowsABodyThatEndsWithTheConnection) {
  fuzz::Wire wire(fuzz::limits_without_time());
  const string keep = "Connection: keep-alive\r\n";
  // The second is accepted while the first is held, and the first's answer then needs the connection's end.
  const string received = wire.run(line("GET /late HTTP/1.0", keep) + line("GET /stream HTTP/1.0", keep) +
                                   line("GET /third HTTP/1.0", keep));
  EXPECT_EQ(answers_of(received).size(), 2u);
  EXPECT_EQ(received.find("/third"), string::npos);
  EXPECT_TRUE(wire.was_closed_by_session());
}

TEST(Http1D29, KnowsTheVersionsOfHttp1) {
  for (const char* version : {"HTTP/1.1", "HTTP/1.2", "HTTP/1.9"}) accepted(version, line("GET /t "s + version));
  for (const char* version : {"HTTP/2.0", "HTTP/3.0", "HTTP/9.9", "HTTP/0.9", "HTTP/0.0"}) {
    refused(version, line("GET /t "s + version), {505, 400});
  }
  for (const char* version :
       {"http/1.1",  "Http/1.1",  "HTTP/1.10",  "HTTP/1.01", "HTTP/01.1", "HTTP/11.1", "HTTP/1,1",        "HTTP/1.",
        "HTTP/1",    "HTTP/.1",   "HTTP/",      "HTTP",      "HTTP 1.1",  "HTTP/1 .1", "HTTP/ 1.1",       "HTTP/1. 1",
        "HTTP/+1.1", "HTTP/-1.1", "HTTP/1.1.1", "HTTP/1.x",  "HTTP/x.1",  "HTTPS/1.1", "HTP/1.1",         "XHTTP/1.1",
        "ICE/1.0",   "SIP/2.0",   "RTSP/1.0",   "HTTP\\1.1", "HTTP//1.1", "HTTP/2",    "HTTP/1.1HTTP/1.1"}) {
    refused(version, line("GET /t "s + version), {400, 505});
  }
  // The preface itself opens HTTP/2.
  refused("nearly the preface of HTTP/2", "PRI / HTTP/2.0\r\n\r\nSM\r\n\r\n", {505, 400});
  refused("a TLS hello", string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 15));
}

}  // namespace
}  // namespace violet::test
