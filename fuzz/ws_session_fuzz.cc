// A ws::Session in either role over a stream that only keeps what it is given.
//
//   byte 0: role, compression, who reads, limits     byte 1: how the bytes are cut     the rest: what the peer sends
//
// What must hold: no assertion; what goes out is a sequence of well-formed frames with nothing behind a Close; texts
// are UTF-8 and nothing is longer than its limit; every byte is credited; and however the bytes are cut, messages,
// frames and the close code are the same.

#include "fuzz/expect.h"
#include "violet/base/log.h"
#include "violet/event/loop.h"
#include "violet/ws/session.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace violet;

constexpr std::uint64_t kMessageBytesMax = 4096;

Loop& loop() {
  static Loop one;
  return one;
}

class FakeStream final : public Stream {
 public:
  void inform(const http::Head&) override {}
  void start(const http::Head&, Body&&) override {}
  void wake() override { is_awake = true; }
  void credit(std::size_t n) override { credited += n; }
  void reset(Error) override { is_reset = true; }
  void set_receiver(Receiver&) override {}
  [[nodiscard]] const Connection& connection() const noexcept override { return connection_; }
  [[nodiscard]] Address local_address() const noexcept override { return {}; }

  bool is_awake = false;
  bool is_reset = false;
  std::size_t credited = 0;

 private:
  Connection connection_;
};

struct Seen {
  std::vector<std::string> messages;
  std::string out;
  std::uint16_t close_code = 0;
  bool has_ended = false;
  friend bool operator==(const Seen&, const Seen&) = default;
};

class Echo final : public ws::Application {
 public:
  explicit Echo(Seen& seen) noexcept : seen_(seen) { takes_messages = true; }
  void on_message(ws::Session& session, ws::Message&& message) override {
    EXPECT(message.size() <= kMessageBytesMax);
    EXPECT(!message.is_text() || ws::utf8_by_bytes()(message.text()));
    seen_.messages.push_back((message.is_text() ? "t" : "b") + std::string(message.text()));
    session.send_or_drop(message.kind(), message.slice());
  }
  void dispose() noexcept override {}

 private:
  Seen& seen_;
};

void pull(ws::Session& session, FakeStream& stream, Seen& seen) {
  stream.is_awake = false;
  while (!seen.has_ended) {
    Chain chain;
    const Pull verdict = session.pull(chain, 1000);
    seen.out += chain.to_string();
    if (verdict == Pull::End) seen.has_ended = true;
    if (verdict != Pull::More) break;
  }
}

Seen run(const ws::Settings& settings, ws::Role role, ws::DeflateParams params, bool ignores, std::string_view bytes,
         std::size_t step) {
  Seen seen;
  FakeStream stream;
  Echo echo(seen);
  ws::Session& session = ws::Session::make(loop(), settings, role);
  session.set_deflate(params);
  session.open(stream, &echo);
  pull(session, stream, seen);
  if (ignores) session.ignore_messages();
  for (std::size_t at = 0; at < bytes.size() && !stream.is_reset; at += step) {
    session.on_data(Slice::of(std::string(bytes.substr(at, step))));
    EXPECT(stream.credited <= std::min(bytes.size(), at + step));
    if (stream.is_awake) pull(session, stream, seen);
  }
  if (session.close_code() != 0) EXPECT(stream.credited == bytes.size());
  session.on_end(nullptr);
  pull(session, stream, seen);
  seen.close_code = session.close_code();
  session.on_close({});
  session.dispose();
  loop().step(0);
  return seen;
}

// What went out, read as the other role would. Masked frames differ in their keys: they are compared unmasked.
void check_frames(Seen& seen, bool is_server, bool has_deflate) {
  std::string_view rest = seen.out;
  std::string plain;
  bool is_closed = false;
  while (!rest.empty()) {
    ws::FrameHead head;
    EXPECT(!is_closed);
    EXPECT(ws::parse_frame_head(rest.data(), rest.size(), {.is_server = !is_server, .has_deflate = has_deflate},
                                head) == ws::FrameVerdict::Done);
    EXPECT(rest.size() - head.head_bytes >= head.size);
    std::string payload(rest.substr(head.head_bytes, static_cast<std::size_t>(head.size)));
    ws::apply_mask(payload.data(), payload.data(), payload.size(), head.key);
    plain += std::to_string(head.first) + ":" + payload + ";";
    is_closed = head.opcode() == ws::kClose;
    rest.remove_prefix(head.head_bytes + static_cast<std::size_t>(head.size));
  }
  EXPECT(!seen.has_ended || is_closed);
  seen.out = std::move(plain);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  violet::set_log_level(violet::LogLevel::Off);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const bool is_server = (data[0] & 1) == 0;
  ws::DeflateParams params;
  params.is_on = (data[0] & 2) != 0;
  params.keeps_own = (data[0] & 4) != 0;
  params.keeps_peer = (data[0] & 8) != 0;
  if ((data[0] & 16) != 0) params.own_bits = params.peer_bits = 9;
  const bool ignores = (data[0] & 32) != 0;
  ws::Options options;
  options.message_bytes_max = kMessageBytesMax;
  options.ping_ms = options.close_ms = 0;
  options.compression.message_bytes_min = 0;
  Limits limits;
  limits.websocket_inflate_ratio_max = 0;
  const ws::Settings settings(options, limits);
  const ws::Role role = is_server ? ws::Role::Server : ws::Role::Client;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);

  const Loop::Scope scope(loop());
  Seen whole = run(settings, role, params, ignores, bytes, bytes.size() + 1);
  check_frames(whole, is_server, params.is_on);
  Seen cut = run(settings, role, params, ignores, bytes, data[1] == 0 ? 1 : data[1]);
  check_frames(cut, is_server, params.is_on);
  EXPECT(whole == cut);
  return 0;
}
