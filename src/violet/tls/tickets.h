#pragma once

// TicketKeys: what session tickets are sealed with (RFC 8446 §4.6.1, RFC 5077). One set for all loops of a listener, so
// that a client may come back to another loop. New keys come by time; old ones open tickets for a while and seal none.
//
// Any thread; a lock is taken at each handshake, not for requests. Keys never leave the process.

#include <array>
#include <cstdint>
#include <mutex>
#include <string_view>

namespace violet::tls {

class TicketKeys {
 public:
  static constexpr std::uint64_t kRotateSeconds = 3600;
  static constexpr std::size_t kNameBytes = 16;

  struct Key {
    std::array<unsigned char, kNameBytes> name;
    std::array<unsigned char, 32> cipher;
    std::array<unsigned char, 32> mac;
  };

  TicketKeys() = default;
  TicketKeys(const TicketKeys&) = delete;
  TicketKeys& operator=(const TicketKeys&) = delete;
  ~TicketKeys();

  // The key to seal with now; false when the system has no randomness.
  [[nodiscard]] bool current(Key& key, std::uint64_t now_s) noexcept;
  // The key of that name. `is_old`: open with it, but give the client a new ticket.
  [[nodiscard]] bool find(const unsigned char* name, Key& key, bool& is_old, std::uint64_t now_s) noexcept;

 private:
  bool rotate(std::uint64_t now_s) noexcept;

  static constexpr std::size_t kKept = 3;  // the one that seals, and two that only open
  std::mutex mutex_;
  std::array<Key, kKept> keys_;
  std::size_t count_ = 0;
  std::uint64_t rotated_at_s_ = 0;
};

}  // namespace violet::tls
