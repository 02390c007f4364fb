#include "violet/json/writer.h"

#include "violet/base/ascii.h"
#include "violet/data/format/base64.h"
#include "violet/data/format/time.h"
#include "violet/data/format/utf8.h"
#include "violet/json/scan.h"

#include <charconv>
#include <cmath>
#include <cstring>

namespace violet::json {
namespace {

using data::Kind;
using data::kPrefixRoom;
using data::Type;

// A literal of at most eight characters, written as a word. REQUIRES: room for eight bytes.
template <std::size_t N>
char* put_word(const char (&word)[N], char* at) noexcept {
  static_assert(N <= 9);
  char padded[8] = {};
  std::memcpy(padded, word, N - 1);
  std::memcpy(at, padded, 8);
  return at + N - 1;
}

// The longest escape.
constexpr std::size_t kEscapeBytes = 6;

// '"', '\\' or a control.
char* put_escape(char c, char* at) noexcept {
  *at++ = '\\';
  switch (c) {
    case '"':
    case '\\': *at++ = c; break;
    case '\b': *at++ = 'b'; break;
    case '\f': *at++ = 'f'; break;
    case '\n': *at++ = 'n'; break;
    case '\r': *at++ = 'r'; break;
    case '\t': *at++ = 't'; break;
    default:
      at = put_word("u00", at);
      *at++ = "01"[static_cast<unsigned char>(c) >> 4];
      *at++ = "0123456789abcdef"[c & 15];
  }
  return at;
}

void copy_16(const char* from, char* to) noexcept { std::memcpy(to, from, kVector); }

}  // namespace

// What a list or map that is no row of elements gives, one after the other.
class Writer::Elements final : public data::Visitor {
 public:
  Elements(Writer& writer, const Type& element, char open, char* at) noexcept
      : writer_(writer), element_(element), lead_(open), at_(at) {}
  void on_element(const void* value) override {
    lead();
    at_ = writer_.put(element_, value, at_);
  }
  void on_entry(std::string_view key, const void* value) override {
    lead();
    at_ = writer_.put_text(key, at_);
    at_ = writer_.room(at_, 1);
    *at_++ = ':';
    at_ = writer_.put(element_, value, at_);
  }
  char* end(char open, char close) {
    at_ = writer_.room(at_, 2);
    if (lead_ == open) *at_++ = open;
    *at_++ = close;
    return at_;
  }

 private:
  void lead() {
    at_ = writer_.room(at_, 1);
    *at_++ = lead_;
    lead_ = ',';
  }
  Writer& writer_;
  const Type& element_;
  char lead_;
  char* at_;
};

char* Writer::put_null(char* at) noexcept { return put_word("null", at); }
char* Writer::put_bool(bool value, char* at) noexcept { return value ? put_word("true", at) : put_word("false", at); }
char* Writer::put_signed(std::int64_t value, char* at) noexcept { return ascii::put_signed(at, value); }
char* Writer::put_unsigned(std::uint64_t value, char* at) noexcept { return ascii::put_unsigned(at, value); }
static_assert(1 + ascii::kDigitsMax <= 24);

Writer& Writer::number(std::int64_t value) {
  at_ = ascii::put_signed(room(at_, kRoom), value);
  return *this;
}
Writer& Writer::number(std::uint64_t value) {
  at_ = ascii::put_unsigned(room(at_, kRoom), value);
  return *this;
}

// At most a vector. REQUIRES: kValueRoom bytes.
[[gnu::always_inline]] inline char* Writer::put_short_text(const char* from, std::size_t size, char* at) {
  *at = '"';
  char* const to = at + 1;
  if (size >= 8) {
    if (has_special_8_to_16(from, from + size)) [[unlikely]]
      return put_text_with_care({from, size}, at);
    std::memcpy(to, from, 8);
    std::memcpy(to + size - 8, from + size - 8, 8);
  } else {
    std::uint64_t word = 0;
    if (size >= 4) {
      word = data::load<std::uint32_t>(from) | static_cast<std::uint64_t>(data::load<std::uint32_t>(from + size - 4))
                                                   << (size - 4) * 8;
    } else if (size > 0) {
      const auto byte = [from](std::size_t i) { return std::uint64_t{static_cast<unsigned char>(from[i])}; };
      word = byte(0) | byte(size / 2) << (size / 2) * 8 | byte(size - 1) << (size - 1) * 8;
    }
    // What is behind the text is made plain.
    if (special_in(word | std::uint64_t{0x2020202020202020} << size * 8) != 0) [[unlikely]]
      return put_text_with_care({from, size}, at);
    std::memcpy(to, &word, 8);
  }
  to[size] = '"';
  return to + size + 1;
}

[[gnu::always_inline]] inline char* Writer::put_usual(const Type& type, const void* value, char* at) {
  switch (type.kind) {
    case Kind::Bool: return *static_cast<const bool*>(value) ? put_word("true", at) : put_word("false", at);
    case Kind::Signed: {
      const std::int64_t number = data::load_signed(value, type.size);
      return ascii::put_signed(at, number);
    }
    case Kind::String: {
      const auto& text = *static_cast<const std::string*>(value);
      return text.size() <= kVector ? put_short_text(text.data(), text.size(), at) : put_text(text, at);
    }
    case Kind::View: {
      const auto& text = *static_cast<const std::string_view*>(value);
      return text.size() <= kVector ? put_short_text(text.data(), text.size(), at) : put_text(text, at);
    }
    case Kind::Object: return put_object(*type.object, value, at);
    case Kind::List: return put_list(*type.list, value, at);
    // Each named, so that the compiler need not look for others.
    case Kind::Unsigned:
    case Kind::Float:
    case Kind::Double:
    case Kind::Literal:
    case Kind::Bytes:
    case Kind::Time:
    case Kind::Enum:
    case Kind::Text:
    case Kind::Map:
    case Kind::Optional:
    case Kind::Variant:
    case Kind::Dynamic: return put(type, value, at);
  }
  __builtin_unreachable();
}

char* Writer::put(const Type& type, const void* value, char* at) {
  at = room(at, kValueRoom);
  if (type.is_secret) return put_word("null", at);
  switch (type.kind) {
    case Kind::Unsigned: return ascii::put_unsigned(at, data::load_unsigned(value, type.size));
    case Kind::Double: return put_real(*static_cast<const double*>(value), at);
    case Kind::Float: return put_float(*static_cast<const float*>(value), at);
    case Kind::Literal: {
      const char* text = *static_cast<const char* const*>(value);
      return text != nullptr ? put_text(text, at) : put_word("null", at);
    }
    case Kind::Bytes: return put_bytes(type.bytes->get(value), at);
    case Kind::Time: return put_time(type, value, at);
    case Kind::Enum: return put_enum(type, value, at);
    case Kind::Text: return put_form(*type.text, value, at);
    case Kind::Map: return put_map(*type.map, value, at);
    case Kind::Optional: {
      const void* inner = type.optional->get(value);
      return inner != nullptr ? put(*type.optional->inner, inner, at) : put_word("null", at);
    }
    case Kind::Variant: return put_variant(*type.variant, value, at);
    case Kind::Dynamic:
      at_ = at;
      type.dynamic->write(value, *this);
      return at_;
    default: return put_usual(type, value, at);
  }
}

// A structure that holds itself would never end.
char* Writer::fail_too_deep(char* at) {
  has_failed_ = true;
  return put_word("null", room(at, kRoom));
}

char* Writer::put_map(const data::MapType& type, const void* map, char* at) {
  if (depth_ == kDepthMax) return fail_too_deep(at);
  ++depth_;
  Elements elements(*this, *type.value, '{', at);
  type.each(map, elements);
  --depth_;
  return elements.end('{', '}');
}

char* Writer::put_form(const data::TextType& type, const void* value, char* at) {
  char text[data::kTextRoom];
  return put_text({text, type.write(value, text, sizeof text)}, at);
}

char* Writer::put_object(const data::ObjectType& type, const void* object, char* at, std::string_view tag,
                         std::string_view tag_value) {
  void* members[data::kMembersMax];
  type.locate(const_cast<void*>(object), members);
  if (depth_ == kDepthMax) [[unlikely]]
    return fail_too_deep(at);
  ++depth_;
  char lead = '{';
  if (!tag.empty()) {
    at = room(at, 1);
    *at++ = '{';
    at = put_text(tag, at);
    at = room(at, 1);
    *at++ = ':';
    at = put_text(tag_value, at);
    lead = ',';
  }
  const data::Member* member = type.members;
  const data::Member* const end = member + type.count;
  for (void* const* value = members; member != end; ++member, ++value) {
    if (!member->is_written) [[unlikely]]
      continue;
    const std::string_view prefix = member->prefix;
    at = room(at, kRoom);
    if (prefix.size() <= kPrefixRoom) [[likely]] {
      copy_16(prefix.data(), at);
      copy_16(prefix.data() + kVector, at + kVector);
      *at = lead;
      at += prefix.size();
    } else {
      *at++ = lead;
      at = room(put_raw(prefix.substr(1), at), kValueRoom);
    }
    lead = ',';
    at = put_usual(*member->type, *value, at);
  }
  --depth_;
  at = room(at, 2);
  if (lead == '{') *at++ = '{';
  *at++ = '}';
  return at;
}

char* Writer::put_list(const data::ListType& type, const void* list, char* at) {
  if (depth_ == kDepthMax) [[unlikely]]
    return fail_too_deep(at);
  ++depth_;
  if (type.row == nullptr) {
    Elements elements(*this, *type.element, '[', at);
    type.each(list, elements);
    --depth_;
    return elements.end('[', ']');
  }
  const data::ListType::Row row = type.row(list);
  const auto* element = static_cast<const std::byte*>(row.first);
  const std::byte* const end = element + row.count * type.stride;
  const bool is_secret = type.element->is_secret;
  at = room(at, kRoom);
  *at++ = '[';
  if (element != end) {
    for (;;) {
      at = is_secret ? put_word("null", at) : put_usual(*type.element, element, at);
      element += type.stride;
      if (element == end) break;
      at = room(at, kRoom);
      *at++ = ',';
    }
  }
  --depth_;
  at = room(at, 1);
  *at++ = ']';
  return at;
}

char* Writer::put_variant(const data::VariantType& type, const void* variant, char* at) {
  const void* value = type.get(variant);
  if (value == nullptr) return put_word("null", room(at, kVector));
  const data::VariantType::Alternative& alternative = type.alternatives[type.index(variant)];
  if (type.tag.empty()) return put(*alternative.type, value, at);
  return put_object(*alternative.type->object, value, at, type.tag, alternative.name);
}

char* Writer::put_enum(const Type& type, const void* value, char* at) {
  const std::int64_t number = data::load_whole(type, value);
  const data::EnumType& names = *type.enumeration;
  for (std::size_t i = 0; i < names.count; ++i) {
    if (names.enumerators[i].value == number) return put_text(names.enumerators[i].name, at);
  }
  return ascii::put_signed(room(at, kRoom), number);
}

char* Writer::put_time(const Type& type, const void* value, char* at) {
  const data::TimeType& time = *type.time;
  const std::int64_t ticks = data::load_signed(value, type.size);
  at = room(at, data::kTimeRoom + 8);
  *at = '"';
  std::size_t size = 0;
  if (time.is_date) {
    size = data::write_date(ticks, at + 1);
  } else if (time.ticks_per_second > 0) {
    std::int64_t seconds = ticks / time.ticks_per_second;
    std::int64_t fraction = ticks % time.ticks_per_second;
    if (fraction < 0) {
      fraction += time.ticks_per_second;
      --seconds;
    }
    int digits = 0;
    for (std::int64_t unit = 1; unit < time.ticks_per_second && digits < 9; unit *= 10) ++digits;
    const auto nanoseconds = static_cast<std::uint32_t>(static_cast<unsigned __int128>(fraction) * 1'000'000'000 /
                                                        static_cast<unsigned __int128>(time.ticks_per_second));
    size = data::write_time({seconds, nanoseconds}, digits, at + 1);
  } else {
    std::int64_t seconds = 0;
    if (!__builtin_mul_overflow(ticks, time.seconds_per_tick, &seconds)) {
      size = data::write_time({seconds, 0}, 0, at + 1);
    }
  }
  if (size == 0) return put_word("null", at);
  at += 1 + size;
  *at++ = '"';
  return at;
}

char* Writer::put_bytes(std::string_view bytes, char* at) {
  constexpr std::size_t kPiece = 96;  // whole groups, so that nothing is padded in between
  static_assert(kPiece % 3 == 0 && base64::encoded_size(kPiece) + 2 <= kRoom);
  at = room(at, kRoom);
  *at++ = '"';
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kPiece);
    at = room(at, base64::encoded_size(kPiece));
    base64::encode(piece, at);
    at += base64::encoded_size(piece.size());
    bytes.remove_prefix(piece.size());
  }
  at = room(at, 1);
  *at++ = '"';
  return at;
}

char* Writer::put_text(std::string_view text, char* at) {
  const std::size_t size = text.size();
  // Quotes, and a vector that is copied whole.
  static_assert(kVector <= kRest);
  if (static_cast<std::size_t>(end_ - at) < size + 2 + kRest) [[unlikely]]
    return put_text_with_care(text, at);
  const char* from = text.data();
  if (size <= kVector) return put_short_text(from, size, at);
  char* to = at + 1;
  const char* const last = from + size - kVector;
  std::uint32_t found = special(last);
  copy_16(last, to + size - kVector);
  for (; from < last; from += kVector, to += kVector) {
    found |= special(from);
    copy_16(from, to);
  }
  if (found != 0) [[unlikely]]
    return put_text_with_care(text, at);
  *at = '"';
  at += size + 1;
  *at = '"';
  return at + 1;
}

// Escapes, characters beyond ASCII, and texts that do not fit into the room there is.
char* Writer::put_text_with_care(std::string_view text, char* at) {
  const char* from = text.data();
  const char* const end = from + text.size();
  at = room(at, 1);
  *at++ = '"';
  while (from < end) {
    at = room(at, kRoom);
    char* const limit = end_ - kVector;
    while (end - from >= static_cast<std::ptrdiff_t>(kVector) && at < limit) {
      const std::uint32_t found = special(from);
      copy_16(from, at);
      const auto plain = static_cast<std::size_t>(found != 0 ? std::countr_zero(found) : static_cast<int>(kVector));
      from += plain;
      at += plain;
      if (found != 0) break;
    }
    if (from == end || at >= limit) continue;
    const auto c = static_cast<unsigned char>(*from);
    if (c < 0x20 || c == '"' || c == '\\') {
      static_assert(kEscapeBytes + 2 <= kVector);
      at = put_escape(*from++, at);
    } else if (c < 0x80) {
      *at++ = *from++;
    } else if (const std::size_t size = utf8::length(from, end); size > 0) {
      for (std::size_t i = 0; i < size; ++i) *at++ = *from++;
    } else {
      at = utf8::kReplacement.copy(at, utf8::kReplacement.size()) + at;
      ++from;
    }
  }
  at = room(at, 1 + kRest);
  *at++ = '"';
  return at;
}

char* Writer::put_raw(std::string_view json, char* at) {
  while (!json.empty()) {
    at = room(at, 1);
    const std::string_view piece = json.substr(0, static_cast<std::size_t>(end_ - at));
    std::memcpy(at, piece.data(), piece.size());
    at += piece.size();
    json.remove_prefix(piece.size());
  }
  return at;
}

char* Writer::put_real(double value, char* at) {
  at = room(at, kRoom);
  if (!std::isfinite(value)) [[unlikely]]
    return put_non_finite(value, at);
  return std::to_chars(at, end_, value).ptr;
}
char* Writer::put_float(float value, char* at) {
  at = room(at, kRoom);
  if (!std::isfinite(value)) [[unlikely]]
    return put_non_finite(static_cast<double>(value), at);
  return std::to_chars(at, end_, value).ptr;
}
char* Writer::put_non_finite(double value, char* at) {
  if (non_finite_ == NonFinite::Text) {
    return put_text(std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity", at);
  }
  if (non_finite_ == NonFinite::Fail) has_failed_ = true;
  return put_word("null", at);
}

// --- into a string

void StringWriter::start() {
  text_.resize(kRoom);
  begin(text_.data(), text_.data() + text_.size());
}

char* StringWriter::make_room(char* at, char*& end) {
  const auto used = static_cast<std::size_t>(at - text_.data());
  text_.resize(used * 2 + kRoom);
  end = text_.data() + text_.size();
  return text_.data() + used;
}

std::string StringWriter::text() && {
  text_.resize(static_cast<std::size_t>(at() - text_.data()));
  return std::move(text_);
}

}  // namespace violet::json
