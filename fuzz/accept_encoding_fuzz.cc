// http/value/coding.h and weight.h: Accept-Encoding, against a reading that is simple and slow. A newline in the input
// stands between two lines of the field.

#include "fuzz/expect.h"
#include "violet/base/ascii.h"
#include "violet/http/value/coding.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace violet;

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts(1);
  bool is_quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (at == ',' && text[i] == '"') is_quoted = !is_quoted;
    if (text[i] == at && !is_quoted) {
      parts.emplace_back();
      continue;
    }
    parts.back() += text[i];
    if (is_quoted && text[i] == '\\' && i + 1 < text.size()) parts.back() += text[++i];
  }
  return parts;
}

std::string trimmed(std::string_view text) { return std::string(ascii::trim(text)); }

std::string lower(std::string text) {
  for (char& c : text) c = ascii::lower(c);
  return text;
}

// Thousandths, -1 for none: by cases.
int slow_weight(const std::string& text) {
  if (text.empty() || text.size() > 5) return -1;
  for (int value = 0; value <= 1000; ++value) {
    const std::string digits = std::to_string(1000 + value % 1000).substr(1);
    const std::string whole = value == 1000 ? "1" : "0";
    if (value % 1000 == 0 && (text == whole || text == whole + ".")) return value;
    for (std::size_t count = 1; count <= 3; ++count) {
      if (digits.find_first_not_of('0', count) == std::string::npos && text == whole + "." + digits.substr(0, count)) {
        return value;
      }
    }
  }
  return -1;
}

std::map<std::string, int> slow_parse(const std::vector<std::string>& lines) {
  std::map<std::string, int> found;
  for (const std::string& line : lines) {
    for (const std::string& member : split(line, ',')) {
      const std::string whole = trimmed(member);
      const std::vector<std::string> parts = split(whole, ';');
      std::string name = whole;
      int weight = 1000;
      std::size_t at = parts[0].size();
      for (std::size_t i = 1; i < parts.size(); at += 1 + parts[i++].size()) {
        const std::string parameter = trimmed(parts[i]);
        if (!lower(parameter.substr(0, 2)).starts_with("q=")) continue;
        weight = slow_weight(trimmed(parameter.substr(2)));
        name = trimmed(whole.substr(0, at));
        break;
      }
      if (name.empty() || weight < 0) continue;
      name = lower(name) == "x-gzip" ? "gzip" : lower(name);
      const auto [entry, is_new] = found.emplace(name, weight);
      if (!is_new && weight < entry->second) entry->second = weight;
    }
  }
  return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> lines = split(text, '\n');
  Arena arena;
  http::Fields fields(arena);
  for (const std::string& line : lines) fields.push(http::FieldId::AcceptEncoding, line);
  const auto accepted = http::AcceptEncoding::of(fields);
  const auto expected = slow_parse(lines);
  const auto star = expected.find("*");
  std::vector<http::Coding> offers;
  for (std::size_t i = 0; i < http::kCodingCount; ++i) {
    const auto coding = static_cast<http::Coding>(i);
    const auto named = expected.find(std::string(http::name(coding)));
    int weight = coding == http::Coding::Identity ? 1 : 0;
    if (star != expected.end()) weight = star->second;
    if (named != expected.end()) weight = named->second;
    EXPECT(accepted.weight(coding) == weight);
    offers.push_back(coding);
  }
  const auto chosen = accepted.choose(offers);
  for (const http::Coding coding : offers) {
    EXPECT(chosen ? accepted.weight(coding) <= accepted.weight(*chosen) : !accepted.accepts(coding));
  }
  return 0;
}
