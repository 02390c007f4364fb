// http/target.h: targets, authorities and percent-coding. The first byte chooses the method.

#include "fuzz/expect.h"
#include "violet/base/ascii.h"
#include "violet/http/target.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using namespace violet;

constexpr http::Method kMethods[] = {http::Method::Get, http::Method::Options, http::Method::Connect,
                                     http::Method::Other};

// What any authority that is let through must look like.
void check_authority(std::string_view text) {
  if (!http::is_authority(text, false)) return;
  EXPECT(!text.empty() && http::is_authority(text, true));
  for (const char c : text) EXPECT(ascii::is(c, ascii::kHost) && c != ',');
  EXPECT(text.find_first_of("@/?# \t\r\n\\") == std::string_view::npos);
  const bool is_literal = text.front() == '[';
  const std::size_t colon = is_literal ? text.find("]:") : text.find(':');
  EXPECT(is_literal || colon == std::string_view::npos || text.find(':', colon + 1) == std::string_view::npos);
  // Case of the host does not matter, neither does an empty port.
  std::string upper(text);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  }
  EXPECT(http::is_authority(upper, false));
  if (colon == std::string_view::npos) EXPECT(http::is_authority(std::string(text) + ":8080", false));
}

void check_decode(std::string_view text, bool plus_is_space) {
  Arena arena;
  const auto decoded = http::decode(text, arena, plus_is_space);
  // By hand, one character after the other.
  std::string expected;
  bool is_good = true;
  for (std::size_t i = 0; i < text.size() && is_good; ++i) {
    if (text[i] == '%') {
      is_good = i + 2 < text.size() && ascii::hex_value(text[i + 1]) >= 0 && ascii::hex_value(text[i + 2]) >= 0;
      if (is_good) expected += static_cast<char>(ascii::hex_value(text[i + 1]) * 16 + ascii::hex_value(text[i + 2]));
      i += 2;
    } else {
      expected += plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
  }
  EXPECT(decoded.has_value() == is_good);
  if (decoded) EXPECT(*decoded == expected);
  const std::string_view encoded = http::encode(text, arena);
  EXPECT(http::decode(encoded, arena, plus_is_space) == text);
  EXPECT(ascii::all_are(encoded, ascii::kTarget));
}

void check_target(std::string_view text, http::Method method) {
  if (!ascii::all_are(text, ascii::kTarget)) return;
  Arena arena;
  http::Head head(arena);
  head.method = method;
  head.target = text;
  if (!http::split_target(head)) {
    EXPECT(method == http::Method::Connect || text.empty() || text.front() != '/');
    return;
  }
  switch (head.form) {
    case http::TargetForm::Origin:
      EXPECT(head.path.starts_with('/') && head.path.find('?') == std::string_view::npos);
      EXPECT(head.path.size() + head.query.size() + (text.find('?') != std::string_view::npos) == text.size());
      break;
    case http::TargetForm::Absolute: {
      EXPECT(http::is_authority(head.authority, false) && (head.path.starts_with('/') || head.path == "*"));
      EXPECT(ascii::equal_folded(head.scheme, "http") || ascii::equal_folded(head.scheme, "https"));
      // As an origin-form target the rest means the same.
      std::string origin(head.path);
      if (text.find('?') != std::string_view::npos) origin.append("?").append(head.query);
      if (head.path == "*") break;
      http::Head second(arena);
      second.target = origin;
      EXPECT(http::split_target(second) && second.path == head.path && second.query == head.query);
      break;
    }
    case http::TargetForm::Authority:
      EXPECT(method == http::Method::Connect && head.authority == text && http::is_authority(text, false));
      break;
    case http::TargetForm::Asterisk: EXPECT(method == http::Method::Options && text == "*"); break;
  }
  EXPECT((method == http::Method::Connect) == (head.form == http::TargetForm::Authority));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  check_target(text, kMethods[data[0] % std::size(kMethods)]);
  check_authority(text);
  check_decode(text, false);
  check_decode(text, true);
  return 0;
}
