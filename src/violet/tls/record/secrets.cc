#include "violet/tls/record/secrets.h"

#include <openssl/crypto.h>

namespace violet::tls {
namespace {

constexpr std::string_view kClient = "CLIENT_TRAFFIC_SECRET_0 ";
constexpr std::string_view kServer = "SERVER_TRAFFIC_SECRET_0 ";

int digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

}  // namespace

Secrets::~Secrets() {
  OPENSSL_cleanse(client_.bytes.data(), client_.bytes.size());
  OPENSSL_cleanse(server_.bytes.data(), server_.bytes.size());
}

// A line that cannot be read leaves its secret unknown, and the connection with OpenSSL.
void Secrets::note(std::string_view line) noexcept {
  const bool is_client = line.starts_with(kClient);
  if (!is_client && !line.starts_with(kServer)) return;
  Secret& secret = is_client ? client_ : server_;
  secret.size = 0;
  const std::string_view text = line.substr(line.rfind(' ') + 1);
  if (text.size() % 2 != 0 || text.size() > 2 * secret.bytes.size()) return;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = digit(text[i]);
    const int low = digit(text[i + 1]);
    if (high < 0 || low < 0) return;
    secret.bytes[i / 2] = static_cast<char>(high << 4 | low);
  }
  secret.size = text.size() / 2;
}

}  // namespace violet::tls
