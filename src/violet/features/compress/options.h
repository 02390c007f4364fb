#pragma once

// CompressOptions: what compress(…) may be told. The defaults suit text that is made for each request.

#include "violet/http/value/coding.h"

#include <cstddef>
#include <string>
#include <vector>

namespace violet {

struct CompressOptions {
  // What is offered, the best first: among codings that a client weighs alike the first one is taken. For 8 KiB of JSON
  // zstd takes 18 µs for 1,467 bytes, gzip 51 µs for 1,301, brotli 85 µs for 1,245 (bench/compress_bench.cc).
  std::vector<http::Coding> order = {http::Coding::Zstd, http::Coding::Gzip, http::Coding::Brotli,
                                     http::Coding::Deflate};
  // Bodies of fewer bytes are left alone: they fit into one packet anyway.
  std::size_t min_bytes = 1024;

  // In the library's own terms, and its own default but for brotli, whose 11 takes 10 ms for 8 KiB.
  int gzip_level = 6;      // 1 to 9, of deflate too
  int brotli_quality = 5;  // 0 to 11
  int zstd_level = 3;      // -7 to 19

  // Larger bodies go to the worker threads, so that no other client of the loop waits for them.
  std::size_t loop_bytes_max = 64 * 1024;

  // Media types beside the usual ones ("text/*", JSON, XML, JavaScript, SVG, WebAssembly, fonts that are not compressed
  // by themselves): "application/x-model", "model/*"; and types that are never compressed, which goes before all else.
  std::vector<std::string> types = {};
  std::vector<std::string> never = {};

  // Encoded bodies of answers that have a cache tag (Exchange::cache_tag), for each loop.
  std::size_t cache_bytes_max = 8 * 1024 * 1024;
  std::size_t cache_entries_max = 1024;
};

}  // namespace violet
