#include "violet/features/compress/decompress.h"

#include "violet/features/compress/spares.h"
#include "violet/features/compress/stream/decoding.h"
#include "violet/http/value/coding.h"

#include <optional>

namespace violet {
namespace {

using http::FieldId;

void refuse(Exchange& exchange) {
  static constexpr http::Field kKnown{
      .name = "Accept-Encoding", .value = "gzip, deflate, br, zstd", .id = FieldId::AcceptEncoding};
  exchange.refuse(Error(ErrorKind::Unsupported, 0, 415), "content codings that are decoded: gzip, deflate, br, zstd",
                  kKnown);
}

// The only coding of the body; nullopt for one that is not known, and for several.
std::optional<http::Coding> coding_of(const http::Fields& fields) {
  std::optional<http::Coding> only;
  for (const http::Field& field : fields) {
    if (field.id != FieldId::ContentEncoding) continue;
    if (only) return std::nullopt;
    only = http::find_coding(field.value);
    if (!only) return std::nullopt;
  }
  return only;
}

}  // namespace

void Decompress::on_request(Exchange& exchange) const {
  http::Fields& fields = exchange.request().fields;
  if (!exchange.has_body() || !fields.has(FieldId::ContentEncoding)) return;
  const std::optional<http::Coding> coding = coding_of(fields);
  if (!coding) {
    refuse(exchange);
    return;
  }
  if (*coding == http::Coding::Identity) return;
  fields.remove(FieldId::ContentEncoding);
  fields.remove(FieldId::ContentLength);
  auto& blocks = exchange.loop().local<encoding::Spares>().blocks;
  exchange.set_body_stage(*exchange.arena().make<encoding::Decoding>(exchange, *coding, blocks));
}

}  // namespace violet
