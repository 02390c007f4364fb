#include "violet/features/identity/secret.h"

#include "violet/base/check.h"
#include "violet/data/format/base64.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <cerrno>
#include <sys/random.h>

namespace violet {
namespace identity {
namespace {

constexpr std::size_t kDigestBytes = 32;

char* chars(unsigned char* bytes) noexcept { return reinterpret_cast<char*>(bytes); }
const unsigned char* octets(std::string_view text) noexcept {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::string sha256(std::string_view text) {
  unsigned char digest[kDigestBytes];
  VIOLET_CHECK(EVP_Digest(text.data(), text.size(), digest, nullptr, EVP_sha256(), nullptr) == 1);
  return {chars(digest), sizeof digest};
}

std::string hmac_sha256(std::string_view key, std::string_view text) {
  unsigned char digest[kDigestBytes];
  VIOLET_CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), octets(text), text.size(), digest,
                    nullptr) != nullptr);
  return {chars(digest), sizeof digest};
}

Result<std::string> random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  for (std::size_t at = 0; at < count;) {
    const ssize_t got = ::getrandom(bytes.data() + at, count - at, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(ErrorKind::System, errno);
    at += static_cast<std::size_t>(got);
  }
  return bytes;
}

std::string base64url(std::string_view bytes) {
  std::string text(base64::encoded_size(bytes.size()), '\0');
  base64::encode(bytes, text.data());
  for (char& c : text) {
    if (c == '+') c = '-';
    if (c == '/') c = '_';
  }
  text.resize(text.find('=') == std::string::npos ? text.size() : text.find('='));
  return text;
}

bool from_base64url(std::string_view text, std::string& out) {
  if (text.size() % 4 == 1 || text.find_first_of("+/=") != std::string_view::npos) return false;
  std::string plain(text);
  for (char& c : plain) {
    if (c == '-') c = '+';
    if (c == '_') c = '/';
  }
  plain.append((4 - plain.size() % 4) % 4, '=');
  out.resize(base64::decoded_size_max(plain.size()));
  const auto size = base64::decode(plain, out.data());
  if (!size) return false;
  out.resize(*size);
  return true;
}

}  // namespace identity

bool equal_secrets(std::string_view a, std::string_view b) noexcept {
  const std::string first = identity::sha256(a);
  const std::string second = identity::sha256(b);
  return CRYPTO_memcmp(first.data(), second.data(), first.size()) == 0;
}

}  // namespace violet
