#pragma once

// Operation: one route as an OpenAPI operation: parameters, body, answers, and what was said about it.

#include "violet/features/openapi/write/json_text.h"
#include "violet/features/openapi/write/path.h"
#include "violet/features/openapi/write/schemas.h"
#include "violet/web/route/listing.h"

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace violet::openapi {

class Operation {
 public:
  // `shown` is the path that the document has for the route's own one: it may call parameters otherwise.
  Operation(const web::RouteInfo& route, const Path& own, const Path& shown) noexcept
      : route_(route), own_(own), shown_(shown) {}

  // As a value. `id` is unique in the document.
  void write(JsonText& out, Schemas& schemas, std::string_view id, std::set<int>& problems);

 private:
  void write_notes(JsonText& out, std::string_view id) const;
  void write_parameters(JsonText& out, Schemas& schemas);
  void write_inputs(JsonText& out, Schemas& schemas, std::span<const web::Input> inputs);
  void write_input(JsonText& out, Schemas& schemas, const web::Input& input);
  void write_query(JsonText& out, Schemas& schemas, const data::ObjectType& object);
  void write_path_members(JsonText& out, Schemas& schemas, const data::ObjectType& object);
  // Path parameters that no parameter of the handler takes.
  void write_other_paths(JsonText& out);
  void write_path(JsonText& out, Schemas& schemas, std::size_t at, const data::Type& type);
  // False when it stands there already. Opens the parameter otherwise.
  bool begin(JsonText& out, std::string_view in, std::string_view name, bool is_required, std::string_view about);
  void end(JsonText& out, std::string_view name) const;
  [[nodiscard]] const web::RouteDocs::ParameterNote* note_of(std::string_view name) const noexcept;
  void write_body(JsonText& out, Schemas& schemas) const;
  void write_security(JsonText& out) const;

  const web::RouteInfo& route_;
  const Path& own_;
  const Path& shown_;
  std::set<std::pair<std::string, std::string>> seen_;  // parameters, by place and name
  std::size_t path_at_ = 0;                             // of the next Path<T>
};

// Calls f(input) for each, those inside of others too.
template <class F>
void each_input(std::span<const web::Input> inputs, const F& f) {
  for (const web::Input& input : inputs) {
    if (input.kind == web::Input::Kind::Several) {
      each_input(input.inputs, f);
    } else {
      f(input);
    }
  }
}

}  // namespace violet::openapi
