#include "violet/features/identity/http/credentials.h"

#include "violet/base/ascii.h"
#include "violet/data/format/base64.h"
#include "violet/data/format/utf8.h"

namespace violet::identity {
namespace {

// 1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"=" (RFC 9110 §11.2).
bool is_token68(std::string_view text) noexcept {
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  if (text.empty()) return false;
  for (const char c : text) {
    const bool is_letter = ascii::lower(c) >= 'a' && ascii::lower(c) <= 'z';
    if (!is_letter && !ascii::is(c, ascii::kDigit) && std::string_view("-._~+/").find(c) == std::string_view::npos) {
      return false;
    }
  }
  return true;
}

bool has_control(std::string_view text) noexcept {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return true;
  }
  return false;
}

}  // namespace

Found find_credentials(const http::Fields& request, std::string_view scheme, std::string_view& token) {
  const http::Field* found = nullptr;
  for (const http::Field& field : request) {
    if (field.id != http::FieldId::Authorization) continue;
    if (found != nullptr) return Found::Malformed;
    found = &field;
  }
  if (found == nullptr) return Found::None;
  const std::size_t space = found->value.find(' ');
  if (!ascii::equal_folded(found->value.substr(0, space), scheme)) return Found::None;
  token = space == std::string_view::npos ? std::string_view{} : ascii::trim(found->value.substr(space));
  return is_token68(token) ? Found::Good : Found::Malformed;
}

bool read_basic(std::string_view token, NameAndPassword& out) {
  std::string text(base64::decoded_size_max(token.size()), '\0');
  const auto size = base64::decode(token, text.data());
  if (!size) return false;
  text.resize(*size);
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || has_control(text) || !utf8::is_valid(text)) return false;
  out.name = text.substr(0, colon);
  out.password = text.substr(colon + 1);
  return true;
}

std::string quoted(std::string_view text) {
  std::string all = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') all += '\\';
    all += has_control({&c, 1}) ? '?' : c;
  }
  return all + "\"";
}

}  // namespace violet::identity
