// features/compress/codec: decoders on whatever a client may send, cut in two different ways, and encoders against the
// decoders: what was encoded is what comes back. The first byte chooses the coding, the second how it is cut.

#include "fuzz/expect.h"
#include "violet/features/compress/codec/decoder.h"
#include "violet/features/compress/codec/encoder.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using namespace violet;
using namespace violet::encoding;

// A decoded body has a limit in a server, too.
constexpr std::size_t kDecodedMax = 1 << 18;

struct Decoded {
  std::string text;
  bool has_failed = false;
  bool is_whole = false;
};

Decoded decode(http::Coding coding, std::string_view in, std::size_t piece, std::size_t room) {
  const auto decoder = make_decoder(coding);
  Decoded result;
  std::string out(room, 0);
  bool is_full = false;
  while ((!in.empty() || is_full) && result.text.size() < kDecodedMax) {
    const std::string_view part = in.substr(0, piece);
    const DecodeStep step = decoder->step(part, out.data(), room);
    EXPECT(step.read_bytes <= part.size());
    EXPECT(step.written_bytes <= room);
    is_full = step.written_bytes == room;
    result.text.append(out, 0, step.written_bytes);
    if (step.has_failed || (step.read_bytes == 0 && step.written_bytes == 0 && !part.empty())) {
      result.has_failed = true;
      return result;
    }
    in.remove_prefix(step.read_bytes);
  }
  result.is_whole = in.empty() && decoder->is_whole();
  return result;
}

void check_decoder(http::Coding coding, std::string_view in, std::size_t piece) {
  const Decoded whole = decode(coding, in, in.size() + 1, 16384);
  const Decoded parts = decode(coding, in, piece, piece * 7);
  if (whole.text.size() >= kDecodedMax || parts.text.size() >= kDecodedMax) return;
  EXPECT(whole.is_whole == parts.is_whole);
  if (whole.is_whole) EXPECT(whole.text == parts.text);
}

void check_encoder(http::Coding coding, std::string_view text, std::size_t piece) {
  const auto encoder = make_encoder(coding, 4);
  EXPECT(encoder->begin(Encoder::kUnknown));
  std::string encoded;
  std::string out(std::max<std::size_t>(piece, Encoder::kRoomMin), 0);
  for (std::string_view rest = text;;) {
    std::string_view part = rest.substr(0, piece);
    rest.remove_prefix(part.size());
    const Flush flush = rest.empty() ? Flush::End : part.size() % 3 == 0 ? Flush::Sync : Flush::None;
    for (Step step; !step.is_done;) {
      step = encoder->step(part, flush, out.data(), out.size());
      EXPECT(!step.has_failed);
      part.remove_prefix(step.read_bytes);
      encoded.append(out, 0, step.written_bytes);
    }
    if (flush == Flush::End) break;
  }
  const Decoded decoded = decode(coding, encoded, encoded.size() + 1, 16384);
  EXPECT(decoded.is_whole);
  EXPECT(decoded.text == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  static constexpr http::Coding kCodings[] = {http::Coding::Gzip, http::Coding::Deflate, http::Coding::Brotli,
                                              http::Coding::Zstd};
  const http::Coding coding = kCodings[data[0] % 4];
  const std::size_t piece = data[1] % 64 + 1;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  if (data[0] / 4 % 2 == 0) {
    check_decoder(coding, rest, piece);
  } else {
    check_encoder(coding, rest, piece);
  }
  return 0;
}
