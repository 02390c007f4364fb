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

// "Date: <29 characters>\r\n", formatted at most once a second; one per loop. Behind the status line that most answers
// have, so that both are one copy.
class DateLine {
 public:
  static constexpr std::size_t kStatusBytes = 17;                 // "HTTP/1.1 200 OK\r\n"
  static constexpr std::size_t kBytes = 6 + kDateBytes + 2;       // the Date line
  static constexpr std::size_t kOkBytes = kStatusBytes + kBytes;  // both

  [[nodiscard]] std::string_view at(std::int64_t seconds) noexcept { return ok_at(seconds).substr(kStatusBytes); }
  [[nodiscard]] std::string_view ok_at(std::int64_t seconds) noexcept {
    if (seconds != seconds_) [[unlikely]] {
      seconds_ = seconds;
      format_date(seconds, text_ + kStatusBytes + kName);
    }
    return {text_, kOkBytes};
  }
  // The date alone.
  [[nodiscard]] std::string_view value_at(std::int64_t seconds) noexcept {
    return at(seconds).substr(kName, kDateBytes);
  }

 private:
  static constexpr std::size_t kName = 6;  // "Date: "
  std::int64_t seconds_ = -1;
  char text_[kOkBytes + 1] = "HTTP/1.1 200 OK\r\nDate: -----------------------------\r\n";
};

}  // namespace violet::http
