#include "violet/features/compress/codec/encoder.h"

#include "violet/base/check.h"
#include "violet/features/compress/codec/libraries.h"

namespace violet::encoding {

std::size_t Encoder::encode(std::string_view in, char* out, std::size_t room) noexcept {
  if (!begin(in.size())) return 0;
  const Step done = step(in, Flush::End, out, room);
  return done.is_done ? done.written_bytes : 0;
}

std::unique_ptr<Encoder> make_encoder(http::Coding coding, int level) {
  switch (coding) {
    case http::Coding::Gzip: return make_zlib_encoder(ZlibFormat::Gzip, level);
    case http::Coding::Deflate: return make_zlib_encoder(ZlibFormat::Zlib, level);
    case http::Coding::Brotli: return make_brotli_encoder(level);
    case http::Coding::Zstd: return make_zstd_encoder(level);
    case http::Coding::Identity: break;
  }
  VIOLET_CHECK(false);
  return nullptr;
}

}  // namespace violet::encoding
