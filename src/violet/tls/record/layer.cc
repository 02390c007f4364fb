#include "violet/tls/record/layer.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <cstring>

namespace violet::tls {
namespace {

constexpr unsigned char kKeyUpdate = 24;  // RFC 8446 §4
constexpr char kFatal = 2;                // an alert's level

unsigned byte_at(std::string_view bytes, std::size_t at) noexcept { return static_cast<unsigned char>(bytes[at]); }

// The legacy version is the same for ever (RFC 8446 §5.1).
void write_head(char* to, std::size_t sealed_bytes) noexcept {
  to[0] = 23;
  to[1] = to[2] = 3;
  to[3] = static_cast<char>(sealed_bytes >> 8);
  to[4] = static_cast<char>(sealed_bytes);
}

}  // namespace

RecordLayer::RecordLayer(CipherPool& pool, Suite suite) noexcept
    : in_(pool, suite, TrafficKeys::Way::Open), out_(pool, suite, TrafficKeys::Way::Seal) {}

bool RecordLayer::start(std::string_view client_secret, std::string_view server_secret, std::uint64_t sent) noexcept {
  return in_.start(client_secret, 0) && out_.start(server_secret, sent);
}

RecordLayer::Verdict RecordLayer::fail(int alert, int reason) noexcept {
  alert_ = static_cast<std::uint8_t>(alert);
  reason_ = static_cast<std::uint16_t>(reason);
  return Verdict::Failed;
}

// --- what has come

std::string_view RecordLayer::held() const noexcept {
  return held_ ? std::string_view(held_->data() + held_begin_, held_end_ - held_begin_) : std::string_view();
}

void RecordLayer::take_held(std::size_t n) noexcept {
  VIOLET_ASSERT(n <= held().size());
  held_begin_ += static_cast<std::uint32_t>(n);
  if (held_begin_ == held_end_) held_ = {};
}

void RecordLayer::hold(std::string_view content) {
  VIOLET_ASSERT(held().empty());
  if (content.empty()) return;
  held_ = Ref<HeapBuffer>::adopt(HeapBuffer::make(content.size()));
  content.copy(held_->data(), content.size());
  held_begin_ = 0;
  held_end_ = static_cast<std::uint32_t>(content.size());
}

RecordLayer::Verdict RecordLayer::measure(std::string_view bytes, std::size_t& sealed_bytes) noexcept {
  if (bytes.empty()) return Verdict::More;
  // From here on everything is protected; not even change_cipher_spec may come any more (RFC 8446 §5).
  if (byte_at(bytes, 0) != kApplicationData) return fail(SSL_AD_UNEXPECTED_MESSAGE, SSL_R_BAD_RECORD_TYPE);
  if (bytes.size() < TrafficKeys::kHeadBytes) return Verdict::More;
  sealed_bytes = byte_at(bytes, 3) << 8 | byte_at(bytes, 4);
  if (sealed_bytes > kSealedBytesMax) return fail(SSL_AD_RECORD_OVERFLOW, SSL_R_ENCRYPTED_LENGTH_TOO_LONG);
  return bytes.size() - TrafficKeys::kHeadBytes < sealed_bytes ? Verdict::More : Verdict::Full;
}

bool RecordLayer::has_record(std::string_view bytes) noexcept {
  std::size_t sealed_bytes = 0;
  return measure(bytes, sealed_bytes) != Verdict::More;
}

RecordLayer::Verdict RecordLayer::open(Input& input, char* to, std::size_t size, std::size_t& total) noexcept {
  while (total < size) {
    if (const std::string_view before = held(); !before.empty()) {
      const std::size_t n = std::min(before.size(), size - total);
      before.copy(to + total, n);
      total += n;
      take_held(n);
      continue;
    }
    std::size_t sealed_bytes = 0;
    if (const Verdict verdict = measure(input.text(), sealed_bytes); verdict != Verdict::Full) return verdict;
    // What fits in any case is opened to where it belongs; a first one that may not fit, in place.
    const bool fits = sealed_bytes <= size - total + TrafficKeys::kTagBytes;
    if (!fits && total > 0) return Verdict::Full;
    char* const head = input.front();
    char* const inner = fits ? to + total : head + TrafficKeys::kHeadBytes;
    const ssize_t n = in_.open(head, head + TrafficKeys::kHeadBytes, sealed_bytes, inner);
    if (n < 0) return fail(SSL_AD_BAD_RECORD_MAC, SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC);
    std::string_view content;
    const Verdict verdict = take_content({inner, static_cast<std::size_t>(n)}, content);
    const std::size_t taken = std::min(content.size(), size - total);
    if (!fits && verdict == Verdict::Full) {
      content.copy(to + total, taken);
      hold(content.substr(taken));
    }
    input.used(TrafficKeys::kHeadBytes + sealed_bytes);
    if (verdict != Verdict::Full) return verdict;
    total += taken;
  }
  return Verdict::Full;
}

// Full: `content` is application data, perhaps none.
RecordLayer::Verdict RecordLayer::take_content(std::string_view inner, std::string_view& content) noexcept {
  if (inner.size() > kPlainBytesMax + 1) return fail(SSL_AD_RECORD_OVERFLOW, SSL_R_DATA_LENGTH_TOO_LONG);
  // The type is the last octet that is not zero; behind it is padding (RFC 8446 §5.4).
  const std::size_t type_at = inner.find_last_not_of('\0');
  if (type_at == std::string_view::npos) return fail(SSL_AD_UNEXPECTED_MESSAGE, SSL_R_BAD_RECORD_TYPE);
  const unsigned type = byte_at(inner, type_at);
  const std::string_view of_record = inner.substr(0, type_at);
  empty_count_ = of_record.empty() ? static_cast<std::uint8_t>(empty_count_ + 1) : 0;
  if (empty_count_ > kEmptyMax) return fail(SSL_AD_UNEXPECTED_MESSAGE, SSL_R_RECORD_TOO_SMALL);
  // A message in parts stands in records that follow each other (§5.1).
  if (message_bytes_ > 0 && type != kHandshake) return fail(SSL_AD_UNEXPECTED_MESSAGE, SSL_R_UNEXPECTED_RECORD);
  switch (type) {
    case kApplicationData: content = of_record; return Verdict::Full;
    case kAlert: return take_alert(of_record);
    case kHandshake: return take_handshake(of_record);
    default: return fail(SSL_AD_UNEXPECTED_MESSAGE, SSL_R_UNEXPECTED_RECORD);
  }
}

// One alert is one record, and its level says nothing (RFC 8446 §5.1, §6).
RecordLayer::Verdict RecordLayer::take_alert(std::string_view content) noexcept {
  if (content.size() != 2) return fail(SSL_AD_DECODE_ERROR, SSL_R_INVALID_ALERT);
  const unsigned alert = byte_at(content, 1);
  if (alert == SSL_AD_CLOSE_NOTIFY) return Verdict::Closed;
  if (alert == SSL_AD_USER_CANCELLED) return Verdict::Upkeep;  // close_notify follows (§6.1)
  return fail(0, SSL_AD_REASON_OFFSET + static_cast<int>(alert));
}

RecordLayer::Verdict RecordLayer::take_handshake(std::string_view content) noexcept {
  if (content.empty()) return fail(SSL_AD_UNEXPECTED_MESSAGE, SSL_R_UNEXPECTED_MESSAGE);  // §5.1
  for (; !content.empty() && message_bytes_ < message_.size(); content.remove_prefix(1)) {
    message_[message_bytes_++] = content.front();
  }
  if (static_cast<unsigned char>(message_[0]) != kKeyUpdate) {
    return fail(SSL_AD_UNEXPECTED_MESSAGE, SSL_R_UNEXPECTED_MESSAGE);
  }
  const std::string_view length(message_.data() + 1, std::min<std::size_t>(message_bytes_ - 1, 3));
  if (length != std::string_view("\0\0\1", length.size())) return fail(SSL_AD_DECODE_ERROR, SSL_R_BAD_KEY_UPDATE);
  if (message_bytes_ < message_.size()) return Verdict::Upkeep;
  // Nothing behind it in its record: that would be under the old keys (§5.1).
  if (!content.empty()) return fail(SSL_AD_UNEXPECTED_MESSAGE, SSL_R_NOT_ON_RECORD_BOUNDARY);
  if (const char wanted = message_[4]; wanted != 0 && wanted != 1) {
    return fail(SSL_AD_ILLEGAL_PARAMETER, SSL_R_BAD_KEY_UPDATE);
  }
  owes_keys_ = owes_keys_ || message_[4] == 1;
  message_bytes_ = 0;
  return in_.update() ? Verdict::Upkeep : fail(SSL_AD_INTERNAL_ERROR, ERR_R_INTERNAL_ERROR);
}

// --- what is sent

std::size_t RecordLayer::seal_as(unsigned char type, std::string_view content, char* to) noexcept {
  VIOLET_ASSERT(content.size() <= kPlainBytesMax);
  const std::size_t sealed_bytes = content.size() + 1 + TrafficKeys::kTagBytes;
  write_head(to, sealed_bytes);
  return out_.seal(to, content, type, to + TrafficKeys::kHeadBytes) ? TrafficKeys::kHeadBytes + sealed_bytes : 0;
}

std::size_t RecordLayer::seal(std::string_view content, char* to) noexcept {
  std::size_t before = 0;
  if (out_.sequence() >= kRecordsMax) [[unlikely]] {
    before = seal_keys(to);
    if (before == 0) return 0;
  }
  const std::size_t n = seal_as(kApplicationData, content, to + before);
  return n > 0 ? before + n : 0;
}

std::size_t RecordLayer::seal_alert(int alert, char* to) noexcept {
  const char content[2] = {alert == SSL_AD_CLOSE_NOTIFY ? char{1} : kFatal, static_cast<char>(alert)};
  return seal_as(kAlert, {content, sizeof content}, to);
}

// Asks for nothing in return, so that two ends do not go on for ever.
std::size_t RecordLayer::seal_keys(char* to) noexcept {
  owes_keys_ = false;
  constexpr char kContent[5] = {kKeyUpdate, 0, 0, 1, 0};
  const std::size_t n = seal_as(kHandshake, {kContent, sizeof kContent}, to);
  return n > 0 && out_.update() ? n : 0;
}

}  // namespace violet::tls
