#pragma once

// Tell: what a program says of itself instead of serving, when it is asked to: `violet openapi ./app` and `violet
// routes
// ./app` start it with VIOLET_TELL in the environment, "openapi:FILE" or "routes:FILE". App::run() and App::start()
// then write that file, which must not exist, and listen nowhere.
//
// RouteRow is one route as "routes" writes it, in a JSON list.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace violet {

struct Limits;

namespace web {
struct RouteInfo;
}

struct Tell {
  enum class What : std::uint8_t { OpenApi, Routes };
  What what;
  std::string file;

  // What the environment asks for; nullopt: nothing.
  static std::optional<Tell> wanted();
  // "VIOLET_TELL=routes:/tmp/x"
  [[nodiscard]] std::string variable() const;
  // False, with errno, when the file cannot be written.
  [[nodiscard]] bool write(std::string_view text) const;
};

struct HookRow {
  std::string name;  // of its type, without namespaces; empty for a lambda or a function
  std::string source;
  bool before;  // the handler
  bool behind;
};
struct RouteRow {
  std::string method;  // "ANY": every one that has no route of its own
  std::string pattern;
  std::vector<HookRow> chain;  // the outermost first
  std::uint64_t body_bytes_max;
  std::uint64_t handler_ms;  // 0: for ever
  bool takes_body;
  bool is_websocket;
  std::string source;  // "src/main.cc:12"
};

[[nodiscard]] std::string routes_json(const std::vector<web::RouteInfo>& routes, const Limits& limits);

}  // namespace violet
