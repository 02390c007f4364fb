// hpack::Decoder beside nghttp2's inflater on the same bytes: the same verdict, the same lines, the same table.
//
// They differ in one thing: violet takes at most the two size updates that RFC 7541 §4.2 speaks of.

#include "fuzz/expect.h"
#include "fuzz/input.h"
#include "fuzz/nghttp2_hpack.h"
#include "violet/hpack/integer.h"

#include <cstdint>

namespace {

using namespace violet;

int update_count(std::string_view block) {
  const char* p = block.data();
  const char* const end = p + block.size();
  int count = 0;
  std::uint32_t size;
  while (p < end && (*p & 0xe0) == 0x20 && hpack::read_integer(p, end, 5, size)) ++count;
  return count;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  hpack::Decoder decoder;
  fuzz::Nghttp2Inflater inflater;
  while (!input.is_empty()) {
    const std::uint8_t control = input.byte();
    if ((control & 3) == 3) {
      const std::uint32_t bytes = input.byte() * 33u;
      decoder.set_table_bytes_max(bytes);
      inflater.set_table_bytes_max(bytes);
    }
    const std::string_view block = input.sized_text();
    for (int i = 0; i <= (control >> 2 & 3); ++i) {
      const test::Decoded decoded = test::decode(decoder, block, {.bytes_max = 1u << 30, .count_max = 1u << 30});
      const auto lines = inflater.inflate(block);
      if (decoded.verdict == hpack::Verdict::Broken) {
        EXPECT(!lines || update_count(block) > 2);
        return 0;
      }
      EXPECT(lines && fuzz::ExpectedSection(*lines).is(decoded.section));
      EXPECT(decoder.table().size() == inflater.table_bytes());
    }
  }
  return 0;
}
