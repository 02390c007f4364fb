#include "tests/compress/decode.h"

#include <brotli/decode.h>
#include <gtest/gtest.h>

#include <random>
#include <zlib.h>
#include <zstd.h>

namespace violet::encoding {
namespace {

constexpr std::size_t kRoom = 2 << 20;

std::string inflate(std::string_view encoded, int window_bits, bool must_end) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, window_bits), Z_OK);
  std::string text(kRoom, 0);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(encoded.data()));
  stream.avail_in = static_cast<uInt>(encoded.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  const int code = ::inflate(&stream, Z_SYNC_FLUSH);
  text.resize(stream.total_out);
  if (must_end) EXPECT_EQ(code, Z_STREAM_END);
  EXPECT_EQ(stream.avail_in, 0u);
  inflateEnd(&stream);
  return text;
}

std::string unbrotli(std::string_view encoded) {
  std::string text(kRoom, 0);
  std::size_t size = text.size();
  const auto code = BrotliDecoderDecompress(encoded.size(), reinterpret_cast<const std::uint8_t*>(encoded.data()),
                                            &size, reinterpret_cast<std::uint8_t*>(text.data()));
  EXPECT_EQ(code, BROTLI_DECODER_RESULT_SUCCESS);
  text.resize(code == BROTLI_DECODER_RESULT_SUCCESS ? size : 0);
  return text;
}

std::string unzstd(std::string_view encoded) {
  std::string text(kRoom, 0);
  const std::size_t size = ZSTD_decompress(text.data(), text.size(), encoded.data(), encoded.size());
  EXPECT_EQ(ZSTD_isError(size), 0u) << ZSTD_getErrorName(size);
  text.resize(ZSTD_isError(size) != 0 ? 0 : size);
  return text;
}

}  // namespace

std::string decode(http::Coding coding, std::string_view encoded) {
  switch (coding) {
    case http::Coding::Gzip: return inflate(encoded, 15 + 16, true);
    case http::Coding::Deflate: return inflate(encoded, 15, true);
    case http::Coding::Brotli: return unbrotli(encoded);
    case http::Coding::Zstd: return unzstd(encoded);
    case http::Coding::Identity: break;
  }
  return std::string(encoded);
}

std::string decode_part(std::string_view encoded) { return inflate(encoded, 15 + 16, false); }

std::string sample(std::size_t size) {
  std::mt19937 random(7);
  std::string text;
  while (text.size() < size) text += "{\"id\":" + std::to_string(random() % 10000) + ",\"name\":\"alpha beta\"},";
  text.resize(size);
  return text;
}

}  // namespace violet::encoding
