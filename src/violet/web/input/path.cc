#include "violet/web/input/path.h"

#include <string>

namespace violet::web {

void bind_path(Binding& binding, std::size_t at) {
  if (at >= binding.names.size()) {
    binding.fail("the handler's Path<> number " + std::to_string(at + 1) + " has no parameter in the pattern");
  }
}

void bind_path_members(Binding& binding, ParameterSlot& slot, const std::string_view* names, std::size_t count) {
  for (std::size_t member = 0; member < count; ++member) {
    std::size_t at = 0;
    while (at < binding.names.size() && binding.names[at] != names[member]) ++at;
    if (at == binding.names.size()) {
      binding.fail("the pattern has no {" + std::string(names[member]) + "} for the handler's Path<>");
      return;
    }
    slot.indices[member] = static_cast<std::uint8_t>(at);
  }
}

void fetch_path(Fetch& fetch, std::size_t at, ValueType type, void* out) {
  const RouteMatch& match = fetch.exchange().match;
  if (!set_value(type, match.values[at], out)) [[unlikely]] {
    fetch.fail(data::Part::Path, match.names[at], "has to be " + describe(type));
  }
}

}  // namespace violet::web
