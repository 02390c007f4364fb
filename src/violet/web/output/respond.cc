#include "violet/web/output/respond.h"

#include "violet/base/log.h"

#include <array>
#include <charconv>
#include <cstring>
#include <string>

namespace violet::web {
namespace {

// What sessions copy into their output anyway; longer texts are handed over.
constexpr std::size_t kCopiedMax = 1024;

// Two digits at a time, from the end; returns where they begin.
char* write_digits(std::uint64_t value, char* end) noexcept {
  static constexpr auto kPairs = [] {
    std::array<char, 200> pairs{};
    for (std::size_t i = 0; i < 100; ++i) {
      pairs[i * 2] = static_cast<char>('0' + i / 10);
      pairs[i * 2 + 1] = static_cast<char>('0' + i % 10);
    }
    return pairs;
  }();
  while (value >= 100) {
    end -= 2;
    std::memcpy(end, &kPairs[value % 100 * 2], 2);
    value /= 100;
  }
  if (value >= 10) {
    end -= 2;
    std::memcpy(end, &kPairs[value * 2], 2);
  } else {
    *--end = static_cast<char>('0' + value);
  }
  return end;
}

template <class T>
Body whole_body(Exchange& exchange, T value) {
  constexpr std::size_t kRoom = 24;
  char* const end = static_cast<char*>(exchange.arena().allocate(kRoom, 1)) + kRoom;
  const bool is_negative = value < 0;
  const auto magnitude = static_cast<std::uint64_t>(value);
  char* begin = write_digits(is_negative ? 0 - magnitude : magnitude, end);
  if (is_negative) *--begin = '-';
  return text_body(exchange, {begin, static_cast<std::size_t>(end - begin)});
}

template <class T>
Body number_body(Exchange& exchange, T value) {
  constexpr std::size_t kRoom = 32;
  char* text = static_cast<char*>(exchange.arena().allocate(kRoom, 1));
  const char* end = std::to_chars(text, text + kRoom, value).ptr;
  return text_body(exchange, {text, static_cast<std::size_t>(end - text)});
}

}  // namespace

Body string_body(Exchange& exchange, std::string&& text) {
  set_content_type(exchange, kPlainText);
  if (text.size() <= kCopiedMax) return Slice::borrowed(text);
  return Slice::of(std::move(text));
}
Body signed_body(Exchange& exchange, std::int64_t value) { return whole_body(exchange, value); }
Body unsigned_body(Exchange& exchange, std::uint64_t value) { return whole_body(exchange, value); }
Body floating_body(Exchange& exchange, double value) { return number_body(exchange, value); }

Body octets_body(Exchange& exchange, const std::byte* bytes, std::size_t size) {
  set_content_type(exchange, kOctets);
  return Slice::borrowed({reinterpret_cast<const char*>(bytes), size});
}

Body source_body(Exchange& exchange, SourcePtr source) {
  set_content_type(exchange, kOctets);
  return Body(std::move(source));
}

void send_status(Exchange& exchange, Status status) {
  const auto code = static_cast<std::uint16_t>(status);
  if (code >= 400) {
    exchange.refuse(Error(ErrorKind::Invalid, 0, code));
    return;
  }
  exchange.response().status = code;
  exchange.reply();
}

void send_reply(Exchange& exchange, Reply& reply) {
  if (!reply.defect().empty()) [[unlikely]] {
    log(LogLevel::Error, "a reply cannot be sent: field " + reply.defect());
    exchange.refuse(Error(ErrorKind::Handler));
    return;
  }
  exchange.reply(reply.write(exchange));
}

}  // namespace violet::web
