// What a body of 8 KiB of JSON costs in each coding, by level, and how large it becomes ("bytes"). The order in which
// compress() offers codings comes from here.

#include "violet/features/compress/codec/encoder.h"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

namespace {

using namespace violet;

// Items as a shop's API gives them, with values that a small generator chooses.
std::string make_body() {
  std::uint32_t state = 7;
  const auto random = [&](std::uint32_t below) {
    state = state * 1664525 + 1013904223;
    return (state >> 8) % below;
  };
  static constexpr const char* kWords[] = {"alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"};
  std::string body = "{\"items\":[";
  for (int i = 0; body.size() < 8300; ++i) {
    if (i > 0) body += ',';
    body += "{\"id\":" + std::to_string(i) + ",\"name\":\"" + kWords[random(8)] + ' ' + kWords[random(8)];
    body += "\",\"price\":" + std::to_string(random(500)) + ",\"active\":" + (random(2) != 0 ? "true" : "false");
    body += ",\"tags\":[\"" + std::string(kWords[random(8)]) + "\",\"" + kWords[random(8)];
    body +=
        "\"],\"rating\":{\"score\":" + std::to_string(random(50)) + ",\"count\":" + std::to_string(random(500)) + "}}";
  }
  return body + "]}";
}

void encode(benchmark::State& state, http::Coding coding) {
  const std::string body = make_body();
  std::string out(body.size() * 2, 0);
  const auto encoder = encoding::make_encoder(coding, static_cast<int>(state.range(0)));
  std::size_t size = 0;
  for (auto _ : state) size = encoder->encode(body, out.data(), out.size());
  state.counters["bytes"] = static_cast<double>(size);
}

BENCHMARK_CAPTURE(encode, gzip, http::Coding::Gzip)->Arg(1)->Arg(6)->Arg(9);
BENCHMARK_CAPTURE(encode, brotli, http::Coding::Brotli)->Arg(1)->Arg(4)->Arg(5)->Arg(11);
BENCHMARK_CAPTURE(encode, zstd, http::Coding::Zstd)->Arg(1)->Arg(3)->Arg(9);

}  // namespace
