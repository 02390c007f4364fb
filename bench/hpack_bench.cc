// HPACK by itself: heads as load generators, browsers and violet send them, again and again and for the first time.
//
// Instructions of one call, which do not depend on the machine's load, come from callgrind with --collect-atstart=no
// and
// --toggle-collect='*decode_block*' or '*encode_answer*' and one case (--benchmark_filter=decode/generator): it then
// counts kRounds calls.

#include "violet/hpack/decoder.h"
#include "violet/hpack/encoder.h"
#include "violet/hpack/huffman.h"
#include "violet/memory/arena.h"
#include "violet/memory/buffer.h"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace violet;
using http::FieldId;

constexpr int kRounds = 1000;
constexpr hpack::Budget kBudget{.bytes_max = 32'768, .count_max = 100};

std::string padded(std::string text) { return text + std::string(kScanPadding, '\0'); }

std::string coded(std::string_view text) {
  char out[1024];
  char* end = hpack::encode_huffman(text, out);
  return std::string(1, static_cast<char>(0x80 | (end - out))) + std::string(out, end);
}

struct Message {
  std::vector<std::pair<hpack::Pseudo, std::string>> pseudo;
  std::vector<std::pair<std::string, std::string>> fields;

  [[nodiscard]] std::string encode(hpack::Encoder& encoder) const {
    char out[8192];
    char* p = encoder.begin(out);
    for (const auto& [which, value] : pseudo) p = encoder.pseudo(p, which, value);
    for (const auto& [name, value] : fields) {
      p = encoder.field(p, {.name = name, .value = value, .id = http::find_field(name)});
    }
    return std::string(out, p);
  }
};

Message browser_request(std::string path) {
  return {{{hpack::Pseudo::Method, "GET"},
           {hpack::Pseudo::Path, std::move(path)},
           {hpack::Pseudo::Authority, "www.example.com"},
           {hpack::Pseudo::Scheme, "https"}},
          {{"User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"},
           {"Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"},
           {"Accept-Language", "en-US,en;q=0.5"},
           {"Accept-Encoding", "gzip, deflate, br, zstd"},
           {"Cookie", "session=0123456789abcdef0123456789abcdef; theme=dark"},
           {"Upgrade-Insecure-Requests", "1"},
           {"Sec-Fetch-Dest", "document"},
           {"Sec-Fetch-Mode", "navigate"},
           {"Sec-Fetch-Site", "none"},
           {"Priority", "u=0, i"},
           {"TE", "trailers"}}};
}

// What an exchange has for a head.
struct Room {
  alignas(16) char first[4096];
  alignas(http::Field) std::byte lines[16 * sizeof(http::Field)];
  Arena arena{first, sizeof first};
  http::Fields fields{arena, reinterpret_cast<http::Field*>(lines), 16};
};

[[gnu::noinline]] std::size_t decode_block(hpack::Decoder& decoder, std::string_view block, Room& room) {
  room.fields.clear();
  room.arena.reset();
  hpack::Section section(room.fields);
  if (decoder.decode(block, kBudget, section) != hpack::Verdict::Done) std::abort();
  return room.fields.count();
}

// The same block from the second one on.
void decode_again(benchmark::State& state, const std::string& first, const std::string& again) {
  hpack::Decoder decoder;
  Room room;
  const std::string begin = padded(first);
  const std::string bytes = padded(again);
  decode_block(decoder, {begin.data(), first.size()}, room);
  for ([[maybe_unused]] const auto round : state) {
    benchmark::DoNotOptimize(decode_block(decoder, {bytes.data(), again.size()}, room));
  }
}

// As nghttp2's encoder writes it, and so h2load: the path is never put into the table.
void decode_generator(benchmark::State& state) {
  const std::string path = "\x04" + coded("/baseline2?a=13&b=42");
  const std::string first =
      "\x82" + path + "\x86\x41" + coded("127.0.0.1:8082") + "\x7a" + coded("h2load nghttp2/1.52.0");
  decode_again(state, first, "\x82" + path + "\x86\xbf\xbe");
}

// Two paths in turn.
void decode_alternating(benchmark::State& state) {
  hpack::Decoder decoder;
  Room room;
  const std::string head = "\x86\x41" + coded("127.0.0.1:8082") + "\x7a" + coded("h2load nghttp2/1.52.0");
  const std::string first = padded("\x82\x84" + head);
  decode_block(decoder, {first.data(), first.size() - kScanPadding}, room);
  const std::string blocks[] = {padded("\x82\x04" + coded("/baseline2?a=13&b=42") + "\x86\xbf\xbe"),
                                padded("\x82\x04" + coded("/baseline2?a=14&b=43") + "\x86\xbf\xbe")};
  std::size_t turn = 0;
  for ([[maybe_unused]] const auto round : state) {
    const std::string& block = blocks[turn++ % 2];
    benchmark::DoNotOptimize(decode_block(decoder, {block.data(), block.size() - kScanPadding}, room));
  }
}

void decode_browser(benchmark::State& state) {
  hpack::Encoder encoder;
  const std::string first = browser_request("/articles/2026/speed?page=2").encode(encoder);
  decode_again(state, first, browser_request("/articles/2026/speed?page=3").encode(encoder));
}

void decode_browser_first(benchmark::State& state) {
  hpack::Encoder encoder;
  const std::string first = browser_request("/articles/2026/speed?page=2").encode(encoder);
  decode_again(state, first, first);
}

struct Answer {
  std::string_view length = "2";
  std::string_view date = "Mon, 30 Nov 2026 18:00:00 GMT";
};

[[gnu::noinline]] std::size_t encode_answer(hpack::Encoder& encoder, const Answer& answer, char* out) {
  char* p = encoder.begin(out);
  p = encoder.status(p, 200);
  p = encoder.field(p, FieldId::Date, answer.date);
  p = encoder.field(p, FieldId::Server, "violet");
  p = encoder.field(p, FieldId::ContentType, "text/plain; charset=utf-8");
  p = encoder.field(p, FieldId::ContentLength, answer.length);
  return static_cast<std::size_t>(p - out);
}

void encode_again(benchmark::State& state) {
  hpack::Encoder encoder;
  char out[1024];
  for (int i = 0; i < 3; ++i) encode_answer(encoder, {}, out);
  for ([[maybe_unused]] const auto round : state) {
    if (encode_answer(encoder, {}, out) != 5) std::abort();
  }
}

void encode_other_length(benchmark::State& state) {
  hpack::Encoder encoder;
  char out[1024];
  const Answer answers[] = {{.length = "1234"}, {.length = "5678"}};
  std::size_t turn = 0;
  for ([[maybe_unused]] const auto round : state) {
    benchmark::DoNotOptimize(encode_answer(encoder, answers[turn++ % 2], out));
  }
}

void encode_first(benchmark::State& state) {
  char out[1024];
  for ([[maybe_unused]] const auto round : state) {
    hpack::Encoder encoder;
    benchmark::DoNotOptimize(encode_answer(encoder, {}, out));
  }
}

BENCHMARK(decode_generator)->Name("decode/generator")->Iterations(kRounds);
BENCHMARK(decode_alternating)->Name("decode/alternating")->Iterations(kRounds);
BENCHMARK(decode_browser)->Name("decode/browser_other_path")->Iterations(kRounds);
BENCHMARK(decode_browser_first)->Name("decode/browser_first")->Iterations(kRounds);
BENCHMARK(encode_again)->Name("encode/again")->Iterations(kRounds);
BENCHMARK(encode_other_length)->Name("encode/other_length")->Iterations(kRounds);
BENCHMARK(encode_first)->Name("encode/first")->Iterations(kRounds);

}  // namespace
