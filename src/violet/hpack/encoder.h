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
#include <cstring>
#include <memory>
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
  [[nodiscard]] char* begin(char* out) {
    if (lowest_ != announced_ || table_.capacity() != announced_ || !has_begun_) [[unlikely]]
      return begin_rarely(out);
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

  // As field(), for values that a number stands for: nothing is compared where it was the same the last time.
  [[nodiscard]] char* length(char* out, std::uint64_t bytes) {
    return put_if_known(out, http::FieldId::ContentLength, length_, bytes) ? out + 1 : put_length(out, bytes);
  }
  // `text` is the date of that second.
  [[nodiscard]] char* date(char* out, std::int64_t second, std::string_view text) {
    const auto number = static_cast<std::uint64_t>(second);
    return put_if_known(out, http::FieldId::Date, date_, number) ? out + 1 : put_date(out, number, text);
  }
  // As field() for each of the lines. What was written for the last few is written again as long as the table is what
  // it was.
  [[nodiscard]] char* prepared(char* out, http::PreparedFields& fields);
  [[nodiscard]] static std::size_t bound(const http::PreparedFields& fields) noexcept {
    return fields.text().size() + (fields.lines().size() + 1) * bound(0, 0);
  }

  // Gives back what prepared lines were written as, and the table's spare room. It comes again.
  void rest() {
    written_.reset();
    table_.fit();
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
  static constexpr std::size_t kHintCount = 32;
  static constexpr std::uint32_t kOneByteAges = 126 - kStaticCount;
  // The entry whose value a number stands for.
  struct Known {
    std::uint64_t number = 0;
    std::uint16_t entry = 0;
  };
  // What was written of a set of lines, while `newest` was the table's newest entry.
  struct Written {
    static constexpr std::size_t kBytesMax = 11;
    Ref<http::PreparedFields> fields;
    std::uint32_t newest = 0;
    std::uint8_t size = 0;
    char bytes[kBytesMax];
  };
  static constexpr std::size_t kWrittenCount = 8;

  // By how many entries the newest of that bucket is older than the newest of all; nonsense when it is long gone.
  [[nodiscard]] std::uint32_t age_of(std::size_t bucket) const noexcept {
    return static_cast<std::uint16_t>(table_.newest() - newest_[bucket]);
  }
  [[nodiscard, gnu::always_inline]] inline bool put_if_last(char* out, Key key, std::string_view value) noexcept;
  [[nodiscard, gnu::always_inline]] inline bool put_if_known(char* out, Key key, const Known& known,
                                                             std::uint64_t number) noexcept;
  void learn(Key key, Known& known, std::uint64_t number, std::string_view value) noexcept;
  [[nodiscard, gnu::noinline]] char* put_length(char* out, std::uint64_t bytes);
  [[nodiscard, gnu::noinline]] char* put_date(char* out, std::uint64_t second, std::string_view text);
  [[nodiscard, gnu::noinline]] char* put_prepared(char* out, http::PreparedFields& fields, Written& written);
  [[nodiscard]] char* begin_rarely(char* out);
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
  bool has_begun_ = false;
  Known date_;
  Known length_;
  std::unique_ptr<Written[]> written_;  // once there are prepared lines
  // By bucket (a key, or a few bits of another name): the number of the newest entry, of which 16 bits are enough,
  // because whoever uses it looks at the entry as well; and for names whose values change: a hash of the last value
  // that was not put into the table.
  std::uint16_t newest_[Key::kCount + kOtherBuckets] = {};
  std::uint16_t hints_[kHintCount] = {};
};

// The last entry of that name, which a repeated head finds, as long as its index fits into one byte.
bool Encoder::put_if_last(char* out, Key key, std::string_view value) noexcept {
  const std::uint32_t age = age_of(key.index());
  if (age >= table_.count() || age >= kOneByteAges) return false;
  const Entry& entry = table_.at(age);
  if (entry.key != key || !are_equal(table_.value(entry), value)) return false;
  *out = static_cast<char>(0x80 | (kStaticCount + 1 + age));
  return true;
}

bool Encoder::put_if_known(char* out, Key key, const Known& known, std::uint64_t number) noexcept {
  const std::uint32_t age = age_of(key.index());
  if (known.number != number || known.entry != newest_[key.index()] || age >= table_.count() || age >= kOneByteAges) {
    return false;
  }
  // An entry of that name which is alive is the one that newest_ was set to.
  if (table_.at(age).key != key) return false;
  *out = static_cast<char>(0x80 | (kStaticCount + 1 + age));
  return true;
}

inline char* Encoder::prepared(char* out, http::PreparedFields& fields) {
  if (written_ == nullptr) [[unlikely]]
    written_ = std::make_unique<Written[]>(kWrittenCount);
  Written& written = written_[reinterpret_cast<std::uintptr_t>(&fields) / 64 % kWrittenCount];
  if (written.fields.get() != &fields || written.newest != table_.newest()) return put_prepared(out, fields, written);
  std::memcpy(out, written.bytes, Written::kBytesMax);
  return out + written.size;
}

}  // namespace violet::hpack
