#pragma once

// Listing: every route of a router as data, for those who show routes: the document of an API (features/openapi) and
// `violet routes`. Made by Router::routes(); valid while nothing is registered.

#include "violet/http/method.h"
#include "violet/web/route/shape.h"

#include <cstdint>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

namespace violet::web {

// What Route's and Group's setters said for readers.
struct RouteDocs {
  struct ReplyNote {
    int status;
    std::string about;
    const data::Type* type;  // nullptr: as the handler's result says
  };
  struct ParameterNote {
    std::string name;
    std::string about;
    std::string example;
  };
  std::string summary;
  std::string about;
  std::string operation_id;
  std::vector<std::string> tags;
  std::vector<std::string> security;  // names of schemes, any of which will do
  std::vector<ReplyNote> replies;
  std::vector<ParameterNote> parameters;
  bool is_deprecated = false;
  bool is_hidden = false;
};

struct RouteInfo {
  struct Hook {
    std::string_view name;  // of its type; "" of a lambda or a function
    std::source_location where;
    bool is_before = false;  // runs before the handler
    bool is_behind = false;  // runs before the answer goes out
    std::string_view security;
    const Shape* shape = nullptr;
    std::string_view process_note = {};  // "": it works the same with several processes
  };
  http::Method method = http::Method::Get;
  bool is_any = false;  // every method that has no route of its own
  std::string_view pattern;
  std::source_location where;
  const Shape* shape = nullptr;  // nullptr: a handler that says nothing of itself
  RouteDocs docs;                // with those of its groups
  std::optional<std::uint64_t> body_bytes_max = {};
  std::optional<std::uint64_t> handler_ms = {};
  std::vector<Hook> hooks = {};  // the outermost first
};

}  // namespace violet::web
