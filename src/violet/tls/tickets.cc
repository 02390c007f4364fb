#include "violet/tls/tickets.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <algorithm>
#include <cstring>

namespace violet::tls {

TicketKeys::~TicketKeys() { OPENSSL_cleanse(keys_.data(), sizeof keys_); }

// Makes a new first key where the first one is too old; what has not sealed for two periods is forgotten.
bool TicketKeys::rotate(std::uint64_t now_s) noexcept {
  if (count_ > 0 && now_s < rotated_at_s_ + kRotateSeconds) return true;
  Key fresh;
  if (RAND_bytes(fresh.name.data(), static_cast<int>(fresh.name.size())) != 1 ||
      RAND_priv_bytes(fresh.cipher.data(), static_cast<int>(fresh.cipher.size())) != 1 ||
      RAND_priv_bytes(fresh.mac.data(), static_cast<int>(fresh.mac.size())) != 1) {
    return count_ > 0;
  }
  // Nobody was here for so long that even the newest key is older than the oldest may be.
  if (count_ > 0 && now_s >= rotated_at_s_ + kRotateSeconds * kKept) count_ = 0;
  std::copy_backward(keys_.begin(), keys_.end() - 1, keys_.end());
  keys_[0] = fresh;
  OPENSSL_cleanse(&fresh, sizeof fresh);
  count_ = std::min(count_ + 1, kKept);
  rotated_at_s_ = now_s;
  return true;
}

bool TicketKeys::current(Key& key, std::uint64_t now_s) noexcept {
  const std::lock_guard lock(mutex_);
  if (!rotate(now_s)) return false;
  key = keys_[0];
  return true;
}

bool TicketKeys::find(const unsigned char* name, Key& key, bool& is_old, std::uint64_t now_s) noexcept {
  const std::lock_guard lock(mutex_);
  if (!rotate(now_s)) return false;
  for (std::size_t i = 0; i < count_; ++i) {
    if (CRYPTO_memcmp(keys_[i].name.data(), name, kNameBytes) != 0) continue;
    key = keys_[i];
    is_old = i > 0;
    return true;
  }
  return false;
}

}  // namespace violet::tls
