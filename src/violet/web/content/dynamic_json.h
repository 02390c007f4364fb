#pragma once

// nlohmann::json in structs, as a parameter (Json<nlohmann::json>) and as a result. Only for those who include it:
// violet itself does not need that library.

#include "violet/data/type_of.h"
#include "violet/json/writer.h"
#include "violet/web/content/json.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace violet::json {

inline void write_dynamic(const nlohmann::json& value, Writer& writer) {
  using Kind = nlohmann::json::value_t;
  switch (value.type()) {
    case Kind::object: {
      char lead = '{';
      for (const auto& [key, member] : value.items()) {
        writer.raw({&lead, 1}).text(key).raw(":");
        write_dynamic(member, writer);
        lead = ',';
      }
      writer.raw(lead == '{' ? "{}" : "}");
      break;
    }
    case Kind::array: {
      char lead = '[';
      for (const nlohmann::json& element : value) {
        writer.raw({&lead, 1});
        write_dynamic(element, writer);
        lead = ',';
      }
      writer.raw(lead == '[' ? "[]" : "]");
      break;
    }
    case Kind::string: writer.text(value.get_ref<const std::string&>()); break;
    case Kind::boolean: writer.raw(value.get<bool>() ? "true" : "false"); break;
    case Kind::number_integer: writer.number(value.get<std::int64_t>()); break;
    case Kind::number_unsigned: writer.number(value.get<std::uint64_t>()); break;
    case Kind::number_float: writer.number(value.get<double>()); break;
    default: writer.raw("null");
  }
}

}  // namespace violet::json

template <>
struct violet::data::TypeOf<nlohmann::json> {
  static bool read(std::string_view text, void* out) {
    auto value = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
    if (value.is_discarded()) return false;
    *static_cast<nlohmann::json*>(out) = std::move(value);
    return true;
  }
  static void write(const void* value, violet::json::Writer& writer) {
    violet::json::write_dynamic(*static_cast<const nlohmann::json*>(value), writer);
  }
  static constexpr violet::json::Dynamic table{&read, &write};
  static consteval Type make() {
    Type type(Kind::Dynamic);
    type.dynamic = &table;
    return type;
  }
};

template <>
struct violet::Respond<nlohmann::json> {
  static constexpr auto replies =
      web::replies({.status = 200, .media = web::kJsonType, .type = &data::kType<nlohmann::json>});
  static Body body(Exchange& exchange, const nlohmann::json& value) {
    return web::json_body(exchange, &json::put<nlohmann::json>, &value);
  }
};
