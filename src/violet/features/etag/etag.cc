#include "violet/features/etag/etag.h"

#include "violet/core/limits.h"
#include "violet/core/whole_answer.h"
#include "violet/features/etag/digest.h"
#include "violet/http/value/condition.h"
#include "violet/memory/text.h"
#include "violet/web/endpoint.h"

#include <algorithm>
#include <string_view>

namespace violet {
namespace {

using http::FieldId;

bool may_have_tag(const Exchange& exchange, const http::Head& head, const Body& body) noexcept {
  const http::Method method = exchange.request().method;
  if (head.status != 200 || (method != http::Method::Get && method != http::Method::Head)) return false;
  if (body.source() != nullptr || body.chain().size() > exchange.limits().etag_bytes_max) return false;
  // Without the bytes of GET no tag can be made of them. A handler that names a length knows which method it answers.
  const bool is_other = exchange.note<web::OwnHead>() != nullptr || head.fields.has(FieldId::ContentLength);
  if (body.is_empty() && method == http::Method::Head && is_other) return false;
  if (head.fields.has(FieldId::ETag) || head.fields.has_member(FieldId::CacheControl, "no-store")) return false;
  return std::ranges::none_of(body.chain(), [](const Slice& slice) { return slice.is_file(); });
}

// W/"0123456789abcdef0123456789abcdef", in the arena.
std::string_view tag_of(const Body& body, bool is_strong, Arena& arena) {
  etags::Digest digest;
  for (const Slice& slice : body.chain()) digest.add(slice.text());
  constexpr std::size_t kBytes = 2 + 1 + 32 + 1;
  char* const text = arena.array<char>(kBytes);
  char* at = put_text(text, "W/\"");
  for (const std::uint64_t half : digest.finish()) {
    for (int shift = 60; shift >= 0; shift -= 4) *at++ = "0123456789abcdef"[half >> shift & 15];
  }
  *at = '"';
  const std::string_view weak(text, kBytes);
  return is_strong ? weak.substr(2) : weak;
}

// A 304 has what a cache needs, and nothing that describes a body which does not come (RFC 9110 §15.4.5).
void strip(Exchange& exchange, http::Head& head, Body& body) {
  if (!head.fields.has(FieldId::ContentEncoding)) {
    exchange.add_note<WholeAnswer>(head.fields.get(FieldId::ContentType), body.chain().size());
  }
  head.status = 304;
  for (const FieldId id : {FieldId::ContentLength, FieldId::ContentType, FieldId::ContentEncoding,
                           FieldId::ContentLanguage, FieldId::ContentDisposition, FieldId::AcceptRanges}) {
    head.fields.remove(id);
  }
  body = Body();
}

}  // namespace

void Etag::on_reply(Exchange& exchange, http::Head& head, Body& body) const {
  if (!may_have_tag(exchange, head, body)) return;
  const std::string_view tag = tag_of(body, options_.strong, exchange.arena());
  head.fields.push(FieldId::ETag, tag);
  // If-None-Match compares weakly (RFC 9110 §13.1.2); the field may have several lines.
  for (const http::Field& field : exchange.request().fields) {
    if (field.id != FieldId::IfNoneMatch || !http::has_etag(field.value, tag, http::Comparison::Weak)) continue;
    strip(exchange, head, body);
    return;
  }
}

}  // namespace violet
