#pragma once

// Secrets: what a connection takes along when it leaves OpenSSL after the handshake of TLS 1.3. OpenSSL tells traffic
// secrets by one public way, the lines of its key log ("SERVER_TRAFFIC_SECRET_0 <client random> <secret>", in hex);
// they go from there to here and nowhere else, and are wiped with it. Each line costs the handshake some ten
// microseconds of formatting, so that OpenSSL is asked for them only once those of the handshake itself have passed.
//
// Lives from our EncryptedExtensions to the end of the handshake.

#include "violet/tls/record/keys.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace violet::tls {

class Secrets {
 public:
  Secrets() noexcept = default;
  Secrets(const Secrets&) = delete;
  Secrets& operator=(const Secrets&) = delete;
  ~Secrets();

  // Keeps the secret of a line if it is one of the two.
  void note(std::string_view line) noexcept;
  // OpenSSL has sealed a record: those under the server's secret are tickets.
  void count_sent() noexcept { sent_count_ += server_.size > 0 ? 1 : 0; }

  // "" until it is known.
  [[nodiscard]] std::string_view client() const noexcept { return client_.text(); }
  [[nodiscard]] std::string_view server() const noexcept { return server_.text(); }
  [[nodiscard]] std::uint64_t sent_count() const noexcept { return sent_count_; }

 private:
  struct Secret {
    std::string_view text() const noexcept { return {bytes.data(), size}; }
    std::array<char, TrafficKeys::kSecretBytesMax> bytes;
    std::size_t size = 0;
  };

  Secret client_;
  Secret server_;
  std::uint64_t sent_count_ = 0;
};

}  // namespace violet::tls
