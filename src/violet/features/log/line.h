#pragma once

// Line: one line of the access log as it is put together, in memory of its loop. What does not fit is left out; the
// parts are bounded so that everything fits.

#include "violet/base/address.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace violet::access {

// What one line tells.
struct Entry {
  std::int64_t time_us = 0;  // since 1970
  Address peer;
  std::string_view id;
  std::string_view method;
  std::string_view path;
  std::string_view query;
  std::string_view protocol;
  std::string_view route;
  int status = 0;
  std::uint64_t bytes = 0;  // of the body
  std::uint64_t duration_us = 0;
  bool is_complete = true;
};

class Line {
 public:
  static constexpr std::size_t kTextMax = 1024;  // of path and query; others are shorter
  static constexpr std::size_t kBytes = 16 * 1024;

  // With the newline; valid until the next one is made.
  [[nodiscard]] std::string_view text(const Entry& entry) noexcept;
  [[nodiscard]] std::string_view json(const Entry& entry) noexcept;

 private:
  void put(std::string_view clean) noexcept;
  void put_number(std::uint64_t number) noexcept;
  void put_time(std::int64_t time_us) noexcept;
  void put_host(const Address& address) noexcept;
  // Seconds with six digits behind the point.
  void put_seconds(std::uint64_t us) noexcept;
  // At most `max` bytes of it; what is no printable ASCII, and quotes, behind `escape` in hexadecimal.
  void put_escaped(std::string_view hostile, std::size_t max, std::string_view escape) noexcept;
  void put_member(std::string_view name, std::string_view hostile, std::size_t max) noexcept;
  std::string_view end() noexcept;

  char* at_ = buffer_;
  std::int64_t second_ = -1;
  char second_text_[20] = {};  // "2026-01-31T23:59:59"
  char buffer_[kBytes];
};

}  // namespace violet::access
