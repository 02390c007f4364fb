#include "violet/h1/writer.h"

#include <cstring>
#include <string>

#include "violet/http/status.h"

namespace violet::h1 {
namespace {

using http::FieldId;
using Kind = AnswerFraming::Kind;

constexpr std::size_t kNumberMax = 20;

char* put(char* p, std::string_view text) {
  std::memcpy(p, text.data(), text.size());
  return p + text.size();
}

// A text with at least `Room` readable bytes at its start, into as many writable ones: a copy without a call.
template <std::size_t Room>
char* put_padded(char* p, std::string_view text) {
  VIOLET_ASSERT(text.size() <= Room);
  std::memcpy(p, text.data(), Room);
  return p + text.size();
}

template <std::size_t N>
char* put_literal(char* p, const char (&text)[N]) {
  std::memcpy(p, text, N - 1);
  return p + N - 1;
}

char* put_number(char* p, std::uint64_t value) {
  char digits[kNumberMax];
  char* first = digits + kNumberMax;
  if (value < 10) {
    *p = static_cast<char>('0' + value);
    return p + 1;
  }
  do {
    *--first = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  return put(p, {first, static_cast<std::size_t>(digits + kNumberMax - first)});
}

char* put_field(char* p, const http::Field& field) {
  p = put(p, field.name);
  *p++ = ':';
  *p++ = ' ';
  p = put(p, field.value);
  *p++ = '\r';
  *p++ = '\n';
  return p;
}

std::size_t fields_bound(const http::Fields& fields) {
  std::size_t size = 0;
  for (const http::Field& field : fields) size += field.name.size() + field.value.size() + 4;
  return size;
}

// Fields of a handler that the wire writes itself, or not at all (RFC 9110 §7.6.1, RFC 9112 §6).
bool is_wire_field(FieldId id, int status, Kind kind) {
  switch (id) {
    case FieldId::Connection:
    case FieldId::KeepAlive:
    case FieldId::ProxyConnection:
    case FieldId::TransferEncoding: return true;
    case FieldId::ContentLength: return kind != Kind::Kept;
    case FieldId::Upgrade: return status != 101 && status != 426;
    default: return false;
  }
}

char* put_head(char* p, const http::Head& head, const AnswerFraming& framing, Site& site) {
  p = put_padded<http::kStatusLineMax>(p, http::status_line(head.status));
  bool has_date = false;
  for (const http::Field& field : head.fields) {
    if (is_wire_field(field.id, head.status, framing.kind)) continue;
    has_date = has_date || field.id == FieldId::Date;
    p = put_field(p, field);
  }
  if (!http::is_informational(head.status)) {
    if (!has_date) p = put_padded<http::DateLine::kBytes>(p, site.date.at(site.loop.wall_seconds()));
    if (!site.server_name.empty()) {
      p = put_literal(p, "Server: ");
      p = put(p, site.server_name);
      p = put_literal(p, "\r\n");
    }
  }
  if (head.status == 101) {
    p = put_literal(p, "Connection: Upgrade\r\n");
  } else if (framing.closes) {
    p = put_literal(p, "Connection: close\r\n");
  } else if (framing.says_keep_alive) {
    p = put_literal(p, "Connection: keep-alive\r\n");
  }
  if (framing.kind == Kind::Length) {
    p = put_literal(p, "Content-Length: ");
    p = put_number(p, framing.length);
    p = put_literal(p, "\r\n\r\n");
  } else if (framing.kind == Kind::Chunked) {
    p = put_literal(p, "Transfer-Encoding: chunked\r\n\r\n");
  } else {
    p = put_literal(p, "\r\n");
  }
  return p;
}

// Everything of a head beside its fields and the server's name: the longest status line, Date, Connection, framing.
constexpr std::size_t kFixedBound = 52 + 37 + 10 + 24 + 40 + 4;

}  // namespace

void write_head(Output& output, const http::Head& head, const AnswerFraming& framing, Site& site) {
  const std::size_t bound = kFixedBound + site.server_name.size() + fields_bound(head.fields);
  if (bound <= Block::capacity()) [[likely]] {
    char* start = output.reserve(bound);
    output.commit(static_cast<std::size_t>(put_head(start, head, framing, site) - start));
    return;
  }
  std::string text(bound, '\0');
  text.resize(static_cast<std::size_t>(put_head(text.data(), head, framing, site) - text.data()));
  output.append(Slice::of(std::move(text)));
}

void write_chunk_line(Output& output, std::uint64_t size) {
  char* start = output.reserve(18);
  char* p = start;
  int shift = 60;
  while (shift > 0 && (size >> shift) == 0) shift -= 4;
  for (; shift >= 0; shift -= 4) *p++ = "0123456789abcdef"[size >> shift & 15];
  p = put(p, "\r\n");
  output.commit(static_cast<std::size_t>(p - start));
}

void write_last_chunk(Output& output, const http::Fields* trailers) {
  output.copy("0\r\n");
  if (trailers != nullptr) {
    for (const http::Field& field : *trailers) {
      if (is_wire_field(field.id, 200, Kind::Length)) continue;
      output.copy(field.name);
      output.copy(": ");
      output.copy(field.value);
      output.copy("\r\n");
    }
  }
  output.copy("\r\n");
}

}  // namespace violet::h1
