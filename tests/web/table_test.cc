#include "violet/web/route/table.h"

#include "violet/web/endpoint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <set>

namespace violet::web {
namespace {

using http::Method;

Pattern parse(std::string_view text) {
  auto pattern = Pattern::parse(text);
  EXPECT_TRUE(pattern) << text << ": " << pattern.error();
  return pattern ? *pattern : Pattern{};
}

struct Routes {
  Table table;
  std::deque<Endpoint> endpoints;
  Arena arena;

  bool add(std::string_view pattern, Method method = Method::Get, bool any = false) {
    texts.emplace_back(pattern);
    Endpoint& endpoint = endpoints.emplace_back();
    endpoint.pattern = texts.back();
    return table.insert(parse(pattern), method, any, endpoint) == nullptr;
  }

  // The way of the router: exact first.
  const Endpoint* find(std::string_view path, Method method = Method::Get) {
    if (const Leaf* leaf = table.find_exact(path)) {
      if (const Endpoint* endpoint = leaf->find(method)) return endpoint;
    }
    SplitPath split;
    if (table.split(path, arena, split) != Table::Split::Done) return nullptr;
    values = std::vector<std::string_view>(table.values_max());
    return table.find(split, method, values.data());
  }
  std::string found(std::string_view path, Method method = Method::Get) {
    const Endpoint* endpoint = find(path, method);
    return endpoint != nullptr ? std::string(endpoint->pattern) : "-";
  }

  std::deque<std::string> texts;
  std::vector<std::string_view> values;
};

TEST(RoutePattern, TakesApart) {
  const Pattern pattern = parse("/users/{id}/files/{path...}");
  ASSERT_EQ(pattern.segments.size(), 4u);
  EXPECT_EQ(pattern.segments[1].kind, Segment::Kind::Param);
  EXPECT_EQ(pattern.segments[3].kind, Segment::Kind::Rest);
  EXPECT_EQ(pattern.names(), (std::vector<std::string>{"id", "path"}));
  EXPECT_FALSE(pattern.is_literal());
  EXPECT_EQ(parse("/").segments.size(), 1u);
  EXPECT_EQ(parse("/a/").segments.size(), 2u);
}

TEST(RoutePattern, RefusesWhatCannotBeMeant) {
  for (const char* text : {"", "a", "/a?b=c", "/{}", "/{1a}", "/{a-b}", "/a{b}", "/{a}b", "/{a", "/a}", "/{a...}/b",
                           "/{a}/{a}", "/a%20b", "/{...}"}) {
    EXPECT_FALSE(Pattern::parse(text)) << text;
  }
  EXPECT_FALSE(Pattern::parse(std::string_view("/a\0b", 4)));
  EXPECT_TRUE(Pattern::parse("/100%"));
}

TEST(RouteTable, PrefersLiteralThenParamThenRest) {
  Routes routes;
  for (const char* pattern : {"/{rest...}", "/a/{x}", "/a/b", "/{x}/b", "/a/{x}/c", "/a/b/{rest...}"})
    routes.add(pattern);
  EXPECT_EQ(routes.found("/a/b"), "/a/b");
  EXPECT_EQ(routes.found("/a/z"), "/a/{x}");
  EXPECT_EQ(routes.found("/z/b"), "/{x}/b");
  EXPECT_EQ(routes.found("/a/b/c"), "/a/b/{rest...}");
  EXPECT_EQ(routes.found("/a/z/c"), "/a/{x}/c");
  EXPECT_EQ(routes.found("/z/z/z"), "/{rest...}");
  EXPECT_EQ(routes.values.front(), "z/z/z");
}

TEST(RouteTable, GoesBackWhereTheBetterBranchEnds) {
  Routes routes;
  routes.add("/a/b/c");
  routes.add("/{x}/b/d");
  routes.add("/a/{y}/e");
  EXPECT_EQ(routes.found("/a/b/d"), "/{x}/b/d");
  EXPECT_EQ(routes.values.front(), "a");
  EXPECT_EQ(routes.found("/a/b/e"), "/a/{y}/e");
  EXPECT_EQ(routes.values.front(), "b");
}

TEST(RouteTable, GoesBackWhereTheBetterBranchLacksTheMethod) {
  Routes routes;
  routes.add("/a/b", Method::Get);
  routes.add("/a/{x}", Method::Post);
  routes.add("/{x...}", Method::Get, true);
  EXPECT_EQ(routes.found("/a/b", Method::Get), "/a/b");
  EXPECT_EQ(routes.found("/a/b", Method::Post), "/a/{x}");
  EXPECT_EQ(routes.found("/a/b", Method::Delete), "/{x...}");
  EXPECT_EQ(routes.found("/a/b", Method::Other), "/{x...}");
}

TEST(RouteTable, EachMethodAndEachMatcher) {
  for (const char* pattern : {"/a", "/{x}", "/{x...}"}) {
    for (std::size_t registered = 0; registered <= http::kMethodCount; ++registered) {
      Routes routes;
      const bool any = registered == http::kMethodCount;
      routes.add(pattern, static_cast<Method>(registered), any);
      for (std::size_t asked = 0; asked <= http::kMethodCount; ++asked) {
        const bool expected =
            any || asked == registered ||
            (static_cast<Method>(asked) == Method::Head && static_cast<Method>(registered) == Method::Get);
        EXPECT_EQ(routes.find("/a", static_cast<Method>(asked)) != nullptr, expected) << pattern << registered << asked;
      }
    }
  }
}

TEST(RouteTable, SpecificMethodGoesBeforeAny) {
  Routes routes;
  EXPECT_TRUE(routes.add("/a", Method::Get, true));
  EXPECT_TRUE(routes.add("/a", Method::Get));
  EXPECT_TRUE(routes.add("/a", Method::Head));
  EXPECT_EQ(routes.find("/a", Method::Get), &routes.endpoints[1]);
  EXPECT_EQ(routes.find("/a", Method::Head), &routes.endpoints[2]);
  EXPECT_EQ(routes.find("/a", Method::Put), &routes.endpoints[0]);
}

TEST(RouteTable, ReportsConflictsAndStaysAsItWas) {
  Routes routes;
  EXPECT_TRUE(routes.add("/a/{x}"));
  EXPECT_FALSE(routes.add("/a/{y}"));
  EXPECT_TRUE(routes.add("/a/{y}", Method::Post));
  EXPECT_TRUE(routes.add("/a/{z}", Method::Get, true));
  EXPECT_FALSE(routes.add("/a/{w}", Method::Get, true));
  EXPECT_FALSE(routes.add("/a/{y}", Method::Post));
  EXPECT_EQ(routes.found("/a/1"), "/a/{x}");
  EXPECT_EQ(routes.found("/a/1", Method::Post), "/a/{y}");
}

TEST(RouteTable, TrailingSlashCounts) {
  Routes routes;
  routes.add("/a");
  routes.add("/b/");
  routes.add("/c/{x}");
  routes.add("/d/{x...}");
  EXPECT_EQ(routes.found("/a/"), "-");
  EXPECT_EQ(routes.found("/b"), "-");
  EXPECT_EQ(routes.found("/b/"), "/b/");
  EXPECT_EQ(routes.found("/c/"), "-");
  EXPECT_EQ(routes.found("/d/"), "-");
  EXPECT_EQ(routes.found("/d//x"), "-");
  EXPECT_EQ(routes.found("/d/x//"), "/d/{x...}");
  EXPECT_EQ(routes.values.front(), "x//");
}

TEST(RouteTable, DecodesEachSegmentOnce) {
  Routes routes;
  routes.add("/a b");
  routes.add("/x/{name}");
  routes.add("/100%/{name}");
  routes.add("/files/{path...}");
  EXPECT_EQ(routes.found("/a%20b"), "/a b");
  EXPECT_EQ(routes.found("/x/%61%2Fb"), "/x/{name}");
  EXPECT_EQ(routes.values.front(), "a/b");
  EXPECT_EQ(routes.found("/x/%252e"), "/x/{name}");
  EXPECT_EQ(routes.values.front(), "%2e");
  EXPECT_EQ(routes.found("/100%25/%25"), "/100%/{name}");
  EXPECT_EQ(routes.values.front(), "%");
  EXPECT_EQ(routes.found("/x/.."), "/x/{name}");
  EXPECT_EQ(routes.values.front(), "..");
  EXPECT_EQ(routes.found("/files/%2e%2e/a%20b"), "/files/{path...}");
  EXPECT_EQ(routes.values.front(), "../a b");
  // An encoded slash in a rest could not be told from a real one.
  EXPECT_EQ(routes.found("/files/a%2Fb"), "-");
  EXPECT_EQ(routes.found("/files/a/b%2f"), "-");
  EXPECT_EQ(routes.found("/fi%2Fles/a"), "-");
}

TEST(RouteTable, TextWithPercentIsNoShortcut) {
  Routes routes;
  routes.add("/5%2");
  EXPECT_EQ(routes.found("/5%252"), "/5%2");
  SplitPath split;
  EXPECT_EQ(routes.table.split("/5%2", routes.arena, split), Table::Split::Malformed);
  EXPECT_EQ(routes.found("/5%2"), "-");
}

TEST(RouteTable, RefusesMalformedPaths) {
  Routes routes;
  routes.add("/{x...}");
  SplitPath split;
  for (const char* path : {"/%", "/%1", "/%zz", "/a%2", "/a%g0/b"}) {
    EXPECT_EQ(routes.table.split(path, routes.arena, split), Table::Split::Malformed) << path;
  }
  EXPECT_EQ(routes.table.split("/a%00b", routes.arena, split), Table::Split::Never);
  EXPECT_EQ(routes.table.split("", routes.arena, split), Table::Split::Never);
  EXPECT_EQ(routes.table.split("*", routes.arena, split), Table::Split::Never);
}

TEST(RouteTable, ManyChildrenBesideAParameter) {
  Routes routes;
  for (int i = 0; i < 500; ++i) routes.add("/" + std::to_string(i) + "/x");
  routes.add("/{name}/x");
  for (int i = 0; i < 500; ++i) EXPECT_EQ(routes.found("/" + std::to_string(i) + "/x"), "/" + std::to_string(i) + "/x");
  EXPECT_EQ(routes.found("/500/x"), "/{name}/x");
}

TEST(RouteTable, LongPathsCostNoStack) {
  Routes routes;
  routes.add("/{a}/{b}/{c}");
  routes.add("/{a...}");
  std::string path;
  for (int i = 0; i < 4000; ++i) path += "/a";
  EXPECT_EQ(routes.found(path), "/{a...}");
  EXPECT_EQ(routes.found(path + "%20"), "/{a...}");
}

// --- against a matcher that tries everything

struct Random {
  std::mt19937 engine{12345};
  unsigned below(unsigned n) { return static_cast<unsigned>(engine() % n); }
};

std::vector<std::string> split_naive(std::string_view path) {
  std::vector<std::string> parts;
  std::string part;
  for (char c : path.substr(1)) {
    if (c == '/') {
      parts.push_back(std::exchange(part, {}));
    } else {
      part += c;
    }
  }
  parts.push_back(part);
  for (std::string& text : parts) {
    std::string decoded;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '%') {
        decoded += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
        i += 2;
      } else {
        decoded += text[i];
      }
    }
    text = decoded;
  }
  return parts;
}

// The kinds of the match, one digit a segment: the smallest wins. Nothing: no match.
std::optional<std::string> rank_naive(const Pattern& pattern, const std::vector<std::string>& path) {
  std::string rank;
  for (std::size_t i = 0; i < pattern.segments.size(); ++i) {
    const Segment& segment = pattern.segments[i];
    if (i >= path.size()) return std::nullopt;
    switch (segment.kind) {
      case Segment::Kind::Literal:
        if (segment.text != path[i]) return std::nullopt;
        rank += '0';
        break;
      case Segment::Kind::Param:
        if (path[i].empty()) return std::nullopt;
        rank += '1';
        break;
      case Segment::Kind::Rest:
        if (path[i].empty()) return std::nullopt;
        for (std::size_t j = i; j < path.size(); ++j) {
          if (path[j].find('/') != std::string::npos) return std::nullopt;
        }
        return rank + '2';
    }
  }
  if (path.size() != pattern.segments.size()) return std::nullopt;
  return rank;
}

struct NaiveRoute {
  Pattern pattern;
  Method method;
  bool any;
  const Endpoint* endpoint;
};

const Endpoint* find_naive(const std::vector<NaiveRoute>& routes, std::string_view path, Method method) {
  const auto parts = split_naive(path);
  const Endpoint* best = nullptr;
  std::string best_rank;
  for (const NaiveRoute& route : routes) {
    char how = '0';
    if (route.any) {
      how = '2';
    } else if (route.method != method) {
      if (method != Method::Head || route.method != Method::Get) continue;
      how = '1';
    }
    auto rank = rank_naive(route.pattern, parts);
    if (!rank) continue;
    *rank += how;
    if (best == nullptr || *rank < best_rank) {
      best = route.endpoint;
      best_rank = *rank;
    }
  }
  return best;
}

constexpr const char* kWords[] = {"a", "b", "c", "users", "x y", "12", "ä", "%"};
constexpr Method kMethods[] = {Method::Get, Method::Post, Method::Head, Method::Delete};

std::string random_pattern(Random& random) {
  std::string text;
  const unsigned count = 1 + random.below(6);
  for (unsigned i = 0; i < count; ++i) {
    const unsigned kind = random.below(10);
    const std::string number = std::to_string(i);
    if (kind < 5) {
      text += std::string("/") + kWords[random.below(8)];
    } else if (kind < 8) {
      text += "/{p" + number + "}";
    } else if (kind == 8 && i + 1 == count) {
      text += "/{r" + number + "...}";
    } else {
      text += "/" + std::to_string(random.below(40));
    }
  }
  if (random.below(12) == 0 && !text.ends_with("...}")) text += "/";
  return text;
}

std::string random_path(Random& random) {
  std::string text;
  const unsigned count = 1 + random.below(7);
  for (unsigned i = 0; i < count; ++i) {
    static constexpr const char* kSpecial[] = {"x%20y", "%61", "%25", "a%2Fb", "..", ".", "%C3%A4", "b%2f", ""};
    const unsigned kind = random.below(10);
    text += '/';
    if (kind < 5) {
      text += kWords[random.below(4)];
    } else if (kind < 8) {
      text += std::to_string(random.below(40));
    } else {
      text += kSpecial[random.below(9)];
    }
  }
  return text;
}

std::string shape_of(const Pattern& pattern) {
  std::string shape;
  for (const Segment& segment : pattern.segments) {
    switch (segment.kind) {
      case Segment::Kind::Literal: shape += "/" + segment.text; break;
      case Segment::Kind::Param: shape += "/{}"; break;
      case Segment::Kind::Rest: shape += "/{...}"; break;
    }
  }
  return shape;
}

TEST(RouteTable, TenThousandRandomRoutesAgreeWithANaiveMatcher) {
  Random random;
  Routes routes;
  std::vector<NaiveRoute> naive;
  std::set<std::string> shapes;
  while (naive.size() < 10'000) {
    const std::string text = random_pattern(random);
    const Method method = kMethods[random.below(4)];
    const bool any = random.below(10) == 0;
    std::string shape = any ? "any" : std::string(http::name(method));
    const Pattern pattern = parse(text);
    shape += shape_of(pattern);
    const bool is_new = shapes.insert(shape).second;
    ASSERT_EQ(routes.add(text, method, any), is_new) << text;
    if (is_new) naive.push_back({pattern, method, any, &routes.endpoints.back()});
  }
  int found_count = 0;
  for (int i = 0; i < 2'000; ++i) {
    const std::string path = random_path(random);
    const Method method = random.below(5) == 0 ? Method::Other : kMethods[random.below(4)];
    const Endpoint* expected = find_naive(naive, path, method);
    found_count += expected != nullptr;
    const Endpoint* found = routes.find(path, method);
    ASSERT_EQ(found, expected) << http::name(method) << ' ' << path << "\nfound " << (found ? found->pattern : "-")
                               << "\nexpected " << (expected ? expected->pattern : "-");
    if (found == nullptr) continue;
    // The values are those of the pattern's own segments.
    const auto parts = split_naive(path);
    const Pattern pattern = parse(found->pattern);
    std::size_t value = 0;
    for (std::size_t at = 0; at < pattern.segments.size(); ++at) {
      if (pattern.segments[at].kind == Segment::Kind::Param) {
        ASSERT_EQ(routes.values[value++], parts[at]);
      }
      if (pattern.segments[at].kind == Segment::Kind::Rest) {
        std::string rest = parts[at];
        for (std::size_t j = at + 1; j < parts.size(); ++j) rest += "/" + parts[j];
        ASSERT_EQ(routes.values[value++], rest);
      }
    }
  }
  EXPECT_GT(found_count, 500);
}

TEST(RouteTable, OrderOfRegistrationDoesNotMatter) {
  Random random;
  for (int round = 0; round < 30; ++round) {
    std::vector<std::string> order;
    std::set<std::string> shapes;
    while (order.size() < 60) {
      // Of patterns that differ in names alone only the first can be registered.
      const std::string text = random_pattern(random);
      if (shapes.insert(shape_of(parse(text))).second) order.push_back(text);
    }
    Routes first;
    for (const std::string& pattern : order) ASSERT_TRUE(first.add(pattern));
    std::shuffle(order.begin(), order.end(), random.engine);
    Routes second;
    for (const std::string& pattern : order) second.add(pattern);
    for (int i = 0; i < 300; ++i) {
      const std::string path = random_path(random);
      const Endpoint* a = first.find(path);
      const Endpoint* b = second.find(path);
      ASSERT_EQ(a != nullptr, b != nullptr) << path;
      if (a != nullptr) {
        ASSERT_EQ(a->pattern, b->pattern) << path;
      }
    }
  }
}

// Registration of anything at all neither crashes nor loses what was there.
TEST(RouteTable, SurvivesRandomRegistrationSequences) {
  Random random;
  for (int round = 0; round < 200; ++round) {
    Routes routes;
    std::map<std::string, const Endpoint*> literals;
    for (int i = 0; i < 50; ++i) {
      std::string text = "/";
      static constexpr char kAlphabet[] = "/{}.ab%?\0";
      const unsigned length = random.below(12);
      for (unsigned j = 0; j < length; ++j) text += kAlphabet[random.below(9)];
      auto pattern = Pattern::parse(text);
      if (!pattern) continue;
      routes.texts.push_back(text);
      Endpoint& endpoint = routes.endpoints.emplace_back();
      endpoint.pattern = routes.texts.back();
      const Endpoint* old = routes.table.insert(*pattern, Method::Get, false, endpoint);
      if (pattern->is_literal()) {
        const auto [at, is_new] = literals.emplace(text, &endpoint);
        EXPECT_EQ(old, is_new ? nullptr : at->second);
      }
    }
    for (const auto& [text, endpoint] : literals) {
      std::string path;
      for (char c : text) path += c == '%' ? "%25" : std::string(1, c);
      EXPECT_EQ(routes.find(path), endpoint) << text;
    }
  }
}

}  // namespace
}  // namespace violet::web
