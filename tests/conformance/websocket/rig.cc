#include "tests/conformance/websocket/rig.h"

#include "tests/support/h2_wire.h"
#include "violet/ws/client/stream.h"
#include "violet/ws/deflate/params.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace violet::test {
namespace {

Task<> echo(WebSocket socket) {
  while (auto message = co_await socket.read()) {
    if (auto sent = co_await socket.send(*message); !sent) co_return;
  }
}

// --- our server over HTTP/1.1

class Http1Rig final : public Rig {
 public:
  Http1Rig(const WebSocketOptions& options, std::string_view fields) {
    websocket(wire_.router, "/ws", echo, options);
    EXPECT_EQ(wire_.open("/ws", fields), 101);
  }
  void send_pieces(const std::vector<std::string_view>& pieces) override {
    for (const std::string_view piece : pieces) wire_.send(piece);
  }
  Frames frames() override { return wire_.frames(); }
  bool is_closed() override { return wire_.is_closed(); }

 private:
  SocketWire wire_;
};

// --- our server over HTTP/2

FieldList fields_of(std::string_view lines) {
  FieldList list;
  while (!lines.empty()) {
    const std::size_t end = lines.find("\r\n");
    const std::size_t colon = lines.find(": ");
    std::string name(lines.substr(0, colon));
    std::transform(name.begin(), name.end(), name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c | 0x20 : c; });
    list.push_back({name, std::string(lines.substr(colon + 2, end - colon - 2))});
    lines.remove_prefix(end + 2);
  }
  return list;
}

class Http2Rig final : public Rig {
 public:
  Http2Rig(const WebSocketOptions& options, std::string_view fields) {
    websocket(router_, "/ws", echo, options);
    EXPECT_TRUE(router_.freeze().empty());
    wire_.service.handler = [this](Exchange& exchange) { router_.serve(exchange); };
    FieldList head = {{":method", "CONNECT"}, {":protocol", "websocket"}, {":scheme", "http"},
                      {":path", "/ws"},       {":authority", "a"},        {"sec-websocket-version", "13"}};
    for (auto& field : fields_of(fields)) head.push_back(std::move(field));
    wire_.send(window_update(0, kWindow) + headers(1, head, false) + window_update(1, kWindow));
    EXPECT_EQ(wire_.stream(1).status, 200);
  }
  void send_pieces(const std::vector<std::string_view>& pieces) override {
    for (std::string_view piece : pieces) {
      do {
        const std::string_view some = piece.substr(0, kFrameMax);
        wire_.send(data(1, some));
        piece.remove_prefix(some.size());
      } while (!piece.empty());
    }
  }
  Frames frames() override {
    EXPECT_EQ(wire_.read().error(), "");
    received_ += wire_.stream(1).body.substr(seen_bytes_);
    seen_bytes_ = wire_.stream(1).body.size();
    return read_frames(received_);
  }
  bool is_closed() override { return wire_.stream(1).is_ended; }

 private:
  static constexpr std::size_t kFrameMax = 16'000;
  static constexpr std::uint32_t kWindow = 1 << 30;

  Router router_;
  H2Wire wire_;
  std::string received_;
  std::size_t seen_bytes_ = 0;
};

// --- our client

// The same frames as a server sends them. What is not masked stays as it is.
std::string without_masks(std::string_view rest) {
  std::string out;
  while (rest.size() >= 2) {
    const auto second = static_cast<std::uint8_t>(rest[1]);
    const std::size_t head_bytes = ws::frame_head_bytes(second);
    if ((second & ws::kMasked) == 0 || rest.size() < head_bytes) break;
    std::uint64_t size = second & 0x7f;
    if (size >= 126) {
      size = 0;
      for (std::size_t i = 2; i + 4 < head_bytes; ++i) size = size << 8 | static_cast<std::uint8_t>(rest[i]);
    }
    ws::MaskKey key;
    std::memcpy(&key, rest.data() + head_bytes - 4, 4);
    out += rest[0];
    out += static_cast<char>(second & 0x7f);
    out += rest.substr(2, head_bytes - 6);
    std::string payload(rest.substr(head_bytes, std::min<std::uint64_t>(size, rest.size())));
    ws::apply_mask(payload.data(), payload.data(), payload.size(), key);
    out += payload;
    rest.remove_prefix(head_bytes + payload.size());
  }
  return out.append(rest);
}

// What our client has agreed upon when a server like ours has answered its offer.
ws::DeflateParams agreed(const WebSocketOptions& options, std::string_view offer_lines) {
  Arena arena;
  http::Fields offer(arena);
  for (const auto& [name, value] : fields_of(offer_lines)) EXPECT_TRUE(offer.add(name, value));
  std::string answer;
  ws::choose_deflate(offer, options.compression, answer);
  http::Fields answered(arena);
  if (!answer.empty()) EXPECT_TRUE(answered.add(http::FieldId::SecWebSocketExtensions, answer));
  const auto params = ws::read_deflate_answer(answered, options.compression);
  EXPECT_TRUE(params) << answer;
  return params.value_or(ws::DeflateParams{});
}

class ClientRig final : public Rig {
 public:
  ClientRig(const WebSocketOptions& options, std::string_view fields) : settings_(options, Limits()) {
    const Loop::Scope scope(loop_);
    ws::Session& session = ws::Session::make(loop_, settings_, ws::Role::Client);
    session.set_deflate(agreed(options, fields));
    auto* stream = new ws::ClientStream(loop_, *wire_, Connection{});
    session.open(*stream, nullptr);
    Task<> task = start(WebSocket(session));
    stream->open(session, session.body(), "");
    root_.start(std::move(task), [](Outcome<void>&&) noexcept {});
    settle();
  }
  ~ClientRig() override {
    if (!wire_->is_closed()) wire_->break_off();
    settle();
    EXPECT_TRUE(wire_->is_closed());
  }
  void send_pieces(const std::vector<std::string_view>& pieces) override {
    std::string all;
    for (const std::string_view piece : pieces) all += piece;
    const std::string ours = without_masks(all);
    std::size_t at = 0;
    std::size_t theirs = 0;
    for (const std::string_view piece : pieces) {
      theirs += piece.size();
      const std::size_t end = all.empty() ? 0 : ours.size() * theirs / all.size();
      wire_->feed(std::string_view(ours).substr(at, end - at));
      at = end;
      settle();
    }
  }
  Frames frames() override {
    const std::string bytes = wire_->take();
    EXPECT_TRUE(bytes.size() < 2 || (static_cast<std::uint8_t>(bytes[1]) & ws::kMasked) != 0) << "a client masks";
    std::string rest = without_masks(bytes);
    Frames found = read_frames(rest);
    EXPECT_EQ(rest, "") << "frames are written whole here";
    return found;
  }
  bool is_closed() override { return wire_->is_closed() || wire_->is_shut_down(); }

 private:
  Task<> start(WebSocket socket) {
    const TaskRoot::Enter scope(root_);
    return echo(std::move(socket));
  }
  void settle() {
    std::size_t unread = ~std::size_t{0};
    std::size_t writes = ~std::size_t{0};
    for (int quiet = 0; quiet < 3;) {
      loop_.step(0);
      const bool moves = wire_->unread_bytes() != unread || wire_->write_count() != writes;
      unread = wire_->unread_bytes();
      writes = wire_->write_count();
      quiet = moves ? 0 : quiet + 1;
    }
  }

  Loop loop_;
  ws::Settings settings_;
  Ref<net::MemoryTransport> wire_ = net::MemoryTransport::make(loop_);
  TaskRoot root_;
};

}  // namespace

std::string_view name_of(Wire wire) {
  switch (wire) {
    case Wire::Http1: return "server, HTTP/1.1";
    case Wire::Http2: return "server, HTTP/2";
    case Wire::Client: break;
  }
  return "client";
}

std::unique_ptr<Rig> make_rig(Wire wire, const WebSocketOptions& options, std::string_view fields) {
  switch (wire) {
    case Wire::Http1: return std::make_unique<Http1Rig>(options, fields);
    case Wire::Http2: return std::make_unique<Http2Rig>(options, fields);
    case Wire::Client: break;
  }
  return std::make_unique<ClientRig>(options, fields);
}

}  // namespace violet::test
