#include "violet/features/compress/compress.h"

#include "violet/core/site.h"
#include "violet/core/whole_answer.h"
#include "violet/features/compress/eligible.h"
#include "violet/features/compress/spares.h"
#include "violet/features/compress/stream/source.h"
#include "violet/features/compress/variants.h"
#include "violet/memory/text.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace violet {
namespace encoding {
namespace {

using http::AcceptEncoding;
using http::Coding;
using http::FieldId;

// An answer to HEAD has no body, but the fields that the one to GET has. Its length is not known without encoding, and
// may be left out (RFC 9110 §9.3.2).
class NoBody final : public Source {
 public:
  Pull pull(Chain&, std::size_t) override { return Pull::End; }
  void dispose() noexcept override {}
};

int level(Coding coding, const CompressOptions& options) noexcept {
  switch (coding) {
    case Coding::Brotli: return options.brotli_quality;
    case Coding::Zstd: return options.zstd_level;
    default: return options.gzip_level;
  }
}

struct Negotiation {
  const CompressOptions& options;
  AcceptEncoding accepted;

  // What the client gets: a coding, identity, or nothing that it accepts.
  [[nodiscard]] std::optional<Coding> choose() const noexcept {
    Coding offers[http::kCodingCount + 1];
    std::size_t count = 0;
    for (const Coding coding : options.order) {
      if (coding != Coding::Identity && count < http::kCodingCount) offers[count++] = coding;
    }
    offers[count++] = Coding::Identity;
    return accepted.choose({offers, count});
  }
};

void add_vary(http::Fields& fields) {
  if (fields.has_member(FieldId::Vary, "*") || fields.has_member(FieldId::Vary, "Accept-Encoding")) return;
  fields.push(FieldId::Vary, "Accept-Encoding");
}

// The bytes are no longer the ones that the strong validator stands for (RFC 9110 §8.8.1).
void weaken_etag(http::Fields& fields) {
  for (http::Field& field : fields) {
    if (field.id != FieldId::ETag || !field.value.starts_with('"')) continue;
    char* const weak = fields.arena().array<char>(field.value.size() + 2);
    put_text(put_text(weak, "W/"), field.value);
    field.value = {weak, field.value.size() + 2};
  }
}

void describe(http::Fields& fields, Coding coding) {
  fields.push(FieldId::ContentEncoding, http::name(coding));
  fields.remove(FieldId::ContentLength);
  // Ranges are those of the identity form.
  fields.remove(FieldId::AcceptRanges);
  weaken_etag(fields);
}

// All there, in memory, and small enough to be encoded while others wait.
bool is_whole(const Body& body, const CompressOptions& options) noexcept {
  if (body.source() != nullptr || body.chain().size() > options.loop_bytes_max) return false;
  return std::ranges::none_of(body.chain(), [](const Slice& slice) { return slice.is_file(); });
}

// In one piece; `gathered` holds it when it was not.
std::string_view flatten(const Chain& chain, std::string& gathered) {
  if (chain.count() == 1) return chain.begin()->text();
  gathered.clear();
  for (const Slice& slice : chain) gathered.append(slice.text());
  return gathered;
}

// The encoded form of a body that is all there; empty when it is no smaller.
Slice encode(const Kind& kind, std::string_view text, Spares& spares) {
  std::unique_ptr<Encoder> encoder = spares.take(kind);
  Slice encoded;
  const std::size_t room = text.size() - 1;
  if (room <= Block::capacity()) {
    const Ref<Block> block = spares.blocks.take();
    const std::size_t size = encoder->encode(text, block->data(), room);
    encoded = Slice(*block, block->data(), size);
  } else {
    HeapBuffer* const buffer = HeapBuffer::make(room);
    const std::size_t size = encoder->encode(text, buffer->data(), room);
    encoded = Slice(*buffer, buffer->data(), size);
    buffer->release();
  }
  spares.give(kind, std::move(encoder));
  return encoded;
}

std::string variant_key(const Exchange& exchange, const Kind& kind) {
  const http::Head& request = exchange.request();
  std::string key(1, static_cast<char>('0' + static_cast<int>(kind.coding)));
  key.append(std::to_string(kind.level)).append(" ").append(exchange.cache_tag).append(" ");
  return key.append(request.authority).append(request.target);
}

// As encode(), from what was kept where the answer has a tag.
Slice encode_tagged(Exchange& exchange, const Kind& kind, std::string_view text, const CompressOptions& options) {
  auto& variants = exchange.loop().local<Variants>();
  const std::string key = variant_key(exchange, kind);
  if (Slice kept = variants.find(key); !kept.is_empty()) return kept;
  Slice encoded = encode(kind, text, exchange.loop().local<Spares>());
  // A block is far larger than what lies in it: what is kept gets memory of its own size.
  Slice own = Slice::of(std::string(encoded.text()));
  if (!own.is_empty()) variants.put(key, own, {options.cache_bytes_max, options.cache_entries_max});
  return own;
}

bool encode_whole(Exchange& exchange, http::Head& head, Body& body, const Kind& kind, const CompressOptions& options) {
  auto& spares = exchange.loop().local<Spares>();
  const std::string_view text = flatten(body.chain(), spares.gathered);
  Slice encoded =
      exchange.cache_tag.empty() ? encode(kind, text, spares) : encode_tagged(exchange, kind, text, options);
  if (encoded.is_empty()) return false;
  describe(head.fields, kind.coding);
  body = Body(std::move(encoded));
  return true;
}

void encode_stream(Exchange& exchange, http::Head& head, Body& body, const Kind& kind, const CompressOptions& options) {
  auto& spares = exchange.loop().local<Spares>();
  void* const room = exchange.arena().allocate(sizeof(EncodedSource), alignof(EncodedSource));
  auto* source = ::new (room) EncodedSource(exchange, spares, kind, options.loop_bytes_max, std::move(body));
  describe(head.fields, kind.coding);
  body = Body(SourcePtr(source));
}

void refuse(Exchange& exchange) {
  static constexpr http::Field kVary{.name = "Vary", .value = "Accept-Encoding", .id = FieldId::Vary};
  exchange.refuse(Error(ErrorKind::Unsupported, 0, 406), "no content coding that can be had is acceptable", kVary);
}

void encode_as(Exchange& exchange, http::Head& head, Body& body, const Kind& kind, const Negotiation& terms) {
  if (is_whole(body, terms.options)) {
    // What is larger when encoded stays as it is, if the client takes it so.
    if (encode_whole(exchange, head, body, kind, terms.options)) return;
    if (terms.accepted.accepts(Coding::Identity)) return;
  }
  if (exchange.request().method == http::Method::Head) {
    static NoBody no_body;
    describe(head.fields, kind.coding);
    body = Body(SourcePtr(&no_body));
  } else {
    encode_stream(exchange, head, body, kind, terms.options);
  }
}

// Whether bodies of that type and size are encoded for those who like it.
bool pays_off(std::string_view content_type, std::uint64_t bytes, const CompressOptions& options) noexcept {
  return bytes >= options.min_bytes && is_worth_it(content_type, options);
}

// A 304 says of the 200 that would have come, and a 206 to caches, what that one would have said (RFC 9110 §15.3.7,
// §15.4.5). Taken to be smaller when it is encoded: to know better it would have to be.
void describe_whole(Exchange& exchange, http::Head& head, const CompressOptions& options) {
  const auto* whole = exchange.note<WholeAnswer>();
  if (whole == nullptr || head.fields.has_member(FieldId::CacheControl, "no-transform")) return;
  const Negotiation terms{options, AcceptEncoding::of(exchange.request().fields)};
  const bool pays = pays_off(whole->content_type, whole->bytes, options);
  if (pays) add_vary(head.fields);
  if (head.status != 304 || whole->bytes == 0) return;
  if (!pays && terms.accepted.accepts(Coding::Identity)) return;
  if (terms.choose().value_or(Coding::Identity) != Coding::Identity) weaken_etag(head.fields);
}

void encode_answer(Exchange& exchange, http::Head& head, Body& body, const CompressOptions& options) {
  if (head.status == 304 || head.status == 206) return describe_whole(exchange, head, options);
  if (body.is_empty() || !may_encode(head)) return;
  const Negotiation terms{options, AcceptEncoding::of(exchange.request().fields)};
  const bool pays = pays_off(head.fields.get(FieldId::ContentType), body.length().value_or(options.min_bytes), options);
  if (pays) add_vary(head.fields);
  if (!pays && terms.accepted.accepts(Coding::Identity)) return;
  const auto coding = terms.choose();
  if (!coding) {
    // An error is better told in the wrong coding than not at all.
    if (head.status < 400) refuse(exchange);
  } else if (*coding != Coding::Identity) {
    encode_as(exchange, head, body, Kind{*coding, level(*coding, options)}, terms);
  }
}

const CompressOptions& defaults() {
  static const CompressOptions options;
  return options;
}

}  // namespace
}  // namespace encoding

Compress::Compress(CompressOptions options) : options_(std::make_shared<const CompressOptions>(std::move(options))) {}

void Compress::on_reply(Exchange& exchange, http::Head& head, Body& body) const {
  encoding::encode_answer(exchange, head, body, options_ != nullptr ? *options_ : encoding::defaults());
}

}  // namespace violet
