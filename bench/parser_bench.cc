// The parser of request heads by itself: a short request, a browser's, a long one, and the framing of chunks.

#include "violet/h1/parser.h"

#include "violet/core/limits.h"
#include "violet/memory/arena.h"
#include "violet/memory/buffer.h"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace violet;

constexpr std::string_view kShort =
    "GET /baseline11?a=13&b=42 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: violet-bench\r\n\r\n";
constexpr std::string_view kPost =
    "POST /baseline11?a=13&b=42 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Length: 2\r\n\r\n";
constexpr std::string_view kBrowser =
    "GET /articles/2026/speed?page=2 HTTP/1.1\r\nHost: www.example.com\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64; "
    "rv:128.0) Gecko/20100101 Firefox/128.0\r\nAccept: "
    "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n"
    "Accept-Language: en-US,en;q=0.5\r\nAccept-Encoding: gzip, deflate, br, zstd\r\nConnection: keep-alive\r\n"
    "Cookie: session=0123456789abcdef; theme=dark\r\nUpgrade-Insecure-Requests: 1\r\nSec-Fetch-Dest: document\r\n"
    "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Site: none\r\nSec-Fetch-User: ?1\r\nPriority: u=0, i\r\n\r\n";

std::string many_fields() {
  std::string head = "GET /many HTTP/1.1\r\nHost: www.example.com\r\n";
  for (int i = 0; i < 90; ++i) head += "X-Field-" + std::to_string(i) + ": " + std::string(200, 'v') + "\r\n";
  return head + "\r\n";
}

// With the room behind its end that the scanner may read.
std::string padded(std::string_view text) { return std::string(text) + std::string(kScanPadding, '\0'); }

void parse(benchmark::State& state, std::string_view text) {
  const std::string bytes = padded(text);
  const Limits limits;
  alignas(http::Field) std::byte room[24 * sizeof(http::Field)];
  Arena arena;
  http::Head head(arena, reinterpret_cast<http::Field*>(room), 24);
  for ([[maybe_unused]] const auto round : state) {
    h1::Framing framing;
    head.clear();
    const h1::Parsed parsed = h1::parse_head(bytes.data(), bytes.data() + text.size(), limits, head, framing);
    if (parsed.verdict != h1::Verdict::Done || parsed.end != bytes.data() + text.size()) std::abort();
    benchmark::DoNotOptimize(head.fields.count());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(text.size()));
}

// A head that comes in two pieces is looked at twice.
void parse_split(benchmark::State& state) {
  const std::string bytes = padded(kShort);
  const Limits limits;
  alignas(http::Field) std::byte room[24 * sizeof(http::Field)];
  Arena arena;
  http::Head head(arena, reinterpret_cast<http::Field*>(room), 24);
  const auto run = [&](std::size_t size) {
    h1::Framing framing;
    head.clear();
    return h1::parse_head(bytes.data(), bytes.data() + size, limits, head, framing).verdict;
  };
  for ([[maybe_unused]] const auto round : state) {
    if (run(kShort.size() / 2) != h1::Verdict::More || run(kShort.size()) != h1::Verdict::Done) std::abort();
  }
}

void chunk_line(benchmark::State& state) {
  constexpr std::string_view kLine = "1a4f\r\n";
  const std::string bytes = padded(kLine);
  const Limits limits;
  for ([[maybe_unused]] const auto round : state) {
    h1::ChunkLine line;
    const h1::Parsed parsed = h1::parse_chunk_line(bytes.data(), bytes.data() + kLine.size(), limits, line);
    if (parsed.verdict != h1::Verdict::Done || line.size != 0x1a4f) std::abort();
  }
}

BENCHMARK_CAPTURE(parse, short_get, kShort);
BENCHMARK_CAPTURE(parse, short_post, kPost);
BENCHMARK_CAPTURE(parse, browser, kBrowser);
BENCHMARK_CAPTURE(parse, ninety_fields, many_fields());
BENCHMARK(parse_split);
BENCHMARK(chunk_line);

}  // namespace
