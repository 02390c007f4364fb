// http/date.h: the first byte chooses between reading a date from the bytes and writing one of the seconds in them.

#include "violet/http/date.h"

#include "fuzz/expect.h"

#include <cstdint>
#include <cstring>
#include <ctime>
#include <string_view>

namespace {

constexpr std::int64_t kFirst = -62167219200;  // the year 0
constexpr std::int64_t kLast = 253402300799;   // the last second of 9999

std::string_view format(std::int64_t seconds, char (&out)[violet::http::kDateBytes]) {
  violet::http::format_date(seconds, out);
  return {out, sizeof out};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace violet::http;
  if (size < 9) return 0;
  std::int64_t number;
  std::memcpy(&number, data + 1, sizeof number);
  char text[kDateBytes];
  if ((data[0] & 1) != 0) {
    const std::int64_t seconds = kFirst + static_cast<std::int64_t>(static_cast<std::uint64_t>(number) %
                                                                    static_cast<std::uint64_t>(kLast - kFirst + 1));
    format_date(number, text);  // any number at all
    const std::string_view written = format(seconds, text);
    EXPECT(parse_date(written, 0) == seconds);
    // The C library is the oracle where its years begin.
    const std::time_t time = seconds;
    std::tm parts{};
    EXPECT(gmtime_r(&time, &parts) != nullptr);
    char expected[64];
    if (parts.tm_year >= -900) {
      EXPECT(std::strftime(expected, sizeof expected, "%a, %d %b %Y %H:%M:%S GMT", &parts) == kDateBytes);
      EXPECT(written == std::string_view(expected, kDateBytes));
    }
    return 0;
  }
  const std::string_view input(reinterpret_cast<const char*>(data) + 9, size - 9);
  const auto now = static_cast<std::int64_t>(static_cast<std::uint64_t>(number) % static_cast<std::uint64_t>(kLast));
  if (const auto seconds = parse_date(input, now)) {
    // Two digits of a year may stand for one up to 50 years ahead.
    EXPECT(*seconds >= kFirst && *seconds <= kLast + 51LL * 366 * 86400);
    if (*seconds <= kLast) EXPECT(parse_date(format(*seconds, text), now) == *seconds);
  }
  return 0;
}
