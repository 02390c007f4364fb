// HTTP/1.1 and HTTP/2 on one cleartext port: told apart by the first bytes, or changed by Upgrade.

#include "tests/server/running.h"
#include "tests/support/h2_frames.h"

#include <gtest/gtest.h>

#include <string>

namespace violet::test {
namespace {

using h2::Code;
using h2::FrameType;

const std::string kHello = std::string(h2::kPreface) + settings();

// Reads until `is_done()` or nothing comes any more.
bool read_until(Client& client, FrameReader& reader, const std::function<bool()>& is_done) {
  while (!is_done()) {
    const std::string bytes = client.read_some();
    if (bytes.empty()) return false;
    reader.add(bytes);
  }
  return true;
}

TEST(ServerHttp2, PriorKnowledgeOnThePortOfHttp1) {
  Running running({.loops = 1});
  ASSERT_TRUE(running.is_started);
  Client client(running.endpoint);
  FrameReader reader;
  ASSERT_TRUE(client.send(kHello + get(1, "/") + get(3, "/large/100000")));
  ASSERT_TRUE(read_until(client, reader, [&] {
    return reader.stream(1).is_ended && reader.stream(3).body.size() == h2::kWindowDefault - 5;
  }));
  ASSERT_TRUE(client.send(settings_ack() + window_update(0, 100'000) + window_update(3, 100'000)));
  ASSERT_TRUE(read_until(client, reader, [&] { return reader.stream(3).is_ended; }));
  EXPECT_EQ(reader.error(), "");
  EXPECT_EQ(reader.stream(1).body, "hello");
  EXPECT_EQ(reader.stream(3).body, pattern(100'000));
  // The next connection speaks HTTP/1.1.
  Client other(running.endpoint);
  EXPECT_EQ(other.ask(kGet).body, "hello");
  EXPECT_EQ(running.server.connection_count(), 2u);
  client.close();
  other.close();
  EXPECT_TRUE(eventually([&] { return running.server.connection_count() == 0; })) << "each connection counts once";
}

TEST(ServerHttp2, ThePrefaceMayDripIn) {
  Running running({.loops = 1});
  Client client(running.endpoint);
  for (const char c : kHello + get(1, "/")) ASSERT_TRUE(client.send(std::string(1, c)));
  FrameReader reader;
  ASSERT_TRUE(read_until(client, reader, [&] { return reader.stream(1).is_ended; }));
  EXPECT_EQ(reader.stream(1).body, "hello");
  EXPECT_EQ(reader.error(), "");
}

TEST(ServerHttp2, HalfAPrefaceGetsNoAnswerInHttp1) {
  Running running({.loops = 1});
  Client client(running.endpoint);
  ASSERT_TRUE(client.send("PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n"));
  EXPECT_EQ(client.read_some(), "");
  ServerOptions options{.loops = 1};
  options.limits.header_ms = 50;
  Running impatient(std::move(options));
  Client slow(impatient.endpoint);
  ASSERT_TRUE(slow.send("PRI * HTTP/2.0\r\n\r\n"));
  EXPECT_EQ(slow.read_some(), "");
}

TEST(ServerHttp2, InTheMiddleOfAConnectionThePrefaceIsNone) {
  Running running({.loops = 1});
  Client client(running.endpoint);
  EXPECT_EQ(client.ask(kGet).body, "hello");
  EXPECT_EQ(client.ask(kHello).status, 505);
}

const std::string kUpgrade =
    "GET /large/30 HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n";

TEST(ServerHttp2, UpgradesARequestToItsFirstStream) {
  Running running({.loops = 1});
  Client client(running.endpoint);
  // INITIAL_WINDOW_SIZE 10, in base64url.
  ASSERT_TRUE(client.send(kUpgrade + "HTTP2-Settings: AAQAAAAK\r\n\r\n"));
  const Reply switched = client.reply();
  EXPECT_EQ(switched.status, 101);
  EXPECT_EQ(switched.field("upgrade"), "h2c");
}

TEST(ServerHttp2, GoesOnInHttp2AfterTheUpgrade) {
  Running running({.loops = 1});
  Client client(running.endpoint);
  ASSERT_TRUE(client.send(kUpgrade + "HTTP2-Settings: AAQAAAAK\r\n\r\n" + std::string(h2::kPreface) +
                          settings({{h2::Setting::InitialWindowSize, 10}})));
  std::string bytes;
  while (bytes.find("\r\n\r\n") == std::string::npos) {
    const std::string more = client.read_some();
    ASSERT_FALSE(more.empty());
    bytes += more;
  }
  EXPECT_TRUE(bytes.starts_with("HTTP/1.1 101 Switching Protocols\r\n"));
  FrameReader reader;
  reader.add(bytes.substr(bytes.find("\r\n\r\n") + 4));
  ASSERT_TRUE(read_until(client, reader, [&] { return reader.stream(1).body.size() == 10; })) << "as its settings say";
  ASSERT_TRUE(client.send(window_update(1, 20) + get(3, "/")));
  ASSERT_TRUE(
      read_until(client, reader, [&] { return reader.stream(1).is_ended && reader.stream(3).body.size() == 5; }));
  EXPECT_EQ(reader.stream(1).body, pattern(30));
  EXPECT_EQ(reader.error(), "");
}

TEST(ServerHttp2, AnUpgradeThatIsNotSoundIsIgnored) {
  Running running({.loops = 1});
  for (const std::string& rest :
       {std::string(), std::string("HTTP2-Settings: A\r\n"), std::string("HTTP2-Settings: ****\r\n"),
        std::string("HTTP2-Settings: AAQAAAAK\r\nHTTP2-Settings: AAQAAAAK\r\n")}) {
    Client client(running.endpoint);
    EXPECT_EQ(client.ask(kUpgrade + rest + "\r\n").status, 200) << rest;
  }
}

TEST(ServerHttp2, AListenerMaySpeakOneProtocolAlone) {
  for (const std::string protocol : {"h2", "http/1.1"}) {
    PathService service;
    Server server(service, {.loops = 1});
    const auto endpoint = server.listen("http://127.0.0.1:0", {}, {.protocol = protocol});
    ASSERT_TRUE(endpoint && server.start());
    Client first(*endpoint);
    Client second(*endpoint);
    ASSERT_TRUE(first.send(kHello + get(1, "/")));
    if (protocol == "h2") {
      FrameReader reader;
      EXPECT_TRUE(read_until(first, reader, [&] { return reader.stream(1).is_ended; }));
      // Frames come before the client has said what it is.
      ASSERT_TRUE(second.send(kGet));
      FrameReader other;
      read_until(second, other, [&] { return other.goaway() != nullptr; });
      EXPECT_NE(other.goaway(), nullptr);
    } else {
      EXPECT_EQ(first.read_some(), "");
      EXPECT_EQ(second.ask(kGet).body, "hello");
    }
  }
}

TEST(ServerHttp2, ADrainFinishesBothProtocols) {
  Running running({.loops = 1});
  Client client(running.endpoint);
  FrameReader reader;
  ASSERT_TRUE(client.send(kHello + get(1, "/")));
  ASSERT_TRUE(read_until(client, reader, [&] { return reader.stream(1).is_ended; }));
  running.server.stop(std::chrono::milliseconds(5000));
  ASSERT_TRUE(read_until(client, reader, [&] { return reader.goaway() != nullptr; }));
  EXPECT_EQ(reader.goaway()->number(0), 1u);
  EXPECT_EQ(reader.goaway()->number(4), 0u);
  client.close();
  running.server.wait();
  EXPECT_EQ(running.server.connection_count(), 0u);
}

}  // namespace
}  // namespace violet::test
