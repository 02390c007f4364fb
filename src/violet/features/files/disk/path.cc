#include "violet/features/files/disk/path.h"

#include "violet/base/ascii.h"

namespace violet::files {
namespace {

PathVerdict check_segment(std::string_view segment) noexcept {
  if (segment.empty() || segment == "." || segment == "..") return PathVerdict::Never;
  for (const char c : segment) {
    if (c == '\0' || c == '\\') return PathVerdict::Never;
  }
  return segment.front() == '.' ? PathVerdict::Hidden : PathVerdict::Good;
}

// With one point of return for the last star: linear for a name, whatever the pattern.
bool matches_text(std::string_view pattern, std::string_view text) noexcept {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_at = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_at = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_at;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool is_hash(std::string_view text) noexcept {
  constexpr std::size_t kShortest = 8;
  if (text.size() < kShortest) return false;
  bool is_hex = true;
  bool has_digit = false;
  bool has_lower = false;
  bool has_upper = false;
  for (const char c : text) {
    is_hex = is_hex && ascii::is(c, ascii::kHex);
    if (ascii::is(c, ascii::kDigit)) {
      has_digit = true;
    } else if (c >= 'a' && c <= 'z') {
      has_lower = true;
    } else if (c >= 'A' && c <= 'Z') {
      has_upper = true;
    } else {
      return false;
    }
  }
  if (is_hex) return has_digit && (has_lower || has_upper);
  return text.size() == kShortest && has_digit && has_lower && has_upper;
}

}  // namespace

PathVerdict check_path(std::string_view path) noexcept {
  PathVerdict verdict = PathVerdict::Good;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const PathVerdict segment = check_segment(path.substr(0, slash));
    if (segment == PathVerdict::Never) return segment;
    if (segment == PathVerdict::Hidden) verdict = segment;
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
  }
  return verdict;
}

bool matches(std::string_view pattern, std::string_view path) noexcept {
  if (pattern.find('/') == std::string_view::npos) path = path.substr(path.rfind('/') + 1);
  return matches_text(pattern, path);
}

bool is_hashed_name(std::string_view path) noexcept {
  std::string_view name = path.substr(path.rfind('/') + 1);
  // The first part is what the file is called, the last one its ending.
  const std::size_t end = name.rfind('.');
  const std::size_t begin = name.find_first_of(".-");
  if (end == std::string_view::npos || begin >= end) return false;
  name = name.substr(begin + 1, end - begin - 1);
  for (;;) {
    const std::size_t cut = name.find_first_of(".-");
    if (is_hash(name.substr(0, cut))) return true;
    if (cut == std::string_view::npos) return false;
    name.remove_prefix(cut + 1);
  }
}

}  // namespace violet::files
