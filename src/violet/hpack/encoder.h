#pragma once

// Encoder: the writing end of HPACK (RFC 7541), one for each connection and direction. Owned by its session; one
// thread.
//
//   char* p = out;                                   // enough room: kBeginBytesMax, and bound() for each line
//   p = encoder.begin(p);
//   p = encoder.status(p, 200);
//   p = encoder.field(p, http::FieldId::ContentLength, "5");
//   for (const http::Field& field : head.fields) p = encoder.field(p, field);
//
// Every block that is encoded must reach the peer, in the order of encoding: the peer's table depends on it. Pseudo-
// fields come first; that, and leaving out what HTTP/2 forbids, is for the caller.
//
// A line that is equal to the last one of its name costs an index, one byte mostly. Secrets (RFC 7541 §7.1.3) are never
// put into the table and marked so for whoever forwards them: fields that say so (Field::is_sensitive), Authorization,
// Proxy-Authorization, Set-Cookie, and cookies too short to resist guessing. Values that seldom come twice
// (Content-Length, ETag, :path, …) enter the table when they do.

#include "violet/hpack/dynamic_table.h"
#include "violet/hpack/section.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace violet::hpack {

class Encoder {
 public:
  // What the table may take of our memory, whatever the peer offers.
  static constexpr std::uint32_t kTableBytesMax = 4096;

  Encoder() noexcept : table_(kTableBytesMax) {}

  // The peer's SETTINGS_HEADER_TABLE_SIZE. The next block says what we make of it (RFC 7541 §4.2).
  void set_peer_table_bytes_max(std::uint32_t bytes) noexcept;

  // Room that begin() needs.
  static constexpr std::size_t kBeginBytesMax = 12;
  // Room that one line needs, as it may be written in whole words.
  [[nodiscard]] static constexpr std::size_t bound(std::size_t name_bytes, std::size_t value_bytes) noexcept {
    return name_bytes + value_bytes + 24;
  }

  // Each writes at `out` and returns the end of what it wrote.
  [[nodiscard]] char* begin(char* out) noexcept;
  // REQUIRES: 100 <= code <= 999.
  [[nodiscard]] char* status(char* out, int code);
  [[nodiscard]] char* pseudo(char* out, Pseudo which, std::string_view value, bool is_sensitive = false);
  // Names are written in lower case (RFC 9113 §8.2).
  [[nodiscard]] char* field(char* out, const http::Field& field);
  // REQUIRES: id is not Other.
  [[nodiscard]] char* field(char* out, http::FieldId id, std::string_view value);

  [[nodiscard]] const DynamicTable& table() const noexcept { return table_; }

 private:
  // How a line that is not in the table is written (RFC 7541 §6.2).
  enum class Way : std::uint8_t { Indexed, Plain, Never };
  struct Line {
    Key key;
    std::size_t bucket;
    std::string_view name;  // in lower case
    std::string_view value;
  };
  static constexpr std::size_t kOtherBuckets = 16;
  static constexpr std::uint32_t kNone = 0xffffffff;

  [[nodiscard]] char* known(char* out, Key key, std::string_view name, std::string_view value, bool is_sensitive);
  [[nodiscard]] char* other(char* out, std::string_view name, std::string_view value, bool is_sensitive);
  [[nodiscard]] char* line(char* out, const Line& line, bool is_sensitive);
  [[nodiscard]] char* literal(char* out, const Line& line, Way way, std::uint32_t name_index);
  [[nodiscard]] Way choose(const Line& line) noexcept;

  DynamicTable table_;
  std::uint32_t announced_ = kTableBytesMax;  // the capacity that the peer knows of
  std::uint32_t lowest_ = kTableBytesMax;     // the smallest capacity since then
  // By bucket (a key, or a few bits of another name): the number of the newest entry, and by key: a hash of the last
  // value that was not put into the table.
  std::uint32_t newest_[Key::kCount + kOtherBuckets] = {};
  std::uint16_t hints_[Key::kCount] = {};
};

}  // namespace violet::hpack
