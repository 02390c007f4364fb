#include "violet/http/value/range.h"

#include "violet/base/ascii.h"
#include "violet/base/check.h"

#include <algorithm>

namespace violet::http {
namespace {

constexpr std::uint64_t kFar = ~std::uint64_t{0};

// Digits only; what does not fit is kFar, which is beyond any end. False: no number.
bool read_number(std::string_view text, std::uint64_t& value) noexcept {
  if (text.empty() || !ascii::all_are(text, ascii::kDigit)) return false;
  value = ascii::to_number<std::uint64_t>(text).value_or(kFar);
  return true;
}

enum class Spec : std::uint8_t { Malformed, Beyond, Good };

// "0-499", "500-", "-500".
Spec parse_spec(std::string_view text, std::uint64_t size, ByteRange& out) noexcept {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return Spec::Malformed;
  const std::string_view left = text.substr(0, dash);
  const std::string_view right = text.substr(dash + 1);
  std::uint64_t first = 0;
  std::uint64_t last = kFar;
  if (left.empty()) {
    std::uint64_t suffix = 0;
    if (!read_number(right, suffix)) return Spec::Malformed;
    if (suffix == 0) return Spec::Beyond;
    first = suffix < size ? size - suffix : 0;
  } else {
    if (!read_number(left, first)) return Spec::Malformed;
    if (!right.empty() && !read_number(right, last)) return Spec::Malformed;
    if (last < first) return Spec::Malformed;
  }
  if (first >= size) return Spec::Beyond;
  out = {first, std::min(last, size - 1)};
  return Spec::Good;
}

bool is_near(const ByteRange& a, const ByteRange& b) noexcept {
  if (a.first > b.first) return is_near(b, a);
  return b.first <= a.last || b.first - a.last <= kRangeGap;
}

// Adds a range in its place: where the first one stands that it belongs to, otherwise at the end.
void add(std::span<ByteRange> out, std::size_t& count, ByteRange range) noexcept {
  std::size_t place = count;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (is_near(out[i], range)) {
      range = {std::min(range.first, out[i].first), std::max(range.last, out[i].last)};
      if (place == count) place = kept++;
    } else {
      out[kept++] = out[i];
    }
  }
  if (place == count) place = kept++;
  out[place] = range;
  count = kept;
}

// A range that has grown may have reached others that stood before it was looked at.
void settle(std::span<ByteRange> out, std::size_t& count) noexcept {
  for (std::size_t before = count + 1; before != count;) {
    before = count;
    const std::size_t all = count;
    count = 0;
    for (std::size_t i = 0; i < all; ++i) add(out, count, ByteRange(out[i]));
  }
}

}  // namespace

RangeVerdict parse_range(std::string_view value, std::uint64_t size, std::span<ByteRange> out,
                         std::size_t& count) noexcept {
  count = 0;
  const std::size_t equals = value.find('=');
  if (equals == std::string_view::npos || !ascii::equal_folded(value.substr(0, equals), "bytes")) {
    return RangeVerdict::Whole;
  }
  std::string_view rest = value.substr(equals + 1);
  std::size_t asked = 0;
  for (;;) {
    const std::string_view member = ascii::next_member(rest);
    if (member.empty()) break;
    ByteRange range;
    const Spec spec = parse_spec(member, size, range);
    if (spec == Spec::Malformed || ++asked > out.size()) return RangeVerdict::Whole;
    if (spec == Spec::Good) add(out, count, range);
  }
  settle(out, count);
  if (asked == 0) return RangeVerdict::Whole;
  if (count > 0) return RangeVerdict::Some;
  // Nothing of nothing: an empty representation has no Content-Range to be told by, so it is sent whole.
  return size == 0 ? RangeVerdict::Whole : RangeVerdict::Unsatisfiable;
}

}  // namespace violet::http
