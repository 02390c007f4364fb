#include "violet/http/date.h"

#include <cstring>

namespace violet::http {
namespace {

constexpr std::string_view kDays = "SunMonTueWedThuFriSat";
constexpr std::string_view kLongDays[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
constexpr std::int64_t kDaySeconds = 86400;

// Days since 1970-01-01 of a proleptic Gregorian date, and back; eras of 400 years, years that begin in March.
constexpr std::int64_t days_of(std::int64_t year, int month, int day) {
  year -= month <= 2;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const std::int64_t year_of_era = year - era * 400;
  const std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

struct Civil {
  std::int64_t year;
  int month;
  int day;
};
constexpr Civil civil_of(std::int64_t days) {
  days += 719468;
  const std::int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const std::int64_t day_of_era = days - era * 146097;
  const std::int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const std::int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t shifted = (5 * day_of_year + 2) / 153;
  const int month = static_cast<int>(shifted < 10 ? shifted + 3 : shifted - 9);
  return {year_of_era + era * 400 + (month <= 2), month, static_cast<int>(day_of_year - (153 * shifted + 2) / 5 + 1)};
}

char* put(char* out, std::int64_t value, int digits) {
  for (int i = digits - 1; i >= 0; --i, value /= 10) out[i] = static_cast<char>('0' + value % 10);
  return out + digits;
}
char* put(char* out, std::string_view text) {
  std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

// Reads pieces off the front; after the first mismatch everything fails.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}
  bool literal(std::string_view text) {
    if (!rest_.starts_with(text)) return is_good_ = false;
    rest_.remove_prefix(text.size());
    return is_good_;
  }
  int number(std::size_t digits) {
    if (rest_.size() < digits) return fail();
    int value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      if (rest_[i] < '0' || rest_[i] > '9') return fail();
      value = value * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(digits);
    return value;
  }
  // The index of the next three letters in a table of three-letter names.
  int name_of(std::string_view table) {
    if (rest_.size() < 3) return fail();
    for (std::size_t i = 0; i < table.size(); i += 3) {
      if (rest_.substr(0, 3) == table.substr(i, 3)) {
        rest_.remove_prefix(3);
        return static_cast<int>(i / 3);
      }
    }
    return fail();
  }
  bool is_done() const { return is_good_ && rest_.empty(); }
  bool is_good() const { return is_good_; }
  std::string_view rest() const { return rest_; }

 private:
  int fail() {
    is_good_ = false;
    return 0;
  }
  std::string_view rest_;
  bool is_good_ = true;
};

struct Time {
  int hour, minute, second;
};
Time read_time(Reader& reader) {
  Time time{};
  time.hour = reader.number(2);
  reader.literal(":");
  time.minute = reader.number(2);
  reader.literal(":");
  time.second = reader.number(2);
  return time;
}

std::optional<std::int64_t> seconds_of(std::int64_t year, int month, int day, Time time) {
  // A leap second is allowed on the wire (RFC 9110 §5.6.7) and counts as the next minute's first.
  if (month < 1 || month > 12 || day < 1 || time.hour > 23 || time.minute > 59 || time.second > 60) return std::nullopt;
  constexpr int kLengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  if (day > kLengths[month - 1] + (month == 2 && is_leap ? 1 : 0)) return std::nullopt;
  return days_of(year, month, day) * kDaySeconds + time.hour * 3600 + time.minute * 60 + time.second;
}

}  // namespace

void format_date(std::int64_t seconds, char* out) noexcept {
  constexpr std::int64_t kFirst = days_of(0, 1, 1) * kDaySeconds;
  constexpr std::int64_t kLast = days_of(10000, 1, 1) * kDaySeconds - 1;
  if (seconds < kFirst) seconds = kFirst;
  if (seconds > kLast) seconds = kLast;
  std::int64_t days = seconds / kDaySeconds;
  std::int64_t rest = seconds % kDaySeconds;
  if (rest < 0) {
    rest += kDaySeconds;
    --days;
  }
  const Civil civil = civil_of(days);
  const std::int64_t weekday = ((days + 4) % 7 + 7) % 7;
  out = put(out, kDays.substr(static_cast<std::size_t>(weekday) * 3, 3));
  out = put(out, ", ");
  out = put(out, civil.day, 2);
  *out++ = ' ';
  out = put(out, kMonths.substr(static_cast<std::size_t>(civil.month - 1) * 3, 3));
  *out++ = ' ';
  out = put(out, civil.year, 4);
  *out++ = ' ';
  out = put(out, rest / 3600, 2);
  *out++ = ':';
  out = put(out, rest / 60 % 60, 2);
  *out++ = ':';
  out = put(out, rest % 60, 2);
  put(out, " GMT");
}

std::optional<std::int64_t> parse_date(std::string_view text, std::int64_t now) noexcept {
  Reader reader(text);
  const std::size_t comma = text.find(',');
  if (comma == 3) {  // "Sun, 06 Nov 1994 08:49:37 GMT"
    reader.name_of(kDays);
    reader.literal(", ");
    const int day = reader.number(2);
    reader.literal(" ");
    const int month = reader.name_of(kMonths) + 1;
    reader.literal(" ");
    const int year = reader.number(4);
    reader.literal(" ");
    const Time time = read_time(reader);
    reader.literal(" GMT");
    return reader.is_done() ? seconds_of(year, month, day, time) : std::nullopt;
  }
  if (comma != std::string_view::npos) {  // "Sunday, 06-Nov-94 08:49:37 GMT"
    bool is_day = false;
    for (std::string_view name : kLongDays) is_day = is_day || text.substr(0, comma) == name;
    if (!is_day) return std::nullopt;
    reader.literal(text.substr(0, comma));
    reader.literal(", ");
    const int day = reader.number(2);
    reader.literal("-");
    const int month = reader.name_of(kMonths) + 1;
    reader.literal("-");
    const int two = reader.number(2);
    reader.literal(" ");
    const Time time = read_time(reader);
    reader.literal(" GMT");
    if (!reader.is_done()) return std::nullopt;
    const std::int64_t this_year = civil_of(now / kDaySeconds).year;
    std::int64_t year = this_year / 100 * 100 + two;
    if (year > this_year + 50) year -= 100;
    return seconds_of(year, month, day, time);
  }
  reader.name_of(kDays);  // "Sun Nov  6 08:49:37 1994"
  reader.literal(" ");
  const int month = reader.name_of(kMonths) + 1;
  reader.literal(" ");
  int day = 0;
  if (reader.rest().starts_with(' ')) {
    reader.literal(" ");
    day = reader.number(1);
  } else {
    day = reader.number(2);
  }
  reader.literal(" ");
  const Time time = read_time(reader);
  reader.literal(" ");
  const int year = reader.number(4);
  return reader.is_done() ? seconds_of(year, month, day, time) : std::nullopt;
}

}  // namespace violet::http
