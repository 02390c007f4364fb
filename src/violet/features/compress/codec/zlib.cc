#include "violet/features/compress/codec/libraries.h"

#include <algorithm>
#include <libdeflate.h>
#include <limits>
#include <zlib.h>

namespace violet::encoding {
namespace {

// Streams go through zlib, whole bodies through libdeflate, which takes four fifths of the time for the same level
// and cannot stream. Either is made when it is first needed.
class ZlibEncoder final : public Encoder {
 public:
  ZlibEncoder(ZlibFormat format, int level) noexcept : format_(format), level_(level) {}
  ~ZlibEncoder() override {
    if (is_open_) deflateEnd(&stream_);
    if (whole_ != nullptr) libdeflate_free_compressor(whole_);
  }

  bool begin(std::uint64_t) noexcept override {
    if (is_open_) return deflateReset(&stream_) == Z_OK;
    const int window_bits = format_ == ZlibFormat::Gzip ? 15 + 16 : 15;
    is_open_ = deflateInit2(&stream_, level_, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) == Z_OK;
    return is_open_;
  }

  Step step(std::string_view in, Flush flush, char* out, std::size_t room) noexcept override {
    constexpr std::size_t kMost = std::numeric_limits<uInt>::max();
    const bool is_cut = in.size() > kMost;
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream_.avail_in = static_cast<uInt>(std::min(in.size(), kMost));
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = static_cast<uInt>(std::min(room, kMost));
    const uInt before_in = stream_.avail_in;
    const uInt before_out = stream_.avail_out;
    const int code = deflate(&stream_, is_cut ? Z_NO_FLUSH : flag(flush));
    Step step{.read_bytes = before_in - stream_.avail_in, .written_bytes = before_out - stream_.avail_out};
    // Without progress there was nothing to do: that is no failure (zlib.h, deflate()).
    step.has_failed = code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR;
    const bool has_room_left = stream_.avail_out > 0;
    step.is_done = !is_cut && stream_.avail_in == 0 && (flush == Flush::End ? code == Z_STREAM_END : has_room_left);
    return step;
  }

  std::size_t encode(std::string_view in, char* out, std::size_t room) noexcept override {
    if (whole_ == nullptr) whole_ = libdeflate_alloc_compressor(level_);
    if (whole_ == nullptr) return 0;
    return format_ == ZlibFormat::Gzip ? libdeflate_gzip_compress(whole_, in.data(), in.size(), out, room)
                                       : libdeflate_zlib_compress(whole_, in.data(), in.size(), out, room);
  }

 private:
  static int flag(Flush flush) noexcept {
    switch (flush) {
      case Flush::None: return Z_NO_FLUSH;
      case Flush::Sync: return Z_SYNC_FLUSH;
      case Flush::End: return Z_FINISH;
    }
    return Z_FINISH;
  }

  ZlibFormat format_;
  int level_;
  bool is_open_ = false;
  z_stream stream_{};
  libdeflate_compressor* whole_ = nullptr;
};

}  // namespace

std::unique_ptr<Encoder> make_zlib_encoder(ZlibFormat format, int level) {
  return std::make_unique<ZlibEncoder>(format, std::clamp(level, 1, 9));
}

}  // namespace violet::encoding
