// encode CODING LEVEL PIECE <text >encoded: what violet's encoders make, for decoders of other make. PIECE 0 encodes
// all at once, otherwise PIECE bytes at a time, each flushed.

#include "violet/features/compress/codec/encoder.h"

#include <cstdlib>
#include <iostream>
#include <iterator>
#include <string>

int main(int argc, char** argv) {
  using namespace violet;
  if (argc != 4) return 2;
  const auto coding = http::find_coding(argv[1]);
  if (!coding) return 2;
  const auto encoder = encoding::make_encoder(*coding, std::atoi(argv[2]));
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  std::string out(text.size() * 2 + 65536, 0);
  std::size_t used = 0;
  if (const std::size_t piece = std::strtoul(argv[3], nullptr, 10); piece == 0) {
    used = encoder->encode(text, out.data(), out.size());
  } else if (!encoder->begin(encoding::Encoder::kUnknown)) {
    return 1;
  } else {
    for (std::size_t at = 0; at <= text.size(); at += piece) {
      const std::string_view part = std::string_view(text).substr(at, piece);
      const auto flush = at + piece > text.size() ? encoding::Flush::End : encoding::Flush::Sync;
      const encoding::Step step = encoder->step(part, flush, out.data() + used, out.size() - used);
      if (!step.is_done) return 1;
      used += step.written_bytes;
    }
  }
  std::cout.write(out.data(), static_cast<std::streamsize>(used));
  return 0;
}
