#include "violet/features/openapi/write/operation.h"

#include "violet/base/ascii.h"
#include "violet/features/openapi/write/answers.h"

#include <algorithm>

namespace violet::openapi {

using web::Input;

namespace {

// OpenAPI has other places for these and ignores them as parameters (3.1.1, "Parameter Object").
bool is_ignored_field(std::string_view name) noexcept {
  constexpr std::string_view kIgnored[] = {"Accept", "Content-Type", "Authorization"};
  return std::any_of(std::begin(kIgnored), std::end(kIgnored),
                     [&](std::string_view one) { return ascii::equal_folded(one, name); });
}

// A query has all its texts and lists, be they empty (web/input/query.h).
bool has_to_come_in_query(const data::ObjectType& object, std::size_t at) {
  const data::Type& type = *object.members[at].type;
  const bool may_be_empty =
      type.kind == data::Kind::String || type.kind == data::Kind::View || type.kind == data::Kind::List;
  return (object.required() >> at & 1) != 0 && (!may_be_empty || type.rule_count > 0);
}

bool is_file(const data::Type& type) {
  if (type.kind == data::Kind::Optional) return is_file(*type.optional->inner);
  if (type.kind == data::Kind::List) return is_file(*type.list->element);
  return type.kind == data::Kind::Text && type.text->format == "binary";
}
// Only a form of several parts has files in it.
bool has_files(const data::Type& form) {
  const data::ObjectType& object = *form.object;
  return std::any_of(object.members, object.members + object.count,
                     [](const data::Member& member) { return is_file(*member.type); });
}

void write_body_schema(JsonText& out, Schemas& schemas, const Input& input) {
  if (input.type == nullptr) return;
  if (input.beside == nullptr) return schemas.write(out.key("schema"), *input.type);
  schemas.write(out.key("schema").open('{').key("allOf").open('['), *input.type);
  schemas.write(out, *input.beside);
  out.close(']').close('}');
}

bool is_socket(const web::RouteInfo& route) {
  return route.shape != nullptr && !route.shape->inputs.empty() &&
         route.shape->inputs.front().kind == Input::Kind::Socket;
}

}  // namespace

void Operation::write(JsonText& out, Schemas& schemas, std::string_view id, std::set<int>& problems) {
  out.open('{');
  write_notes(out, id);
  write_parameters(out, schemas);
  write_body(out, schemas);
  Answers(route_).write(out.key("responses"), schemas, problems);
  write_security(out);
  out.close('}');
}

void Operation::write_notes(JsonText& out, std::string_view id) const {
  const web::RouteDocs& docs = route_.docs;
  if (!docs.tags.empty()) {
    out.key("tags").open('[');
    for (const std::string& tag : docs.tags) out.text(tag);
    out.close(']');
  }
  out.note("summary", docs.summary);
  out.note("description", docs.about);
  out.key("operationId").text(id);
  if (docs.is_deprecated) out.key("deprecated").boolean(true);
  // OpenAPI has no word for it; the viewer opens one.
  if (is_socket(route_)) out.key("x-websocket").boolean(true);
}

void Operation::write_parameters(JsonText& out, Schemas& schemas) {
  out.key("parameters").open('[');
  if (route_.shape != nullptr) write_inputs(out, schemas, route_.shape->inputs);
  for (const web::RouteInfo::Hook& hook : route_.hooks) {
    if (hook.shape == nullptr) continue;
    path_at_ = 0;
    write_inputs(out, schemas, hook.shape->inputs);
  }
  write_other_paths(out);
  out.close(']');
}

void Operation::write_inputs(JsonText& out, Schemas& schemas, std::span<const Input> inputs) {
  each_input(inputs, [&](const Input& input) { write_input(out, schemas, input); });
}

void Operation::write_input(JsonText& out, Schemas& schemas, const Input& input) {
  static const data::Type kText(data::Kind::String);
  const data::Type& type = input.type != nullptr ? *input.type : kText;
  switch (input.kind) {
    case Input::Kind::Path: return write_path(out, schemas, path_at_++, type);
    case Input::Kind::PathMembers:
      if (input.type != nullptr) write_path_members(out, schemas, *type.object);
      return;
    case Input::Kind::Query:
      if (input.type != nullptr) write_query(out, schemas, *type.object);
      return;
    case Input::Kind::Header:
    case Input::Kind::Cookie: {
      const bool is_field = input.kind == Input::Kind::Header;
      if (is_field && is_ignored_field(input.name)) return;
      if (!begin(out, is_field ? "header" : "cookie", input.name, input.is_required, {})) return;
      schemas.write(out.key("schema"), type, Schemas::In::Text);
      return end(out, input.name);
    }
    default: return;
  }
}

void Operation::write_path(JsonText& out, Schemas& schemas, std::size_t at, const data::Type& type) {
  if (at >= shown_.names.size()) return;
  const bool is_rest = shown_.has_rest && at + 1 == shown_.names.size();
  if (!begin(out, "path", shown_.names[at], true, is_rest ? "May have slashes in it" : "")) return;
  schemas.write(out.key("schema"), type, Schemas::In::Text);
  end(out, shown_.names[at]);
}

void Operation::write_path_members(JsonText& out, Schemas& schemas, const data::ObjectType& object) {
  for (std::size_t i = 0; i < object.count; ++i) {
    const auto name = std::find(own_.names.begin(), own_.names.end(), object.members[i].name);
    if (name == own_.names.end()) continue;
    write_path(out, schemas, static_cast<std::size_t>(name - own_.names.begin()), *object.members[i].type);
  }
}

void Operation::write_other_paths(JsonText& out) {
  for (const std::string& name : shown_.names) {
    if (!begin(out, "path", name, true, {})) continue;
    out.key("schema").open('{').key("type").text("string").close('}');
    end(out, name);
  }
}

void Operation::write_query(JsonText& out, Schemas& schemas, const data::ObjectType& object) {
  struct Context {
    Operation* operation;
    JsonText* out;
    Schemas* schemas;
    const data::ObjectType* object;
  } context{this, &out, &schemas, &object};
  object.with_defaults(
      [](void* to, const void* defaults) {
        const auto& [operation, text, schemas_of, of] = *static_cast<Context*>(to);
        void* members[data::kMembersMax];
        of->locate(const_cast<void*>(defaults), members);
        for (std::size_t i = 0; i < of->count; ++i) {
          const data::Member& member = of->members[i];
          const bool is_required = has_to_come_in_query(*of, i);
          if (member.is_ignored || !operation->begin(*text, "query", member.name, is_required, member.about)) continue;
          const bool has = Schemas::has_default(member, is_required, members[i]);
          data::Member shown = member;
          shown.about = {};
          schemas_of->write_member(text->key("schema"), shown, has ? members[i] : nullptr, Schemas::In::Text);
          operation->end(*text, member.name);
        }
      },
      &context);
}

bool Operation::begin(JsonText& out, std::string_view in, std::string_view name, bool is_required,
                      std::string_view about) {
  if (!seen_.insert({std::string(in), std::string(name)}).second) return false;
  const web::RouteDocs::ParameterNote* note = note_of(name);
  out.open('{').key("name").text(name).key("in").text(in);
  if (is_required) out.key("required").boolean(true);
  out.note("description", note != nullptr && !note->about.empty() ? std::string_view(note->about) : about);
  return true;
}

void Operation::end(JsonText& out, std::string_view name) const {
  const web::RouteDocs::ParameterNote* note = note_of(name);
  if (note != nullptr && !note->example.empty()) write_example(out.key("example"), note->example);
  out.close('}');
}

const web::RouteDocs::ParameterNote* Operation::note_of(std::string_view name) const noexcept {
  for (const auto& note : route_.docs.parameters) {
    if (note.name == name) return &note;
  }
  return nullptr;
}

void Operation::write_body(JsonText& out, Schemas& schemas) const {
  if (route_.shape == nullptr) return;
  each_input(route_.shape->inputs, [&](const Input& input) {
    if (input.kind != Input::Kind::Body) return;
    out.key("requestBody").open('{');
    // Whoever reads JSON or a form cannot do without.
    if (input.is_checked) out.key("required").boolean(true);
    out.key("content").open('{');
    for (const std::string_view media : {input.media, input.other_media}) {
      if (media.empty() || (media == "application/x-www-form-urlencoded" && has_files(*input.type))) continue;
      out.key(media).open('{');
      write_body_schema(out, schemas, input);
      out.close('}');
    }
    out.close('}').close('}');
  });
}

void Operation::write_security(JsonText& out) const {
  std::vector<std::string_view> schemes(route_.docs.security.begin(), route_.docs.security.end());
  if (schemes.empty()) {
    for (const auto& hook : route_.hooks) {
      if (!hook.security.empty()) schemes.push_back(hook.security);
    }
    if (route_.shape != nullptr) {
      each_input(route_.shape->inputs, [&](const Input& input) {
        if (input.kind == Input::Kind::Security) schemes.push_back(input.name);
      });
    }
  }
  if (schemes.empty()) return;
  out.key("security").open('[');
  for (const std::string_view scheme : schemes) {
    if (scheme != "none") out.open('{').key(scheme).open('[').close(']').close('}');
  }
  out.close(']');
}

}  // namespace violet::openapi
