#include "violet/web/input/query.h"

#include "violet/base/ascii.h"
#include "violet/http/target.h"

#include <cstring>
#include <string>

namespace violet::web {
namespace {

// One name=value as received, and whether its parts need decoding.
struct Pair {
  std::string_view name;
  std::string_view value;
  bool has_value = false;
  bool is_encoded = false;
};

// Reads the next pair in one pass over its characters.
bool next(const char*& at, const char* end, Pair& out) noexcept {
  while (at < end && *at == '&') ++at;
  if (at == end) return false;
  const char* const start = at;
  const char* equals = nullptr;
  bool is_encoded = false;
  for (;; ++at) {
    while (at < end && !ascii::is(*at, ascii::kQueryMark)) ++at;
    if (at == end || *at == '&') break;
    if (*at == '=') {
      if (equals == nullptr) equals = at;
    } else {
      is_encoded = true;
    }
  }
  out.is_encoded = is_encoded;
  out.has_value = equals != nullptr;
  out.name = {start, static_cast<std::size_t>((equals != nullptr ? equals : at) - start)};
  out.value = equals != nullptr ? std::string_view(equals + 1, static_cast<std::size_t>(at - equals - 1))
                                : std::string_view{};
  return true;
}

// Names are short and mostly differ in size or first letter.
bool is_same(std::string_view known, std::string_view name) noexcept {
  return known.size() == name.size() && !name.empty() && known.front() == name.front() &&
         (name.size() == 1 || std::memcmp(known.data(), name.data(), name.size()) == 0);
}

void fail(Fetch& fetch, std::string_view name, const std::string& what) { fetch.fail("query field", name, what); }

}  // namespace

void fetch_query(Fetch& fetch, const QueryShape& shape, void* const* members, std::uint32_t required) {
  const std::string_view query = fetch.exchange().request().query;
  const char* at = query.data();
  const char* const end = at + query.size();
  std::uint32_t seen = 0;
  Pair pair;
  while (next(at, end, pair)) {
    if (pair.is_encoded) [[unlikely]] {
      Arena& arena = fetch.exchange().arena();
      const auto name = http::decode(pair.name, arena, true);
      if (!name) continue;  // unknown, whatever it is
      pair.name = *name;
    }
    std::size_t index = 0;
    while (index < shape.count && !is_same(shape.names[index], pair.name)) ++index;
    if (index == shape.count) continue;
    const QueryField& field = shape.fields[index];
    const std::uint32_t bit = std::uint32_t{1} << index;
    if ((seen & bit) != 0 && !field.is_many) continue;
    seen |= bit;
    if (pair.is_encoded) [[unlikely]] {
      const auto value = http::decode(pair.value, fetch.exchange().arena(), true);
      if (!value) {
        fail(fetch, pair.name, "is badly encoded");
        continue;
      }
      pair.value = *value;
    }
    if (field.type.kind == ValueType::Kind::Bool && !pair.has_value) pair.value = "true";
    void* const place = field.place == nullptr ? members[index] : field.place(members[index]);
    if (!set_value(field.type, pair.value, place)) [[unlikely]] {
      fail(fetch, pair.name, "has to be " + describe(field.type));
    }
  }
  if (const std::uint32_t missing = required & ~seen; missing != 0) [[unlikely]] {
    for (std::size_t index = 0; index < shape.count; ++index) {
      if ((missing >> index & 1) != 0) fail(fetch, shape.names[index], "is missing");
    }
  }
}

}  // namespace violet::web
