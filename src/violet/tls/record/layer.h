#pragma once

// RecordLayer: the records of an open TLS 1.3 connection in the server's role (RFC 8446 §5), from the end of the
// handshake on. It seals what is sent and opens what has come; it reads and writes no transport and waits for nothing.
//
// Of the messages that may follow a handshake a client has KeyUpdate alone (§4.6.3): we offer no post-handshake
// authentication, and tickets come from servers. Everything else is unexpected.
//
//   open()   More     the input has no whole record left
//            Full     what is asked for is there, or the next record does not fit into it
//            Upkeep   a message of TLS itself has come: to be counted; see owes_keys()
//            Closed   close_notify, the last thing of the peer
//            Failed   the peer is wrong, see alert() and reason(), or OpenSSL failed
//
// Secrets are wiped with it. One loop's.

#include "violet/memory/buffer.h"
#include "violet/memory/ref.h"
#include "violet/tls/record/input.h"
#include "violet/tls/record/keys.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace violet::tls {

class RecordLayer {
 public:
  enum class Verdict : std::uint8_t { More, Full, Upkeep, Closed, Failed };

  static constexpr std::size_t kPlainBytesMax = 16 * 1024;                                             // RFC 8446 §5.1
  static constexpr std::size_t kSealedBytesMax = kPlainBytesMax + 256;                                 // §5.2
  static constexpr std::size_t kOverheadBytes = TrafficKeys::kHeadBytes + 1 + TrafficKeys::kTagBytes;  // a record's
  static constexpr std::size_t kMessageBytesMax = 5 + kOverheadBytes;  // alert or KeyUpdate, sealed
  // After so many records we change our keys. AES-GCM is safe for 2^24.5 full ones (§5.5).
  static constexpr std::uint64_t kRecordsMax = std::uint64_t{1} << 23;
  // Records without content cost us more than the peer. In sequence, as OpenSSL has it.
  static constexpr unsigned kEmptyMax = 32;

  RecordLayer(CipherPool& pool, Suite suite) noexcept;
  // `sent` records have left under the server's secret already.
  [[nodiscard]] bool start(std::string_view client_secret, std::string_view server_secret, std::uint64_t sent) noexcept;

  // Opens records at the front of `input` and appends their content to what is in `to`, `total` bytes of `size`.
  Verdict open(Input& input, char* to, std::size_t size, std::size_t& total) noexcept;
  // Whether open() has something to do with `bytes`: a whole record, or the beginning of a wrong one.
  [[nodiscard]] bool has_record(std::string_view bytes) noexcept;
  // Content that was opened and not handed up; open() begins with it.
  [[nodiscard]] std::string_view held() const noexcept;
  // REQUIRES: nothing is held.
  void hold(std::string_view content);

  // `content`, at most kPlainBytesMax, as one record at `to`; the bytes written, 0 when OpenSSL fails. Before it comes
  // a record that changes our keys when these are used up: room for kMessageBytesMax more.
  [[nodiscard]] std::size_t seal(std::string_view content, char* to) noexcept;
  [[nodiscard]] std::size_t seal_alert(int alert, char* to) noexcept;
  // Answers a peer that wants us to change keys (§4.6.3).
  [[nodiscard]] bool owes_keys() const noexcept { return owes_keys_; }
  [[nodiscard]] std::size_t seal_keys(char* to) noexcept;

  [[nodiscard]] Suite suite() const noexcept { return in_.suite(); }
  // After Failed: what to tell the peer (§6.2), and OpenSSL's reason (SSL_R_…) for logs.
  [[nodiscard]] int alert() const noexcept { return alert_; }
  [[nodiscard]] int reason() const noexcept { return reason_; }

 private:
  enum Type : unsigned char { kAlert = 21, kHandshake = 22, kApplicationData = 23 };

  // Bytes of the record at the front of `bytes` beyond its head; More: not all there.
  Verdict measure(std::string_view bytes, std::size_t& sealed_bytes) noexcept;
  Verdict take_content(std::string_view inner, std::string_view& content) noexcept;
  Verdict take_alert(std::string_view content) noexcept;
  Verdict take_handshake(std::string_view content) noexcept;
  Verdict fail(int alert, int reason) noexcept;
  std::size_t seal_as(unsigned char type, std::string_view content, char* to) noexcept;
  void take_held(std::size_t n) noexcept;

  TrafficKeys in_;
  TrafficKeys out_;
  Ref<HeapBuffer> held_;
  std::uint32_t held_begin_ = 0;
  std::uint32_t held_end_ = 0;
  std::array<char, 5> message_{};  // of a handshake message, as far as it has come
  std::uint8_t message_bytes_ = 0;
  std::uint8_t empty_count_ = 0;
  bool owes_keys_ = false;
  std::uint8_t alert_ = 0;
  std::uint16_t reason_ = 0;
};

}  // namespace violet::tls
