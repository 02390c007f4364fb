// The route table (web/route): registrations and look-ups in any order, against a matcher that tries every pattern.
//
// The input is a list of lines: "+GET /a/{x}" registers, "*/a" registers for any method, everything else is a path that
// is looked up with GET, HEAD, POST and DELETE.

#include "fuzz/expect.h"
#include "violet/base/ascii.h"
#include "violet/http/target.h"
#include "violet/web/endpoint.h"
#include "violet/web/route/table.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace violet;
using web::Segment;

constexpr http::Method kMethods[] = {http::Method::Get, http::Method::Head, http::Method::Post, http::Method::Delete};

struct Registered {
  web::Pattern pattern;
  http::Method method;
  bool any;
  const web::Endpoint* endpoint;
};

// Split at raw slashes, then decoded; nullopt: a broken '%'.
std::optional<std::vector<std::string>> split(std::string_view path) {
  std::vector<std::string> parts;
  path.remove_prefix(1);
  for (;;) {
    const std::size_t slash = path.find('/');
    Arena arena;
    const auto decoded = http::decode(path.substr(0, slash), arena);
    if (!decoded) return std::nullopt;
    parts.emplace_back(*decoded);
    if (slash == std::string_view::npos) return parts;
    path.remove_prefix(slash + 1);
  }
}

// How well a pattern matches, segment by segment ('0' literal, '1' parameter, '2' rest); nullopt: not at all.
std::optional<std::string> rank(const web::Pattern& pattern, const std::vector<std::string>& parts) {
  std::string result;
  for (std::size_t i = 0; i < pattern.segments.size(); ++i) {
    const Segment& segment = pattern.segments[i];
    if (i >= parts.size()) return std::nullopt;
    if (segment.kind == Segment::Kind::Rest) {
      // A rest cannot hold a slash that came from "%2F": its segments could not be told apart.
      if (parts[i].empty()) return std::nullopt;
      for (std::size_t k = i; k < parts.size(); ++k) {
        if (parts[k].find('/') != std::string::npos) return std::nullopt;
      }
      return result + '2';
    }
    if (segment.kind == Segment::Kind::Literal ? segment.text != parts[i] : parts[i].empty()) return std::nullopt;
    result += segment.kind == Segment::Kind::Literal ? '0' : '1';
  }
  return pattern.segments.size() == parts.size() ? std::optional(result) : std::nullopt;
}

const web::Endpoint* find_slowly(const std::vector<Registered>& routes, const std::vector<std::string>& parts,
                                 http::Method method) {
  const Registered* best = nullptr;
  std::string best_rank;
  int best_kind = 0;
  for (const Registered& route : routes) {
    int kind = 0;
    if (!route.any && route.method == method)
      kind = 3;
    else if (!route.any && method == http::Method::Head && route.method == http::Method::Get)
      kind = 2;
    else if (route.any)
      kind = 1;
    if (kind == 0) continue;
    const auto found = rank(route.pattern, parts);
    if (!found) continue;
    if (best == nullptr || *found < best_rank || (*found == best_rank && kind > best_kind)) {
      best = &route;
      best_rank = *found;
      best_kind = kind;
    }
  }
  return best != nullptr ? best->endpoint : nullptr;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  web::Table table;
  std::deque<web::Endpoint> endpoints;
  std::vector<Registered> routes;
  while (!rest.empty() && routes.size() < 200) {
    const std::size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (line.starts_with('+') || line.starts_with('*')) {
      const bool any = line.front() == '*';
      line.remove_prefix(1);
      http::Method method = http::Method::Other;
      if (!any) {
        const std::size_t space = line.find(' ');
        if (space == std::string_view::npos) continue;
        method = http::find_method(line.substr(0, space));
        line.remove_prefix(space + 1);
        if (method == http::Method::Other) continue;
      }
      auto pattern = web::Pattern::parse(line);
      if (!pattern) {
        EXPECT(!pattern.error().empty());
        continue;
      }
      const auto is_same = [&](const Registered& route) {
        return route.any == any && route.method == method &&
               route.pattern.segments.size() == pattern->segments.size() &&
               std::ranges::equal(route.pattern.segments, pattern->segments, [](const Segment& a, const Segment& b) {
                 return a.kind == b.kind && (a.kind != Segment::Kind::Literal || a.text == b.text);
               });
      };
      const auto earlier = std::ranges::find_if(routes, is_same);
      web::Endpoint& endpoint = endpoints.emplace_back();
      const web::Endpoint* conflict = table.insert(*pattern, method, any, endpoint);
      // A conflict names the one that is there, and changes nothing.
      EXPECT((conflict != nullptr) == (earlier != routes.end()));
      if (conflict != nullptr) EXPECT(conflict == earlier->endpoint);
      if (conflict == nullptr) routes.push_back({std::move(*pattern), method, any, &endpoint});
      continue;
    }
    if (!line.starts_with('/') || !ascii::all_are(line, ascii::kTarget)) continue;
    line = line.substr(0, line.find('?'));
    const auto parts = split(line);
    Arena arena;
    web::SplitPath path;
    const web::Table::Split verdict = table.split(line, arena, path);
    if (!parts) {
      EXPECT(verdict != web::Table::Split::Done || routes.empty());
      continue;
    }
    std::vector<std::string_view> values(table.values_max() + 1);
    // A NUL in a path is nobody's resource.
    const bool has_nul =
        std::ranges::any_of(*parts, [](const std::string& part) { return part.find('\0') != std::string::npos; });
    EXPECT(!has_nul || verdict == web::Table::Split::Never);
    if (has_nul) continue;
    for (const http::Method method : kMethods) {
      const web::Endpoint* expected = find_slowly(routes, *parts, method);
      const web::Endpoint* found = nullptr;
      if (const web::Leaf* leaf = table.find_exact(line)) found = leaf->find(method);
      if (found == nullptr && verdict == web::Table::Split::Done) found = table.find(path, method, values.data());
      EXPECT(found == expected);
    }
  }
  return 0;
}
