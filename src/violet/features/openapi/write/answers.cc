#include "violet/features/openapi/write/answers.h"

#include "violet/http/status.h"

#include <algorithm>

namespace violet::openapi {

using web::Input;
using web::ReplyShape;

namespace {

constexpr std::string_view kProblemType = "application/problem+json";
constexpr std::string_view kProblem = "#/components/schemas/Problem";

bool takes_exchange(const web::Shape& shape) {
  return std::any_of(shape.inputs.begin(), shape.inputs.end(),
                     [](const Input& input) { return input.kind == Input::Kind::Exchange; });
}

bool has_parts(const Input& input) noexcept {
  return input.media == "multipart/form-data" || input.other_media == "multipart/form-data";
}

std::string key_of(int status) { return status == ReplyShape::kSomeRedirect ? "3XX" : std::to_string(status); }

std::string_view reason_of(int status) {
  if (status == ReplyShape::kSomeRedirect) return "It is somewhere else";
  const std::string_view reason = http::reason(status);
  return reason.empty() ? "Answer" : reason;
}

void write_location(JsonText& out) {
  out.key("headers").open('{').key("Location").open('{');
  out.key("required").boolean(true);
  out.key("schema").open('{').key("type").text("string").key("format").text("uri-reference").close('}');
  out.close('}').close('}');
}

}  // namespace

std::string problem_name(int status) {
  std::string name;
  for (const char c : http::reason(status)) {
    if (c != ' ' && c != '-' && c != '\'') name += c;
  }
  return name.empty() ? "Status" + std::to_string(status) : name;
}

Answers::Answers(const web::RouteInfo& route) {
  if (const web::Shape* shape = route.shape; shape != nullptr) {
    // Who answers by hand may do so in any way.
    if (!takes_exchange(*shape)) {
      for (const ReplyShape& reply : shape->replies) add(reply);
    }
    for (const Input& input : shape->inputs) add_input(input);
  }
  for (const web::RouteInfo::Hook& hook : route.hooks) {
    if (!hook.security.empty()) add_problem(401);
    if (hook.shape == nullptr) continue;
    for (const ReplyShape& reply : hook.shape->replies) add(reply);
    for (const Input& input : hook.shape->inputs) add_input(input);
  }
  const auto& security = route.docs.security;
  if (!security.empty() && security.front() != "none") add_problem(401);
  if (route.body_bytes_max && answers_.contains(413)) {
    answers_[413].about = "The body has more than " + std::to_string(*route.body_bytes_max) + " bytes";
  }
  add_problem(kDefault);
  for (const auto& note : route.docs.replies) add_note(note);
}

void Answers::add(const ReplyShape& reply) {
  Answer& answer = answers_[reply.status == 0 ? kDefault : reply.status];
  answer.has_location |= reply.has_location;
  answer.is_problem |= reply.is_problem;
  if (!reply.media.empty()) answer.contents.push_back({reply.media, reply.type});
}

void Answers::add_problem(int status) { answers_[status].is_problem = true; }

void Answers::add_input(const Input& input) {
  if (input.refused_status != 0) add_problem(input.refused_status);
  switch (input.kind) {
    case Input::Kind::Body:
      add_problem(413);
      // A pair that is badly encoded is a 422 among the others.
      if (input.media == "application/json" || has_parts(input)) add_problem(400);
      if (input.is_checked || has_parts(input)) add_problem(415);
      if (input.is_checked) add_problem(422);
      return;
    case Input::Kind::Security: return add_problem(401);
    case Input::Kind::Events: answers_[200].contents.push_back({"text/event-stream", nullptr}); return;
    case Input::Kind::Several:
      for (const Input& inner : input.inputs) add_input(inner);
      return;
    default:
      if (input.is_checked) add_problem(400);
  }
}

void Answers::add_note(const web::RouteDocs::ReplyNote& note) {
  const bool is_new = !answers_.contains(note.status);
  Answer& answer = answers_[note.status];
  if (!note.about.empty()) answer.about = note.about;
  if (note.type != nullptr) answer.contents = {{"application/json", note.type}};
  if (is_new && note.status >= 400 && note.type == nullptr) answer.is_problem = true;
}

void Answers::write_answer(JsonText& out, Schemas& schemas, const Answer& answer) {
  if (answer.has_location) write_location(out);
  if (answer.contents.empty() && !answer.is_problem) return;
  out.key("content").open('{');
  std::set<std::string_view> seen;
  for (const Content& content : answer.contents) {
    if (!seen.insert(content.media).second) continue;
    out.key(content.media).open('{');
    if (content.type != nullptr) schemas.write(out.key("schema"), *content.type);
    out.close('}');
  }
  if (answer.is_problem) out.key(kProblemType).open('{').key("schema").reference(kProblem).close('}');
  out.close('}');
}

void Answers::write(JsonText& out, Schemas& schemas, std::set<int>& problems) const {
  out.open('{');
  for (const auto& [status, answer] : answers_) {
    const bool is_default = status == kDefault;
    out.key(is_default ? "default" : key_of(status));
    if (answer.is_problem && answer.contents.empty() && answer.about.empty() && !answer.has_location) {
      if (!is_default) problems.insert(status);
      out.reference("#/components/responses/" + (is_default ? "Error" : problem_name(status)));
      continue;
    }
    const std::string_view usual = is_default ? "Any other answer" : reason_of(status);
    out.open('{').key("description").text(answer.about.empty() ? usual : std::string_view(answer.about));
    write_answer(out, schemas, answer);
    out.close('}');
  }
  out.close('}');
}

}  // namespace violet::openapi
