#include "violet/data/format/time.h"

#include <algorithm>

namespace violet::data {
namespace {

constexpr std::int64_t kDaySeconds = 86'400;
constexpr std::int64_t kMinDays = -719'528;   // 0000-01-01
constexpr std::int64_t kMaxDays = 2'932'896;  // 9999-12-31

bool is_leap(std::int64_t year) noexcept { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

int month_days(std::int64_t year, int month) noexcept {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap(year) ? 29 : kDays[month - 1];
}

// Years counted from March, so that the leap day is the last of its year.
std::int64_t days_of(std::int64_t year, int month, int day) noexcept {
  year -= month <= 2;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const std::int64_t year_of_era = year - era * 400;
  const std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146'097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719'468;
}

struct Date {
  std::int64_t year;
  int month;
  int day;
};
Date date_of(std::int64_t days) noexcept {
  days += 719'468;
  const std::int64_t era = (days >= 0 ? days : days - 146'096) / 146'097;
  const std::int64_t day_of_era = days - era * 146'097;
  const std::int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t shifted = (5 * day_of_year + 2) / 153;
  const int month = static_cast<int>(shifted < 10 ? shifted + 3 : shifted - 9);
  return {year_of_era + era * 400 + (month <= 2), month, static_cast<int>(day_of_year - (153 * shifted + 2) / 5 + 1)};
}

class Cursor {
 public:
  explicit Cursor(std::string_view text) noexcept : text_(text) {}
  // Exactly `count` digits.
  int digits(int count) noexcept {
    int value = 0;
    for (int i = 0; i < count; ++i) {
      if (text_.empty() || text_.front() < '0' || text_.front() > '9') {
        is_good_ = false;
        return 0;
      }
      value = value * 10 + (text_.front() - '0');
      text_.remove_prefix(1);
    }
    return value;
  }
  bool take(std::string_view any_of) noexcept {
    if (text_.empty() || any_of.find(text_.front()) == std::string_view::npos) return false;
    text_.remove_prefix(1);
    return true;
  }
  void need(std::string_view any_of) noexcept { is_good_ = take(any_of) && is_good_; }
  void check(bool holds) noexcept { is_good_ = is_good_ && holds; }
  [[nodiscard]] char front() const noexcept { return text_.empty() ? '\0' : text_.front(); }
  [[nodiscard]] bool is_good() const noexcept { return is_good_; }
  [[nodiscard]] bool is_done() const noexcept { return is_good_ && text_.empty(); }

 private:
  std::string_view text_;
  bool is_good_ = true;
};

std::int64_t take_date(Cursor& cursor) noexcept {
  const int year = cursor.digits(4);
  cursor.need("-");
  const int month = cursor.digits(2);
  cursor.need("-");
  const int day = cursor.digits(2);
  cursor.check(month >= 1 && month <= 12);
  if (!cursor.is_good()) return 0;
  cursor.check(day >= 1 && day <= month_days(year, month));
  return days_of(year, month, day);
}

std::uint32_t take_fraction(Cursor& cursor) noexcept {
  if (!cursor.take(".")) return 0;
  std::uint32_t value = 0;
  int count = 0;
  cursor.check(cursor.front() >= '0' && cursor.front() <= '9');
  while (cursor.is_good() && cursor.front() >= '0' && cursor.front() <= '9') {
    const int digit = cursor.digits(1);
    if (count < 9) value = value * 10 + static_cast<std::uint32_t>(digit);
    ++count;
  }
  for (; count < 9; ++count) value *= 10;
  return value;
}

// Seconds that the zone is ahead.
std::int64_t take_zone(Cursor& cursor) noexcept {
  if (cursor.take("Zz")) return 0;
  const bool is_behind = cursor.front() == '-';
  cursor.need("+-");
  const int hours = cursor.digits(2);
  cursor.need(":");
  const int minutes = cursor.digits(2);
  cursor.check(hours <= 23 && minutes <= 59);
  return (is_behind ? -1 : 1) * (hours * 3600 + minutes * 60);
}

char* put(char* out, std::int64_t value, int digits) noexcept {
  for (int i = digits; i-- > 0; value /= 10) out[i] = static_cast<char>('0' + value % 10);
  return out + digits;
}

char* put_date(char* out, std::int64_t days) noexcept {
  const Date date = date_of(days);
  out = put(out, date.year, 4);
  *out++ = '-';
  out = put(out, date.month, 2);
  *out++ = '-';
  return put(out, date.day, 2);
}

}  // namespace

std::optional<Instant> read_time(std::string_view text) noexcept {
  Cursor cursor(text);
  const std::int64_t days = take_date(cursor);
  cursor.need("Tt ");
  const int hour = cursor.digits(2);
  cursor.need(":");
  const int minute = cursor.digits(2);
  cursor.need(":");
  const int second = cursor.digits(2);
  cursor.check(hour <= 23 && minute <= 59 && second <= 60);
  const std::uint32_t nanoseconds = take_fraction(cursor);
  const std::int64_t ahead = take_zone(cursor);
  if (!cursor.is_done()) return std::nullopt;
  return Instant{days * kDaySeconds + hour * 3600 + minute * 60 + std::min(second, 59) - ahead, nanoseconds};
}

std::optional<std::int64_t> read_date(std::string_view text) noexcept {
  Cursor cursor(text);
  const std::int64_t days = take_date(cursor);
  if (!cursor.is_done()) return std::nullopt;
  return days;
}

std::size_t write_date(std::int64_t days, char* out) noexcept {
  if (days < kMinDays || days > kMaxDays) return 0;
  return static_cast<std::size_t>(put_date(out, days) - out);
}

std::size_t write_time(Instant instant, int digits, char* out) noexcept {
  std::int64_t days = instant.seconds / kDaySeconds;
  std::int64_t second = instant.seconds % kDaySeconds;
  if (second < 0) {
    second += kDaySeconds;
    --days;
  }
  if (days < kMinDays || days > kMaxDays) return 0;
  char* const first = out;
  out = put_date(out, days);
  *out++ = 'T';
  out = put(out, second / 3600, 2);
  *out++ = ':';
  out = put(out, second / 60 % 60, 2);
  *out++ = ':';
  out = put(out, second % 60, 2);
  if (digits > 0) {
    std::uint32_t fraction = instant.nanoseconds;
    for (int i = digits; i < 9; ++i) fraction /= 10;
    *out++ = '.';
    out = put(out, fraction, digits);
  }
  *out++ = 'Z';
  return static_cast<std::size_t>(out - first);
}

}  // namespace violet::data
