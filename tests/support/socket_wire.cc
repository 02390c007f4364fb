#include "tests/support/socket_wire.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace violet::test {

std::ostream& operator<<(std::ostream& out, const SeenFrame& seen) {
  return out << "{0x" << std::hex << int{seen.first} << std::dec << ", " << seen.payload.size()
             << " bytes: " << testing::PrintToString(seen.payload.substr(0, 80)) << "}";
}

std::string masked(std::uint8_t first, std::string_view payload, ws::MaskKey key) {
  char head[ws::kFrameHeadMax];
  std::string bytes(head, ws::write_frame_head(head, first, payload.size(), &key));
  char key_bytes[4];
  std::memcpy(key_bytes, &key, 4);
  for (std::size_t i = 0; i < payload.size(); ++i) bytes += static_cast<char>(payload[i] ^ key_bytes[i % 4]);
  return bytes;
}

std::string unmasked(std::uint8_t first, std::string_view payload) {
  char head[ws::kFrameHeadMax];
  std::string bytes(head, ws::write_frame_head(head, first, payload.size(), nullptr));
  return bytes.append(payload);
}

std::string close_payload(std::uint16_t code, std::string_view reason) {
  std::string bytes{static_cast<char>(code >> 8), static_cast<char>(code)};
  return bytes.append(reason);
}

std::vector<SeenFrame> read_frames(std::string& bytes) {
  std::vector<SeenFrame> frames;
  for (;;) {
    ws::FrameHead head;
    const auto verdict =
        ws::parse_frame_head(bytes.data(), bytes.size(), {.is_server = false, .has_deflate = true}, head);
    EXPECT_NE(verdict, ws::FrameVerdict::Bad) << testing::PrintToString(bytes.substr(0, 20));
    if (verdict != ws::FrameVerdict::Done || bytes.size() - head.head_bytes < head.size) return frames;
    frames.push_back({head.first, bytes.substr(head.head_bytes, static_cast<std::size_t>(head.size))});
    bytes.erase(0, head.head_bytes + static_cast<std::size_t>(head.size));
  }
}

int close_code_of(const SeenFrame& frame) {
  if (frame.first != kCloseFrame) return 0;
  if (frame.payload.size() < 2) return ws::kNoCode;
  return static_cast<unsigned char>(frame.payload[0]) << 8 | static_cast<unsigned char>(frame.payload[1]);
}

SocketWire::~SocketWire() {
  abort();
  for (int i = 0; i < 1000 && !is_gone(); ++i) loop.step(0);
  EXPECT_TRUE(is_gone());
}

Site& SocketWire::site() {
  if (!site_) {
    const std::vector<std::string> errors = router.freeze();
    EXPECT_TRUE(errors.empty()) << errors.front();
    site_.emplace(loop, router, limits_);
  }
  return *site_;
}

h1::Shared& SocketWire::shared() {
  if (!shared_) shared_.emplace(site());
  return *shared_;
}

std::string SocketWire::request(std::string_view path, std::string_view more_fields) {
  return "GET " + std::string(path) +
         " HTTP/1.1\r\nHost: a.example\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
         "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n" +
         std::string(more_fields) + "\r\n";
}

void SocketWire::connect() {
  shared();
  abort();
  while (!is_gone()) loop.step(0);
  wire = net::MemoryTransport::make(loop);
  wire->set_read_max(read_max);
  session_ = new h1::Session(*shared_, *this, *wire, Connection{});
  session_->open();
  received_.clear();
}

int SocketWire::open(std::string_view path, std::string_view more_fields) {
  connect();
  return ask(request(path, more_fields));
}

int SocketWire::ask(std::string_view bytes) {
  send(bytes);
  received_ += wire->take();
  const std::size_t end = received_.find("\r\n\r\n");
  if (end == std::string::npos) return 0;
  head = received_.substr(0, end + 4);
  received_.erase(0, end + 4);
  return std::atoi(head.c_str() + 9);
}

std::vector<SeenFrame> SocketWire::frames() {
  received_ += wire->take();
  return read_frames(received_);
}

// Until nothing is read, written or closed any more.
void SocketWire::settle() {
  std::size_t unread = ~std::size_t{0};
  std::size_t written = ~std::size_t{0};
  for (int idle = 0; idle < 3;) {
    loop.step(0);
    const bool moves = wire->unread_bytes() != unread || wire->write_count() != written;
    unread = wire->unread_bytes();
    written = wire->write_count();
    idle = moves ? 0 : idle + 1;
  }
}

bool SocketWire::until(const std::function<bool()>& is_true, std::uint64_t most_ms) {
  const std::uint64_t end = Loop::clock_us() + most_ms * 1000;
  while (!is_true()) {
    if (Loop::clock_us() > end) return false;
    loop.step(1);
  }
  return true;
}

void SocketWire::abort() {
  if (session_ != nullptr) session_->abort(Error(ErrorKind::Closed));
  tunnel_.abort(Error(ErrorKind::Closed));
}

void SocketWire::on_session_closed(h1::Session& session) noexcept {
  delete &session;
  session_ = nullptr;
}

}  // namespace violet::test
