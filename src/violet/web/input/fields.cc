#include "violet/web/input/fields.h"

#include "violet/base/ascii.h"

#include <string>

namespace violet::web {

void bind_field(Binding& binding, ParameterSlot& slot, std::string_view name) {
  if (!ascii::is_token(name)) binding.fail("\"" + std::string(name) + "\" is no field name");
  slot.mask = static_cast<std::uint32_t>(http::find_field(name));
}

bool fetch_cookie(Fetch& fetch, std::string_view name, bool is_required, ValueType type, void* out) {
  const std::optional<std::string_view> value = fetch.request().cookie(name);
  if (!value) {
    if (is_required) fetch.fail(data::Part::Cookie, name, "is missing");
    return false;
  }
  if (set_value(type, *value, out)) return true;
  fetch.fail(data::Part::Cookie, name, "has to be " + describe(type));
  return false;
}

bool fetch_field(Fetch& fetch, std::string_view name, const ParameterSlot& slot, bool is_required, ValueType type,
                 void* out) {
  const http::Fields& fields = fetch.exchange().request().fields;
  const auto id = static_cast<http::FieldId>(slot.mask);
  const http::Field* field = id != http::FieldId::Other ? fields.find(id) : fields.find(name);
  if (field == nullptr) {
    if (is_required) fetch.fail(data::Part::Header, name, "is missing");
    return false;
  }
  if (set_value(type, field->value, out)) return true;
  fetch.fail(data::Part::Header, name, "has to be " + describe(type));
  return false;
}

}  // namespace violet::web
