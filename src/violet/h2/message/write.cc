#include "violet/h2/message/write.h"

#include "violet/base/ascii.h"
#include "violet/h2/frame.h"
#include "violet/http/status.h"

#include <array>
#include <cstring>
#include <string>

namespace violet::h2 {
namespace {

using hpack::Encoder;
using hpack::Pseudo;
using http::FieldId;

// Fields of a handler that the wire writes itself, or not at all (§8.2.2; RFC 9110 §7.6.1).
enum class Mine : std::uint8_t { No, Always, Length, Date, Server, Host, Te };

constexpr auto kMine = [] {
  std::array<Mine, http::kFieldIdCount> table{};
  for (const FieldId id : {FieldId::Connection, FieldId::KeepAlive, FieldId::ProxyConnection, FieldId::TransferEncoding,
                           FieldId::Upgrade, FieldId::Http2Settings}) {
    table[static_cast<std::size_t>(id)] = Mine::Always;
  }
  table[static_cast<std::size_t>(FieldId::ContentLength)] = Mine::Length;
  table[static_cast<std::size_t>(FieldId::Date)] = Mine::Date;
  table[static_cast<std::size_t>(FieldId::Server)] = Mine::Server;
  table[static_cast<std::size_t>(FieldId::Host)] = Mine::Host;
  table[static_cast<std::size_t>(FieldId::Te)] = Mine::Te;
  return table;
}();

// What one look at a head's fields tells: the room they need, and whether the wire has a say in any.
struct Survey {
  std::size_t bytes = 0;
  unsigned mine = 0;  // a bit for each Mine that occurs

  explicit Survey(const http::Fields& fields) noexcept {
    if (fields.prepared() != nullptr) bytes = Encoder::bound(*fields.prepared());
    for (const http::Field& field : fields.others()) {
      bytes += Encoder::bound(field.name.size(), field.value.size());
      mine |= 1u << static_cast<unsigned>(kMine[static_cast<std::size_t>(field.id)]);
    }
  }
  [[nodiscard]] bool has(Mine which) const noexcept { return (mine >> static_cast<unsigned>(which) & 1) != 0; }
  [[nodiscard]] bool is_plain() const noexcept { return mine <= 1; }  // nothing but Mine::No
};

bool is_dropped(const http::Field& field, bool is_request, Framing::Length says) noexcept {
  switch (kMine[static_cast<std::size_t>(field.id)]) {
    case Mine::No:
    case Mine::Date:
    case Mine::Server: return false;
    case Mine::Always: return true;
    case Mine::Length: return says != Framing::Length::Kept;
    case Mine::Host: return is_request;
    // Nothing else may be said in it (§8.2.2).
    case Mine::Te: return is_request && !ascii::equal_folded(field.value, "trailers");
  }
  return false;
}

char* put_fields(char* p, Encoder& encoder, const http::Fields& fields, const Survey& survey, bool is_request,
                 const Framing& framing) {
  if (fields.prepared() != nullptr) p = encoder.prepared(p, *fields.prepared());
  for (const http::Field& field : fields.others()) {
    if (!survey.is_plain() && is_dropped(field, is_request, framing.says)) continue;
    p = encoder.field(p, field);
  }
  if (framing.says == Framing::Length::Known) p = encoder.length(p, framing.length);
  return p;
}
constexpr std::size_t kLengthBound = Encoder::bound(14, ascii::kDigitsMax);

std::uint8_t end_flags(bool ends_stream) noexcept {
  return static_cast<std::uint8_t>(flag::kEndHeaders | (ends_stream ? flag::kEndStream : 0));
}

// A block that does not fit into one piece of the output, in as many frames as it takes (§6.10).
void write_large_block(net::Output& out, std::uint32_t stream, std::string_view block, bool ends_stream) {
  auto type = FrameType::Headers;
  do {
    const std::string_view piece = block.substr(0, kFrameBytesMax);
    block.remove_prefix(piece.size());
    std::uint8_t flags = block.empty() ? flag::kEndHeaders : std::uint8_t{0};
    if (type == FrameType::Headers && ends_stream) flags |= flag::kEndStream;
    put_frame_head(out.reserve(kFrameHeadBytes), static_cast<std::uint32_t>(piece.size()), type, flags, stream);
    out.commit(kFrameHeadBytes);
    out.append(Slice::borrowed(piece));
    type = FrameType::Continuation;
  } while (!block.empty());
}

// Writes the block that `put` makes in at most `bound` bytes, and `body` in a frame behind it.
template <class Put>
[[gnu::always_inline]] inline void write_block(net::Output& out, std::uint32_t stream, bool ends_stream,
                                               std::size_t bound, std::string_view body, Put&& put) {
  const std::size_t room = kFrameHeadBytes + bound + kFrameHeadBytes + body.size();
  static_assert(Block::capacity() <= kFrameBytesMax, "a block in one piece is one frame");
  if (room > Block::capacity()) [[unlikely]] {
    std::string block(bound, '\0');
    block.resize(static_cast<std::size_t>(put(block.data()) - block.data()));
    write_large_block(out, stream, block, ends_stream);
    if (body.empty()) return;
    write_data_head(out, static_cast<std::uint32_t>(body.size()), flag::kEndStream, stream);
    out.copy(body);
    return;
  }
  char* const start = out.reserve(room);
  char* p = put(start + kFrameHeadBytes);
  put_frame_head(start, static_cast<std::uint32_t>(p - start) - kFrameHeadBytes, FrameType::Headers,
                 end_flags(ends_stream), stream);
  if (!body.empty()) {
    p = put_frame_head(p, static_cast<std::uint32_t>(body.size()), FrameType::Data, flag::kEndStream, stream);
    std::memcpy(p, body.data(), body.size());
    p += body.size();
  }
  out.commit(static_cast<std::size_t>(p - start));
}

}  // namespace

void HeadWriter::response(std::uint32_t stream, int status, const http::Fields& fields, const Framing& framing,
                          Site& site, std::string_view body) {
  const Survey survey(fields);
  const std::size_t bound = Encoder::kBeginBytesMax + Encoder::bound(7, 3) + Encoder::bound(4, http::kDateBytes) +
                            Encoder::bound(6, site.server_name.size()) + kLengthBound + survey.bytes;
  const bool is_final = !http::is_informational(status);
  write_block(output, stream, framing.ends_stream, bound, body, [&](char* p) {
    p = encoder.begin(p);
    p = encoder.status(p, status);
    if (is_final && !survey.has(Mine::Date)) {
      const std::int64_t second = site.loop.wall_seconds();
      p = encoder.date(p, second, site.date.value_at(second));
    }
    if (is_final && !site.server_name.empty() && !survey.has(Mine::Server)) {
      p = encoder.field(p, FieldId::Server, site.server_name);
    }
    return put_fields(p, encoder, fields, survey, false, framing);
  });
}

void HeadWriter::request(std::uint32_t stream, const http::Head& head, const Framing& framing) {
  const Survey survey(head.fields);
  // :path has no absolute form (§8.3.1).
  std::string joined;
  if (head.form == http::TargetForm::Absolute) {
    joined = head.path;
    if (!head.query.empty()) joined.append("?").append(head.query);
  }
  const std::string_view path = !joined.empty() ? joined : head.target.empty() ? std::string_view("/") : head.target;
  const std::string_view method = head.method_text.empty() ? http::name(head.method) : head.method_text;
  const std::string_view authority = head.authority.empty() ? head.fields.get(FieldId::Host) : head.authority;
  const std::size_t bound = Encoder::kBeginBytesMax + Encoder::bound(7, method.size()) +
                            Encoder::bound(7, head.scheme.size()) + Encoder::bound(10, authority.size()) +
                            Encoder::bound(5, path.size()) + Encoder::bound(9, head.protocol.size()) + kLengthBound +
                            survey.bytes;
  const bool is_tunnel = head.method == http::Method::Connect && head.protocol.empty();
  write_block(output, stream, framing.ends_stream, bound, {}, [&](char* p) {
    p = encoder.begin(p);
    p = encoder.pseudo(p, Pseudo::Method, method);
    if (!is_tunnel) {
      p = encoder.pseudo(p, Pseudo::Scheme, head.scheme.empty() ? std::string_view("http") : head.scheme);
      p = encoder.pseudo(p, Pseudo::Path, path);
    }
    if (!authority.empty()) p = encoder.pseudo(p, Pseudo::Authority, authority);
    if (!head.protocol.empty()) p = encoder.pseudo(p, Pseudo::Protocol, head.protocol);
    return put_fields(p, encoder, head.fields, survey, true, framing);
  });
}

void HeadWriter::trailers(std::uint32_t stream, const http::Fields& fields) {
  const Survey survey(fields);
  write_block(output, stream, true, Encoder::kBeginBytesMax + survey.bytes, {}, [&](char* p) {
    p = encoder.begin(p);
    for (const http::Field& field : fields) {
      if (!http::is_forbidden_trailer(field.id)) p = encoder.field(p, field);
    }
    return p;
  });
}

}  // namespace violet::h2
