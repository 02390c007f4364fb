#include "violet/http/date.h"

#include <gtest/gtest.h>

#include <ctime>
#include <random>
#include <string>

namespace violet::http {
namespace {

std::string formatted(std::int64_t seconds) {
  char text[kDateBytes];
  format_date(seconds, text);
  return std::string(text, sizeof text);
}

std::string with_strftime(std::int64_t seconds, const char* format) {
  const std::time_t time = seconds;
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  char text[64];
  return std::string(text, std::strftime(text, sizeof text, format, &parts));
}

TEST(Date, AgreesWithTheCLibrary) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 200'000; ++i) {
    // The years 1000 to 9999, where strftime writes four digits.
    const auto seconds = static_cast<std::int64_t>(random() % 284'000'000'000ull) - 30'610'224'000ll;
    const std::string text = formatted(seconds);
    ASSERT_EQ(text, with_strftime(seconds, "%a, %d %b %Y %H:%M:%S GMT")) << seconds;
    ASSERT_EQ(parse_date(text, 0), seconds) << text;
    ASSERT_EQ(parse_date(with_strftime(seconds, "%a %b %e %H:%M:%S %Y"), 0), seconds);
  }
}

TEST(Date, EveryDayOfFourCenturies) {
  for (std::int64_t day = -40'000; day < 110'000; ++day) {
    const std::int64_t seconds = day * 86'400 + 86'399;
    ASSERT_EQ(formatted(seconds), with_strftime(seconds, "%a, %d %b %Y %H:%M:%S GMT"));
  }
}

TEST(Date, ReadsAllThreeForms) {
  constexpr std::int64_t kExpected = 784'111'777;
  constexpr std::int64_t kNow = 1'700'000'000;
  EXPECT_EQ(parse_date("Sun, 06 Nov 1994 08:49:37 GMT", kNow), kExpected);
  EXPECT_EQ(parse_date("Sunday, 06-Nov-94 08:49:37 GMT", kNow), kExpected);
  EXPECT_EQ(parse_date("Sun Nov  6 08:49:37 1994", kNow), kExpected);
  EXPECT_EQ(formatted(kExpected), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(parse_date("Thu, 01 Jan 1970 00:00:60 GMT", kNow), 60) << "a leap second";
}

TEST(Date, ATwoDigitYearIsNeverMoreThanFiftyYearsAhead) {
  constexpr std::int64_t k2023 = 1'700'000'000;
  const auto year = [](const char* text) {
    const auto seconds = parse_date(text, k2023);
    return seconds ? with_strftime(*seconds, "%Y") : "";
  };
  EXPECT_EQ(year("Friday, 01-Jan-23 00:00:00 GMT"), "2023");
  EXPECT_EQ(year("Friday, 01-Jan-73 00:00:00 GMT"), "2073");
  EXPECT_EQ(year("Friday, 01-Jan-74 00:00:00 GMT"), "1974");
  EXPECT_EQ(year("Friday, 01-Jan-99 00:00:00 GMT"), "1999");
}

TEST(Date, RefusesEverythingElse) {
  for (const char* text : {"",
                           " ",
                           "Sun",
                           "Sun, ",
                           "Sun, 06 Nov 1994 08:49:37",
                           "Sun, 06 Nov 1994 08:49:37 UTC",
                           "Sun, 06 Nov 1994 08:49:37 GMT ",
                           " Sun, 06 Nov 1994 08:49:37 GMT",
                           "Sun, 6 Nov 1994 08:49:37 GMT",
                           "Sun,06 Nov 1994 08:49:37 GMT",
                           "Sun, 06 nov 1994 08:49:37 GMT",
                           "sun, 06 Nov 1994 08:49:37 GMT",
                           "Son, 06 Nov 1994 08:49:37 GMT",
                           "Sun, 06 Nov 94 08:49:37 GMT",
                           "Sun, 06 Nov 1994 8:49:37 GMT",
                           "Sun, 06 Nov 1994 24:00:00 GMT",
                           "Sun, 06 Nov 1994 08:60:37 GMT",
                           "Sun, 06 Nov 1994 08:49:61 GMT",
                           "Sun, 00 Nov 1994 08:49:37 GMT",
                           "Sun, 31 Nov 1994 08:49:37 GMT",
                           "Sun, 29 Feb 1900 08:49:37 GMT",
                           "Sun, 30 Feb 2000 08:49:37 GMT",
                           "Sun, 06 Nov 1994 08:49:37 +000",
                           "Sun, -6 Nov 1994 08:49:37 GMT",
                           "Sun, 06-Nov-94 08:49:37 GMT",
                           "Sunday, 06 Nov 1994 08:49:37 GMT",
                           "Sunday, 06-Nov-1994 08:49:37 GMT",
                           "Someday, 06-Nov-94 08:49:37 GMT",
                           "Sun Nov 6 08:49:37 1994",
                           "Sun Nov  6 08:49:37 1994 GMT",
                           "Sun Nov  6 08:49:37 94",
                           "Sun, 06 Nov 1994 08:49:37 GMT\r",
                           "1994-11-06T08:49:37Z",
                           "784111777",
                           ",",
                           ",,,,",
                           "Sun,",
                           "Sunday,",
                           "Sun Nov"}) {
    EXPECT_FALSE(parse_date(text, 1'700'000'000)) << text;
  }
  EXPECT_TRUE(parse_date("Tue, 29 Feb 2000 08:49:37 GMT", 0));
}

TEST(Date, AnyBytesAreSafe) {
  std::mt19937 random(1);
  const std::string base = "Sun, 06 Nov 1994 08:49:37 GMT";
  for (int i = 0; i < 100'000; ++i) {
    std::string text = base;
    for (int k = 0; k < 3; ++k) text[random() % text.size()] = static_cast<char>(random());
    text.resize(random() % (text.size() + 1));
    static_cast<void>(parse_date(text, static_cast<std::int64_t>(random())));
  }
}

TEST(Date, ClampsToFourDigitYears) {
  EXPECT_EQ(formatted(std::int64_t{1} << 60), "Fri, 31 Dec 9999 23:59:59 GMT");
  EXPECT_EQ(formatted(-(std::int64_t{1} << 60)), "Sat, 01 Jan 0000 00:00:00 GMT");
}

TEST(DateLine, ChangesWithTheSecond) {
  DateLine line;
  EXPECT_EQ(line.at(784'111'777), "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
  EXPECT_EQ(line.at(784'111'778), "Date: Sun, 06 Nov 1994 08:49:38 GMT\r\n");
  EXPECT_EQ(line.value_at(784'111'777), "Sun, 06 Nov 1994 08:49:37 GMT");
}

}  // namespace
}  // namespace violet::http
