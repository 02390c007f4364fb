#include "violet/web/output/respond.h"

#include "violet/base/ascii.h"
#include "violet/base/log.h"

#include <charconv>
#include <string>

namespace violet::web {
namespace {

// What sessions copy into their output anyway; longer texts are handed over.
constexpr std::size_t kCopiedMax = 1024;

template <class T>
Body whole_body(Exchange& exchange, T value) {
  char* const text = static_cast<char*>(exchange.arena().allocate(ascii::kDigitsMax + 1, 1));
  const char* end;
  if constexpr (std::is_signed_v<T>) {
    end = ascii::put_signed(text, value);
  } else {
    end = ascii::put_unsigned(text, value);
  }
  return text_body(exchange, {text, static_cast<std::size_t>(end - text)});
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
