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
const char* read_any(const char* at, const char* end, Fetch& fetch, const QueryShape& shape, void* const* members,
                     std::uint32_t& seen) {
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

void complain(Fetch& fetch, const QueryShape& shape, std::uint32_t missing) {
  for (std::size_t index = 0; index < shape.count; ++index) {
    if ((missing >> index & 1) != 0) fail(fetch, shape.names[index], "is missing");
  }
}

}  // namespace

void fetch_query(Fetch& fetch, const QueryShape& shape, void* const* members, QueryState state,
                 std::uint32_t required) {
  while (state.at < state.end) state.at = read_any(state.at, state.end, fetch, shape, members, state.seen);
  if (const std::uint32_t missing = required & ~state.seen; missing != 0) complain(fetch, shape, missing);
}

}  // namespace violet::web
