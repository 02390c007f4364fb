// json/reader.h against another reader: they agree on what is JSON, what was read is written so that it reads back, and
// any values that fit go around without a change.

#include "fuzz/expect.h"
#include "tests/json/types.h"
#include "violet/json/reader.h"
#include "violet/json/typed.h"
#include "violet/web/content/dynamic_json.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace {

using namespace violet;

// Names that come twice are a matter of policy, and theirs are kept once: nothing to be compared.
constexpr json::ReadOptions kAsTheirs{.duplicates = json::DuplicateKeys::Last, .depth_max = 100};

// In theirs, deeper than ours may go.
std::size_t depth_of(const nlohmann::json& value) {
  std::size_t deepest = 0;
  if (value.is_structured()) {
    for (const nlohmann::json& inner : value) deepest = std::max(deepest, depth_of(inner));
    ++deepest;
  }
  return deepest;
}

void check_grammar(std::string_view text) {
  // Theirs skips a byte order mark, takes NUL for the end, and refuses numbers beyond double.
  if (text.starts_with("\xef\xbb\xbf") || text.find('\0') != std::string_view::npos) return;
  const auto theirs = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
  Arena arena;
  data::Findings findings(arena);
  json::SyntaxError syntax;
  nlohmann::json ours;
  const bool is_read = json::read(text, data::kType<nlohmann::json>, &ours, kAsTheirs, findings, syntax);
  if (theirs.is_discarded()) {
    EXPECT(!is_read);
    return;
  }
  if (depth_of(theirs) > kAsTheirs.depth_max) {
    EXPECT(syntax.is_too_deep);
    return;
  }
  EXPECT(is_read && ours == theirs);
  const auto back = nlohmann::json::parse(json::to_string(ours), nullptr, false);
  // A float of theirs may be written as a whole number of ours: 1e2.
  EXPECT(!back.is_discarded() && back == theirs);
}

void check_typed(std::string_view text) {
  auto value = json::read<json::Everything>(text);
  if (!value) {
    EXPECT(!value.error().to_string().empty());
    return;
  }
  const std::string written = json::to_string(*value);
  json::StringWriter typed;
  json::put<std::remove_cvref_t<decltype(*value)>>(typed, &*value);
  EXPECT(std::move(typed).text() == written);
  const auto again = json::read<json::Everything>(written);
  EXPECT(again.has_value());
  EXPECT(json::to_string(*again) == written);
}

// Reads by the table alone, and by the shorter way of types that are known: one result, and one opinion of what is
// wrong.
template <class T>
void check_both_ways(std::string_view text) {
  Arena arenas[2];
  std::string written[2];
  std::string wrong[2];
  for (const bool is_typed : {false, true}) {
    T value{};
    data::Findings findings(arenas[is_typed]);
    json::SyntaxError syntax;
    const bool is_read = is_typed ? json::read(text, json::kGet<T>, &value, {}, findings, syntax)
                                  : json::read(text, data::kType<T>, &value, {}, findings, syntax);
    written[is_typed] = json::to_string(value);
    std::string& said = wrong[is_typed];
    said = std::string(syntax.what) + std::to_string(syntax.offset) + (is_read ? "" : " refused");
    for (const data::Finding& finding : findings.list()) said.append(finding.where).append(finding.what);
  }
  EXPECT(wrong[0] == wrong[1]);
  EXPECT(written[0] == written[1]);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  // In memory of its own, so that whoever reads beyond it is found out.
  const auto exact = std::make_unique<char[]>(size);
  if (size > 0) std::memcpy(exact.get(), bytes, size);
  const std::string_view text(exact.get(), size);
  check_grammar(text);
  check_typed(text);
  check_both_ways<json::Everything>(text);
  check_both_ways<std::vector<json::Stock>>(text);
  return 0;
}
