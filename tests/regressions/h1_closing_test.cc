// Faults of the HTTP/1.1 session that were found by attacking it, each with the right behaviour.

#include "fuzz/wire.h"
#include "violet/http/target.h"
#include "violet/net/memory.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace violet {
namespace {

using std::string;

std::vector<fuzz::Answer> answers(const string& bytes) {
  std::vector<fuzz::Answer> all;
  EXPECT_TRUE(fuzz::read_answers(bytes, {}, false, all)) << bytes;
  return all;
}

string request(const string& target, const string& lines = "") {
  return "GET " + target + " HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n";
}

// The close of a later request was announced by the answers before it, which a client then takes for the last.
TEST(H1Closing, AnEarlierAnswerDoesNotAnnounceTheCloseOfALaterRequest) {
  fuzz::Wire wire(fuzz::limits_without_time());
  const auto all = answers(wire.run(request("/late") + request("/late") + request("/late", "Connection: close\r\n")));
  ASSERT_EQ(all.size(), 3u);
  EXPECT_FALSE(all[0].closes);
  EXPECT_FALSE(all[1].closes);
  EXPECT_TRUE(all[2].closes);
}

// A body that ends with the connection was followed by the next answer, which thereby became part of it.
TEST(H1Closing, NothingFollowsABodyThatEndsWithTheConnection) {
  // The stream is refused its turn by a held answer before it, and a third request is accepted behind it.
  const string keep = " HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
  fuzz::Wire wire(fuzz::limits_without_time());
  const string received = wire.run("GET /late" + keep + "GET /stream" + keep + "GET /t" + keep);
  EXPECT_TRUE(received.ends_with("a piece of text;")) << received;
  EXPECT_TRUE(wire.was_closed_by_session());
}

// A body over its limit was answered with 413, but the connection stayed and the rest of it was read away.
TEST(H1Closing, A413ClosesHoweverTheBodyIsFramed) {
  Limits limits = fuzz::limits_without_time();
  limits.body_bytes_max = 4;
  for (const char* body :
       {"Content-Length: 6\r\n\r\n123456", "Transfer-Encoding: chunked\r\n\r\n6\r\n123456\r\n0\r\n\r\n"}) {
    fuzz::Wire wire(limits);
    const auto all = answers(wire.run(string("POST /echo HTTP/1.1\r\nHost: a\r\n") + body + request("/t")));
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].status, 413);
    EXPECT_TRUE(all[0].closes);
    EXPECT_TRUE(wire.was_closed_by_session());
  }
}

// A 101 that nobody had asked for left as the final answer, and the client waited for another one.
TEST(H1Closing, AnInformationalStatusIsNoAnswer) {
  struct Informal final : Service {
    void serve(Exchange& exchange) override {
      exchange.response().status = status;
      exchange.reply(Body(Slice::literal("x")));
    }
    std::uint16_t status = 101;
  } service;
  Loop loop;
  Site site(loop, service, fuzz::limits_without_time());
  h1::Shared shared(site);
  struct Host final : h1::Session::Host {
    void on_session_closed(h1::Session& session) noexcept override { delete &session; }
  } host;
  for (const int status : {0, 99, 100, 101, 103, 199, 1000, 65535}) {
    service.status = static_cast<std::uint16_t>(status);
    const Ref<net::MemoryTransport> wire = net::MemoryTransport::make(loop);
    (new h1::Session(shared, host, *wire, Connection{}))->open();
    wire->feed(request("/"));
    loop.step(0);
    EXPECT_TRUE(wire->take().starts_with("HTTP/1.1 500 ")) << status;
    wire->feed_end();
    loop.step(0);
    loop.step(0);
  }
}

// An error page that threw while a body or an expectation was refused ended the process.
TEST(H1Closing, AnErrorPageMayThrowAnywhere) {
  struct Page final : ErrorPage {
    Body render(Exchange&, Error, const std::exception_ptr&, std::string_view) override {
      throw std::runtime_error("page");
    }
  } page;
  script::ScriptedService service;
  Loop loop;
  Limits limits = fuzz::limits_without_time();
  limits.body_bytes_max = 4;
  Site site(loop, service, limits);
  site.error_page = &page;
  h1::Shared shared(site);
  struct Host final : h1::Session::Host {
    void on_session_closed(h1::Session& session) noexcept override { delete &session; }
  } host;
  for (const char* bytes :
       {"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\n123456",
        "POST /sink HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n123456\r\n0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: x\r\nContent-Length: 1\r\n\r\n1", "GET / HTTP/1.1\r\n\r\n"}) {
    const Ref<net::MemoryTransport> wire = net::MemoryTransport::make(loop);
    (new h1::Session(shared, host, *wire, Connection{}))->open();
    wire->feed(bytes);
    for (int i = 0; i < 3; ++i) loop.step(0);
    EXPECT_TRUE(wire->is_closed()) << bytes;
  }
}

// A switch in the middle of a request handed the rest of its body to the new protocol as bytes.
TEST(H1Closing, ABodyPreventsASwitch) {
  fuzz::Wire wire(fuzz::limits_without_time());
  const string received = wire.run(
      "POST /switch HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: echo\r\nContent-Length: 2\r\n\r\nab" +
      request("/t"));
  EXPECT_EQ(received.find(" 101 "), string::npos) << received;
}

// Brackets around any hex digits, colons and dots passed for an address.
TEST(HttpTarget, AnIpLiteralIsAnAddress) {
  for (const char* text : {"[::1]", "[1:2:3:4:5:6:7:8]", "[::ffff:1.2.3.4]:80", "[v1.a:b]"})
    EXPECT_TRUE(http::is_authority(text, false)) << text;
  for (const char* text :
       {"[abc]", "[1.2.3.4]", "[:::]", "[1:2:3:4:5:6:7:8:9]", "[v.a]", "[v1.]", "[vg.a]", "[::1::2]"}) {
    EXPECT_FALSE(http::is_authority(text, false)) << text;
  }
}

}  // namespace
}  // namespace violet
