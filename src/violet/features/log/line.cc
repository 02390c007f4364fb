#include "violet/features/log/line.h"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <cstring>
#include <ctime>

namespace violet::access {
namespace {

constexpr std::size_t kIdMax = 128;
constexpr std::size_t kMethodMax = 32;
constexpr std::size_t kRouteMax = 256;
constexpr std::string_view kTextEscape = "\\x";
constexpr std::string_view kJsonEscape = "\\u00";
// Each byte of a peer's grows to "\u00ff" at most; the rest of a line is less than a KiB.
static_assert((2 * Line::kTextMax + kIdMax + kMethodMax + kRouteMax) * 6 + 1024 <= Line::kBytes);

bool is_plain(char c) noexcept { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

}  // namespace

std::string_view Line::text(const Entry& entry) noexcept {
  at_ = buffer_;
  put_time(entry.time_us);
  put(" ");
  put_host(entry.peer);
  put(" \"");
  put_escaped(entry.method, kMethodMax, kTextEscape);
  put(" ");
  put_escaped(entry.path, kTextMax, kTextEscape);
  if (!entry.query.empty()) put("?");
  put_escaped(entry.query, kTextMax, kTextEscape);
  put(" ");
  put(entry.protocol);
  put("\" ");
  put_number(static_cast<std::uint64_t>(entry.status));
  put(" ");
  put_number(entry.bytes);
  put(" ");
  put_seconds(entry.duration_us);
  put(" \"");
  put_escaped(entry.route, kRouteMax, kTextEscape);
  put(entry.is_complete ? "\" complete " : "\" cut ");
  put_escaped(entry.id.empty() ? "-" : entry.id, kIdMax, kTextEscape);
  return end();
}

std::string_view Line::json(const Entry& entry) noexcept {
  at_ = buffer_;
  put("{\"time\":\"");
  put_time(entry.time_us);
  put("\",\"peer\":\"");
  put_host(entry.peer);
  put("\"");
  put_member("method", entry.method, kMethodMax);
  put_member("path", entry.path, kTextMax);
  if (!entry.query.empty()) put_member("query", entry.query, kTextMax);
  put_member("protocol", entry.protocol, kMethodMax);
  put_member("route", entry.route, kRouteMax);
  put(",\"status\":");
  put_number(static_cast<std::uint64_t>(entry.status));
  put(",\"bytes\":");
  put_number(entry.bytes);
  put(",\"seconds\":");
  put_seconds(entry.duration_us);
  put(entry.is_complete ? ",\"complete\":true" : ",\"complete\":false");
  if (!entry.id.empty()) put_member("id", entry.id, kIdMax);
  put("}");
  return end();
}

void Line::put(std::string_view clean) noexcept {
  const std::size_t room = static_cast<std::size_t>(buffer_ + kBytes - at_);
  const std::size_t size = std::min(clean.size(), room);
  std::memcpy(at_, clean.data(), size);
  at_ += size;
}

void Line::put_number(std::uint64_t number) noexcept { at_ = std::to_chars(at_, buffer_ + kBytes, number).ptr; }

void Line::put_time(std::int64_t time_us) noexcept {
  if (const std::int64_t second = time_us / 1'000'000; second != second_) {
    second_ = second;
    const auto time = static_cast<std::time_t>(second);
    std::tm utc{};
    ::gmtime_r(&time, &utc);
    static_cast<void>(std::strftime(second_text_, sizeof second_text_, "%Y-%m-%dT%H:%M:%S", &utc));
  }
  put({second_text_, sizeof second_text_ - 1});
  const auto ms = static_cast<unsigned>(time_us / 1000 % 1000);
  const char digits[] = {'.', static_cast<char>('0' + ms / 100), static_cast<char>('0' + ms / 10 % 10),
                         static_cast<char>('0' + ms % 10), 'Z'};
  put({digits, sizeof digits});
}

void Line::put_host(const Address& address) noexcept {
  if (address.family == Address::Family::Unix) return put("unix");
  if (address.family == Address::Family::None) return put("-");
  char text[INET6_ADDRSTRLEN];
  ::inet_ntop(address.family == Address::Family::Ipv4 ? AF_INET : AF_INET6, address.bytes.data(), text, sizeof text);
  put(text);
}

void Line::put_seconds(std::uint64_t us) noexcept {
  put_number(us / 1'000'000);
  char digits[7] = {'.'};
  std::uint64_t rest = us % 1'000'000;
  for (int i = 6; i > 0; --i, rest /= 10) digits[i] = static_cast<char>('0' + rest % 10);
  put({digits, sizeof digits});
}

void Line::put_escaped(std::string_view hostile, std::size_t max, std::string_view escape) noexcept {
  hostile = hostile.substr(0, max);
  for (std::size_t begin = 0; begin < hostile.size();) {
    std::size_t next = begin;
    while (next < hostile.size() && is_plain(hostile[next])) ++next;
    put(hostile.substr(begin, next - begin));
    if (next == hostile.size()) return;
    const auto byte = static_cast<unsigned char>(hostile[next]);
    const char hex[] = {"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
    put(escape);
    put({hex, sizeof hex});
    begin = next + 1;
  }
}

void Line::put_member(std::string_view name, std::string_view hostile, std::size_t max) noexcept {
  put(",\"");
  put(name);
  put("\":\"");
  put_escaped(hostile, max, kJsonEscape);
  put("\"");
}

std::string_view Line::end() noexcept {
  if (at_ == buffer_ + kBytes) --at_;
  *at_++ = '\n';
  return {buffer_, static_cast<std::size_t>(at_ - buffer_)};
}

}  // namespace violet::access
