#include "violet/features/openapi/write/schemas.h"

#include "violet/data/findings.h"
#include "violet/data/rule/rule.h"
#include "violet/json/reader.h"
#include "violet/memory/arena.h"

#include <algorithm>

namespace violet::openapi {

using data::Kind;
using data::Rule;
using data::Type;

namespace {

constexpr std::string_view kSchemas = "#/components/schemas/";

bool is_text(const Type& type) noexcept {
  return type.kind == Kind::String || type.kind == Kind::View || type.kind == Kind::Literal;
}
bool is_component(const Type& type) noexcept { return type.kind == Kind::Object || type.kind == Kind::Enum; }

// What tells a type apart whatever rules it was given.
const void* table_of(const Type& type) noexcept {
  return type.kind == Kind::Enum ? static_cast<const void*>(type.enumeration) : type.object;
}

std::string_view json_type(const Type& type) noexcept {
  switch (type.kind) {
    case Kind::Bool: return "boolean";
    case Kind::Signed:
    case Kind::Unsigned: return "integer";
    case Kind::Float:
    case Kind::Double: return "number";
    case Kind::List: return "array";
    case Kind::Object:
    case Kind::Map: return "object";
    default: return "string";
  }
}

std::string_view format_of_rules(const Type& type) noexcept {
  for (std::size_t i = 0; i < type.rule_count; ++i) {
    switch (type.rules[i].kind) {
      case Rule::Kind::Email: return "email";
      case Rule::Kind::Url: return "uri";
      case Rule::Kind::Uuid: return "uuid";
      default: break;
    }
  }
  return {};
}

std::string_view format_of(const Type& type) noexcept {
  switch (type.kind) {
    case Kind::Signed: return type.size == 8 ? "int64" : "int32";
    case Kind::Unsigned: return type.size == 8 ? "uint64" : type.size == 4 ? "int64" : "int32";
    case Kind::Float: return "float";
    case Kind::Double: return "double";
    case Kind::Bytes: return "byte";
    case Kind::Time: return type.time->is_date ? "date" : "date-time";
    case Kind::Text: return type.text->format;
    default: break;
  }
  const std::string_view by_rule = format_of_rules(type);
  return by_rule.empty() && type.is_secret && is_text(type) ? "password" : by_rule;
}

bool has_range(const Type& type) noexcept {
  return std::any_of(type.rules, type.rules + type.rule_count,
                     [](const Rule& rule) { return rule.kind == Rule::Kind::Range; });
}

// Of types that are narrower than any format says.
void write_bounds(JsonText& out, const Type& type) {
  if (has_range(type)) return;
  if (type.kind == Kind::Signed && type.size < 4) {
    const std::int64_t half = std::int64_t{1} << (type.size * 8 - 1);
    out.key("minimum").number(-half).key("maximum").number(half - 1);
  } else if (type.kind == Kind::Unsigned) {
    out.key("minimum").number(0);
    if (type.size < 8) out.key("maximum").number((std::int64_t{1} << (type.size * 8)) - 1);
  }
}

void write_length(JsonText& out, const Type& type, const Rule& rule) {
  const std::string_view of = type.kind == Kind::List ? "Items" : type.kind == Kind::Map ? "Properties" : "Length";
  if (rule.min > 0) out.key("min" + std::string(of)).number(rule.min);
  if (rule.max != Rule::kNoMax) out.key("max" + std::string(of)).number(rule.max);
}

// Takes any JSON and keeps nothing of it.
constexpr json::Dynamic kAnything{[](std::string_view, void*) { return true; }, [](const void*, json::Writer&) {}};

bool is_json(std::string_view text) {
  Type type(Kind::Dynamic);
  type.dynamic = &kAnything;
  Arena arena;
  data::Findings findings(arena);
  json::SyntaxError syntax;
  char nothing = 0;
  return json::read(text, type, &nothing, {}, findings, syntax);
}

bool is_name_character(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

JsonText& write_example(JsonText& out, std::string_view example) {
  return is_json(example) ? out.raw(example) : out.text(example);
}

std::string component_name(std::string_view type_name, bool is_qualified) {
  std::string name;
  std::string word;
  const auto end_word = [&] {
    if (word.empty()) return;
    if (!name.empty()) name += '_';
    name += word;
    word.clear();
  };
  for (std::size_t i = 0; i < type_name.size(); ++i) {
    if (type_name[i] == '(' || type_name[i] == '{') {  // "(anonymous namespace)", "{anonymous}"
      i = std::min(type_name.find_first_of(")}", i), type_name.size() - 1);
    } else if (type_name.substr(i).starts_with("::")) {
      is_qualified ? end_word() : word.clear();
      ++i;
    } else if (is_name_character(type_name[i])) {
      word += type_name[i];
    } else {
      end_word();
    }
  }
  end_word();
  return name.empty() ? "Type" : name;
}

bool Schemas::is_taken(std::string_view name) const {
  // The one that error pages have.
  if (name == "Problem") return true;
  return std::any_of(components_.begin(), components_.end(), [&](const Component& one) { return one.name == name; });
}

std::string Schemas::free_name(const Type& type, bool is_alternative) const {
  const std::string prefix = is_alternative ? "Tagged" : "";
  std::string name = prefix + component_name(type.name, false);
  if (is_taken(name)) name = prefix + component_name(type.name, true);
  const std::string base = name;
  for (int number = 2; is_taken(name); ++number) name = base + "_" + std::to_string(number);
  return name;
}

const std::string& Schemas::component(const Type& type, std::string_view tag, std::string_view tag_value) {
  for (const Component& known : components_) {
    if (table_of(*known.type) == table_of(type) && known.tag == tag && known.tag_value == tag_value) return known.name;
  }
  components_.push_back({free_name(type, !tag.empty()), &type, tag, tag_value});
  return components_.back().name;
}

void Schemas::write(JsonText& out, const Type& type, In in) {
  out.open('{');
  write_keywords(out, type, in, false);
  out.close('}');
}

void Schemas::write_keywords(JsonText& out, const Type& type, In in, bool is_nullable) {
  switch (type.kind) {
    case Kind::Dynamic: return;
    case Kind::Optional: return write_nullable(out, *type.optional->inner, in);
    case Kind::Variant: return write_variant(out, *type.variant);
    case Kind::Object:
    case Kind::Enum: out.key("$ref").text(std::string(kSchemas) + component(type)); return write_rules(out, type);
    default: break;
  }
  out.key("type");
  if (is_nullable) {
    out.open('[').text(json_type(type)).text("null").close(']');
  } else {
    out.text(json_type(type));
  }
  out.note("format", format_of(type));
  if (type.kind == Kind::Bytes) out.key("contentEncoding").text("base64");
  write_bounds(out, type);
  if (type.kind == Kind::List) {
    write(out.key("items"), *type.list->element, in);
    const auto count = static_cast<std::int64_t>(type.list->fixed_count);
    if (count > 0) out.key("minItems").number(count).key("maxItems").number(count);
  } else if (type.kind == Kind::Map) {
    write(out.key("additionalProperties"), *type.map->value, in);
  }
  write_rules(out, type);
}

void Schemas::write_rules(JsonText& out, const Type& type) {
  std::string custom;
  for (std::size_t i = 0; i < type.rule_count; ++i) {
    const Rule& rule = type.rules[i];
    switch (rule.kind) {
      case Rule::Kind::Length: write_length(out, type, rule); break;
      case Rule::Kind::Range: out.key("minimum").number(rule.min).key("maximum").number(rule.max); break;
      case Rule::Kind::RealRange: out.key("minimum").real(rule.real_min).key("maximum").real(rule.real_max); break;
      case Rule::Kind::Pattern: out.key("pattern").text(rule.text); break;
      case Rule::Kind::Url: out.key("pattern").text("^[Hh][Tt][Tt][Pp][Ss]?://"); break;
      case Rule::Kind::Unique: out.key("uniqueItems").boolean(true); break;
      case Rule::Kind::Custom: custom.append(custom.empty() ? "" : "; ").append(rule.text); break;
      default: break;  // a format says it
    }
  }
  if (!custom.empty()) out.key("$comment").text(custom);
  if (type.is_secret) out.key("writeOnly").boolean(true);
}

void Schemas::write_nullable(JsonText& out, const Type& inner, In in) {
  if (in == In::Text) return write_keywords(out, inner, in, false);
  if (!is_component(inner) && inner.kind != Kind::Variant) return write_keywords(out, inner, in, true);
  write(out.key("anyOf").open('['), inner, in);
  out.open('{').key("type").text("null").close('}').close(']');
  if (inner.is_secret) out.key("writeOnly").boolean(true);
}

void Schemas::write_variant(JsonText& out, const data::VariantType& variant) {
  const bool is_tagged = !variant.tag.empty();
  out.key(is_tagged ? "oneOf" : "anyOf").open('[');
  for (std::size_t i = 0; i < variant.count; ++i) {
    const auto& one = variant.alternatives[i];
    if (is_tagged) {
      out.reference(std::string(kSchemas) + component(*one.type, variant.tag, one.name));
    } else {
      write(out, *one.type);
    }
  }
  out.close(']');
  if (!is_tagged) return;
  out.key("discriminator").open('{').key("propertyName").text(variant.tag).key("mapping").open('{');
  for (std::size_t i = 0; i < variant.count; ++i) {
    const auto& one = variant.alternatives[i];
    out.key(one.name).text(std::string(kSchemas) + component(*one.type, variant.tag, one.name));
  }
  out.close('}').close('}');
}

bool Schemas::has_default(const data::Member& member, bool is_required, const void* value) {
  if (value == nullptr || is_required || member.type->is_secret) return false;
  if (member.type->kind == Kind::Optional) return member.type->optional->get(value) != nullptr;
  const Kind kind = member.type->kind;
  if (kind == Kind::Object || kind == Kind::Variant || kind == Kind::Text || kind == Kind::Dynamic) return false;
  return member.may_miss || !data::is_blank(*member.type, value);
}

void Schemas::write_member(JsonText& out, const data::Member& member, const void* defaults, In in) {
  out.open('{');
  write_keywords(out, *member.type, in, false);
  out.note("description", member.about);
  if (defaults != nullptr) out.key("default").value(*member.type, defaults);
  if (!member.example.empty()) write_example(out.key("examples").open('['), member.example).close(']');
  out.close('}');
}

namespace {

// What rules() checks is code, which no keyword can tell.
std::string described(const data::ObjectType& object) {
  std::string text(object.about);
  if (object.rules != nullptr) text.append(text.empty() ? "" : "\n\n").append("Its members are checked together, too.");
  return text;
}

// The object's members in one that nothing was read into.
struct Defaults {
  const data::ObjectType* object;
  Schemas* schemas;
  JsonText* out;
};

}  // namespace

void Schemas::write_object(JsonText& out, const Type& type) {
  const data::ObjectType& object = *type.object;
  const std::uint32_t required = object.required();
  out.open('{').key("type").text("object").note("description", described(object)).key("properties").open('{');
  Defaults context{&object, this, &out};
  object.with_defaults(
      [](void* to, const void* value) {
        const auto& [of, schemas, text] = *static_cast<Defaults*>(to);
        void* members[data::kMembersMax];
        of->locate(const_cast<void*>(value), members);
        const std::uint32_t has_to_come = of->required();
        for (std::size_t i = 0; i < of->count; ++i) {
          const data::Member& member = of->members[i];
          if (member.is_ignored) continue;
          const bool has = has_default(member, (has_to_come >> i & 1) != 0, members[i]);
          schemas->write_member(text->key(member.name), member, has ? members[i] : nullptr, In::Document);
        }
      },
      &context);
  out.close('}');
  if (required != 0) {
    out.key("required").open('[');
    for (std::size_t i = 0; i < object.count; ++i) {
      if ((required >> i & 1) != 0) out.text(object.members[i].name);
    }
    out.close(']');
  }
  out.close('}');
}

void Schemas::write_enum(JsonText& out, const Type& type) {
  out.open('{').key("type").text("string").key("enum").open('[');
  for (std::size_t i = 0; i < type.enumeration->count; ++i) out.text(type.enumeration->enumerators[i].name);
  out.close(']').close('}');
}

// The member that tells it apart, and the type itself.
void Schemas::write_alternative(JsonText& out, const Component& one) {
  out.open('{').key("allOf").open('[').open('{').key("type").text("object");
  out.key("properties").open('{').key(one.tag).open('{').key("const").text(one.tag_value).close('}').close('}');
  out.key("required").open('[').text(one.tag).close(']').close('}');
  out.reference(std::string(kSchemas) + component(*one.type)).close(']').close('}');
}

void Schemas::write_components(JsonText& out) {
  // What one of them refers to is put behind it.
  for (std::size_t i = 0; i < components_.size(); ++i) {
    const Component one = components_[i];
    out.key(one.name);
    if (!one.tag.empty()) {
      write_alternative(out, one);
    } else if (one.type->kind == Kind::Enum) {
      write_enum(out, *one.type);
    } else {
      write_object(out, *one.type);
    }
  }
}

}  // namespace violet::openapi
