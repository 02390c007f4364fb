#pragma once

// Schemas: types as JSON Schema (2020-12, as OpenAPI 3.1 has it), made from their tables (data/type.h). Structs and
// enumerations become components with names; whoever uses one refers to it. Used while one document is made.
//
//   Schemas schemas;
//   schemas.write(out, data::kType<User>);          // {"$ref":"#/components/schemas/User"}
//   schemas.write_components(out);                  // "User":{"type":"object",…

#include "violet/data/type.h"
#include "violet/features/openapi/write/json_text.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace violet::openapi {

class Schemas {
 public:
  // Where a value stands: null is none in texts.
  enum class In : std::uint8_t { Document, Text };

  // One schema as a value.
  void write(JsonText& out, const data::Type& type, In in = In::Document);
  // What one member's schema says, with notes; `defaults` is the member in an object without input, or nullptr.
  void write_member(JsonText& out, const data::Member& member, const void* defaults, In in);
  // All components that were referred to, and those that they refer to, as members of an object that is open.
  void write_components(JsonText& out);

  // The default that nobody wrote: whether a document has to name it.
  [[nodiscard]] static bool has_default(const data::Member& member, bool is_required, const void* value);

 private:
  struct Component {
    std::string name;
    const data::Type* type;
    // Of a variant's alternative: the member that tells it apart, and its value.
    std::string_view tag;
    std::string_view tag_value;
  };

  const std::string& component(const data::Type& type, std::string_view tag = {}, std::string_view tag_value = {});
  std::string free_name(const data::Type& type, bool is_alternative) const;
  [[nodiscard]] bool is_taken(std::string_view name) const;

  void write_keywords(JsonText& out, const data::Type& type, In in, bool is_nullable);
  void write_rules(JsonText& out, const data::Type& type);
  void write_nullable(JsonText& out, const data::Type& inner, In in);
  void write_variant(JsonText& out, const data::VariantType& variant);
  void write_object(JsonText& out, const data::Type& type);
  void write_enum(JsonText& out, const data::Type& type);
  void write_alternative(JsonText& out, const Component& component);

  std::vector<Component> components_;
};

// An example as it was written where that is JSON, otherwise as a text.
JsonText& write_example(JsonText& out, std::string_view example);

// "ns::Page<ns::User>" as a component may be called: "Page_User".
[[nodiscard]] std::string component_name(std::string_view type_name, bool is_qualified);

}  // namespace violet::openapi
