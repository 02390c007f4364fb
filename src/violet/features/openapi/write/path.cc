#include "violet/features/openapi/write/path.h"

#include "violet/base/ascii.h"
#include "violet/web/route/pattern.h"

namespace violet::openapi {
namespace {

using web::Segment;

bool is_word(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

// "user-names" as "UserNames".
void append_words(std::string& to, std::string_view text) {
  bool is_first = true;
  for (const char c : text) {
    if (is_word(c)) to += is_first && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    is_first = !is_word(c);
  }
}

}  // namespace

Path Path::of(std::string_view pattern) {
  Path path;
  const auto parsed = web::Pattern::parse(pattern);
  if (!parsed) return {.text = std::string(pattern), .key = std::string(pattern), .names = {}};
  for (const Segment& segment : parsed->segments) {
    if (segment.kind == Segment::Kind::Literal) {
      path.text.append("/").append(segment.text);
      path.key.append("/").append(segment.text);
      continue;
    }
    path.text.append("/{").append(segment.text).append("}");
    path.key.append("/{}");
    path.names.push_back(segment.text);
    path.has_rest = segment.kind == Segment::Kind::Rest;
  }
  return path;
}

std::string operation_id(std::string_view method, const Path& path) {
  std::string id(method);
  std::string by;
  std::size_t at = 0;
  while (at < path.text.size()) {
    const std::size_t end = std::min(path.text.find('/', at + 1), path.text.size());
    const std::string_view segment = std::string_view(path.text).substr(at + 1, end - at - 1);
    if (segment.starts_with('{')) {
      append_words(by.append(by.empty() ? "By" : "And"), segment.substr(1, segment.size() - 2));
    } else {
      append_words(id, segment);
    }
    at = end;
  }
  return id + by;
}

}  // namespace violet::openapi
