#include "violet/core/limits.h"

namespace violet {
namespace {

constexpr LimitRow kRows[] = {
#define VIOLET_LIMIT_ROW(name, value, unit, status, stops) {#name, value, unit, status, stops},
    VIOLET_LIMITS(VIOLET_LIMIT_ROW)
#undef VIOLET_LIMIT_ROW
};

}  // namespace

std::span<const LimitRow> limit_table() noexcept { return kRows; }

std::string_view name(LimitId id) noexcept {
  return id == LimitId::None ? std::string_view{} : kRows[static_cast<std::size_t>(id) - 1].name;
}

std::uint64_t value(const Limits& limits, LimitId id) noexcept {
  switch (id) {
    case LimitId::None: return 0;
#define VIOLET_LIMIT_CASE(name, value, unit, status, stops) \
  case LimitId::name: return limits.name;
      VIOLET_LIMITS(VIOLET_LIMIT_CASE)
#undef VIOLET_LIMIT_CASE
  }
  return 0;
}

std::string limits_markdown() {
  std::string text = "| limit | default | unit | answer | what it stops |\n|---|---|---|---|---|\n";
  for (const LimitRow& row : kRows) {
    text.append("| `").append(row.name).append("` | ").append(std::to_string(row.value)).append(" | ");
    text.append(row.unit).append(" | ");
    text.append(row.status != 0 ? std::to_string(row.status) : "–").append(" | ").append(row.stops).append(" |\n");
  }
  return text;
}

}  // namespace violet
