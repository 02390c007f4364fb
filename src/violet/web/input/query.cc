#include "violet/web/input/query.h"

#include "violet/base/ascii.h"
#include "violet/http/target.h"

#include <cstring>
#include <string>

namespace violet::web {
namespace {

// What ends a name or a value, or has to be decoded in it.
enum Mark : std::uint8_t { kAmpersand = 1, kEquals = 2, kEncoded = 4 };
struct Marks {
  std::uint8_t at[256];
};
constexpr Marks kMarks = [] {
  Marks marks{};
  marks.at['&'] = kAmpersand;
  marks.at['='] = kEquals;
  marks.at['%'] = marks.at['+'] = kEncoded;
  return marks;
}();
std::uint8_t mark_of(char c) noexcept { return kMarks.at[static_cast<unsigned char>(c)]; }

std::string_view between(const char* begin, const char* end) noexcept {
  return {begin, static_cast<std::size_t>(end - begin)};
}

// The index of the member, or shape.count.
std::size_t find_member(const QueryShape& shape, std::string_view name) noexcept {
  std::size_t index = 0;
  for (; index < shape.count; ++index) {
    const std::string_view known = shape.names[index];
    if (known.size() == name.size() && known.front() == name.front() &&
        (name.size() == 1 || std::memcmp(known.data(), name.data(), name.size()) == 0)) {
      break;
    }
  }
  return index;
}

// A plain number at `at`, up to '&' or the end, in one pass. nullptr: something else, or it may not fit.
const char* read_int(const char* at, const char* end, std::uint8_t size, void* out) noexcept {
  constexpr std::ptrdiff_t kDigitsMax = 9;
  const bool is_negative = at < end && *at == '-';
  if (is_negative) ++at;
  const char* const first = at;
  std::uint32_t value = 0;
  while (at < end) {
    const auto digit = static_cast<unsigned>(*at - '0');
    if (digit > 9) break;
    value = value * 10 + digit;
    ++at;
  }
  if (at == first || at - first > kDigitsMax || (at < end && *at != '&')) return nullptr;
  const auto number = is_negative ? -static_cast<std::int32_t>(value) : static_cast<std::int32_t>(value);
  if (size == sizeof(std::int64_t)) {
    const std::int64_t wide = number;
    std::memcpy(out, &wide, sizeof wide);
  } else {
    std::memcpy(out, &number, sizeof number);
  }
  return at;
}

// Whether `known` and '=' stand at `at`.
bool is_name_at(const char* at, const char* end, std::string_view known) noexcept {
  const std::size_t size = known.size();
  return static_cast<std::size_t>(end - at) > size && at[size] == '=' && *at == known.front() &&
         (size == 1 || std::memcmp(at, known.data(), size) == 0);
}

// Reads pairs as long as they are plain: the name of an integer member that has not come yet, '=', a number. Returns
// the first pair that is something else, or the end. A function of its own, so that the common query keeps to
// registers.
[[gnu::noinline]] const char* read_plain(const char* at, const char* end, const QueryShape& shape, void* const* members,
                                         std::uint32_t& seen) noexcept {
  // Fields mostly come in the order of the members.
  for (std::size_t expected = 0; at < end; ++expected) {
    std::size_t index = expected;
    const char* value;
    if (index < shape.count && is_name_at(at, end, shape.names[index])) [[likely]] {
      value = at + shape.names[index].size() + 1;
    } else {
      const char* mark = at;
      while (mark < end && mark_of(*mark) == 0) ++mark;
      if (mark == at || mark == end || *mark != '=') return at;
      index = find_member(shape, between(at, mark));
      if (index == shape.count) return at;
      value = mark + 1;
    }
    if (!shape.fields[index].is_int || (seen >> index & 1) != 0) return at;
    const char* const next = read_int(value, end, shape.fields[index].type.size, members[index]);
    if (next == nullptr) return at;
    seen |= std::uint32_t{1} << index;
    expected = index;
    at = next + (next < end);
  }
  return at;
}

void fail(Fetch& fetch, std::string_view name, const std::string& what) { fetch.fail(data::Part::Query, name, what); }

std::string_view decoded_name(Fetch& fetch, std::string_view name) {
  // A badly encoded one is unknown, whatever it is.
  return http::decode(name, fetch.exchange().arena(), true).value_or(std::string_view{});
}

// Decodes, checks and stores a value, or says what is wrong with it.
void store_value(Fetch& fetch, const QueryField& field, std::string_view name, std::string_view value, bool is_encoded,
                 void* member) {
  if (is_encoded) {
    const auto decoded = http::decode(value, fetch.exchange().arena(), true);
    if (!decoded) return fail(fetch, name, "is badly encoded");
    value = *decoded;
  }
  void* const place = field.place != nullptr ? field.place(member) : member;
  if (!set_value(field.type, value, place)) fail(fetch, name, "has to be " + describe(field.type));
}

// One pair, whatever it is. Returns what follows it.
[[gnu::noinline]] const char* read_any(const char* at, const char* end, Fetch& fetch, const QueryShape& shape,
                                       void* const* members, std::uint32_t& seen) {
  const char* start = at;
  std::uint8_t marks = 0;
  while (at < end && ((marks |= mark_of(*at)) & (kAmpersand | kEquals)) == 0) ++at;
  std::string_view name = between(start, at);
  const bool has_value = (marks & kEquals) != 0;
  if (at < end) ++at;
  if ((marks & kEncoded) != 0) name = decoded_name(fetch, name);

  start = at;
  marks = 0;
  if (has_value) {
    for (; at < end && *at != '&'; ++at) marks |= mark_of(*at);
  }
  std::string_view value = between(start, at);
  if (has_value && at < end) ++at;

  const std::size_t index = name.empty() ? shape.count : find_member(shape, name);
  if (index == shape.count) return at;
  const QueryField& field = shape.fields[index];
  if ((seen >> index & 1) != 0 && !field.is_many) return at;
  seen |= std::uint32_t{1} << index;
  if (!has_value && field.type.kind == ValueType::Kind::Bool) value = "true";
  store_value(fetch, field, name, value, (marks & kEncoded) != 0, members[index]);
  return at;
}

[[gnu::noinline]] void complain(Fetch& fetch, const QueryShape& shape, std::uint32_t missing) {
  for (std::size_t index = 0; index < shape.count; ++index) {
    if ((missing >> index & 1) != 0) fail(fetch, shape.names[index], "is missing");
  }
}

}  // namespace

void fetch_query(Fetch& fetch, const QueryShape& shape, void* const* members, std::uint32_t required) {
  const std::string_view query = fetch.exchange().request().query;
  const char* const end = query.data() + query.size();
  std::uint32_t seen = 0;
  const char* at = read_plain(query.data(), end, shape, members, seen);
  while (at < end) [[unlikely]] {
    at = read_any(at, end, fetch, shape, members, seen);
    at = read_plain(at, end, shape, members, seen);
  }
  if (const std::uint32_t missing = required & ~seen; missing != 0) [[unlikely]]
    complain(fetch, shape, missing);
}

}  // namespace violet::web
