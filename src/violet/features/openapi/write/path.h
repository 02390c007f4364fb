#pragma once

// Path: a route's pattern as OpenAPI writes it. Two patterns that match the same paths are one path there, whatever
// their parameters are called, so that the names of the first one count.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace violet::openapi {

struct Path {
  std::string text;                // "/users/{id}"
  std::string key;                 // "/users/{}": equal for those that match the same
  std::vector<std::string> names;  // of the parameters, in order
  bool has_rest = false;           // the last one may have slashes in it

  // "/files/{path...}" becomes "/files/{path}".
  static Path of(std::string_view pattern);
};

// "getUsersById", for clients that call operations by names.
[[nodiscard]] std::string operation_id(std::string_view method, const Path& path);

}  // namespace violet::openapi
