// Finding a route by itself, in tables of 10 and of 1,000 routes: without parameters (one hash look-up), with one and
// with three (a walk over the trie), and paths that nobody has.

#include "violet/memory/arena.h"
#include "violet/web/endpoint.h"
#include "violet/web/route/table.h"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace violet;

// Of ten routes three have parameters, as in an ordinary API.
class Fixture {
 public:
  explicit Fixture(std::int64_t count) {
    for (std::int64_t i = 0; i < count; i += 10) {
      const std::string group = "/group" + std::to_string(i / 10);
      for (const char* rest : {"", "/items", "/items/new", "/items/{id}", "/items/{id}/tags/{tag}/votes/{vote}",
                               "/users", "/users/{name}", "/settings", "/health", "/about"}) {
        add(group + rest);
      }
    }
    values_.resize(table_.values_max());
  }

  // As the router does it.
  const web::Endpoint* find(std::string_view path) {
    if (const web::Leaf* leaf = table_.find_exact(path)) return leaf->find(http::Method::Get);
    web::SplitPath split;
    if (table_.split(path, arena_, split) != web::Table::Split::Done) return nullptr;
    return table_.find(split, http::Method::Get, values_.data());
  }
  void forget() { arena_.reset(); }

 private:
  void add(std::string text) {
    const auto pattern = web::Pattern::parse(texts_.emplace_back(std::move(text)));
    if (!pattern) std::abort();
    web::Endpoint& endpoint = endpoints_.emplace_back();
    endpoint.pattern = texts_.back();
    if (table_.insert(*pattern, http::Method::Get, false, endpoint) != nullptr) std::abort();
  }

  web::Table table_;
  Arena arena_;
  std::deque<std::string> texts_;
  std::deque<web::Endpoint> endpoints_;
  std::vector<std::string_view> values_;
};

void find(benchmark::State& state, std::string_view path, bool is_there) {
  Fixture fixture(state.range(0));
  for ([[maybe_unused]] const auto round : state) {
    const web::Endpoint* endpoint = fixture.find(path);
    if ((endpoint != nullptr) != is_there) std::abort();
    fixture.forget();
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK_CAPTURE(find, exact, "/group0/items/new", true)->Arg(10)->Arg(1000);
BENCHMARK_CAPTURE(find, one_parameter, "/group0/items/4711", true)->Arg(10)->Arg(1000);
BENCHMARK_CAPTURE(find, three_parameters, "/group0/items/4711/tags/blue/votes/9", true)->Arg(10)->Arg(1000);
BENCHMARK_CAPTURE(find, decoded, "/group0/users/ada%20lovelace", true)->Arg(10)->Arg(1000);
BENCHMARK_CAPTURE(find, nobody_has, "/group0/items/4711/none", false)->Arg(10)->Arg(1000);

}  // namespace
