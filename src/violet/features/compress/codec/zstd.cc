#include "violet/features/compress/codec/libraries.h"

#include <algorithm>
#include <zstd.h>

namespace violet::encoding {
namespace {

// Beyond it windows grow over the 8 MiB that a client has to have for a body (RFC 9659 §3).
constexpr int kLevelMax = 19;

class ZstdEncoder final : public Encoder {
 public:
  explicit ZstdEncoder(int level) noexcept : context_(ZSTD_createCCtx()) {
    if (context_ != nullptr) ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, level);
  }
  ~ZstdEncoder() override { ZSTD_freeCCtx(context_); }

  bool begin(std::uint64_t size) noexcept override {
    if (context_ == nullptr) return false;
    ZSTD_CCtx_reset(context_, ZSTD_reset_session_only);
    const unsigned long long pledged = size == kUnknown ? ZSTD_CONTENTSIZE_UNKNOWN : size;
    return ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(context_, pledged)) == 0;
  }

  Step step(std::string_view in, Flush flush, char* out, std::size_t room) noexcept override {
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out, room, 0};
    const std::size_t left = ZSTD_compressStream2(context_, &to, &from, directive(flush));
    Step step{.read_bytes = from.pos, .written_bytes = to.pos};
    step.has_failed = ZSTD_isError(left) != 0;
    step.is_done = from.pos == in.size() && (flush == Flush::None || left == 0);
    return step;
  }

 private:
  static ZSTD_EndDirective directive(Flush flush) noexcept {
    switch (flush) {
      case Flush::None: return ZSTD_e_continue;
      case Flush::Sync: return ZSTD_e_flush;
      case Flush::End: return ZSTD_e_end;
    }
    return ZSTD_e_end;
  }

  ZSTD_CCtx* context_;
};

}  // namespace

std::unique_ptr<Encoder> make_zstd_encoder(int level) {
  return std::make_unique<ZstdEncoder>(std::clamp(level, -7, kLevelMax));
}

}  // namespace violet::encoding
