#pragma once

// The libraries behind Encoder and Decoder, one file for each.

#include "violet/features/compress/codec/encoder.h"

#include <memory>

namespace violet::encoding {

enum class ZlibFormat : std::uint8_t {
  Zlib,  // what "deflate" means (RFC 9110 §8.4.1.2)
  Gzip,
};

[[nodiscard]] std::unique_ptr<Encoder> make_zlib_encoder(ZlibFormat format, int level);
[[nodiscard]] std::unique_ptr<Encoder> make_brotli_encoder(int quality);
[[nodiscard]] std::unique_ptr<Encoder> make_zstd_encoder(int level);

}  // namespace violet::encoding
