#include "violet/web/content/problem.h"

#include "violet/base/ascii.h"
#include "violet/core/site.h"
#include "violet/data/findings.h"
#include "violet/json/block_writer.h"
#include "violet/web/content/json.h"
#include "violet/web/error_pages.h"

namespace violet::web {
namespace {

void write_errors(json::Writer& writer, const data::Findings& findings) {
  writer.raw(",\"errors\":[");
  bool is_first = true;
  for (const data::Finding& finding : findings.list()) {
    writer.raw(is_first ? "{\"in\":" : ",{\"in\":").text(data::name(finding.part));
    writer.raw(finding.part == data::Part::Body ? ",\"pointer\":" : ",\"name\":").text(finding.where);
    writer.raw(",\"detail\":").text(finding.what).raw("}");
    is_first = false;
  }
  writer.raw("]");
  if (findings.omitted_count() > 0) {
    writer.raw(",\"omitted\":").number(std::uint64_t{findings.omitted_count()});
  }
}

}  // namespace

bool speaks_json(const Exchange& exchange) noexcept {
  const http::Fields& fields = exchange.request().fields;
  if (is_json_type(fields.get(http::FieldId::ContentType))) return true;
  for (const http::Field& field : fields) {
    if (field.id != http::FieldId::Accept) continue;
    std::string_view rest = field.value;
    for (std::string_view type = ascii::next_member(rest); !type.empty(); type = ascii::next_member(rest)) {
      if (is_json_type(type)) return true;
      if (type.starts_with("text/")) return false;
    }
  }
  return false;
}

Body problem_body(Exchange& exchange, const ErrorInfo& error) {
  set_content_type(exchange, "application/problem+json");
  json::BlockWriter writer(exchange.site().blocks);
  writer.raw("{\"type\":\"about:blank\",\"title\":").text(error.reason());
  writer.raw(",\"status\":").number(std::int64_t{error.status()});
  if (!error.detail().empty()) writer.raw(",\"detail\":").text(error.detail());
  if (exchange.findings != nullptr && !exchange.findings->is_empty()) write_errors(writer, *exchange.findings);
  if (!error.limit().empty()) {
    writer.raw(",\"limit\":").text(error.limit()).raw(",\"limit_value\":").number(error.limit_value());
  }
  if (!error.hint().empty()) writer.raw(",\"hint\":").text(error.hint());
  if (!error.id().empty()) writer.raw(",\"id\":").text(error.id());
  if (!error.exception().empty()) writer.raw(",\"exception\":").text(error.exception());
  writer.raw("}\n");
  return writer.take();
}

}  // namespace violet::web
