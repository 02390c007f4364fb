// H1-D25, H1-D26 and H1-D30 of the cases: answers without a body, refusals at a limit that a client can read while it
// is still sending; and what every answer has to be.

#include "tests/conformance/http1_rig.h"

#include <gtest/gtest.h>

namespace violet::test {
namespace {

using std::string;
using namespace std::string_literals;

string head_of(const string& answer) { return answer.substr(0, answer.find("\r\n\r\n") + 4); }

// What the session sends back for one request, without Date.
string answer_to(const string& bytes) {
  fuzz::Wire wire(fuzz::limits_without_time());
  string answer = wire.run(bytes);
  if (const std::size_t date = answer.find("Date: "); date != string::npos) {
    answer.erase(date, answer.find("\r\n", date) + 2 - date);
  }
  return answer;
}

TEST(Http1D25, AnswersHeadLikeGetWithoutTheBody) {
  for (const char* target : {"/big", "/stream", "/known", "/t?x=y", "/echo"}) {
    const string with = answer_to(get("", target));
    const string without = answer_to("HEAD " + get("", target).substr(4));
    EXPECT_EQ(without, head_of(without)) << target;
    if (target != "/t?x=y"s) EXPECT_EQ(without, head_of(with)) << target;
    accepted("a GET behind it", "HEAD " + get("", target).substr(4) + get(), {"200 ", "200 GET /t a\n"},
             {"HEAD", "GET", "GET"});
  }
  accepted("with a body of its own", "HEAD " + post("Content-Length: 5\r\n", "hello", "/t").substr(5) + get(),
           {"200 ", "200 GET /t a\n"}, {"HEAD", "GET", "GET"});
  accepted("refusals have none", "HEAD " + get("", "/throw").substr(4) + get(), {"500 ", "200 GET /t a\n"},
           {"HEAD", "GET", "GET"});
  const string refusal = answer_to("HEAD " + get("Host: b\r\n").substr(4));
  EXPECT_EQ(refusal, head_of(refusal));
}

TEST(Http1D26, SendsNoBodyWhereNoneMayBe) {
  for (const char* status : {"204", "304"}) {
    const string answer = answer_to(get("", "/empty/"s + status));
    EXPECT_EQ(answer, head_of(answer)) << status;
    EXPECT_EQ(answer.find("Transfer-Encoding"), string::npos) << status;
    accepted(status, get("", "/empty/"s + status) + get(), {status + " "s, "200 GET /t a\n"});
  }
  EXPECT_EQ(answer_to(get("", "/empty/204")).find("Content-Length"), string::npos);
}

TEST(Http1D26, CarriesDateAndFramingOnce) {
  for (const char* target : {"/t", "/stream", "/known", "/throw", "/twice", "/empty/200", "/empty/404"}) {
    const string answer = answer_to(get("", target));
    const std::size_t framing =
        (answer.find("Content-Length: ") != string::npos) + (answer.find("Transfer-Encoding: ") != string::npos);
    EXPECT_EQ(framing, 1u) << answer;
  }
  EXPECT_EQ(answers_of(answer_to(get("", "/t"))).at(0).substr(0, 9), "malformed") << "the reader demands a Date";
}

// Sends `bytes` while the server may have stopped reading: what it said must be readable, and the end a FIN.
void refused_while_sending(LiveServer& live, std::string_view label, const string& bytes, int status,
                           std::string_view limit) {
  RawClient client(live.port());
  static_cast<void>(client.send(bytes));
  EXPECT_EQ(client.read_all(), RawClient::End::Fin) << label;
  const auto answers = answers_of(client.received());
  ASSERT_EQ(answers.size(), 1u) << label;
  EXPECT_EQ(answers[0].substr(0, 3), std::to_string(status)) << label;
  EXPECT_NE(answers[0].find(limit), string::npos) << label << ": names its limit: " << answers[0];
  EXPECT_NE(client.received().find("Connection: close\r\n"), string::npos) << label;
}

TEST(Http1D30, RefusesAtALimitSoThatTheClientCanReadIt) {
  LiveServer live;
  const string large(3 << 20, 'x');
  refused_while_sending(live, "target of 64 KiB", get("", "/" + large.substr(0, 65536)), 414, "request_line_bytes_max");
  refused_while_sending(live, "target without end", "GET /" + large, 414, "request_line_bytes_max");
  refused_while_sending(live, "method without end", large, 414, "request_line_bytes_max");
  refused_while_sending(live, "field section", get("X: " + large.substr(0, 40000) + "\r\n"), 431, "field_bytes_max");
  refused_while_sending(live, "value without end", "GET / HTTP/1.1\r\nHost: a\r\nX: " + large, 431, "field_bytes_max");
  refused_while_sending(live, "name without end", "GET / HTTP/1.1\r\nHost: a\r\n" + large, 431, "field_bytes_max");
  string many;
  for (int i = 0; i < 100; ++i) many += "a:b\r\n";
  refused_while_sending(live, "101 fields", get(many), 431, "field_count_max");
  refused_while_sending(live, "body by length", post("Content-Length: 3145728\r\n", large), 413, "body_bytes_max");
  refused_while_sending(live, "body in chunks", chunked("300000\r\n" + large + "\r\n0\r\n\r\n"), 413, "body_bytes_max");
  refused_while_sending(live, "counted by a sink", chunked("300000\r\n" + large + "\r\n0\r\n\r\n", "/sink"), 413,
                        "body_bytes_max");
  refused_while_sending(live, "extensions", chunked("1;" + large), 413, "chunk_extension_bytes_max");
  refused_while_sending(live, "trailers", chunked("0\r\nX: " + large), 431, "trailer_bytes_max");
}

TEST(Http1D30, EachLimitHoldsExactly) {
  const string start = "GET /", end = " HTTP/1.1\r\n";
  const auto target = [&](std::size_t line) { return string(line - start.size() - end.size(), 'x'); };
  accepted("a request line of 8192", start + target(8192) + end + "Host: a\r\n\r\n",
           {"200 GET /" + target(8192) + " a\n"});
  refused("of 8193", start + target(8193) + end + "Host: a\r\n\r\n", {414});
  // "Host: a", one field, the empty line.
  const auto section = [](std::size_t size) { return "X: " + string(size - 9 - 2 - 5, 'y') + "\r\n"; };
  accepted("a field section of 32768", get(section(32768)));
  refused("of 32769", get(section(32769)), {431});
  string many;
  for (int i = 0; i < 99; ++i) many += "a:b\r\n";
  accepted("100 fields", get(many));
  refused("101", get(many + "c:d\r\n"), {431});
  const string body(1 << 20, 'z');
  LiveServer live;
  for (const bool is_chunked : {false, true}) {
    RawClient client(live.port());
    ASSERT_TRUE(client.send(is_chunked ? chunked("100000\r\n" + body + "\r\n0\r\n\r\n")
                                       : post("Content-Length: 1048576\r\n", body)));
    ASSERT_TRUE(client.send(get("Connection: close\r\n")));
    EXPECT_EQ(client.read_all(), RawClient::End::Fin);
    EXPECT_EQ(answers_of(client.received()), (std::vector<string>{"200 " + body, "200 GET /t a\n"}));
    RawClient above(live.port());
    static_cast<void>(above.send(is_chunked ? chunked("100001\r\n" + body + "z\r\n0\r\n\r\n")
                                            : post("Content-Length: 1048577\r\n", body + "z")));
    EXPECT_EQ(above.read_all(), RawClient::End::Fin);
    EXPECT_EQ(answers_of(above.received()).at(0).substr(0, 3), "413");
  }
}

TEST(Http1Upgrade, HandsOverTheBytesBehindTheRequest) {
  const string upgrade = "Connection: Upgrade\r\nUpgrade: echo\r\n";
  fuzz::Wire wire(fuzz::limits_without_time());
  const string received = wire.run(get(upgrade, "/switch") + "GET / HTTP/1.1\r\n\r\n!");
  EXPECT_TRUE(received.starts_with("HTTP/1.1 101 Switching Protocols\r\n"));
  EXPECT_TRUE(received.ends_with("\r\n\r\nGET / HTTP/1.1\r\n\r\n!"));
  EXPECT_EQ(wire.service.served_count, 1u);
  EXPECT_NE(received.find("\r\nConnection: Upgrade\r\n"), string::npos);
  EXPECT_EQ(received.find("Content-Length"), string::npos);

  accepted("nobody takes it", get(upgrade) + get(), {"200 GET /t a\n", "200 GET /t a\n"});
  // Without the option, in HTTP/1.0 or with a body nothing can be switched: a 101 nevertheless would be our fault.
  for (const string& bytes : {get("Upgrade: echo\r\n", "/switch"), "GET /switch HTTP/1.0\r\n" + upgrade + "\r\n",
                              post(upgrade + "Content-Length: 2\r\n", "ab", "/switch")}) {
    fuzz::Wire not_switched(fuzz::limits_without_time());
    EXPECT_EQ(not_switched.run(bytes).find(" 101 "), string::npos) << bytes;
  }
  fuzz::Wire tunnel(fuzz::limits_without_time());
  const string tunnelled = tunnel.run("CONNECT b:1 HTTP/1.1\r\nHost: b:1\r\n\r\nraw!");
  EXPECT_TRUE(tunnelled.starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_TRUE(tunnelled.ends_with("\r\n\r\nraw!"));
}

TEST(Http1Pipeline, AnErrorInTheMiddleEndsItAfterTheAnswersBefore) {
  const string bad = "GET / HTTP/1.1\r\n\r\n";
  for (const char* target : {"/t", "/late", "/stream", "/known"}) {
    fuzz::Wire wire(fuzz::limits_without_time());
    const auto answers = answers_of(wire.run(get("", target) + get() + bad + get("", "/never-seen")));
    ASSERT_EQ(answers.size(), 3u) << target;
    EXPECT_EQ(answers[1], "200 GET /t a\n");
    EXPECT_EQ(answers[2].substr(0, 4), "400 ");
    EXPECT_TRUE(wire.was_closed_by_session());
    EXPECT_EQ(wire.service.served_count, 2u);
  }
  fuzz::Wire wire(fuzz::limits_without_time());
  const auto answers = answers_of(wire.run(get("", "/throw") + get()));
  ASSERT_EQ(answers.size(), 2u) << "a handler that throws is no error of the connection";
  EXPECT_EQ(answers[0].substr(0, 4), "500 ");
}

}  // namespace
}  // namespace violet::test
