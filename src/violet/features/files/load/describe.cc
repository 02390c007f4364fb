#include "violet/features/files/load/describe.h"

#include "violet/features/files/disk/path.h"
#include "violet/http/date.h"
#include "violet/http/target.h"
#include "violet/http/value/media_type.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace violet::files {
namespace {

std::string plain_name(std::string_view text) {
  std::string name;
  for (const char c : text) name += c >= 0x20 && c < 0x7f && c != '"' && c != '\\' ? c : '_';
  return name;
}

// RFC 6266 §4, RFC 8187 §3.2: a name that everybody understands, and the real one if that is another.
std::string make_disposition(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const std::string plain = plain_name(name);
  std::string text = "attachment; filename=\"" + plain + "\"";
  if (plain != name) {
    Arena arena;
    text.append("; filename*=UTF-8''").append(http::encode(name, arena));
  }
  return text;
}

const std::string* find_rule(const std::vector<FileOptions::Rule>& rules, std::string_view path) noexcept {
  for (const FileOptions::Rule& rule : rules) {
    if (matches(rule.pattern, path)) return &rule.value;
  }
  return nullptr;
}

}  // namespace

std::string_view twin_extension(http::Coding coding) noexcept {
  switch (coding) {
    case http::Coding::Gzip: return ".gz";
    case http::Coding::Brotli: return ".br";
    case http::Coding::Zstd: return ".zst";
    default: return "";
  }
}

std::string make_etag(const Version& version, http::Coding coding) {
  std::uint64_t hash = version.inode * 0x9e3779b97f4a7c15u;
  hash = (hash ^ hash >> 29 ^ static_cast<std::uint64_t>(version.modified_ns)) * 0xbf58476d1ce4e5b9u;
  hash = (hash ^ hash >> 32 ^ static_cast<std::uint64_t>(version.changed_ns)) * 0xd6e8feb86659fd93u;
  hash = (hash ^ hash >> 30 ^ version.device) * 0x94d049bb133111ebu;
  hash ^= hash >> 31;
  char text[64];
  const int size = std::snprintf(text, sizeof text, "\"%llx-%llx%s\"", static_cast<unsigned long long>(hash),
                                 static_cast<unsigned long long>(version.size), twin_extension(coding).data());
  return {text, static_cast<std::size_t>(size)};
}

std::int64_t modified_second(const Version& version, std::int64_t now_s) noexcept {
  constexpr std::int64_t kSecondNs = 1'000'000'000;
  const std::int64_t second = version.modified_ns / kSecondNs;
  return std::min(version.modified_ns % kSecondNs < 0 ? second - 1 : second, now_s);
}

std::string make_date(std::int64_t seconds) {
  std::string text(http::kDateBytes, '\0');
  http::format_date(seconds, text.data());
  return text;
}

void describe(Entry& entry, const FileOptions& options, std::string_view relative) {
  const std::string* type = find_rule(options.media_types, relative);
  entry.media_type = type != nullptr ? *type : std::string(http::media_type_of(relative));
  if (options.immutable_hashed && is_hashed_name(relative)) {
    entry.cache_control = "public, max-age=31536000, immutable";
  } else if (const std::string* rule = find_rule(options.cache_control, relative); rule != nullptr) {
    entry.cache_control = *rule;
  }
  for (const std::string& pattern : options.download) {
    if (matches(pattern, relative)) {
      entry.disposition = make_disposition(relative);
      break;
    }
  }
}

void prepare_fields(const Entry& entry, Variant& variant) {
  using http::FieldId;
  const bool is_coded = variant.coding != http::Coding::Identity;
  const http::PreparedFields::Line lines[] = {
      {FieldId::ContentType, entry.media_type},
      {FieldId::ContentEncoding, is_coded ? http::name(variant.coding) : std::string_view{}},
      {FieldId::Vary, entry.varies ? "Accept-Encoding" : ""},
      {FieldId::ETag, variant.etag},
      {FieldId::LastModified, variant.last_modified},
      {FieldId::AcceptRanges, "bytes"},
      {FieldId::CacheControl, entry.cache_control},
      {FieldId::ContentDisposition, entry.disposition},
  };
  variant.fields = http::PreparedFields::make(lines);
}

}  // namespace violet::files
