#include "violet/h1/client/request_writer.h"

#include "violet/base/ascii.h"
#include "violet/http/target.h"

#include <charconv>

namespace violet::h1::client {
namespace {

using http::FieldId;

// Written by the wire, or meant for the next hop only (RFC 9110 §7.6.1).
bool is_mine(FieldId id) {
  switch (id) {
    case FieldId::Host:
    case FieldId::Connection:
    case FieldId::KeepAlive:
    case FieldId::ProxyConnection:
    case FieldId::TransferEncoding:
    case FieldId::ContentLength:
    case FieldId::Te: return true;
    default: return false;
  }
}

void write_framing(net::Output& output, const RequestFraming& framing) {
  if (framing.kind == RequestFraming::Kind::Chunked) {
    output.copy("Transfer-Encoding: chunked\r\n");
  } else if (framing.kind == RequestFraming::Kind::Length) {
    char digits[20];
    const char* end = std::to_chars(digits, digits + sizeof digits, framing.length).ptr;
    output.copy("Content-Length: ");
    output.copy({digits, static_cast<std::size_t>(end - digits)});
    output.copy("\r\n");
  }
}

}  // namespace

void write_request_head(net::Output& output, const http::Head& head, const RequestFraming& framing) {
  output.copy(head.method_text);
  output.copy(" ");
  output.copy(head.target);
  output.copy(" HTTP/1.1\r\nHost: ");
  output.copy(head.authority);
  output.copy("\r\n");
  bool has_upgrade = false;
  for (const http::Field& field : head.fields) {
    if (is_mine(field.id)) continue;
    has_upgrade = has_upgrade || field.id == FieldId::Upgrade;
    output.copy(field.name);
    output.copy(": ");
    output.copy(field.value);
    output.copy("\r\n");
  }
  if (has_upgrade) output.copy("Connection: Upgrade\r\n");
  write_framing(output, framing);
  output.copy("\r\n");
}

bool is_sendable(const http::Head& head) noexcept {
  return ascii::is_token(head.method_text) && !head.target.empty() && ascii::all_are(head.target, ascii::kTarget) &&
         http::is_authority(head.authority, true);
}

}  // namespace violet::h1::client
