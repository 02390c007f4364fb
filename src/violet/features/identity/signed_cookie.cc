#include "violet/features/identity/signed_cookie.h"

#include "violet/base/ascii.h"
#include "violet/features/identity/secret.h"

namespace violet {
namespace {

// No two cookies have one message: numbers have no dots, and the name's size says where it ends.
std::string message_of(std::string_view name, std::string_view value, std::int64_t expires) {
  std::string message = "violet cookie 1." + std::to_string(name.size()) + "." + std::to_string(expires) + ".";
  return message.append(name).append(value);
}

}  // namespace

std::expected<SignedCookies, std::string> SignedCookies::create(std::vector<std::string> keys) {
  if (keys.empty()) return std::unexpected("signed cookies need a key");
  for (const std::string& key : keys) {
    if (key.size() < kKeyBytesMin) {
      return std::unexpected("a key of signed cookies has " + std::to_string(kKeyBytesMin) + " bytes at least");
    }
  }
  return SignedCookies(std::move(keys));
}

std::string SignedCookies::sign(std::string_view name, std::string_view value, std::int64_t expires) const {
  const std::string signature = identity::hmac_sha256(keys_.front(), message_of(name, value, expires));
  return identity::base64url(value) + "." + std::to_string(expires) + "." + identity::base64url(signature);
}

std::optional<std::string> SignedCookies::read(std::string_view name, std::string_view text, std::int64_t now) const {
  if (text.size() > kBytesMax) return std::nullopt;
  const std::size_t first = text.find('.');
  const std::size_t last = text.rfind('.');
  if (first == std::string_view::npos || first == last) return std::nullopt;
  const auto expires = ascii::to_number<std::int64_t>(text.substr(first + 1, last - first - 1));
  std::string value;
  std::string signature;
  if (!expires || !identity::from_base64url(text.substr(0, first), value) ||
      !identity::from_base64url(text.substr(last + 1), signature)) {
    return std::nullopt;
  }
  const std::string message = message_of(name, value, *expires);
  unsigned is_good = 0;
  for (const std::string& key : keys_)
    is_good |= equal_secrets(identity::hmac_sha256(key, message), signature) ? 1U : 0U;
  if (is_good == 0 || *expires <= now) return std::nullopt;
  return value;
}

}  // namespace violet
