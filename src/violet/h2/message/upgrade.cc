#include "violet/h2/message/upgrade.h"

namespace violet::h2 {
namespace {

using http::FieldId;

int base64url_value(char c) noexcept {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '-' ? 62 : c == '_' ? 63 : -1;
}

bool belongs_to_connection(FieldId id) noexcept {
  return id == FieldId::Connection || id == FieldId::Upgrade || id == FieldId::Http2Settings ||
         id == FieldId::KeepAlive || id == FieldId::ProxyConnection;
}

}  // namespace

std::optional<std::string> decode_settings(std::string_view text) {
  std::string bytes;
  unsigned bits = 0;
  int bit_count = 0;
  for (const char c : text) {
    const int value = base64url_value(c);
    if (value < 0) return std::nullopt;
    bits = bits << 6 | static_cast<unsigned>(value);
    bit_count += 6;
    if (bit_count < 8) continue;
    bit_count -= 8;
    bytes.push_back(static_cast<char>(bits >> bit_count & 0xff));
  }
  // Nothing but whole settings, and no bits left over.
  if (bytes.size() % 6 != 0 || bit_count >= 6 || (bits & ((1u << bit_count) - 1)) != 0) return std::nullopt;
  return bytes;
}

void copy_request(const http::Head& from, http::Head& to) {
  Arena& arena = to.fields.arena();
  to.version = http::Version::Http2;
  to.method = from.method;
  to.form = from.form;
  to.method_text = arena.copy(from.method_text);
  to.target = arena.copy(from.target);
  to.scheme = from.scheme.empty() ? std::string_view("http") : arena.copy(from.scheme);
  to.authority = arena.copy(from.authority);
  to.path = arena.copy(from.path);
  to.query = arena.copy(from.query);
  for (const http::Field& field : from.fields) {
    if (belongs_to_connection(field.id)) continue;
    http::Field copy = field;
    copy.name = field.id == FieldId::Other ? arena.copy(field.name) : http::name(field.id);
    copy.value = arena.copy(field.value);
    to.fields.push(copy);
  }
}

}  // namespace violet::h2
