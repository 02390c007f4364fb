// The whole server without a kernel: sessions on a transport in memory, a router, handlers. What is left is what violet
// itself costs. Requests come one at a time and 16 deep; each shape is checked to the byte before it is timed.
//
//   build/bench/memory_server [--benchmark_filter=…]
//
// "allocations" is heap calls a request and has to be 0.

#include "violet/h1/session.h"
#include "violet/net/memory.h"
#include "violet/web/input/body.h"
#include "violet/web/input/path.h"
#include "violet/web/input/query.h"
#include "violet/web/router.h"

#include <benchmark/benchmark.h>

#include <atomic>
#include <charconv>
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

struct Sum {
  std::int64_t a;
  std::int64_t b;
};

void add_routes(Router& router) {
  router.get("/baseline11", [](Query<Sum> sum) { return sum->a + sum->b; });
  router.post("/baseline11", [](Query<Sum> sum, Text body) {
    std::int64_t more = 0;
    std::from_chars(body->data(), body->data() + body->size(), more);
    return sum->a + sum->b + more;
  });
  router.get("/pipeline", [] { return "ok"; });
  router.get("/waits/{n}", [](Path<int> n) -> Task<int> { co_return *n; });
}

[[noreturn]] void fail(std::string_view what, std::string_view bytes) {
  std::fprintf(stderr, "memory_server: %.*s: %.*s\n", static_cast<int>(what.size()), what.data(),
               static_cast<int>(bytes.size()), bytes.data());
  std::abort();
}

// One connection to a server of its own, and the client at its other end. The client feeds the next batch as soon as
// the answers to the last are there, all within one turn of the loop: no system call is made in between.
class Bench final : public h1::Session::Host {
 public:
  Bench(std::string_view request, std::string_view body, std::size_t depth)
      : site_(loop_, router_, Limits()), shared_(site_), body_(body), depth_(depth) {
    add_routes(router_);
    for (const std::string& error : router_.freeze()) fail("a route is wrong", error);
    wire_ = net::MemoryTransport::make(loop_);
    session_ = new h1::Session(shared_, *this, *wire_, Connection());
    session_->open();
    run(request, 1);
    answer_bytes_ = wire_->written().size();
    check(wire_->take(), 1);
    for (std::size_t i = 0; i < depth; ++i) batch_ += request;
    run(batch_, 3);
    check(wire_->take(), 3 * depth);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  ~Bench() {
    wire_->feed_end();
    while (session_ != nullptr) loop_.step();
  }

  // `batches` batches, one after the other, in one turn.
  void run(std::size_t batches) {
    run(batch_, batches);
    static_cast<void>(wire_->take());
  }

  void on_session_closed(h1::Session& session) noexcept override {
    delete &session;
    session_ = nullptr;
  }

 private:
  void run(std::string_view batch, std::size_t batches) {
    constexpr int kTurnsMax = 1000;
    const Loop::Scope scope(loop_);
    feeding_ = batch;
    left_ = batches;
    is_done_ = false;
    is_awaited_ = false;
    for (int turns = 0; !is_done_; ++turns) {
      if (turns == kTurnsMax || session_ == nullptr) fail("no answer to", batch);
      loop_.defer(next_);
      loop_.step();
    }
  }

  void on_next() noexcept {
    const std::size_t size = wire_->written().size();
    // Before the first answer nobody knows how long one is.
    const std::size_t wanted = answer_bytes_ == 0 ? 1 : answer_bytes_ * (feeding_ == batch_ ? depth_ : 1);
    if (is_awaited_ && size < seen_ + wanted) return;  // another turn
    seen_ = size;
    is_awaited_ = left_ > 0;
    is_done_ = left_ == 0;
    if (is_done_) return;
    --left_;
    wire_->feed(feeding_);
    loop_.defer(next_);
  }

  // Every answer is a 200 with the body, and no byte is left.
  void check(std::string_view bytes, std::size_t count) {
    const std::string end = "\r\n\r\n" + body_;
    if (bytes.size() != count * answer_bytes_) fail("answers are missing", bytes);
    for (std::size_t i = 0; i < count; ++i) {
      const std::string_view answer = bytes.substr(i * answer_bytes_, answer_bytes_);
      if (!answer.starts_with("HTTP/1.1 200 OK\r\n") || !answer.ends_with(end)) fail("a wrong answer", answer);
    }
  }

  Loop loop_;
  Router router_;
  Site site_;
  h1::Shared shared_;
  std::string body_;
  std::size_t depth_;
  std::string batch_;
  std::size_t answer_bytes_ = 0;
  Ref<net::MemoryTransport> wire_;
  h1::Session* session_ = nullptr;
  std::string_view feeding_;
  std::size_t left_ = 0;
  std::size_t seen_ = 0;
  bool is_awaited_ = false;
  bool is_done_ = false;
  DeferredTo<&Bench::on_next> next_{*this};
};

constexpr std::string_view kGet =
    "GET /baseline11?a=13&b=42 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: violet-bench\r\n\r\n";
constexpr std::string_view kPipeline =
    "GET /pipeline HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: violet-bench\r\n\r\n";
constexpr std::string_view kLength =
    "POST /baseline11?a=13&b=42 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Length: 2\r\n\r\n20";
constexpr std::string_view kChunked =
    "POST /baseline11?a=13&b=42 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nTransfer-Encoding: "
    "chunked\r\n\r\n2\r\n20\r\n0\r\n\r\n";
constexpr std::string_view kCoroutine =
    "GET /waits/7 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: violet-bench\r\n\r\n";
constexpr std::string_view kBrowser =
    "GET /baseline11?a=13&b=42 HTTP/1.1\r\nHost: localhost:8080\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64; "
    "rv:128.0) "
    "Gecko/20100101 Firefox/128.0\r\nAccept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n"
    "Accept-Language: en-US,en;q=0.5\r\nAccept-Encoding: gzip, deflate, br, zstd\r\nConnection: keep-alive\r\n"
    "Cookie: session=0123456789abcdef; theme=dark\r\nUpgrade-Insecure-Requests: 1\r\nSec-Fetch-Dest: document\r\n"
    "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Site: none\r\nSec-Fetch-User: ?1\r\nPriority: u=0, i\r\n\r\n";

void serve(benchmark::State& state, std::string_view request, std::string_view body) {
  // One turn of the loop, which makes a system call, is shared by so many requests.
  constexpr std::size_t kRequestsPerTurn = 1024;
  const std::size_t depth = static_cast<std::size_t>(state.range(0));
  Bench bench(request, body, depth);
  bench.run(kRequestsPerTurn / depth);
  const std::uint64_t before = allocation_count;
  for ([[maybe_unused]] const auto turn : state) bench.run(kRequestsPerTurn / depth);
  const auto requests = static_cast<double>(state.iterations()) * kRequestsPerTurn;
  state.SetItemsProcessed(static_cast<std::int64_t>(requests));
  state.counters["allocations"] = static_cast<double>(allocation_count - before) / requests;
  state.counters["per_request"] =
      benchmark::Counter(requests, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

BENCHMARK_CAPTURE(serve, get, kGet, "55")->Arg(1)->Arg(16);
BENCHMARK_CAPTURE(serve, get_of_a_browser, kBrowser, "55")->Arg(1)->Arg(16);
BENCHMARK_CAPTURE(serve, pipeline, kPipeline, "ok")->Arg(1)->Arg(16);
BENCHMARK_CAPTURE(serve, post_length, kLength, "75")->Arg(1)->Arg(16);
BENCHMARK_CAPTURE(serve, post_chunked, kChunked, "75")->Arg(1)->Arg(16);
BENCHMARK_CAPTURE(serve, coroutine, kCoroutine, "7")->Arg(1)->Arg(16);

}  // namespace
