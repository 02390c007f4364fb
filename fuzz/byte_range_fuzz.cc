// http/value/range.h: Range fields, against a reading that marks every byte. The first byte is the size of what is
// asked for, the second how many ranges are taken.

#include "fuzz/expect.h"
#include "violet/base/ascii.h"
#include "violet/http/value/range.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace violet;

struct Slow {
  bool is_malformed = false;
  std::size_t asked = 0;
  std::vector<bool> wanted;
};

// Digits, as a number that stops growing at a million: no size here is larger.
bool number(const std::string& text, std::uint64_t& value) {
  value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    value = std::min<std::uint64_t>(value * 10 + static_cast<std::uint64_t>(c - '0'), 1'000'000);
  }
  return !text.empty();
}

Slow read(std::string_view set, std::uint64_t size) {
  Slow slow;
  slow.wanted.resize(size);
  for (;;) {
    const std::string member(ascii::next_member(set));
    if (member.empty()) return slow;
    ++slow.asked;
    const std::size_t dash = member.find('-');
    std::uint64_t first = 0;
    std::uint64_t last = 1'000'000;
    const std::string left = dash == std::string::npos ? "x" : member.substr(0, dash);
    const std::string right = dash == std::string::npos ? "x" : member.substr(dash + 1);
    if (left.empty()) {
      std::uint64_t suffix = 0;
      slow.is_malformed |= !number(right, suffix);
      first = suffix < size ? size - suffix : 0;
      if (suffix == 0) continue;
    } else {
      slow.is_malformed |= !number(left, first) || (!right.empty() && !number(right, last));
      // Beyond a million two numbers look the same here; which is the larger does not matter to any size.
      slow.is_malformed |= last < first;
    }
    if (slow.is_malformed) return slow;
    for (std::uint64_t i = first; i < size && i <= last; ++i) slow.wanted[i] = true;
  }
}

bool has_huge_number(std::string_view text) {
  std::size_t digits = 0;
  for (const char c : text) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > 5) return true;
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::uint64_t length = data[0] * std::uint64_t{7};
  const std::size_t most = data[1] % 20;
  const std::string_view value(reinterpret_cast<const char*>(data) + 2, size - 2);
  std::vector<http::ByteRange> out(most);
  std::size_t count = 99;
  const http::RangeVerdict verdict = http::parse_range(value, length, out, count);
  EXPECT(count <= most);
  EXPECT((verdict == http::RangeVerdict::Some) == (count > 0) || verdict == http::RangeVerdict::Whole);
  if (verdict == http::RangeVerdict::Unsatisfiable) EXPECT(length > 0);
  if (verdict == http::RangeVerdict::Some) {
    // Inside, not empty, apart from each other.
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT(out[i].first <= out[i].last && out[i].last < length);
      for (std::size_t j = 0; j < i; ++j) {
        EXPECT(out[i].first > out[j].last + http::kRangeGap || out[j].first > out[i].last + http::kRangeGap);
      }
    }
  }
  const std::size_t equals = value.find('=');
  if (equals == std::string_view::npos || !ascii::equal_folded(value.substr(0, equals), "bytes")) {
    EXPECT(verdict == http::RangeVerdict::Whole);
    return 0;
  }
  if (has_huge_number(value)) return 0;
  const Slow slow = read(value.substr(equals + 1), length);
  if (slow.is_malformed || slow.asked == 0 || slow.asked > most) {
    EXPECT(verdict == http::RangeVerdict::Whole);
    return 0;
  }
  const bool wants_any = std::find(slow.wanted.begin(), slow.wanted.end(), true) != slow.wanted.end();
  EXPECT((verdict == http::RangeVerdict::Some) == wants_any);
  // Everything that is wanted is sent, and nothing else but the gaps that were closed.
  for (std::uint64_t i = 0; i < length && wants_any; ++i) {
    bool is_sent = false;
    for (std::size_t j = 0; j < count; ++j) is_sent |= i >= out[j].first && i <= out[j].last;
    EXPECT(is_sent || !slow.wanted[i]);
    if (!is_sent || slow.wanted[i]) continue;
    const auto near = [&](std::uint64_t step) {
      for (std::uint64_t k = 1; k <= http::kRangeGap; ++k) {
        const std::uint64_t at = i + (step == 1 ? k : 0 - k);
        if (at < length && slow.wanted[at]) return true;
      }
      return false;
    };
    EXPECT(near(1) && near(0));
  }
  return 0;
}
