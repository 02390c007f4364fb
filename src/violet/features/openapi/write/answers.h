#pragma once

// Answers: every answer that a route may give, by status, gathered from what its handler returns, what its parameters
// refuse, what its middleware says, and what was said about it.

#include "violet/features/openapi/write/json_text.h"
#include "violet/features/openapi/write/schemas.h"
#include "violet/web/route/listing.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace violet::openapi {

class Answers {
 public:
  explicit Answers(const web::RouteInfo& route);

  // As the value of "responses". The statuses of plain error pages are added to `problems`.
  void write(JsonText& out, Schemas& schemas, std::set<int>& problems) const;

 private:
  struct Content {
    std::string_view media;
    const data::Type* type;
  };
  struct Answer {
    std::string about;
    std::vector<Content> contents;
    bool has_location = false;
    bool is_problem = false;
  };
  // Behind all others: what no status stands for.
  static constexpr int kDefault = 1000;

  void add(const web::ReplyShape& reply);
  void add_problem(int status);
  void add_input(const web::Input& input);
  void add_note(const web::RouteDocs::ReplyNote& note);
  static void write_answer(JsonText& out, Schemas& schemas, const Answer& answer);

  std::map<int, Answer> answers_;
};

// What an error page of that status is called among the components: "NotFound".
[[nodiscard]] std::string problem_name(int status);

}  // namespace violet::openapi
