// h1::Session where HTTP/1.1 ends and HTTP/2 begins: by preface, or by Upgrade.

#include "violet/h1/session.h"

#include <algorithm>

namespace violet::h1 {
namespace {

// The whole of it, and the part by which a client shows what it means (RFC 9113 §3.4).
constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr std::size_t kTellingBytes = 16;

}  // namespace

bool Session::begins_http2(const char* begin, const char* end) noexcept {
  return std::string_view(begin, end).starts_with(kPreface.substr(0, kTellingBytes));
}

bool Session::has_partial_preface() const noexcept {
  return is_first_ && partial_ && begins_http2(partial_.bytes().begin, partial_.bytes().end);
}

// What begins like HTTP/2 gets no answer in HTTP/1.1: the whole preface is waited for (RFC 9113 §3.4).
bool Session::process_preface(Bytes& bytes) {
  const std::string_view received(bytes.begin, bytes.size());
  if (!kPreface.starts_with(received.substr(0, kPreface.size()))) {
    ++shared_.site.counters.protocol_errors;
    abort(Error(ErrorKind::Protocol));
  } else if (received.size() >= kPreface.size() && !hand_over(bytes)) {
    abort(Error(ErrorKind::Unsupported));
  }
  return false;
}

// Asks the host to go on in HTTP/2. `upgraded` has asked for it in HTTP/1.1: such a request has exactly one
// HTTP2-Settings, named in Connection (RFC 7540 §3.2.1), and nothing of ours may be on its way before it.
bool Session::hand_over(Bytes& bytes, const Stream* upgraded) noexcept {
  Http2Wish wish{*transport_, connection_, {bytes.begin, bytes.size()}, *bytes.owner, nullptr};
  if (upgraded != nullptr) {
    const http::Fields& fields = upgraded->exchange_->request().fields;
    const http::Field* settings = fields.find(http::FieldId::Http2Settings);
    const auto count = std::count_if(fields.begin(), fields.end(),
                                     [](const http::Field& field) { return field.id == http::FieldId::Http2Settings; });
    if (count != 1 || !fields.has_member(http::FieldId::Upgrade, "h2c") ||
        !fields.has_member(http::FieldId::Connection, "http2-settings") || upgraded->framing_.has_body() ||
        connection_.is_secure || output_ != nullptr || is_closing_ || !streams_.is_front(*upgraded)) {
      return false;
    }
    wish.request = &upgraded->exchange_->request();
    wish.settings = settings->value;
  }
  if (!host_.on_http2(*this, wish)) return false;
  let_go();
  bytes.begin = bytes.end;
  return true;
}

// Somebody else has the transport now.
void Session::let_go() noexcept {
  transport_ = nullptr;
  is_closed_ = was_handed_over_ = true;
  timer_.cancel();
  reading_.end();
  writing_.end();
  later();
}

}  // namespace violet::h1
