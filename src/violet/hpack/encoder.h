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

#include "violet/hpack/section.h"
#include "violet/hpack/table/dynamic_table.h"
#include "violet/memory/text.h"

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
  [[nodiscard]] char* begin(char* out) noexcept {
    if (lowest_ != announced_ || table_.capacity() != announced_) [[unlikely]]
      return put_updates(out);
    return out;
  }
  // REQUIRES: 100 <= code <= 999.
  [[nodiscard]] char* status(char* out, int code) {
    if (code != 200) [[unlikely]]
      return put_status(out, code);
    *out = static_cast<char>(0x80 | kStatus200);
    return out + 1;
  }
  [[nodiscard]] char* pseudo(char* out, Pseudo which, std::string_view value, bool is_sensitive = false);
  // Names are written in lower case (RFC 9113 §8.2).
  [[nodiscard]] char* field(char* out, const http::Field& field) {
    if (field.id == http::FieldId::Other || field.is_sensitive) [[unlikely]]
      return put_field(out, field);
    return this->field(out, field.id, field.value);
  }
  // REQUIRES: id is not Other.
  [[nodiscard]] char* field(char* out, http::FieldId id, std::string_view value) {
    VIOLET_ASSERT(id != http::FieldId::Other);
    return put_if_last(out, id, value) ? out + 1 : put_known(out, id, value, false);
  }

  [[nodiscard]] const DynamicTable& table() const noexcept { return table_; }

 private:
  static constexpr unsigned kStatus200 = 8;  // in the static table
  // How a line that is not in the table is written (RFC 7541 §6.2).
  enum class Way : std::uint8_t { Indexed, Plain, Never };
  struct Line {
    Key key;
    std::size_t bucket;
    std::string_view name;  // in lower case
    std::string_view value;
  };
  static constexpr std::size_t kOtherBuckets = 16;

  [[nodiscard, gnu::always_inline]] inline bool put_if_last(char* out, Key key, std::string_view value) noexcept;
  [[nodiscard]] char* put_updates(char* out) noexcept;
  [[nodiscard]] char* put_status(char* out, int code);
  [[nodiscard]] char* put_field(char* out, const http::Field& field);
  [[nodiscard, gnu::noinline]] char* put_known(char* out, Key key, std::string_view value, bool is_sensitive);
  [[nodiscard]] char* put_other(char* out, std::string_view name, std::string_view value, bool is_sensitive);
  [[nodiscard]] char* put_line(char* out, const Line& line, bool is_sensitive);
  [[nodiscard]] char* put_literal(char* out, const Line& line, Way way, std::uint32_t name_index);
  [[nodiscard]] Way choose(const Line& line) noexcept;

  DynamicTable table_;
  std::uint32_t announced_ = kTableBytesMax;  // the capacity that the peer knows of
  std::uint32_t lowest_ = kTableBytesMax;     // the smallest capacity since then
  // By bucket (a key, or a few bits of another name): the number of the newest entry, and by key: a hash of the last
  // value that was not put into the table.
  std::uint32_t newest_[Key::kCount + kOtherBuckets] = {};
  std::uint16_t hints_[Key::kCount] = {};
};

// The last entry of that name, which a repeated head finds, as long as its index fits into one byte.
bool Encoder::put_if_last(char* out, Key key, std::string_view value) noexcept {
  constexpr std::uint32_t kOneByteAges = 126 - kStaticCount;
  const std::uint32_t age = table_.newest() - newest_[key.index()];
  if (age >= table_.count() || age >= kOneByteAges) return false;
  const Entry& entry = table_.at(age);
  if (entry.key != key || !are_equal(table_.value(entry), value)) return false;
  *out = static_cast<char>(0x80 | (kStaticCount + 1 + age));
  return true;
}

}  // namespace violet::hpack
