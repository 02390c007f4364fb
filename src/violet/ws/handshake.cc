#include "violet/ws/handshake.h"

#include "violet/base/ascii.h"
#include "violet/core/site.h"
#include "violet/ws/codec/sha1.h"

#include <cstring>

namespace violet::ws {
namespace {

constexpr std::string_view kGuid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";  // RFC 6455 §1.3
constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// `out` has room for four characters for each three bytes begun.
void base64(std::span<const std::uint8_t> bytes, char* out) noexcept {
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t left = bytes.size() - at;
    const unsigned group =
        static_cast<unsigned>(bytes[at]) << 16 | (left > 1 ? bytes[at + 1] << 8 : 0) | (left > 2 ? bytes[at + 2] : 0);
    *out++ = kBase64[group >> 18];
    *out++ = kBase64[group >> 12 & 63];
    *out++ = left > 1 ? kBase64[group >> 6 & 63] : '=';
    *out++ = left > 2 ? kBase64[group & 63] : '=';
  }
}

std::size_t count(const http::Fields& fields, http::FieldId id) noexcept {
  std::size_t found = 0;
  for (const http::Field& field : fields) found += field.id == id;
  return found;
}

bool refuse(Exchange& exchange, int status, std::string_view detail, const http::Field& field = {}) {
  exchange.refuse(Error(ErrorKind::Invalid, 0, static_cast<std::uint16_t>(status)), detail, field);
  return false;
}

http::Field field_of(http::FieldId id, std::string_view value) noexcept {
  return {.name = http::name(id), .value = value, .id = id};
}

// "a.example:80" and "a.example" are one host to a browser, where the scheme's port is the default one.
std::string_view without_default_port(std::string_view host, std::string_view scheme) noexcept {
  const std::string_view port = scheme == "https" ? ":443" : ":80";
  if (host.ends_with(port)) host.remove_suffix(port.size());
  return host;
}

bool check_http1(Exchange& exchange) {
  const http::Fields& fields = exchange.request().fields;
  if (exchange.request().method != http::Method::Get) {
    return refuse(exchange, 405, "a WebSocket is opened by GET", field_of(http::FieldId::Allow, "GET"));
  }
  if (!fields.has_member(http::FieldId::Upgrade, "websocket") ||
      !fields.has_member(http::FieldId::Connection, "upgrade") || exchange.request().version != http::Version::Http11) {
    return refuse(exchange, 426, "only WebSockets are served here", field_of(http::FieldId::Upgrade, "websocket"));
  }
  if (exchange.has_body()) return refuse(exchange, 400, "a request that becomes a WebSocket has no body");
  if (count(fields, http::FieldId::SecWebSocketKey) != 1 || !is_key(fields.get(http::FieldId::SecWebSocketKey))) {
    return refuse(exchange, 400, "Sec-WebSocket-Key is not there once, or is not base64 of 16 octets");
  }
  return true;
}

// RFC 8441 §4: extended CONNECT with the protocol in a pseudo field.
bool check_http2(Exchange& exchange) {
  const http::Head& head = exchange.request();
  if (head.method == http::Method::Connect && ascii::equal_folded(head.protocol, "websocket")) return true;
  return refuse(exchange, 405, "a WebSocket is opened by extended CONNECT", field_of(http::FieldId::Allow, "CONNECT"));
}

}  // namespace

std::array<char, kAcceptBytes> accept_value(std::string_view key) noexcept {
  char text[kKeyBytes + kGuid.size()];
  std::memcpy(text, key.data(), kKeyBytes);
  std::memcpy(text + kKeyBytes, kGuid.data(), kGuid.size());
  const auto digest = sha1({text, sizeof text});
  std::array<char, kAcceptBytes> value;
  base64(digest, value.data());
  return value;
}

bool is_key(std::string_view key) noexcept {
  if (key.size() != kKeyBytes || !key.ends_with("==")) return false;
  for (const char c : key.substr(0, kKeyBytes - 2)) {
    if (kBase64.find(c) == std::string_view::npos) return false;
  }
  return true;
}

std::array<char, kKeyBytes> key_of(std::span<const std::uint8_t, 16> nonce) noexcept {
  std::array<char, kKeyBytes> key;
  base64(nonce, key.data());
  return key;
}

bool is_origin_allowed(std::string_view origin, std::string_view authority,
                       const std::vector<std::string>& allowed) noexcept {
  for (const std::string& one : allowed) {
    if (one == "*" || ascii::equal_folded(one, origin)) return true;
  }
  const std::size_t scheme_end = origin.find("://");
  if (scheme_end == std::string_view::npos) return false;  // "null"
  const std::string_view scheme = origin.substr(0, scheme_end);
  return ascii::equal_folded(without_default_port(origin.substr(scheme_end + 3), scheme),
                             without_default_port(authority, scheme));
}

std::string_view choose_protocol(const http::Fields& fields, const std::vector<std::string>& known) noexcept {
  for (const http::Field& field : fields) {
    if (field.id != http::FieldId::SecWebSocketProtocol) continue;
    std::string_view rest = field.value;
    for (std::string_view offer = ascii::next_member(rest); !offer.empty(); offer = ascii::next_member(rest)) {
      for (const std::string& one : known) {
        if (one == offer) return one;
      }
    }
  }
  return {};
}

bool check_request(Exchange& exchange, const Options& options) {
  const http::Head& head = exchange.request();
  const bool is_http1 = head.version == http::Version::Http10 || head.version == http::Version::Http11;
  if (!(is_http1 ? check_http1(exchange) : check_http2(exchange))) return false;
  const http::Fields& fields = head.fields;
  // RFC 6455 §4.4: whoever speaks another version learns which one is spoken here.
  if (count(fields, http::FieldId::SecWebSocketVersion) != 1 ||
      fields.get(http::FieldId::SecWebSocketVersion) != "13") {
    return refuse(exchange, 426, "only version 13 of WebSocket is spoken here",
                  field_of(http::FieldId::SecWebSocketVersion, "13"));
  }
  // A browser tells whose page it is; without this check any page could use its visitor's cookies here (§10.2).
  for (const http::Field& field : fields) {
    if (field.id != http::FieldId::Origin) continue;
    if (!is_origin_allowed(field.value, head.authority, options.origins)) {
      return refuse(exchange, 403, "pages of this origin may not open WebSockets here");
    }
  }
  if (exchange.site().is_draining) {
    exchange.refuse(Error(ErrorKind::ShuttingDown));
    return false;
  }
  return true;
}

Accepted accept_request(Exchange& exchange, const Options& options) {
  const http::Head& request = exchange.request();
  http::Head& response = exchange.response();
  if (request.method == http::Method::Connect) {
    response.status = 200;
  } else {
    response.status = 101;
    const auto accept = accept_value(request.fields.get(http::FieldId::SecWebSocketKey));
    response.fields.push(http::FieldId::Upgrade, "websocket");
    response.fields.push(http::FieldId::SecWebSocketAccept,
                         exchange.arena().copy(std::string_view(accept.data(), accept.size())));
  }
  const std::string_view protocol = choose_protocol(request.fields, options.protocols);
  if (!protocol.empty()) response.fields.push(http::FieldId::SecWebSocketProtocol, protocol);
  std::string extension;
  const DeflateParams deflate = choose_deflate(request.fields, options.compression, extension);
  if (deflate.is_on) {
    response.fields.push(http::FieldId::SecWebSocketExtensions, exchange.arena().copy(extension));
  }
  // Checked when the route was made.
  for (const auto& [name, value] : options.fields) {
    response.fields.push({.name = name, .value = value, .id = http::find_field(name)});
  }
  return {deflate, protocol};
}

}  // namespace violet::ws
