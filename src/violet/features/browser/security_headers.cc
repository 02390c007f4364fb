#include "violet/features/browser/security_headers.h"

#include <string_view>

namespace violet {
namespace {

using http::FieldId;

struct Row {
  FieldId id;
  std::string_view name;
  std::string SecurityHeaderOptions::* value;
};
constexpr Row kRows[] = {
    {FieldId::ContentSecurityPolicy, "Content-Security-Policy", &SecurityHeaderOptions::content_security_policy},
    {FieldId::XContentTypeOptions, "X-Content-Type-Options", &SecurityHeaderOptions::content_type_options},
    {FieldId::XFrameOptions, "X-Frame-Options", &SecurityHeaderOptions::frame_options},
    {FieldId::Other, "Referrer-Policy", &SecurityHeaderOptions::referrer_policy},
    {FieldId::Other, "Cross-Origin-Opener-Policy", &SecurityHeaderOptions::cross_origin_opener_policy},
    {FieldId::Other, "Cross-Origin-Resource-Policy", &SecurityHeaderOptions::cross_origin_resource_policy},
    {FieldId::Other, "Cross-Origin-Embedder-Policy", &SecurityHeaderOptions::cross_origin_embedder_policy},
    {FieldId::Other, "Permissions-Policy", &SecurityHeaderOptions::permissions_policy},
};
constexpr Row kTransport = {FieldId::StrictTransportSecurity, "Strict-Transport-Security",
                            &SecurityHeaderOptions::strict_transport_security};

void add(http::Fields& fields, const Row& row, const SecurityHeaderOptions& options) {
  const std::string& value = options.*row.value;
  if (value.empty()) return;
  if (row.id != FieldId::Other ? fields.has(row.id) : fields.has(row.name)) return;
  fields.push({.name = row.name, .value = value, .id = row.id});
}

}  // namespace

void SecurityHeaders::on_use() {
  if (options_ == nullptr) options_ = std::make_shared<const SecurityHeaderOptions>();
}

void SecurityHeaders::bind(web::Binding& binding) const {
  const auto check = [&](const Row& row) {
    if (const std::string& value = (*options_).*row.value; !value.empty() && !http::is_field_value(value)) {
      binding.fail("security_headers: " + std::string(row.name) + " cannot have this value");
    }
  };
  for (const Row& row : kRows) check(row);
  check(kTransport);
}

void SecurityHeaders::on_reply(Exchange& exchange, http::Head& head, Body&) const {
  for (const Row& row : kRows) add(head.fields, row, *options_);
  if (exchange.is_secure()) add(head.fields, kTransport, *options_);
}

}  // namespace violet
