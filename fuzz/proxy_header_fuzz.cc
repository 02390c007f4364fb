// server/proxy_header.h: what is read of a header does not depend on how it arrives, ends inside the bytes and within
// its limit, and what has been refused stays refused.

#include "violet/server/proxy_header.h"

#include "fuzz/expect.h"

#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace violet;
  using Verdict = ProxyHeader::Verdict;
  if (size < 1) return 0;
  // 16 to 4096 bytes.
  const std::size_t most = std::size_t{16} << (data[0] % 9);
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const ProxyHeader whole = parse_proxy_header(bytes, most);
  EXPECT(whole.verdict != Verdict::Done || (whole.size <= bytes.size() && whole.size <= most && whole.size >= 15));
  if (whole.verdict != Verdict::Done) EXPECT(whole.source.family == Address::Family::None);
  ProxyHeader early;
  for (std::size_t n = 0; n <= bytes.size() && early.verdict == Verdict::More; ++n) {
    early = parse_proxy_header(bytes.substr(0, n), most);
    if (early.verdict == Verdict::Done) EXPECT(early.size == n);
  }
  EXPECT(early.verdict == whole.verdict);
  EXPECT(early.size == whole.size || whole.verdict != Verdict::Done);
  EXPECT(early.source == whole.source && early.destination == whole.destination);
  return 0;
}
