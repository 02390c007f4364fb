#include "violet/web/negotiation/representations.h"

#include "violet/web/negotiation/accept.h"

namespace violet::web {
namespace {

constexpr http::Field kVary{.name = "Vary", .value = "Accept", .id = http::FieldId::Vary};

std::string list(std::span<const std::string_view> types) {
  std::string text = "it can be had as ";
  for (std::size_t i = 0; i < types.size(); ++i) text.append(i > 0 ? ", " : "").append(types[i]);
  return text;
}

}  // namespace

std::optional<std::size_t> negotiate(Exchange& exchange, const std::string_view* types, std::size_t count) {
  const std::span<const std::string_view> offers(types, count);
  const auto chosen = Accept(exchange.request().fields).choose(offers);
  if (!chosen) {
    exchange.refuse(Error(ErrorKind::Unsupported, 0, 406), list(offers), kVary);
    return std::nullopt;
  }
  set_content_type(exchange, offers[*chosen]);
  http::Fields& fields = exchange.response().fields;
  if (!fields.has_member(http::FieldId::Vary, "*") && !fields.has_member(http::FieldId::Vary, "Accept")) {
    fields.push(kVary);
  }
  return chosen;
}

}  // namespace violet::web
