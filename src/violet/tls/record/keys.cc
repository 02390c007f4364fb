#include "violet/tls/record/keys.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/params.h>

#include <cstring>
#include <limits>
#include <utility>

namespace violet::tls {
namespace {

struct SuiteFacts {
  const char* cipher;
  std::size_t key_bytes;
  std::size_t hash_bytes;
};
constexpr SuiteFacts kFacts[kSuiteCount] = {
    {"AES-128-GCM", 16, 32},
    {"AES-256-GCM", 32, 48},
    {"ChaCha20-Poly1305", 32, 32},
};

// The number of no record.
constexpr std::uint64_t kNoMore = std::numeric_limits<std::uint64_t>::max();

const SuiteFacts& facts(Suite suite) noexcept { return kFacts[static_cast<std::size_t>(suite)]; }

// HKDF-Expand-Label with an empty context (RFC 8446 §7.1). All that is asked for here is one block of the hash or less,
// so that HKDF-Expand is one HMAC (RFC 5869 §2.3).
bool expand(Suite suite, const unsigned char* secret, std::string_view label, unsigned char* to,
            std::size_t size) noexcept {
  constexpr std::string_view kPrefix = "tls13 ";
  const std::size_t hash_bytes = facts(suite).hash_bytes;
  VIOLET_ASSERT(size <= hash_bytes);
  unsigned char info[32];
  std::size_t end = 0;
  info[end++] = 0;
  info[end++] = static_cast<unsigned char>(size);
  info[end++] = static_cast<unsigned char>(kPrefix.size() + label.size());
  end += kPrefix.copy(reinterpret_cast<char*>(info) + end, kPrefix.size());
  end += label.copy(reinterpret_cast<char*>(info) + end, label.size());
  info[end++] = 0;
  info[end++] = 1;  // the block
  unsigned char block[EVP_MAX_MD_SIZE];
  const EVP_MD* const hash = hash_bytes == 48 ? EVP_sha384() : EVP_sha256();
  if (HMAC(hash, secret, static_cast<int>(hash_bytes), info, end, block, nullptr) == nullptr) return false;
  std::memcpy(to, block, size);
  OPENSSL_cleanse(block, sizeof block);
  return true;
}

unsigned char* bytes(char* at) noexcept { return reinterpret_cast<unsigned char*>(at); }
const unsigned char* bytes(const char* at) noexcept { return reinterpret_cast<const unsigned char*>(at); }

}  // namespace

// --- CipherPool

CipherPool::CipherPool() noexcept {
  for (std::size_t i = 0; i < kSuiteCount; ++i) ciphers_[i] = EVP_CIPHER_fetch(nullptr, kFacts[i].cipher, nullptr);
}

CipherPool::~CipherPool() {
  VIOLET_ASSERT(context_count_ == 0);
  for (evp_cipher_st* cipher : ciphers_) EVP_CIPHER_free(cipher);
}

bool CipherPool::lend(TrafficKeys& keys, const evp_cipher_st*& cipher) noexcept {
  cipher = ciphers_[static_cast<std::size_t>(keys.suite_)];
  if (context_count_ < kContextsMax) {
    keys.context_ = EVP_CIPHER_CTX_new();
    if (keys.context_ == nullptr) return false;
    ++context_count_;
  } else {
    TrafficKeys& longest = *recent_.pop_front();
    keys.context_ = std::exchange(longest.context_, nullptr);
    longest.is_keyed_ = false;
    // To set the same cipher again would take and give back memory.
    if (longest.suite_ == keys.suite_) cipher = nullptr;
  }
  recent_.push_back(keys);
  return true;
}

void CipherPool::take_back(TrafficKeys& keys) noexcept {
  keys.unlink();
  if (keys.context_ == nullptr) return;
  EVP_CIPHER_CTX_free(std::exchange(keys.context_, nullptr));  // wipes the key
  --context_count_;
}

// --- TrafficKeys

TrafficKeys::~TrafficKeys() {
  pool_.take_back(*this);
  OPENSSL_cleanse(secret_.data(), secret_.size());
  OPENSSL_cleanse(key_.data(), key_.size());
  OPENSSL_cleanse(iv_.data(), iv_.size());
}

std::size_t TrafficKeys::secret_bytes(Suite suite) noexcept { return facts(suite).hash_bytes; }

bool TrafficKeys::start(std::string_view secret, std::uint64_t sequence) noexcept {
  if (secret.size() != secret_bytes(suite_) || !pool_.has(suite_)) return false;
  secret.copy(reinterpret_cast<char*>(secret_.data()), secret.size());
  sequence_ = sequence;
  return derive();
}

bool TrafficKeys::update() noexcept {
  // Until the new key is there no record may be sealed: its number would have come before.
  sequence_ = kNoMore;
  if (!expand(suite_, secret_.data(), "traffic upd", secret_.data(), secret_bytes(suite_)) || !derive()) return false;
  sequence_ = 0;
  return true;
}

bool TrafficKeys::derive() noexcept {
  is_keyed_ = false;
  return expand(suite_, secret_.data(), "key", key_.data(), facts(suite_).key_bytes) &&
         expand(suite_, secret_.data(), "iv", iv_.data(), iv_.size());
}

bool TrafficKeys::begin_record(char* tag) noexcept {
  // A nonce that comes twice gives the key away (RFC 8446 §5.3).
  if (sequence_ == kNoMore) return false;
  const evp_cipher_st* cipher = nullptr;
  if (context_ != nullptr) {
    unlink();
    pool_.recent_.push_back(*this);
  } else if (!pool_.lend(*this, cipher)) {
    return false;
  }
  std::array<unsigned char, 12> nonce = iv_;
  for (std::size_t i = 0; i < 8; ++i) nonce[11 - i] ^= static_cast<unsigned char>(sequence_ >> (8 * i));
  ++sequence_;
  const OSSL_PARAM parameters[] = {
      tag != nullptr ? OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, tag, kTagBytes)
                     : OSSL_PARAM_construct_end(),
      OSSL_PARAM_construct_end(),
  };
  const bool is_set = EVP_CipherInit_ex2(context_, cipher, is_keyed_ ? nullptr : key_.data(), nonce.data(),
                                         way_ == Way::Seal ? 1 : 0, tag != nullptr ? parameters : nullptr) == 1;
  is_keyed_ = is_set;
  if (!is_set) pool_.take_back(*this);  // its state is unknown
  return is_set;
}

bool TrafficKeys::seal(const char* head, std::string_view content, unsigned char type, char* to) noexcept {
  VIOLET_ASSERT(way_ == Way::Seal);
  int n = 0;
  int last = 0;
  if (!begin_record(nullptr) || EVP_EncryptUpdate(context_, nullptr, &n, bytes(head), kHeadBytes) != 1) return false;
  n = 0;
  if (!content.empty() &&
      EVP_EncryptUpdate(context_, bytes(to), &n, bytes(content.data()), static_cast<int>(content.size())) != 1) {
    return false;
  }
  if (EVP_EncryptUpdate(context_, bytes(to) + n, &last, &type, 1) != 1) return false;
  n += last;
  if (EVP_EncryptFinal_ex(context_, bytes(to) + n, &last) != 1) return false;
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, to + n + last, kTagBytes),
      OSSL_PARAM_construct_end(),
  };
  return n + last == static_cast<int>(content.size()) + 1 && EVP_CIPHER_CTX_get_params(context_, parameters) == 1;
}

ssize_t TrafficKeys::open(const char* head, const char* sealed, std::size_t size, char* to) noexcept {
  VIOLET_ASSERT(way_ == Way::Open);
  if (size < kTagBytes) return -1;
  char tag[kTagBytes];
  std::memcpy(tag, sealed + size - kTagBytes, kTagBytes);
  const int inner = static_cast<int>(size - kTagBytes);
  int n = 0;
  int last = 0;
  if (!begin_record(tag) || EVP_DecryptUpdate(context_, nullptr, &n, bytes(head), kHeadBytes) != 1) return -1;
  n = 0;
  if ((inner == 0 || EVP_DecryptUpdate(context_, bytes(to), &n, bytes(sealed), inner) == 1) &&
      EVP_DecryptFinal_ex(context_, bytes(to) + n, &last) == 1 && n + last == inner) {
    return inner;
  }
  // What was not authenticated is nobody's to see.
  OPENSSL_cleanse(to, static_cast<std::size_t>(inner));
  return -1;
}

}  // namespace violet::tls
