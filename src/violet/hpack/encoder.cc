#include "violet/hpack/encoder.h"

#include "violet/base/ascii.h"
#include "violet/hpack/huffman.h"
#include "violet/hpack/integer.h"
#include "violet/memory/text.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace violet::hpack {
namespace {

using http::FieldId;

// How often a value of a name comes again.
enum class Habit : std::uint8_t {
  Repeats,  // into the table at once
  Secret,   // never, and nobody else may (RFC 7541 §7.1.3)
  Cookie,   // a secret when it is short enough to be guessed
  Changes,  // when it has come twice; each such name is one further, which says where its hint is
};

struct Habits {
  std::array<Habit, Key::kCount> of{};
  std::size_t changing_count = 0;

  constexpr void set_changing(Key key) {
    of[key.index()] = static_cast<Habit>(static_cast<std::size_t>(Habit::Changes) + changing_count++);
  }
};

constexpr Habits kHabits = [] {
  Habits habits;
  for (const FieldId id : {FieldId::Age,
                           FieldId::ContentDisposition,
                           FieldId::ContentLength,
                           FieldId::ContentLocation,
                           FieldId::ContentRange,
                           FieldId::Date,
                           FieldId::ETag,
                           FieldId::Expires,
                           FieldId::GrpcMessage,
                           FieldId::GrpcTimeout,
                           FieldId::IfMatch,
                           FieldId::IfModifiedSince,
                           FieldId::IfNoneMatch,
                           FieldId::IfRange,
                           FieldId::IfUnmodifiedSince,
                           FieldId::LastEventId,
                           FieldId::LastModified,
                           FieldId::Location,
                           FieldId::Range,
                           FieldId::Referer,
                           FieldId::RetryAfter,
                           FieldId::SecWebSocketAccept,
                           FieldId::SecWebSocketKey,
                           FieldId::Traceparent,
                           FieldId::Tracestate,
                           FieldId::XRequestId}) {
    habits.set_changing(id);
  }
  habits.set_changing(Pseudo::Path);
  for (const FieldId id : {FieldId::Authorization, FieldId::ProxyAuthorization, FieldId::SetCookie}) {
    habits.of[Key(id).index()] = Habit::Secret;
  }
  habits.of[Key(FieldId::Cookie).index()] = Habit::Cookie;
  return habits;
}();
constexpr std::size_t kShortCookieBytes = 20;

// Names above this length are not worth a place in the table.
constexpr std::size_t kOtherNameMax = 128;
// How many entries of one name are compared with a line.
constexpr int kSearchMax = 8;

char* put_index(char* out, std::uint32_t index) noexcept { return write_integer(out, 7, 0x80, index); }

char* put_raw(char* out, std::string_view text) noexcept {
  return put_text(write_integer(out, 7, 0, static_cast<std::uint32_t>(text.size())), text);
}

// A string literal (RFC 7541 §5.2), coded where that is shorter.
char* put_string(char* out, std::string_view text) noexcept {
  if (text.size() <= 2) return put_raw(out, text);
  const std::size_t coded = huffman_size(text);
  if (coded >= text.size()) return put_raw(out, text);
  return encode_huffman(text, write_integer(out, 7, 0x80, static_cast<std::uint32_t>(coded)));
}

std::uint16_t hash_of(std::string_view text) noexcept {
  std::uint64_t hash = text.size() + 1;
  const char* p = text.data();
  std::size_t left = text.size();
  for (; left >= 8; p += 8, left -= 8) {
    hash = (hash ^ detail::load_word<std::uint64_t>(p)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  for (; left > 0; ++p, --left) hash = (hash ^ static_cast<unsigned char>(*p)) * 0x9e3779b97f4a7c15u;
  return static_cast<std::uint16_t>(hash >> 48);
}

}  // namespace

void Encoder::set_peer_table_bytes_max(std::uint32_t bytes) noexcept {
  table_.set_capacity(std::min(bytes, kTableBytesMax));
  lowest_ = std::min(lowest_, table_.capacity());
  written_ = nullptr;  // entries may have gone
}

char* Encoder::begin_rarely(char* out) {
  if (!std::exchange(has_begun_, true)) table_.reserve();
  return lowest_ != announced_ || table_.capacity() != announced_ ? put_updates(out) : out;
}

char* Encoder::put_updates(char* out) noexcept {
  const std::uint32_t capacity = table_.capacity();
  if (lowest_ < capacity && lowest_ < announced_) out = write_integer(out, 5, 0x20, lowest_);
  out = write_integer(out, 5, 0x20, capacity);
  announced_ = lowest_ = capacity;
  return out;
}

char* Encoder::put_status(char* out, int code) {
  const char digits[] = {static_cast<char>('0' + code / 100), static_cast<char>('0' + code / 10 % 10),
                         static_cast<char>('0' + code % 10)};
  return pseudo(out, Pseudo::Status, {digits, sizeof digits});
}

char* Encoder::pseudo(char* out, Pseudo which, std::string_view value, bool is_sensitive) {
  if (!is_sensitive && put_if_last(out, which, value)) return out + 1;
  return put_known(out, which, value, is_sensitive);
}

char* Encoder::put_field(char* out, const http::Field& field) {
  if (field.id != FieldId::Other) return put_known(out, field.id, field.value, field.is_sensitive);
  return put_other(out, field.name, field.value, field.is_sensitive);
}

char* Encoder::put_known(char* out, Key key, std::string_view value, bool is_sensitive) {
  const std::string_view text = key.is_pseudo() ? name(key.pseudo()) : http::lower_name(key.id());
  for (std::uint32_t i = kStaticNames.at[key.index()]; i <= kStaticCount && kStaticTable.at[i].key == key; ++i) {
    // Most names have no value there.
    if (!value.empty() && !is_sensitive && kStaticTable.at[i].value == value) return put_index(out, i);
  }
  return put_line(out, {key, key.index(), text, value}, is_sensitive);
}

char* Encoder::put_other(char* out, std::string_view name, std::string_view value, bool is_sensitive) {
  if (name.size() > kOtherNameMax) [[unlikely]] {
    *out++ = static_cast<char>(is_sensitive ? 0x10 : 0);
    out = write_integer(out, 7, 0, static_cast<std::uint32_t>(name.size()));
    for (char c : name) *out++ = ascii::lower(c);
    return put_string(out, value);
  }
  char lower[kOtherNameMax];
  std::size_t bucket = name.size();
  for (std::size_t i = 0; i < name.size(); ++i) {
    lower[i] = ascii::lower(name[i]);
    bucket = bucket * 31 + static_cast<unsigned char>(lower[i]);
  }
  return put_line(out, {{}, Key::kCount + bucket % kOtherBuckets, {lower, name.size()}, value}, is_sensitive);
}

char* Encoder::put_line(char* out, const Line& line, bool is_sensitive) {
  std::uint32_t name_index = kStaticNames.at[line.key.index()];
  std::uint32_t number = table_.newest() - age_of(line.bucket);
  const Entry* entry = table_.find(number);
  for (int i = 0; i < kSearchMax && entry != nullptr; ++i, number = entry->previous, entry = table_.find(number)) {
    if (entry->key != line.key || (line.key.is_other() && !are_equal(table_.name(*entry), line.name))) continue;
    const std::uint32_t index = kStaticCount + 1 + table_.newest() - number;
    if (!is_sensitive && are_equal(table_.value(*entry), line.value)) return put_index(out, index);
    if (name_index == 0) name_index = index;
  }
  return put_literal(out, line, is_sensitive ? Way::Never : choose(line), name_index);
}

Encoder::Way Encoder::choose(const Line& line) noexcept {
  const Habit habit = kHabits.of[line.key.index()];
  if (habit == Habit::Secret || (habit == Habit::Cookie && line.value.size() < kShortCookieBytes)) return Way::Never;
  // An entry that would throw out most of the others is not worth it.
  if (Entry::kOverhead + line.name.size() + line.value.size() > table_.capacity() / 4 * 3) return Way::Plain;
  if (habit < Habit::Changes) return Way::Indexed;
  static_assert(kHabits.changing_count <= kHintCount);
  const std::uint16_t hash = hash_of(line.value);
  std::uint16_t& hint = hints_[static_cast<std::size_t>(habit) - static_cast<std::size_t>(Habit::Changes)];
  return std::exchange(hint, hash) == hash ? Way::Indexed : Way::Plain;
}

char* Encoder::put_literal(char* out, const Line& line, Way way, std::uint32_t name_index) {
  switch (way) {
    case Way::Indexed: {
      out = write_integer(out, 6, 0x40, name_index);
      const std::uint32_t previous = table_.newest() - age_of(line.bucket);
      table_.insert({.previous = previous, .key = line.key}, line.name, line.value);
      newest_[line.bucket] = static_cast<std::uint16_t>(table_.newest());
      break;
    }
    case Way::Plain: out = write_integer(out, 4, 0, name_index); break;
    case Way::Never: out = write_integer(out, 4, 0x10, name_index); break;
  }
  if (name_index == 0) out = put_string(out, line.name);
  return put_string(out, line.value);
}

// Whether `value` stands in the newest entry of its name now.
void Encoder::learn(Key key, Known& known, std::uint64_t number, std::string_view value) noexcept {
  const std::uint32_t age = age_of(key.index());
  if (age >= table_.count()) return;
  const Entry& entry = table_.at(age);
  if (entry.key == key && are_equal(table_.value(entry), value)) known = {number, newest_[key.index()]};
}

char* Encoder::put_length(char* out, std::uint64_t bytes) {
  char room[ascii::kDigitsMax];
  const std::string_view text(room, static_cast<std::size_t>(ascii::put_unsigned(room, bytes) - room));
  out = field(out, FieldId::ContentLength, text);
  learn(FieldId::ContentLength, length_, bytes, text);
  return out;
}

char* Encoder::put_date(char* out, std::uint64_t second, std::string_view text) {
  out = field(out, FieldId::Date, text);
  learn(FieldId::Date, date_, second, text);
  return out;
}

char* Encoder::put_prepared(char* out, http::PreparedFields& fields, Written& written) {
  const char* const begin = out;
  const std::uint32_t newest = table_.newest();
  for (const http::Field& line : fields.lines()) out = field(out, line);
  const auto size = static_cast<std::size_t>(out - begin);
  if (table_.newest() != newest || size > Written::kBytesMax) return out;
  written.fields = Ref<http::PreparedFields>(&fields);
  written.newest = newest;
  written.size = static_cast<std::uint8_t>(size);
  std::memcpy(written.bytes, begin, size);
  return out;
}

}  // namespace violet::hpack
