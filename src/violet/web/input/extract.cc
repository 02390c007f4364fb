#include "violet/web/input/extract.h"

#include <string>

namespace violet {
namespace web {

std::string place_of(const data::Finding& finding);

}  // namespace web

data::Findings& Fetch::findings() {
  if (findings_ == nullptr) findings_ = exchange_.arena().make<data::Findings>(exchange_.arena());
  return *findings_;
}

void Fetch::refuse(Error why, std::string_view detail, const http::Field* field) {
  if (why_) return;
  why_ = why;
  field_ = field;
  detail_ = exchange_.arena().copy(detail);
}

void Fetch::answer() {
  if (why_) {
    exchange_.findings = &findings();  // whatever the request's own type is: a problem, as all that handlers ask for
    exchange_.refuse(why_, detail_, field_ != nullptr ? *field_ : http::Field{});
    return;
  }
  bool is_in_body = false;
  std::string text;
  for (const data::Finding& finding : findings_->list()) {
    is_in_body |= finding.part == data::Part::Body;
    if (!text.empty()) text += '\n';
    text.append(web::place_of(finding)).append(": ").append(finding.what);
  }
  if (findings_->omitted_count() > 0) text += "\nand " + std::to_string(findings_->omitted_count()) + " more";
  exchange_.findings = findings_;
  exchange_.refuse(Error(ErrorKind::Invalid, 0, is_in_body ? 422 : 400), text);
}

namespace web {

std::string place_of(const data::Finding& finding) {
  std::string where(finding.where);
  switch (finding.part) {
    case data::Part::Body: return where.empty() ? "the body" : where;
    case data::Part::Path: return "path parameter " + where;
    case data::Part::Query: return "query field " + where;
    case data::Part::Header: return "header field " + where;
    case data::Part::Cookie: return "cookie " + where;
  }
  return where;
}

void fail_provided(Binding& binding, std::string_view type) {
  binding.fail("the handler takes a " + std::string(type) + "&, which nobody has provided: app.provide<" +
               std::string(type) + ">(…)");
}

}  // namespace web
}  // namespace violet
