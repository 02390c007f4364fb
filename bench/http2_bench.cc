// HTTP/2 without a kernel: a session on a transport in memory, a router, handlers, and a client that sends as many
// requests at once as it has streams. The blocks are those of a load generator: fields of the first request are in the
// table, the path is written out. Answers are checked before anything is timed.
//
//   build/bench/http2_bench
//   valgrind --tool=callgrind --toggle-collect='violet::h2::Session::on_readable()' build/bench/http2_bench
//     --benchmark_filter=serve/32 --benchmark_min_time=0.001
//
// "allocations" is heap calls a request and has to be 0.

#include "violet/h2/session.h"
#include "violet/net/memory.h"
#include "violet/web/input/query.h"
#include "violet/web/router.h"

#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>

namespace {

std::atomic<std::uint64_t> allocation_count = 0;

}  // namespace

void* operator new(std::size_t size) {
  allocation_count.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace violet;
using h2::FrameType;

struct Sum {
  std::int64_t a;
  std::int64_t b;
};

class Http2 final : public h2::Session::Host {
 public:
  explicit Http2(std::uint32_t streams) : site_(loop_, router_, Limits()), shared_(site_, buffers_) {
    router_.get("/baseline2", [](Query<Sum> sum) { return sum->a + sum->b; });
    if (!router_.freeze().empty()) fail("a route is wrong");
    wire_ = net::MemoryTransport::make(loop_);
    session_ = new h2::Session(shared_, *this, *wire_, Connection());
    session_->open();
    const std::string settings =
        frame(FrameType::Settings, 0, 0, "") + frame(FrameType::Settings, h2::flag::kAck, 0, "");
    ask(std::string(h2::kPreface) + settings + window_update());
    // :method, :scheme, :path, :authority and user-agent; the last two go into the table.
    ask(request("\x41\x09localhost\x7a\x06h2load"));
    check();
    for (std::uint32_t i = 0; i < streams; ++i) batch_ += request("\xbf\xbe");
    window_at_ = batch_.size();
    frame_bytes_ = window_at_ / streams;
    batch_ += window_update();
  }
  Http2(const Http2&) = delete;
  Http2& operator=(const Http2&) = delete;
  ~Http2() {
    wire_->feed_end();
    while (session_ != nullptr) loop_.step();
  }

  // One request on each stream, in one read; answered in one write.
  void run() {
    for (std::size_t at = 0; at < window_at_; at += frame_bytes_, next_id_ += 2) {
      h2::put_u32(batch_.data() + at + 5, next_id_);
    }
    ask(batch_);
    const_cast<std::string&>(wire_->written()).clear();
  }

  void on_session_closed(h2::Session& session) noexcept override {
    delete &session;
    session_ = nullptr;
  }

 private:
  [[noreturn]] static void fail(const char* what) {
    std::fprintf(stderr, "http2_bench: %s\n", what);
    std::abort();
  }
  static std::string frame(FrameType type, std::uint8_t flags, std::uint32_t stream, std::string_view payload) {
    char head[h2::kFrameHeadBytes];
    h2::put_frame_head(head, static_cast<std::uint32_t>(payload.size()), type, flags, stream);
    return std::string(head, sizeof head).append(payload);
  }
  static std::string window_update() { return frame(FrameType::WindowUpdate, 0, 0, std::string_view("\0\0\x10\0", 4)); }
  std::string request(std::string_view rest) {
    std::string block = "\x82\x86\x04\x12/baseline2?a=1&b=1";
    block += rest;
    next_id_ += 2;
    return frame(FrameType::Headers, h2::flag::kEndHeaders | h2::flag::kEndStream, next_id_ - 2, block);
  }
  void ask(std::string_view bytes) {
    if (next_id_ > 1'000'000'000) fail("out of streams");
    wire_->feed(bytes);
    loop_.step();
    if (wire_->unread_bytes() > 0 || session_ == nullptr) fail("bytes are left");
  }
  void check() {
    const std::string& got = wire_->written();
    if (!std::string_view(got).ends_with(std::string_view("\0\0\1\0\1\0\0\0\1"
                                                          "2",
                                                          10)))
      fail("a wrong answer");
    const_cast<std::string&>(got).clear();
  }

  Loop loop_;
  Router router_;
  Site site_;
  net::Buffers buffers_;
  h2::Shared shared_;
  std::uint32_t next_id_ = 1;
  std::string batch_;
  std::size_t window_at_ = 0;  // in it, behind the requests
  std::size_t frame_bytes_ = 0;
  Ref<net::MemoryTransport> wire_;
  h2::Session* session_ = nullptr;
};

void serve(benchmark::State& state) {
  const auto streams = static_cast<std::uint32_t>(state.range(0));
  Http2 server(streams);
  for (int i = 0; i < 10; ++i) server.run();
  const std::uint64_t before = allocation_count;
  for ([[maybe_unused]] const auto turn : state) server.run();
  const auto requests = static_cast<double>(state.iterations()) * streams;
  state.SetItemsProcessed(static_cast<std::int64_t>(requests));
  state.counters["allocations"] = static_cast<double>(allocation_count - before) / requests;
}
BENCHMARK(serve)->Arg(1)->Arg(32)->Arg(100);

}  // namespace
