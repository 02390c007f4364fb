#include "violet/ws/client/url.h"

#include "violet/base/ascii.h"

namespace violet::ws {
namespace {

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!ascii::equal_folded(text.substr(0, prefix.size()), prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// "host", "host:port", "[::1]:port"
bool split_authority(std::string_view authority, Url& url) {
  std::string_view rest;
  if (authority.starts_with('[')) {
    const std::size_t end = authority.find(']');
    if (end == std::string_view::npos) return false;
    url.host = authority.substr(1, end - 1);
    rest = authority.substr(end + 1);
  } else {
    const std::size_t colon = authority.find(':');
    url.host = authority.substr(0, colon);
    rest = colon == std::string_view::npos ? std::string_view{} : authority.substr(colon);
  }
  url.port = url.is_secure ? 443 : 80;
  if (rest.empty()) return true;
  const auto port = ascii::to_number<std::uint16_t>(rest.substr(1));
  if (rest.front() != ':' || !port || *port == 0) return false;
  url.port = *port;
  return true;
}

}  // namespace

Result<Url> Url::parse(std::string_view text) {
  Url url;
  if (take_prefix(text, "wss://")) {
    url.is_secure = true;
  } else if (!take_prefix(text, "ws://")) {
    return fail(ErrorKind::Address);
  }
  const std::size_t path = text.find_first_of("/?#");
  const std::string_view authority = text.substr(0, path);
  const std::string_view target = path == std::string_view::npos ? std::string_view{} : text.substr(path);
  if (!split_authority(authority, url) || url.host.empty()) return fail(ErrorKind::Address);
  if (!ascii::all_are(authority, ascii::kHost) || !ascii::all_are(target, ascii::kTarget))
    return fail(ErrorKind::Address);
  url.target = target.starts_with('/') ? std::string(target) : "/" + std::string(target);
  const bool is_default_port = url.port == (url.is_secure ? 443 : 80);
  const std::string_view host = authority.starts_with('[') ? authority.substr(0, authority.find(']') + 1)
                                                           : authority.substr(0, authority.find(':'));
  url.authority = is_default_port ? std::string(host) : std::string(host) + ":" + std::to_string(url.port);
  return url;
}

}  // namespace violet::ws
