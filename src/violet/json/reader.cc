#include "violet/json/reader.h"

#include "violet/data/format/utf8.h"
#include "violet/data/text_value.h"
#include "violet/json/read/reading.h"
#include "violet/json/scan.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace violet::json {
namespace detail {
// --- values

[[gnu::always_inline]] inline const char* Reader::value(const Type& type, void* out, const char* at,
                                                        const Place& place) {
  switch (type.kind) {
    case Kind::Signed:
    case Kind::Unsigned: return whole(type, out, at, place);
    case Kind::String:
    case Kind::View:
    case Kind::Bytes:
    case Kind::Time:
    case Kind::Text:
    case Kind::Enum: return text(type, out, at, place);
    case Kind::Object: return object(type, out, at, place, {});
    case Kind::List: return list(type, out, at, place);
    default: return unusual(type, out, at, place);
  }
}

[[gnu::always_inline]] inline const char* Reader::whole(const Type& type, void* out, const char* at,
                                                        const Place& place) {
  // The common number: up to nine digits, into four or eight bytes.
  const char* digit = at;
  const bool is_negative = type.kind == Kind::Signed && cursor_.peek(at) == '-';
  digit += is_negative;
  const char* const first = digit;
  const char* const limit = cursor_.end() - digit > 10 ? digit + 10 : cursor_.end();
  std::uint32_t magnitude = 0;
  while (digit < limit && is_digit(*digit)) magnitude = magnitude * 10 + static_cast<std::uint32_t>(*digit++ - '0');
  const auto count = digit - first;
  const char next = cursor_.peek(digit);
  if (type.size < 4 || type.rule_count > 0 || count == 0 || count > 9 || (*first == '0' && count > 1) || next == '.' ||
      (next | 0x20) == 'e') [[unlikely]] {
    return whole_with_care(type, out, at, place);
  }
  const std::int64_t number = is_negative ? -static_cast<std::int64_t>(magnitude) : magnitude;
  if (type.size == 4) {
    const auto narrow = static_cast<std::int32_t>(number);
    std::memcpy(out, &narrow, sizeof narrow);
  } else {
    std::memcpy(out, &number, sizeof number);
  }
  return digit;
}

// --- texts

[[gnu::always_inline]] inline const char* Reader::text(const Type& type, void* out, const char* at,
                                                       const Place& place) {
  if (cursor_.peek(at) != '"') [[unlikely]]
    return refuse(type, at, place);
  StringToken token;
  at = cursor_.string(at, token);
  if (at == nullptr) [[unlikely]]
    return nullptr;
  if (!token.has_escapes && type.rule_count == 0) [[likely]] {
    if (type.kind == Kind::String) {
      // What short texts need, without a call. The size that libstdc++ 12 passes may be the new capacity instead.
      static_cast<std::string*>(out)->resize_and_overwrite(token.raw.size(), [&](char* to, std::size_t) {
        std::memcpy(to, token.raw.data(), token.raw.size());
        return token.raw.size();
      });
      return at;
    }
    if (type.kind == Kind::View) {
      *static_cast<std::string_view*>(out) = token.raw;
      return at;
    }
  }
  if (!store_text(type, out, unescape(token, findings_.arena()))) {
    report(place, "has to be " + data::what_is_expected(type));
  } else if (type.rule_count > 0) {
    check_rules(type, out, place);
  }
  return at;
}

// --- objects

// The name of the member that is expected next, and what follows it up to its value; nullptr where something else
// stands, which may be a name all the same. Most objects have their members in the order of the struct.
[[gnu::always_inline]] inline const char* expected_key(const data::Member& member, const char* at, const char* end) {
  if (end - at < static_cast<std::ptrdiff_t>(data::kPrefixRoom) + 1) return nullptr;
  const std::size_t size = member.prefix.size() - 1;
  const char* const key = member.prefix.data() + 1;
  if (size < kVector ? !is_same(at, key, size) : size >= data::kPrefixRoom || std::memcmp(at, key, size) != 0) {
    return nullptr;
  }
  return at + size;
}

// Any name. `index` becomes that of the member, or the count of all members.
const char* Reader::key(const data::ObjectType& type, const char* at, std::size_t& index, std::string_view& name) {
  if (cursor_.peek(at) != '"') return cursor_.fail(at, "a name in quotes is expected");
  StringToken token;
  at = cursor_.string(at, token);
  if (at == nullptr) return nullptr;
  name = unescape(token, findings_.arena());
  for (index = 0; index < type.count; ++index) {
    if (type.members[index].name == name && !type.members[index].is_ignored) break;
  }
  at = cursor_.skip_space(at);
  if (cursor_.peek(at) != ':') return cursor_.fail(at, "':' is expected");
  return cursor_.skip_space(at + 1);
}

// A name that is not known or came before.
const char* Reader::surplus(const data::ObjectType& type, void* const* members, std::size_t index, const char* at,
                            const Place& place, std::string_view tag) {
  const bool is_known = index < type.count;
  if (is_known && options_.duplicates == DuplicateKeys::Last) {
    return any(*type.members[index].type, members[index], at, place);
  }
  at = cursor_.value(at);
  if (at == nullptr) return nullptr;
  if (is_known && options_.duplicates == DuplicateKeys::Refuse) report(place, "comes twice");
  if (!is_known && options_.unknown == UnknownKeys::Refuse && place.name != tag) report(place, "is not known");
  return at;
}

const char* Reader::object(const Type& type, void* out, const char* at, const Place& place, std::string_view tag) {
  if (cursor_.peek(at) != '{') [[unlikely]]
    return refuse(type, at, place);
  if (!cursor_.enter(at)) return nullptr;
  const bool had_findings = std::exchange(has_findings_, false);
  std::uint32_t seen = 0;
  at = cursor_.skip_space(at + 1);
  if (cursor_.peek(at) != '}') at = members(type, out, at, place, seen, 0, tag);
  if (at == nullptr) return nullptr;
  return end_object(type, out, at, place, type.object->required() & ~seen, had_findings);
}

const char* Reader::members(const Type& type, void* out, const char* at, const Place& place, std::uint32_t& seen,
                            std::size_t index, std::string_view tag) {
  const data::ObjectType& shape = *type.object;
  const char* const end = cursor_.end();
  void* members[data::kMembersMax];
  shape.locate(out, members);
  Place inner{.outer = &place, .name = {}};
  for (;;) {
    const char* behind = nullptr;
    if (index < shape.count && seen >> index == 0) {
      behind = expected_key(shape.members[index], at, end);
      inner.name = shape.members[index].name;
    }
    if (behind != nullptr && !shape.members[index].is_ignored) [[likely]] {
      if (*behind <= ' ') behind = cursor_.skip_space(behind);
      seen |= std::uint32_t{1} << index;
      at = value(*shape.members[index].type, members[index], behind, inner);
    } else {
      at = key(shape, at, index, inner.name);
      if (at == nullptr) return nullptr;
      if (index == shape.count || (seen >> index & 1) != 0) {
        at = surplus(shape, members, index, at, inner, tag);
      } else {
        seen |= std::uint32_t{1} << index;
        at = any(*shape.members[index].type, members[index], at, inner);
      }
    }
    if (at == nullptr) [[unlikely]]
      return nullptr;
    ++index;
    if (end - at > 2 && *at == ',' && at[1] > ' ') [[likely]] {
      ++at;
      continue;
    }
    bool is_closed = false;
    at = behind_one(at, '}', is_closed);
    if (at == nullptr || is_closed) return at;
  }
}

const char* Reader::behind_one(const char* at, char close, bool& is_closed) noexcept {
  at = cursor_.skip_space(at);
  const char next = cursor_.peek(at);
  is_closed = next == close;
  if (is_closed) return at;
  if (next == ',') return cursor_.skip_space(at + 1);
  return cursor_.fail(at, close == '}' ? "',' or '}' is expected" : "',' or ']' is expected");
}

const char* Reader::rest_of_object(const Type& type, void* out, const char* at, const Place& place,
                                   std::uint32_t& seen) {
  bool is_closed = false;
  if (seen == 0) {
    at = cursor_.skip_space(at + 1);
    is_closed = cursor_.peek(at) == '}';
  } else {
    at = behind_one(at, '}', is_closed);
  }
  if (at == nullptr || is_closed) return at;
  return members(type, out, at, place, seen, type.object->count, {});
}

void Reader::report_missing(const Type& type, const Place& place, std::uint32_t missing) {
  for (std::size_t i = 0; i < type.object->count; ++i) {
    if ((missing >> i & 1) != 0) report({.outer = &place, .name = type.object->members[i].name}, "is missing");
  }
}

const char* Reader::list(const Type& type, void* out, const char* at, const Place& place) {
  if (cursor_.peek(at) != '[') return refuse(type, at, place);
  if (!cursor_.enter(at)) return nullptr;
  const data::ListType& shape = *type.list;
  if (shape.clear != nullptr) shape.clear(out);
  Place inner{.outer = &place, .name = {}, .is_index = true};
  bool has_room = true;
  at = cursor_.skip_space(at + 1);
  if (cursor_.peek(at) != ']') {
    for (;;) {
      if (shape.fixed_count > 0 && inner.index >= shape.fixed_count) {
        has_room = false;
        at = cursor_.value(at);
      } else if (shape.append != nullptr) {
        at = value(*shape.element, shape.append(out, inner.index), at, inner);
      } else if (shape.append_bool != nullptr) {
        bool bit = false;
        at = value(*shape.element, &bit, at, inner);
        shape.append_bool(out, bit);
      } else {
        at = cursor_.value(at);
      }
      if (at == nullptr) [[unlikely]]
        return nullptr;
      ++inner.index;
      if (cursor_.end() - at > 2 && *at == ',' && at[1] > ' ') [[likely]] {
        ++at;
        continue;
      }
      bool is_closed = false;
      at = behind_one(at, ']', is_closed);
      if (at == nullptr) return nullptr;
      if (is_closed) break;
    }
  }
  cursor_.leave();
  if (!has_room || inner.index < shape.fixed_count) {
    report(place, "has to be " + data::what_is_expected(type));
  } else if (type.rule_count > 0) {
    check_rules(type, out, place);
  }
  return at + 1;
}

const char* Reader::any(const Type& type, void* out, const char* at, const Place& place) {
  return value(type, out, at, place);
}
const char* Reader::any(const data::Member& member, void* out, const char* at, const Place& object) {
  return value(*member.type, out, at, {.outer = &object, .name = member.name});
}

namespace {

// Says where the text is no JSON.
void locate(std::string_view text, const Cursor& cursor, SyntaxError& syntax) {
  if (cursor.what().empty()) return;
  syntax.what = cursor.what();
  syntax.is_too_deep = cursor.is_too_deep();
  syntax.offset = static_cast<std::size_t>(cursor.where() - text.data());
  const std::string_view before = text.substr(0, syntax.offset);
  syntax.line = 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  syntax.column = 1 + utf8::count(before.substr(line_start));
}

}  // namespace
}  // namespace detail

bool read(std::string_view text, const data::Type& type, void* out, const ReadOptions& options,
          data::Findings& findings, SyntaxError& syntax) {
  detail::Reader reader(text, options, findings);
  const bool is_good = reader.document(text, [&](detail::Reader& self, const char* at, const detail::Place& place) {
    return self.any(type, out, at, place);
  });
  detail::locate(text, reader.cursor(), syntax);
  return is_good;
}

bool read(std::string_view text, detail::Get get, void* out, const ReadOptions& options, data::Findings& findings,
          SyntaxError& syntax) {
  detail::Reader reader(text, options, findings);
  const bool is_good = reader.document(text, [&](detail::Reader& self, const char* at, const detail::Place& place) {
    return get(self, out, at, place);
  });
  detail::locate(text, reader.cursor(), syntax);
  return is_good;
}

namespace detail {

std::expected<void, ReadError> read(std::string_view text, Get get, void* out, const ReadOptions& options,
                                    Arena& arena) {
  data::Findings findings(arena);
  SyntaxError syntax;
  if (json::read(text, get, out, options, findings, syntax)) return {};
  ReadError error;
  error.syntax = syntax.what;
  error.line = syntax.line;
  error.column = syntax.column;
  for (const data::Finding& finding : findings.list()) {
    error.findings.push_back({std::string(finding.where), std::string(finding.what)});
  }
  return std::unexpected(std::move(error));
}

}  // namespace detail

std::string ReadError::to_string() const {
  if (!syntax.empty()) {
    return "line " + std::to_string(line) + ", column " + std::to_string(column) + ": " + syntax;
  }
  std::string text;
  for (const Finding& finding : findings) {
    if (!text.empty()) text += '\n';
    text.append(finding.pointer.empty() ? "the value" : finding.pointer).append(": ").append(finding.what);
  }
  return text;
}

}  // namespace violet::json
