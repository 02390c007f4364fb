// http/value/condition.h: the fields of a conditional request. Lines of the input are, by their first byte, one of the
// five fields; the rest is its value.

#include "violet/http/value/condition.h"

#include "fuzz/expect.h"
#include "violet/http/date.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace {

using namespace violet;

constexpr std::string_view kTag = "\"tag\"";
constexpr std::int64_t kModified = 784'111'777;
constexpr std::int64_t kNow = 1'700'000'000;

// By looking for the very text, where a list has nothing but tags.
bool slow_has(std::string_view list, bool weak) {
  std::string_view rest = list;
  while (!rest.empty()) {
    while (!rest.empty() && (rest[0] == ',' || rest[0] == ' ' || rest[0] == '\t')) rest.remove_prefix(1);
    const bool is_weak = rest.starts_with("W/");
    if (is_weak) rest.remove_prefix(2);
    if (!rest.starts_with('"')) return false;
    const std::size_t end = rest.find('"', 1);
    if (end == std::string_view::npos) return false;
    if (rest.substr(0, end + 1) == kTag && (weak || !is_weak)) return true;
    rest.remove_prefix(end + 1);
  }
  return false;
}

bool is_star(std::string_view text) {
  while (!text.empty() && (text[0] == ' ' || text[0] == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text == "*";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr http::FieldId kIds[] = {http::FieldId::IfMatch, http::FieldId::IfNoneMatch, http::FieldId::IfModifiedSince,
                                    http::FieldId::IfUnmodifiedSince, http::FieldId::IfRange};
  std::string_view text(reinterpret_cast<const char*>(data), size);
  Arena arena;
  http::Fields fields(arena);
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.empty()) continue;
    const std::string_view value = line.substr(1);
    EXPECT(http::has_etag(value, kTag, http::Comparison::Weak) == (is_star(value) || slow_has(value, true)));
    EXPECT(http::has_etag(value, kTag, http::Comparison::Strong) == (is_star(value) || slow_has(value, false)));
    fields.push(kIds[static_cast<unsigned char>(line[0]) % std::size(kIds)], value);
  }
  const http::Validators current{.etag = kTag, .last_modified = kModified};
  for (const http::Method method : {http::Method::Get, http::Method::Put}) {
    const http::Condition condition = http::evaluate(fields, method, current, kNow);
    // Without a field nothing is asked; what is no read is never "not modified".
    if (fields.is_empty()) EXPECT(condition == http::Condition::Proceed);
    if (method == http::Method::Put) EXPECT(condition != http::Condition::NotModified);
    if (condition == http::Condition::NotModified) {
      EXPECT(fields.has(http::FieldId::IfNoneMatch) || fields.has(http::FieldId::IfModifiedSince));
    }
  }
  if (!fields.has(http::FieldId::IfRange)) EXPECT(http::allows_range(fields, current, kNow));
  return 0;
}
