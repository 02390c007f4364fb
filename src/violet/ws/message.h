#pragma once

// Message: one WebSocket message as it was received: a view on the bytes and a count on what holds them. It may be
// kept, on its loop; one that is kept holds the whole block it lies in, so copy what is to stay for long.

#include "violet/memory/slice.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace violet::ws {

enum class Kind : std::uint8_t { Text = 1, Binary = 2 };  // their opcodes

class Message {
 public:
  Message() noexcept = default;
  Message(Kind kind, Slice bytes) noexcept : bytes_(std::move(bytes)), kind_(kind) {}

  // A part of what was received.
  Message(Kind kind, const Slice& from, std::size_t at, std::size_t size) noexcept
      : bytes_(from.part(at, size)), kind_(kind) {}

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  [[nodiscard]] bool is_text() const noexcept { return kind_ == Kind::Text; }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }
  // Of a text message it has been checked that it is UTF-8.
  [[nodiscard]] std::string_view text() const noexcept { return bytes_.text(); }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    return {reinterpret_cast<const std::byte*>(bytes_.data()), bytes_.size()};
  }
  [[nodiscard]] const Slice& slice() const noexcept { return bytes_; }

 private:
  Slice bytes_;
  Kind kind_ = Kind::Text;
};

// A piece of a message that is read as it comes; see WebSocket::read_part().
struct Part {
  Message message;  // the bytes that have come, and the kind of the whole
  bool is_last = false;
};

// Close codes (RFC 6455 §7.4.1). Codes of applications are 4000 to 4999.
enum CloseCode : std::uint16_t {
  kNormal = 1000,
  kGoingAway = 1001,
  kProtocolError = 1002,
  kUnsupportedData = 1003,
  kNoCode = 1005,    // the peer's Close had none; never on the wire
  kAbnormal = 1006,  // the connection ended without a Close; never on the wire
  kInvalidText = 1007,
  kPolicyViolation = 1008,
  kMessageTooBig = 1009,
  kMissingExtension = 1010,
  kInternalError = 1011,
  kTryAgainLater = 1013,
};

}  // namespace violet::ws
