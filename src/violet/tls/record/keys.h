#pragma once

// TrafficKeys: what one direction of an open TLS 1.3 connection is protected with, from its traffic secret on (RFC 8446
// §7.3), and the number of the next record. CipherPool: the cipher contexts of a loop.
//
// A cipher context takes ten times what the keys take. So keys have one only while they are among those that were used
// last: the pool holds no more than kContextsMax, and who needs one takes that of the keys that have waited longest. A
// connection at rest does not count, a busy one sets keys once.
//
// Secrets are wiped when they go. The pool outlives its keys. One loop's.

#include "violet/base/list.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <sys/types.h>

struct evp_cipher_st;
struct evp_cipher_ctx_st;

namespace violet::tls {

// The three of RFC 8446 §B.4 that are for HTTP.
enum class Suite : std::uint8_t { Aes128Gcm, Aes256Gcm, ChaCha20Poly1305 };
inline constexpr std::size_t kSuiteCount = 3;

class TrafficKeys;

class CipherPool {
 public:
  static constexpr std::size_t kContextsMax = 128;  // a busy connection uses two; 150 KB

  CipherPool() noexcept;
  CipherPool(const CipherPool&) = delete;
  CipherPool& operator=(const CipherPool&) = delete;
  ~CipherPool();

  // Whether OpenSSL has that cipher here.
  [[nodiscard]] bool has(Suite suite) const noexcept { return ciphers_[static_cast<std::size_t>(suite)] != nullptr; }
  [[nodiscard]] std::size_t context_count() const noexcept { return context_count_; }

 private:
  friend class TrafficKeys;
  // Gives `keys` a context; `cipher` is set where it is not of their suite yet. False when there is no memory.
  bool lend(TrafficKeys& keys, const evp_cipher_st*& cipher) noexcept;
  void take_back(TrafficKeys& keys) noexcept;

  std::array<evp_cipher_st*, kSuiteCount> ciphers_;
  List<TrafficKeys, TrafficKeys> recent_;  // the longest unused first
  std::size_t context_count_ = 0;
};

class TrafficKeys final : public ListNode<TrafficKeys> {
 public:
  enum class Way : std::uint8_t { Open, Seal };
  static constexpr std::size_t kSecretBytesMax = 48;
  static constexpr std::size_t kTagBytes = 16;
  static constexpr std::size_t kHeadBytes = 5;  // of a record, which is authenticated with it

  TrafficKeys(CipherPool& pool, Suite suite, Way way) noexcept : pool_(pool), suite_(suite), way_(way) {}
  ~TrafficKeys();

  // Bytes of a secret of that suite.
  static std::size_t secret_bytes(Suite suite) noexcept;
  // Takes the secret over; `sequence` records have been protected with it. False when OpenSSL fails, as of all here.
  [[nodiscard]] bool start(std::string_view secret, std::uint64_t sequence) noexcept;
  // The next generation (RFC 8446 §7.2).
  [[nodiscard]] bool update() noexcept;

  // Writes the sealed content, its type and the tag to `to`: content.size() + 1 + kTagBytes.
  [[nodiscard]] bool seal(const char* head, std::string_view content, unsigned char type, char* to) noexcept;
  // Opens `size` bytes behind the head into `to`, which may be the same place: the bytes of content, type and padding.
  // -1: they are not what the peer has sealed, and `to` holds nothing of them.
  [[nodiscard]] ssize_t open(const char* head, const char* sealed, std::size_t size, char* to) noexcept;

  [[nodiscard]] std::uint64_t sequence() const noexcept { return sequence_; }
  [[nodiscard]] Suite suite() const noexcept { return suite_; }

 private:
  friend class CipherPool;
  bool derive() noexcept;
  // A context with the key and this record's nonce; `tag` only to open.
  bool begin_record(char* tag) noexcept;

  CipherPool& pool_;
  evp_cipher_ctx_st* context_ = nullptr;
  std::uint64_t sequence_ = 0;
  std::array<unsigned char, kSecretBytesMax> secret_{};
  std::array<unsigned char, 32> key_{};
  std::array<unsigned char, 12> iv_{};
  Suite suite_;
  Way way_;
  bool is_keyed_ = false;  // the context has our key
};

}  // namespace violet::tls
