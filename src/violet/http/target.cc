#include "violet/http/target.h"

#include "violet/base/ascii.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cstring>

namespace violet::http {
namespace {

void split_path(Head& head, std::string_view text) noexcept {
  if (const void* mark = std::memchr(text.data(), '?', text.size()); mark != nullptr) {
    const auto at = static_cast<std::size_t>(static_cast<const char*>(mark) - text.data());
    head.path = text.substr(0, at);
    head.query = text.substr(at + 1);
  } else {
    head.path = text;
    head.query = {};
  }
}

// scheme "://" authority [path] ["?" query]. Clients send it to proxies, servers must take it (RFC 9112 §3.2.2).
bool split_absolute(Head& head) noexcept {
  const std::string_view text = head.target;
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos) return false;
  const std::string_view scheme = text.substr(0, colon);
  if (!ascii::equal_folded(scheme, "http") && !ascii::equal_folded(scheme, "https")) return false;
  std::string_view rest = text.substr(colon + 3);
  const std::size_t end = rest.find_first_of("/?");
  head.authority = rest.substr(0, end);
  // http and https URIs have a host that is not empty (RFC 9110 §4.2.1).
  if (!is_authority(head.authority, false)) return false;
  head.form = TargetForm::Absolute;
  head.scheme = scheme;
  if (end == std::string_view::npos) {
    head.path = head.method == Method::Options ? "*" : "/";
    head.query = {};
  } else if (rest[end] == '?') {
    head.path = "/";
    head.query = rest.substr(end + 1);
  } else {
    split_path(head, rest.substr(end));
  }
  return true;
}

// What may stand in brackets (RFC 3986 §3.2.2). A zone id does not belong on the wire.
bool is_ip_literal(std::string_view text) noexcept {
  if (ascii::lower(text.front()) == 'v') {
    // IPvFuture = "v" 1*HEXDIG "." 1*( unreserved / sub-delims / ":" )
    const std::size_t dot = text.find('.');
    if (dot == std::string_view::npos || dot < 2 || dot + 1 == text.size()) return false;
    if (!ascii::all_are(text.substr(1, dot - 1), ascii::kHex)) return false;
    for (char c : text.substr(dot + 1)) {
      if (!ascii::is(c, ascii::kHost) || c == '[' || c == ']' || c == '%' || c == ',') return false;
    }
    return true;
  }
  // Longer than any IPv6 address, or with a character of none: not for the parser below, which wants a C string.
  char address[46];
  if (text.size() >= sizeof address) return false;
  for (char c : text) {
    if (!ascii::is(c, ascii::kHex) && c != ':' && c != '.') return false;
  }
  *std::copy(text.begin(), text.end(), address) = 0;
  in6_addr unused;
  return ::inet_pton(AF_INET6, address, &unused) == 1;
}

}  // namespace

bool split_target(Head& head) noexcept {
  const std::string_view text = head.target;
  if (text.empty()) return false;
  if (head.method == Method::Connect) [[unlikely]] {
    // The authority form is for CONNECT alone, CONNECT has no other, and it names a port (RFC 9110 §9.3.6).
    const std::size_t colon = text.rfind(':');
    if (!is_authority(text, false) || colon == std::string_view::npos || colon + 1 == text.size()) return false;
    if (text.back() == ']') return false;
    head.form = TargetForm::Authority;
    head.authority = text;
    head.path = head.query = {};
    return true;
  }
  if (text.front() == '/') [[likely]] {
    head.form = TargetForm::Origin;
    split_path(head, text);
    return true;
  }
  if (text == "*") {
    // The asterisk form is for OPTIONS alone (RFC 9112 §3.2.4).
    head.form = TargetForm::Asterisk;
    head.path = text;
    head.query = {};
    return head.method == Method::Options;
  }
  return split_absolute(head);
}

bool is_authority(std::string_view text, bool allow_empty) noexcept {
  if (text.empty()) return allow_empty;
  std::string_view host = text;
  std::string_view port;
  bool has_port = false;
  if (text.front() == '[') {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos || close < 3) return false;
    host = text.substr(1, close - 1);
    if (!is_ip_literal(host)) return false;
    const std::string_view rest = text.substr(close + 1);
    if (!rest.empty()) {
      if (rest.front() != ':') return false;
      port = rest.substr(1);
      has_port = true;
    }
  } else {
    const std::size_t colon = text.find(':');
    if (colon != std::string_view::npos) {
      host = text.substr(0, colon);
      port = text.substr(colon + 1);
      has_port = true;
    }
    if (host.empty()) return false;
    for (std::size_t i = 0; i < host.size(); ++i) {
      const char c = host[i];
      // A comma is legal in a reg-name but is how two joined Host lines look; nothing real has one.
      if (!ascii::is(c, ascii::kHost) || c == '[' || c == ']' || c == ':' || c == ',') return false;
      if (c == '%' && (i + 2 >= host.size() || ascii::hex_value(host[i + 1]) < 0 || ascii::hex_value(host[i + 2]) < 0))
        return false;
    }
  }
  if (has_port) {
    if (port.size() > 5) return false;
    unsigned value = 0;
    for (char c : port) {
      if (!ascii::is(c, ascii::kDigit)) return false;
      value = value * 10 + static_cast<unsigned>(c - '0');
    }
    if (value > 65535) return false;
  }
  return true;
}

std::optional<std::string_view> decode(std::string_view text, Arena& arena, bool plus_is_space) {
  const auto is_special = [plus_is_space](char c) { return c == '%' || (plus_is_space && c == '+'); };
  std::size_t first = 0;
  while (first < text.size() && !is_special(text[first])) ++first;
  if (first == text.size()) return text;
  char* out = static_cast<char*>(arena.allocate(text.size(), 1));
  std::memcpy(out, text.data(), first);
  std::size_t size = first;
  for (std::size_t i = first; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = ascii::hex_value(text[i + 1]);
      const int low = ascii::hex_value(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out[size++] = static_cast<char>(high << 4 | low);
      i += 2;
    } else {
      out[size++] = plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
  }
  return std::string_view(out, size);
}

std::string_view encode(std::string_view text, Arena& arena) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  char* out = static_cast<char*>(arena.allocate(text.size() * 3, 1));
  std::size_t size = 0;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (ascii::is(c, ascii::kDigit) || (ascii::lower(c) >= 'a' && ascii::lower(c) <= 'z') || c == '-' || c == '.' ||
        c == '_' || c == '~') {
      out[size++] = c;
    } else {
      out[size++] = '%';
      out[size++] = kDigits[byte >> 4];
      out[size++] = kDigits[byte & 15];
    }
  }
  return {out, size};
}

}  // namespace violet::http
