// The opening handshake (RFC 6455 §4.2, RFC 8441 §4, RFC 7692 §7.1) over raw bytes: what it has to be, and what answers
// a request that is none. Each is cut in two at every byte.

#include "tests/support/h2_wire.h"
#include "tests/support/socket_wire.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace violet::test {
namespace {

constexpr std::string_view kKey = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
constexpr std::string_view kVersion = "Sec-WebSocket-Version: 13\r\n";
constexpr std::string_view kUpgrade = "Upgrade: websocket\r\n";
constexpr std::string_view kConnection = "Connection: Upgrade\r\n";

std::string lines(std::initializer_list<std::string_view> parts) {
  std::string text = "Host: a.example\r\n";
  for (const std::string_view part : parts) text += part;
  return text + "\r\n";
}
std::string get(std::initializer_list<std::string_view> parts) { return "GET /ws HTTP/1.1\r\n" + lines(parts); }

class WsHandshake : public testing::Test {
 protected:
  void SetUp() override { use({}); }
  void use(const WebSocketOptions& options) {
    wire_ = std::make_unique<SocketWire>();
    websocket(
        wire_->router, "/ws",
        [this](WebSocket socket) -> Task<> {
          ++run_count_;
          while (auto message = co_await socket.read()) static_cast<void>(socket.send(*message));
        },
        options);
    wire_->router.get("/page", [] { return "page"; });
  }
  // The head that answers, when the request comes cut at `cut`.
  std::string ask(const std::string& request, std::size_t cut = 0) {
    wire_->connect();
    wire_->send(request.substr(0, cut));
    wire_->send(request.substr(cut));
    std::string answer = wire_->wire->take();
    rest_.clear();
    const std::size_t end = answer.find("\r\n\r\n");
    if (end == std::string::npos) return answer;
    rest_ = answer.substr(end + 4);
    return answer.substr(0, end + 4);
  }
  static int status_of(const std::string& head) { return head.size() > 12 ? std::atoi(head.c_str() + 9) : 0; }
  static std::string field(const std::string& head, const std::string& name) {
    const std::size_t at = head.find("\r\n" + name + ": ");
    if (at == std::string::npos) return "";
    const std::size_t begin = at + 2 + name.size() + 2;
    return head.substr(begin, head.find("\r\n", begin) - begin);
  }
  void expect_refused(const std::string& name, const std::string& request, int status) {
    for (std::size_t cut = 0; cut < request.size(); ++cut) {
      EXPECT_EQ(status_of(ask(request, cut)), status) << name << ", cut at " << cut;
      if (HasFailure()) return;
    }
    EXPECT_EQ(run_count_, 0) << name;
  }
  void expect_opened(const std::string& name, const std::string& request) {
    for (std::size_t cut = 0; cut < request.size(); ++cut) {
      const std::string head = ask(request, cut);
      EXPECT_EQ(status_of(head), 101) << name << ", cut at " << cut;
      EXPECT_EQ(field(head, "Sec-WebSocket-Accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") << name;
      EXPECT_EQ(field(head, "Upgrade"), "websocket") << name;
      EXPECT_EQ(field(head, "Connection"), "Upgrade") << name;
      EXPECT_EQ(field(head, "Content-Length") + field(head, "Transfer-Encoding"), "") << name;
      if (HasFailure()) return;
    }
    EXPECT_GT(run_count_, 0) << name;
  }

  std::unique_ptr<SocketWire> wire_;
  std::string rest_;
  int run_count_ = 0;
};

TEST_F(WsHandshake, TheRightOneIs101WithTheSamplesAcceptValue) {
  expect_opened("plain", get({kUpgrade, kConnection, kKey, kVersion}));
  expect_opened("in any order", get({kVersion, kKey, kConnection, kUpgrade}));
  expect_opened("names in any case",
                get({"UPGRADE: websocket\r\n", "connection: Upgrade\r\n",
                     "SEC-WEBSOCKET-KEY:dGhlIHNhbXBsZSBub25jZQ==\r\n", "sec-websocket-version:  13  \r\n"}));
}

TEST_F(WsHandshake, TokensAreFoundInListsInAnyCase) {
  for (const char* const connection : {"keep-alive, Upgrade", "Upgrade, keep-alive", "keep-alive,UPGRADE", "upgrade",
                                       ",upgrade ,", "keep-alive ,\tupgrade"}) {
    expect_opened(connection, get({kUpgrade, "Connection: ", connection, "\r\n", kKey, kVersion}));
  }
  expect_opened("in two lines", get({kUpgrade, "Connection: keep-alive\r\n", kConnection, kKey, kVersion}));
  for (const char* const upgrade : {"WebSocket", "WEBSOCKET", "h2c, websocket", "websocket, foo/2"}) {
    expect_opened(upgrade, get({"Upgrade: ", upgrade, "\r\n", kConnection, kKey, kVersion}));
  }
}

TEST_F(WsHandshake, WithoutUpgradeItIs426) {
  const auto expect_426 = [this](const std::string& name, const std::string& request) {
    expect_refused(name, request, 426);
    EXPECT_EQ(field(ask(request), "Upgrade"), "websocket") << name;
    // RFC 9110 §7.8: and the connection says that the field is of this hop.
    EXPECT_NE(field(ask(request), "Connection").find("pgrade"), std::string::npos) << name;
  };
  expect_426("no Upgrade", get({kConnection, kKey, kVersion}));
  expect_426("another protocol", get({"Upgrade: h2c\r\n", kConnection, kKey, kVersion}));
  expect_426("part of a word", get({"Upgrade: websockets\r\n", kConnection, kKey, kVersion}));
  expect_426("an empty one", get({"Upgrade: \r\n", kConnection, kKey, kVersion}));
  expect_426("no Connection", get({kUpgrade, kKey, kVersion}));
  expect_426("Connection without upgrade", get({kUpgrade, "Connection: keep-alive\r\n", kKey, kVersion}));
  expect_426("Connection with part of a word", get({kUpgrade, "Connection: upgrades\r\n", kKey, kVersion}));
  expect_426("a plain GET", get({}));
}

TEST_F(WsHandshake, AnotherVersionIs426AndLearnsWhichOneIsSpoken) {
  for (const char* const version :
       {"Sec-WebSocket-Version: 12\r\n", "Sec-WebSocket-Version: 8\r\n", "Sec-WebSocket-Version: 0\r\n",
        "Sec-WebSocket-Version: 013\r\n", "Sec-WebSocket-Version: 13.0\r\n", "Sec-WebSocket-Version: \r\n",
        "Sec-WebSocket-Version: 256\r\n", ""}) {
    const std::string request = get({kUpgrade, kConnection, kKey, version});
    expect_refused(version, request, 426);
    EXPECT_EQ(field(ask(request), "Sec-WebSocket-Version"), "13") << version;
  }
  expect_refused("two versions", get({kUpgrade, kConnection, kKey, kVersion, kVersion}), 426);
}

TEST_F(WsHandshake, AKeyIsThereOnceAndBase64Of16Octets) {
  for (const char* const key :
       {"", "Sec-WebSocket-Key: \r\n", "Sec-WebSocket-Key: short\r\n", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=\r\n",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ\r\n", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZXg=\r\n",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQAA==\r\n", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZ===\r\n",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZ!Bub25jZQ==\r\n", "Sec-WebSocket-Key: dGhlIHNhbXBsZ Bub25jZQ==\r\n"}) {
    expect_refused(key, get({kUpgrade, kConnection, key, kVersion}), 400);
  }
  expect_refused("two", get({kUpgrade, kConnection, kKey, kKey, kVersion}), 400);
}

TEST_F(WsHandshake, OtherMethodsVersionsAndBodiesAreRefused) {
  const std::string rest = lines({kUpgrade, kConnection, kKey, kVersion});
  for (const char* const method : {"POST", "PUT", "HEAD", "OPTIONS", "DELETE", "BREW"}) {
    const std::string request = std::string(method) + " /ws HTTP/1.1\r\n" +
                                lines({kUpgrade, kConnection, kKey, kVersion, "Content-Length: 0\r\n"});
    for (std::size_t cut = 0; cut < request.size(); ++cut) {
      const int status = status_of(ask(request, cut));
      EXPECT_TRUE(status >= 200 && (status >= 400 || method == std::string_view("OPTIONS"))) << method << " " << status;
    }
  }
  EXPECT_EQ(run_count_, 0);
  expect_refused("HTTP/1.0", "GET /ws HTTP/1.0\r\n" + rest, 426);
  const std::string body = get({kUpgrade, kConnection, kKey, kVersion, "Content-Length: 3\r\n"}) + "abc";
  expect_refused("a body", body, 400);
  const std::string chunked =
      get({kUpgrade, kConnection, kKey, kVersion, "Transfer-Encoding: chunked\r\n"}) + "0\r\n\r\n";
  for (std::size_t cut = 0; cut < chunked.size(); ++cut) EXPECT_NE(status_of(ask(chunked, cut)), 101);
  expect_refused("no Host", "GET /ws HTTP/1.1\r\n" + rest.substr(rest.find("\r\n") + 2), 400);
  EXPECT_EQ(run_count_, 0);
}

TEST_F(WsHandshake, AFailedOneLeavesTheConnectionAsItWas) {
  ask(get({kUpgrade, kConnection, kVersion}));
  wire_->send("GET /page HTTP/1.1\r\nHost: a.example\r\n\r\n");
  EXPECT_NE(wire_->wire->take().find("page"), std::string::npos);
  EXPECT_EQ(wire_->ask(get({kUpgrade, kConnection, kKey, kVersion})), 101) << "and it may be tried again on it";
}

TEST_F(WsHandshake, FramesRightBehindItAreRead) {
  const std::string request = get({kUpgrade, kConnection, kKey, kVersion}) + masked(kTextFrame, "early");
  for (std::size_t cut = 0; cut <= request.size(); ++cut) {
    EXPECT_EQ(status_of(ask(request, cut)), 101);
    EXPECT_EQ(read_frames(rest_), (std::vector<SeenFrame>{{kTextFrame, "early"}})) << cut;
  }
}

TEST_F(WsHandshake, SubprotocolsAreChosenAmongThoseOffered) {
  use({.protocols = {"chat.v2", "chat.v1"}});
  const auto chosen = [&](std::string_view offer) {
    const std::string head = ask(get({kUpgrade, kConnection, kKey, kVersion, offer}));
    EXPECT_EQ(status_of(head), 101);
    return field(head, "Sec-WebSocket-Protocol");
  };
  EXPECT_EQ(chosen(""), "");
  EXPECT_EQ(chosen("Sec-WebSocket-Protocol: chat.v1, chat.v2\r\n"), "chat.v1") << "the client's order";
  EXPECT_EQ(chosen("Sec-WebSocket-Protocol: other\r\nSec-WebSocket-Protocol: chat.v2\r\n"), "chat.v2");
  EXPECT_EQ(chosen("Sec-WebSocket-Protocol: CHAT.V1\r\n"), "") << "names are compared exactly";
  EXPECT_EQ(chosen("Sec-WebSocket-Protocol: none\r\n"), "");
}

TEST_F(WsHandshake, OfCompressionEachParameterAloneAndTogetherIsTakenWithinTheOffer) {
  use({.compression = {.is_on = true, .keeps_own_context = true, .lets_peer_keep_context = true}});
  constexpr const char* kPairs[][2] = {
      {"permessage-deflate", "permessage-deflate"},
      {"permessage-deflate; server_no_context_takeover", "permessage-deflate; server_no_context_takeover"},
      {"permessage-deflate; client_no_context_takeover", "permessage-deflate; client_no_context_takeover"},
      {"permessage-deflate; server_max_window_bits=9", "permessage-deflate; server_max_window_bits=9"},
      {"permessage-deflate; client_max_window_bits", "permessage-deflate"},
      {"permessage-deflate; client_max_window_bits=12", "permessage-deflate; client_max_window_bits=12"},
      {"permessage-deflate; server_no_context_takeover; client_no_context_takeover; server_max_window_bits=10; "
       "client_max_window_bits=11",
       "permessage-deflate; server_no_context_takeover; client_no_context_takeover; server_max_window_bits=10; "
       "client_max_window_bits=11"},
      // The first offer that can be kept to.
      {"permessage-deflate; server_max_window_bits=7, permessage-deflate", "permessage-deflate"},
      {"x-unknown, permessage-deflate", "permessage-deflate"},
      // What is wrong is as if it were not there (RFC 7692 §7.1).
      {"permessage-deflate; server_no_context_takeover=1", ""},
      {"permessage-deflate; unknown", ""},
      {"permessage-deflate; server_max_window_bits=16", ""},
      {"permessage-deflate; client_max_window_bits=8; client_max_window_bits=9", ""},
  };
  for (const auto& [offer, answer] : kPairs) {
    const std::string head =
        ask(get({kUpgrade, kConnection, kKey, kVersion, "Sec-WebSocket-Extensions: ", offer, "\r\n"}));
    EXPECT_EQ(status_of(head), 101) << offer;
    EXPECT_EQ(field(head, "Sec-WebSocket-Extensions"), answer) << offer;
  }
}

// --- over HTTP/2

class WsHandshakeOverH2 : public testing::Test {
 protected:
  static FieldList right() {
    return {{":method", "CONNECT"}, {":protocol", "websocket"},  {":scheme", "http"},
            {":path", "/ws"},       {":authority", "a.example"}, {"sec-websocket-version", "13"}};
  }
  static FieldList without(std::string_view name) {
    FieldList fields = right();
    std::erase_if(fields, [&](const auto& field) { return field.first == name; });
    return fields;
  }
  static FieldList with(std::string_view name, std::string_view value) {
    FieldList fields = right();
    for (auto& field : fields) {
      if (field.first == name) {
        field.second = value;
        return fields;
      }
    }
    fields.emplace_back(name, value);
    return fields;
  }
  struct Answer {
    int status = 0;
    bool is_reset = false;
    std::string version;
  };
  // On a new connection, cut at `cut`.
  Answer ask(const std::string& bytes, std::size_t cut = 0) {
    run_count_ = 0;
    Router router;
    websocket(router, "/ws", [this](WebSocket socket) -> Task<> {
      ++run_count_;
      while (auto message = co_await socket.read()) static_cast<void>(socket.send(*message));
    });
    EXPECT_TRUE(router.freeze().empty());
    H2Wire wire;
    wire.service.handler = [&](Exchange& exchange) { router.serve(exchange); };
    wire.send(std::string_view(bytes).substr(0, cut));
    wire.send(std::string_view(bytes).substr(cut));
    StreamReply& stream = wire.stream(1);
    std::string body = stream.body;
    frames_ = stream.status == 200 ? read_frames(body) : std::vector<SeenFrame>();
    return {stream.status, stream.is_reset || wire.goaway().has_value(), stream.field("sec-websocket-version")};
  }
  void expect_all(const std::string& name, const std::string& bytes, int status) {
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
      const Answer answer = ask(bytes, cut);
      EXPECT_EQ(answer.status, status) << name << ", cut at " << cut;
      EXPECT_EQ(run_count_, status == 200 ? 1 : 0) << name;
      if (HasFailure()) return;
    }
  }

  int run_count_ = 0;
  std::vector<SeenFrame> frames_;
};

TEST_F(WsHandshakeOverH2, ExtendedConnectIs200AndFramesFollow) {
  const std::string bytes = headers(1, right(), false) + data(1, masked(kTextFrame, "hello"));
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    EXPECT_EQ(ask(bytes, cut).status, 200) << cut;
    EXPECT_EQ(frames_, (std::vector<SeenFrame>{{kTextFrame, "hello"}})) << cut;
  }
}

TEST_F(WsHandshakeOverH2, AnotherVersionIs426AndLearnsWhichOneIsSpoken) {
  for (const char* const version : {"12", "8", "", "013"}) {
    const std::string bytes = headers(1, with("sec-websocket-version", version), false);
    expect_all(version, bytes, 426);
    EXPECT_EQ(ask(bytes).version, "13");
  }
  expect_all("none", headers(1, without("sec-websocket-version"), false), 426);
}

TEST_F(WsHandshakeOverH2, WhatIsNoExtendedConnectIsMalformed) {
  // RFC 8441 §4: with :protocol there are :scheme and :path, and the method is CONNECT (RFC 9113 §8.1.1 for the rest).
  const std::pair<const char*, FieldList> kMalformed[] = {
      {"no :scheme", without(":scheme")},
      {"no :path", without(":path")},
      {"no :authority", without(":authority")},
      {"an empty :path", with(":path", "")},
      {"GET with :protocol", with(":method", "GET")},
      {"Connection", with("connection", "Upgrade")},
      {"Upgrade", with("upgrade", "websocket")},
  };
  for (const auto& [name, fields] : kMalformed) {
    const std::string bytes = headers(1, fields, false);
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
      const Answer answer = ask(bytes, cut);
      EXPECT_TRUE(answer.status >= 400 || answer.is_reset) << name << ": " << answer.status;
      EXPECT_EQ(run_count_, 0) << name;
    }
  }
}

TEST_F(WsHandshakeOverH2, OtherProtocolsAndMethodsAreRefused) {
  const Answer other = ask(headers(1, with(":protocol", "webtransport"), false));
  EXPECT_TRUE(other.status >= 400) << other.status;
  EXPECT_EQ(run_count_, 0);
  EXPECT_EQ(ask(violet::test::get(1, "/ws")).status, 405);
  const Answer post = ask(violet::test::post(1, "/ws") + data(1, "x", true));
  EXPECT_TRUE(post.status >= 400) << post.status;
  EXPECT_EQ(run_count_, 0);
  expect_all("in any case", headers(1, with(":protocol", "WebSocket"), false), 200);
}

TEST_F(WsHandshakeOverH2, AStreamThatEndsWithTheHandshakeIsASocketWithoutPeer) {
  // END_STREAM is the end of the peer's direction, as TCP's FIN is (RFC 8441 §5): without a Close that is 1006.
  const Answer answer = ask(headers(1, right(), true));
  EXPECT_TRUE(answer.status == 200 || answer.status >= 400 || answer.is_reset);
  EXPECT_LE(run_count_, 1);
}

}  // namespace
}  // namespace violet::test
