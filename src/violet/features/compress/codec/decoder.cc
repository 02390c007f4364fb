#include "violet/features/compress/codec/decoder.h"

#include "violet/base/check.h"

#include <brotli/decode.h>

#include <algorithm>
#include <limits>
#include <zlib.h>
#include <zstd.h>

namespace violet::encoding {
namespace {

// gzip bodies may have several members (RFC 1952 §2.2); zlib ones may not.
class ZlibDecoder final : public Decoder {
 public:
  explicit ZlibDecoder(bool is_gzip) noexcept
      : is_gzip_(is_gzip), is_open_(inflateInit2(&stream_, is_gzip ? 15 + 16 : 15) == Z_OK) {}
  ~ZlibDecoder() override {
    if (is_open_) inflateEnd(&stream_);
  }

  DecodeStep step(std::string_view in, char* out, std::size_t room) noexcept override {
    constexpr std::size_t kMost = std::numeric_limits<uInt>::max();
    if (!is_open_) return {.has_failed = true};
    if (is_whole_) {
      if (in.empty()) return {};
      if (!is_gzip_ || inflateReset(&stream_) != Z_OK) return {.has_failed = true};
      is_whole_ = false;
    }
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream_.avail_in = static_cast<uInt>(std::min(in.size(), kMost));
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = static_cast<uInt>(std::min(room, kMost));
    const uInt before_in = stream_.avail_in;
    const uInt before_out = stream_.avail_out;
    const int code = inflate(&stream_, Z_NO_FLUSH);
    is_whole_ = code == Z_STREAM_END;
    // Without input and room there was nothing to do: that is no failure.
    return {.read_bytes = before_in - stream_.avail_in,
            .written_bytes = before_out - stream_.avail_out,
            .has_failed = code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR};
  }
  bool is_whole() const noexcept override { return is_whole_; }

 private:
  bool is_gzip_;
  bool is_whole_ = false;
  z_stream stream_{};
  bool is_open_;
};

class BrotliDecoder final : public Decoder {
 public:
  ~BrotliDecoder() override {
    if (state_ != nullptr) BrotliDecoderDestroyInstance(state_);
  }

  DecodeStep step(std::string_view in, char* out, std::size_t room) noexcept override {
    if (state_ == nullptr || (is_whole() && !in.empty())) return {.has_failed = true};
    auto* next_in = reinterpret_cast<const std::uint8_t*>(in.data());
    auto* next_out = reinterpret_cast<std::uint8_t*>(out);
    std::size_t in_left = in.size();
    std::size_t out_left = room;
    const auto code = BrotliDecoderDecompressStream(state_, &in_left, &next_in, &out_left, &next_out, nullptr);
    return {.read_bytes = in.size() - in_left,
            .written_bytes = room - out_left,
            .has_failed = code == BROTLI_DECODER_RESULT_ERROR};
  }
  bool is_whole() const noexcept override { return state_ != nullptr && BrotliDecoderIsFinished(state_) != 0; }

 private:
  BrotliDecoderState* state_ = BrotliDecoderCreateInstance(nullptr, nullptr, nullptr);
};

// A body may have several frames (RFC 8878 §3). The library checks the size that a frame declares when the whole frame
// is given to it at once; cut in pieces, one whose last block is empty passes. So it is checked here.
class ZstdDecoder final : public Decoder {
 public:
  ZstdDecoder() noexcept {
    // RFC 9659 §3: 8 MiB is what everybody has to accept, and nobody may rely on more.
    if (context_ != nullptr) ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, 23);
  }
  ~ZstdDecoder() override { ZSTD_freeDCtx(context_); }

  DecodeStep step(std::string_view in, char* out, std::size_t room) noexcept override {
    if (context_ == nullptr) return {.has_failed = true};
    if (in.empty() && is_whole_) return {};
    if (is_whole_) begin_frame();
    if (declared_ == kNotRead) read_declared(in);
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out, room, 0};
    const std::size_t left = ZSTD_decompressStream(context_, &to, &from);
    frame_bytes_ += to.pos;
    is_whole_ = left == 0;
    const bool is_other_size = is_whole_ && declared_ < kNotRead && declared_ != frame_bytes_;
    return {.read_bytes = from.pos, .written_bytes = to.pos, .has_failed = ZSTD_isError(left) != 0 || is_other_size};
  }
  bool is_whole() const noexcept override { return is_whole_; }

 private:
  // Greater than all sizes, as ZSTD_CONTENTSIZE_UNKNOWN is.
  static constexpr unsigned long long kNotRead = ZSTD_CONTENTSIZE_ERROR;
  static constexpr std::size_t kHeaderMax = 18;

  void begin_frame() noexcept {
    header_size_ = 0;
    declared_ = kNotRead;
    frame_bytes_ = 0;
  }
  void read_declared(std::string_view in) noexcept {
    const std::string_view more = in.substr(0, kHeaderMax - header_size_);
    std::copy(more.begin(), more.end(), header_ + header_size_);
    header_size_ += more.size();
    declared_ = ZSTD_getFrameContentSize(header_, header_size_);
  }

  ZSTD_DCtx* context_ = ZSTD_createDCtx();
  bool is_whole_ = false;
  char header_[kHeaderMax] = {};
  std::size_t header_size_ = 0;
  unsigned long long declared_ = kNotRead;
  std::uint64_t frame_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Decoder> make_decoder(http::Coding coding) {
  switch (coding) {
    case http::Coding::Gzip: return std::make_unique<ZlibDecoder>(true);
    case http::Coding::Deflate: return std::make_unique<ZlibDecoder>(false);
    case http::Coding::Brotli: return std::make_unique<BrotliDecoder>();
    case http::Coding::Zstd: return std::make_unique<ZstdDecoder>();
    case http::Coding::Identity: break;
  }
  VIOLET_CHECK(false);
  return nullptr;
}

}  // namespace violet::encoding
