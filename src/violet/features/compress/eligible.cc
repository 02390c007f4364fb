#include "violet/features/compress/eligible.h"

#include "violet/base/ascii.h"

#include <algorithm>
#include <span>

namespace violet::encoding {
namespace {

using http::FieldId;

constexpr std::string_view kUsual[] = {
    "text/*",
    "application/json",
    "application/javascript",
    "application/xml",
    "application/wasm",
    "application/manifest+json",
    "application/x-ndjson",
    "application/x-javascript",
    "application/graphql",
    "application/rtf",
    "application/vnd.ms-fontobject",
    "font/ttf",
    "font/otf",
    "image/svg+xml",
    "image/bmp",
    "image/x-icon",
    "image/vnd.microsoft.icon",
};

std::string_view media_type(std::string_view content_type) noexcept {
  std::string_view type = content_type.substr(0, content_type.find(';'));
  while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) type.remove_suffix(1);
  return type;
}

bool ends_folded(std::string_view text, std::string_view end) noexcept {
  return text.size() > end.size() && ascii::equal_folded(text.substr(text.size() - end.size()), end);
}

// "text/*" stands for all that begin with "text/".
bool is_match(std::string_view type, std::string_view pattern) noexcept {
  if (!pattern.ends_with("/*")) return ascii::equal_folded(type, pattern);
  pattern.remove_suffix(1);
  return type.size() > pattern.size() && ascii::equal_folded(type.substr(0, pattern.size()), pattern);
}

}  // namespace

bool may_encode(const http::Head& response) noexcept {
  const int status = response.status;
  if (status < 200 || status == 204 || status == 206 || status == 304) return false;
  // Content-Range goes with 206, and with multipart/byteranges in other hands' 200.
  if (response.fields.has(FieldId::ContentEncoding) || response.fields.has(FieldId::ContentRange)) return false;
  return !response.fields.has_member(FieldId::CacheControl, "no-transform");
}

bool is_worth_it(std::string_view content_type, const CompressOptions& options) noexcept {
  const std::string_view type = media_type(content_type);
  const auto matches = [&](std::string_view pattern) { return is_match(type, pattern); };
  if (type.empty() || std::ranges::any_of(options.never, matches)) return false;
  // Structured syntax suffixes (RFC 6839): "application/problem+json".
  return std::ranges::any_of(kUsual, matches) || ends_folded(type, "+json") || ends_folded(type, "+xml") ||
         std::ranges::any_of(options.types, matches);
}

}  // namespace violet::encoding
