#pragma once

// HTTP dates (RFC 9110 §5.6.7): "Sun, 06 Nov 1994 08:49:37 GMT". Written in one form, read in all three.

#include <cstdint>
#include <optional>
#include <string_view>

namespace violet::http {

inline constexpr std::size_t kDateBytes = 29;

// Writes kDateBytes characters. `seconds` since 1970, clamped to the years 0 to 9999.
void format_date(std::int64_t seconds, char* out) noexcept;

// IMF-fixdate, RFC 850 and asctime forms, always GMT. A two-digit year that looks more than 50 years ahead of `now` is
// in the past. nullopt for anything else.
std::optional<std::int64_t> parse_date(std::string_view text, std::int64_t now) noexcept;

// "Date: <29 characters>\r\n", formatted at most once a second; one per loop.
class DateLine {
 public:
  static constexpr std::size_t kBytes = 6 + kDateBytes + 2;

  [[nodiscard]] std::string_view at(std::int64_t seconds) noexcept {
    if (seconds != seconds_) [[unlikely]] {
      seconds_ = seconds;
      format_date(seconds, text_ + kPrefix);
    }
    return {text_, sizeof text_};
  }
  [[nodiscard]] std::string_view value_at(std::int64_t seconds) noexcept {
    return at(seconds).substr(kPrefix, kDateBytes);
  }

 private:
  static constexpr std::size_t kPrefix = 6;
  std::int64_t seconds_ = -1;
  char text_[kPrefix + kDateBytes + 2] = {'D', 'a', 't', 'e', ':', ' ', 0, 0, 0, 0, 0, 0,    0,   0, 0, 0, 0, 0, 0,
                                          0,   0,   0,   0,   0,   0,   0, 0, 0, 0, 0, 0,    0,   0, 0, 0, '\r', '\n'};
};

}  // namespace violet::http
