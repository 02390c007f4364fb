// The inflater of compressed WebSocket messages, with what a peer sends cut anywhere.
//
//   byte 0: window bits, whether the window is kept   byte 1: how the bytes are cut   the rest: messages, each behind
//   two bytes of its length
//
// What must hold: no assertion; the caps hold; any cut gives the same bytes and verdict; what zlib by itself inflates
// to something is inflated to the same; and what our deflater makes of it inflates to it again.

#include "fuzz/expect.h"
#include "violet/event/loop.h"
#include "violet/ws/deflate/deflate.h"
#include "violet/ws/pool/shared.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include <zlib.h>

namespace {

using namespace violet;
using Verdict = ws::Inflater::Verdict;

constexpr std::uint64_t kBytesMax = 100'000;

ws::Shared& shared() {
  static Loop loop;
  return loop.local<ws::Shared>();
}

struct Inflated {
  Verdict verdict = Verdict::Good;
  std::string text;
  friend bool operator==(const Inflated&, const Inflated&) = default;
};

Inflated inflate_message(ws::Inflater& inflater, std::string_view bytes, std::size_t step) {
  ws::Assembly out;
  Inflated result;
  const ws::Inflater::Caps caps{.bytes_max = kBytesMax, .ratio_max = 0};
  for (std::size_t at = 0; at < bytes.size() && result.verdict == Verdict::Good; at += step) {
    result.verdict = inflater.add(bytes.substr(at, step), caps, shared(), out);
    EXPECT(out.size <= kBytesMax + (result.verdict == Verdict::TooLarge ? 1 : 0));
  }
  if (result.verdict == Verdict::Good) result.verdict = inflater.finish(caps, shared(), out);
  EXPECT(out.size <= kBytesMax + (result.verdict == Verdict::TooLarge ? 1 : 0));
  if (result.verdict == Verdict::Good && out.size > 0) result.text.assign(out.buffer->data(), out.size);
  return result;
}

// zlib by itself on one message with a new window; nullopt: it is none, is too long, ends with a final block, or takes
// the four bytes behind it for data.
std::optional<std::string> inflate_by_zlib(std::string_view message, int bits) {
  std::string out(kBytesMax + 1, '\0');
  z_stream z{};
  EXPECT(inflateInit2(&z, -bits) == Z_OK);
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  bool is_whole = true;
  uInt left = z.avail_out;
  for (const std::string_view part : {message, std::string_view("\x00\x00\xff\xff", 4)}) {
    left = z.avail_out;
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
    z.avail_in = static_cast<uInt>(part.size());
    const int verdict = inflate(&z, Z_SYNC_FLUSH);
    is_whole = is_whole && (verdict == Z_OK || verdict == Z_BUF_ERROR) && z.avail_in == 0 && z.avail_out > 0;
  }
  is_whole = is_whole && left == z.avail_out && z.data_type == 128;
  out.resize(out.size() - z.avail_out);
  inflateEnd(&z);
  if (!is_whole) return std::nullopt;
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const int bits = 9 + data[0] % 7;
  const bool keeps = (data[0] & 0x80) != 0;
  const std::size_t step = data[1] == 0 ? 1 : data[1];
  std::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  ws::Inflater whole(bits);
  ws::Inflater cut(bits);
  for (bool is_first = true; rest.size() >= 2; is_first = false) {
    const std::size_t wanted = static_cast<std::uint8_t>(rest[0]) << 8 | static_cast<std::uint8_t>(rest[1]);
    const std::string_view message = rest.substr(2, wanted);
    rest.remove_prefix(2 + message.size());
    const Inflated at_once = inflate_message(whole, message, message.size() + 1);
    EXPECT(at_once == inflate_message(cut, message, step));
    if (is_first || !keeps) {
      const auto reference = inflate_by_zlib(message, bits);
      if (reference && !message.empty()) EXPECT(at_once.verdict == Verdict::Good && at_once.text == *reference);
    }
    if (at_once.verdict != Verdict::Good) return 0;
    ws::Deflater deflater(bits, 1);
    ws::Assembly packed;
    deflater.add(at_once.text, true, shared(), packed);
    ws::Inflater other(bits);
    EXPECT(inflate_message(other, {packed.buffer->data(), packed.size}, step).text == at_once.text);
    if (!keeps) {
      whole.reset();
      cut.reset();
    }
  }
  return 0;
}
