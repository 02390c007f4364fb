#include "violet/h1/writer.h"

#include "violet/base/ascii.h"
#include "violet/http/status.h"
#include "violet/memory/text.h"

#include <array>
#include <cstring>
#include <string>

namespace violet::h1 {
namespace {

using http::FieldId;
using Kind = AnswerFraming::Kind;

// A text with at least `Room` readable bytes at its start, into as many writable ones: a copy without a call.
template <std::size_t Room>
char* put_padded(char* p, std::string_view text) {
  VIOLET_ASSERT(text.size() <= Room);
  std::memcpy(p, text.data(), Room);
  return p + text.size();
}

// In whole steps: `p` has room for as many.
char* put_prepared(char* p, const http::PreparedFields& fields) {
  const std::string_view text = fields.text();
  for (std::size_t i = 0; i < text.size(); i += http::PreparedFields::kTextStep) {
    std::memcpy(p + i, text.data() + i, http::PreparedFields::kTextStep);
  }
  return p + text.size();
}

template <std::size_t N>
char* put_literal(char* p, const char (&text)[N]) {
  std::memcpy(p, text, N - 1);
  return p + N - 1;
}

char* put_field(char* p, const http::Field& field) {
  if (field.id != FieldId::Other) [[likely]] {
    p = put_padded<http::kWireNameMax>(p, http::wire_name(field.id));
  } else {
    p = put_text(p, field.name);
    p = put_literal(p, ": ");
  }
  p = put_text(p, field.value);
  return put_literal(p, "\r\n");
}

// Fields of a handler that the wire writes itself, or not at all (RFC 9110 §7.6.1, RFC 9112 §6).
enum class Mine : std::uint8_t { No, Always, Length, Upgrade, Date };

constexpr auto kMine = [] {
  std::array<Mine, http::kFieldIdCount> table{};
  for (FieldId id : {FieldId::Connection, FieldId::KeepAlive, FieldId::ProxyConnection, FieldId::TransferEncoding}) {
    table[static_cast<std::size_t>(id)] = Mine::Always;
  }
  table[static_cast<std::size_t>(FieldId::ContentLength)] = Mine::Length;
  table[static_cast<std::size_t>(FieldId::Upgrade)] = Mine::Upgrade;
  table[static_cast<std::size_t>(FieldId::Date)] = Mine::Date;
  return table;
}();

// What one look at a head's fields tells: how long they are, and whether the wire has a say in any.
struct Survey {
  std::size_t bytes = 0;
  unsigned mine = 0;  // a bit for each Mine that occurs

  explicit Survey(const http::Fields& fields) noexcept {
    if (fields.prepared() != nullptr) bytes = fields.prepared()->text().size();
    for (const http::Field& field : fields.others()) {
      bytes += field.name.size() + field.value.size() + 4;
      mine |= 1u << static_cast<unsigned>(kMine[static_cast<std::size_t>(field.id)]);
    }
  }
  [[nodiscard]] bool has(Mine which) const noexcept { return (mine >> static_cast<unsigned>(which) & 1) != 0; }
  [[nodiscard]] bool is_plain() const noexcept { return mine <= 1; }  // nothing but Mine::No

  // What a plain one says, known while compiling.
  constexpr Survey() noexcept = default;
};

bool is_dropped(Mine mine, int status, Kind kind) {
  switch (mine) {
    case Mine::No:
    case Mine::Date: return false;
    case Mine::Always: return true;
    case Mine::Length: return kind != Kind::Kept;
    case Mine::Upgrade: return status != 101 && status != 426;
  }
  return false;
}

[[gnu::always_inline]] inline char* put_head(char* p, std::uint16_t status, const http::Fields& fields,
                                             const AnswerFraming& framing, Site& site, const Survey& survey) {
  if (status == 200 && !survey.has(Mine::Date)) [[likely]] {
    p = put_padded<http::DateLine::kOkBytes>(p, site.date.ok_at(site.loop.wall_seconds()));
  } else {
    p = put_padded<http::kStatusLineMax>(p, http::status_line(status));
    if (!http::is_informational(status) && !survey.has(Mine::Date))
      p = put_text(p, site.date.at(site.loop.wall_seconds()));
  }
  if (!site.server_name.empty() && !http::is_informational(status) && !fields.has(FieldId::Server)) {
    p = put_literal(p, "Server: ");
    p = put_text(p, site.server_name);
    p = put_literal(p, "\r\n");
  }
  if (fields.prepared() != nullptr) p = put_prepared(p, *fields.prepared());
  for (const http::Field& field : fields.others()) {
    if (!survey.is_plain() && is_dropped(kMine[static_cast<std::size_t>(field.id)], status, framing.kind)) continue;
    p = put_field(p, field);
  }
  // Upgrade goes with its connection option (RFC 9110 §7.8).
  if (status == 101 || (survey.has(Mine::Upgrade) && status == 426)) [[unlikely]] {
    p = put_text(p, framing.closes ? "Connection: close, Upgrade\r\n" : "Connection: Upgrade\r\n");
  } else if (framing.closes) {
    p = put_literal(p, "Connection: close\r\n");
  } else if (framing.says_keep_alive) {
    p = put_literal(p, "Connection: keep-alive\r\n");
  }
  if (framing.kind == Kind::Length) {
    p = put_literal(p, "Content-Length: ");
    p = ascii::put_unsigned(p, framing.length);
    p = put_literal(p, "\r\n\r\n");
  } else if (framing.kind == Kind::Chunked) {
    p = put_literal(p, "Transfer-Encoding: chunked\r\n\r\n");
  } else {
    p = put_literal(p, "\r\n");
  }
  return p;
}

// Everything of a head beside its fields and the server's name: the longest status line, Date, Connection, framing.
// Names and what was prepared are copied with their padding, which the last one may need.
constexpr std::size_t kFixedBound =
    http::kStatusLineMax + http::DateLine::kBytes + 10 + 28 + 40 + 4 + http::kWireNameMax;
static_assert(http::kWireNameMax >= http::PreparedFields::kTextStep);

// A head that does not fit into a block.
[[gnu::noinline]] void write_large_head(Output& output, const http::Head& head, const AnswerFraming& framing,
                                        Site& site, const Survey& survey, std::size_t bound) {
  std::string text(bound, '\0');
  text.resize(
      static_cast<std::size_t>(put_head(text.data(), head.status, head.fields, framing, site, survey) - text.data()));
  output.append(Slice::of(std::move(text)));
}

}  // namespace

void write_head(Output& output, const http::Head& head, const AnswerFraming& framing, Site& site,
                std::string_view body) {
  const Survey survey(head.fields);
  const std::size_t bound = kFixedBound + site.server_name.size() + survey.bytes + body.size();
  if (bound <= Block::capacity()) [[likely]] {
    char* start = output.reserve(bound);
    char* p = put_head(start, head.status, head.fields, framing, site, survey);
    p = put_text(p, body);
    output.commit(static_cast<std::size_t>(p - start));
    return;
  }
  write_large_head(output, head, framing, site, survey, bound);
  output.copy(body);
}

void write_plain_answer(Output& output, const http::Head& head, Site& site, std::uint64_t length,
                        std::string_view body) {
  VIOLET_ASSERT(head.status == 200);
  const AnswerFraming framing{.length = length};
  const Survey survey(head.fields);
  const std::size_t bound = kFixedBound + site.server_name.size() + survey.bytes + body.size();
  if (!survey.is_plain() || bound > Block::capacity()) [[unlikely]] {
    write_head(output, head, framing, site, body);
    return;
  }
  char* start = output.reserve(bound);
  char* p = put_head(start, 200, head.fields, framing, site, Survey());
  p = put_text(p, body);
  output.commit(static_cast<std::size_t>(p - start));
}

void write_chunk_line(Output& output, std::uint64_t size) {
  char* start = output.reserve(18);
  char* p = start;
  int shift = 60;
  while (shift > 0 && (size >> shift) == 0) shift -= 4;
  for (; shift >= 0; shift -= 4) *p++ = "0123456789abcdef"[size >> shift & 15];
  p = put_text(p, "\r\n");
  output.commit(static_cast<std::size_t>(p - start));
}

void write_last_chunk(Output& output, const http::Fields* trailers) {
  output.copy("0\r\n");
  if (trailers != nullptr) {
    for (const http::Field& field : *trailers) {
      if (is_dropped(kMine[static_cast<std::size_t>(field.id)], 200, Kind::Length)) continue;
      output.copy(field.name);
      output.copy(": ");
      output.copy(field.value);
      output.copy("\r\n");
    }
  }
  output.copy("\r\n");
}

}  // namespace violet::h1
