// What WebSocket costs without a kernel: masks, UTF-8 and frame heads one by one, and echoes through a whole session in
// memory, 1 and 16 deep, whose bytes are checked before they are timed.
//
//   build/bench/ws_bench [--benchmark_filter=…]
//
// "bytes_per_second" of masks and texts of 64 KiB has to be 10 GB or more.

#include "tests/support/one_tunnel.h"
#include "violet/features/websocket/websocket.h"
#include "violet/h1/session.h"
#include "violet/net/memory.h"
#include "violet/web/router.h"
#include "violet/ws/codec/frame.h"
#include "violet/ws/codec/utf8.h"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace violet;

[[noreturn]] void fail(std::string_view what) {
  std::fprintf(stderr, "ws_bench: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

void mask(benchmark::State& state, ws::MaskFunction way) {
  if (way == nullptr) return state.SkipWithError("the processor lacks it");
  std::string bytes(static_cast<std::size_t>(state.range(0)), 'x');
  for ([[maybe_unused]] const auto turn : state) {
    way(bytes.data(), bytes.data(), bytes.size(), 0x8f3c2b1d);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
void mask_chosen(char* to, const char* from, std::size_t size, ws::MaskKey key) noexcept {
  ws::apply_mask(to, from, size, key);
}
BENCHMARK_CAPTURE(mask, chosen, &mask_chosen)->Arg(5)->Arg(125)->Arg(65536);
BENCHMARK_CAPTURE(mask, words, ws::mask_by_words())->Arg(65536);
BENCHMARK_CAPTURE(mask, avx2, ws::mask_by_avx2())->Arg(65536);

std::string text_of(std::string_view point, std::size_t size) {
  std::string text;
  while (text.size() + point.size() <= size) text += point;
  return text;
}
void utf8(benchmark::State& state, ws::Utf8Function way, std::string_view point) {
  if (way == nullptr) return state.SkipWithError("the processor lacks it");
  const std::string text = text_of(point, static_cast<std::size_t>(state.range(0)));
  for ([[maybe_unused]] const auto turn : state) {
    if (!way(text)) fail("a text is refused");
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
bool utf8_chosen(std::string_view text) noexcept { return ws::is_utf8(text); }
BENCHMARK_CAPTURE(utf8, ascii, &utf8_chosen, "a")->Arg(5)->Arg(125)->Arg(65536);
BENCHMARK_CAPTURE(utf8, greek, &utf8_chosen, "\xce\xba\xcf\x83")->Arg(65536);
BENCHMARK_CAPTURE(utf8, mixed, &utf8_chosen, "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 ")->Arg(65536);
BENCHMARK_CAPTURE(utf8, bytes, ws::utf8_by_bytes(), "\xce\xba\xcf\x83")->Arg(65536);

Task<> echo(WebSocket socket) {
  while (auto message = co_await socket.read()) {
    if (auto sent = co_await socket.send(*message); !sent) co_return;
  }
}
struct EchoObject {
  void on_message(WebSocket& socket, ws::Message message) { static_cast<void>(socket.send(message)); }
};

class Bench final : public h1::Session::Host {
 public:
  Bench(std::string_view path, std::size_t size, std::size_t depth) {
    websocket(router_, "/task", echo);
    websocket(router_, "/object", [] { return EchoObject{}; });
    for (const std::string& error : router_.freeze()) fail(error);
    wire_ = net::MemoryTransport::make(loop_);
    session_ = new h1::Session(shared_, *this, *wire_, Connection{});
    session_->open();
    run("GET " + std::string(path) +
        " HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
    if (!wire_->take().starts_with("HTTP/1.1 101")) fail("no upgrade");
    const std::string text(size, 'x');
    std::string expected;
    const ws::MaskKey key = 0x9a3c11f7;
    for (std::size_t i = 0; i < depth; ++i) {
      char head[ws::kFrameHeadMax];
      burst_.append(head, ws::write_frame_head(head, 0x81, size, &key));
      const std::size_t at = burst_.size();
      burst_ += text;
      ws::apply_mask(burst_.data() + at, burst_.data() + at, size, key);
      expected.append(head, ws::write_frame_head(head, 0x81, size, nullptr));
      expected += text;
    }
    run(burst_);
    if (wire_->take() != expected) fail("the echo is wrong");
  }
  ~Bench() {
    wire_->break_off();
    while (session_ != nullptr || tunnel_.is_open()) loop_.step();
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  void run() {
    run(burst_);
    const_cast<std::string&>(wire_->written()).clear();
  }

 private:
  void run(std::string_view bytes) {
    wire_->feed(bytes);
    for (int i = 0; i < 100 && (wire_->unread_bytes() > 0 || wire_->written().empty()); ++i) loop_.step();
  }
  h1::Tunnel::Host* tunnels() noexcept override { return &tunnel_; }
  void on_session_closed(h1::Session& session) noexcept override {
    delete &session;
    session_ = nullptr;
  }

  Loop loop_;
  Router router_;
  Site site_{loop_, router_, Limits()};
  h1::Shared shared_{site_};
  Ref<net::MemoryTransport> wire_;
  h1::Session* session_ = nullptr;
  test::OneTunnel tunnel_;
  std::string burst_;
};

// A turn of the loop makes a system call of its own: it is part of these times.
void session(benchmark::State& state, std::string_view path) {
  const auto depth = static_cast<std::size_t>(state.range(1));
  Bench bench(path, static_cast<std::size_t>(state.range(0)), depth);
  for ([[maybe_unused]] const auto turn : state) bench.run();
  state.SetItemsProcessed(state.iterations() * state.range(1));
}
BENCHMARK_CAPTURE(session, task, "/task")->Args({5, 1})->Args({5, 16})->Args({1000, 16});
BENCHMARK_CAPTURE(session, object, "/object")->Args({5, 1})->Args({5, 16})->Args({1000, 16});

}  // namespace
