#include "violet/hpack/table/static_table.h"

#include "violet/base/ascii.h"

namespace violet::hpack {
namespace {

struct Line {
  std::string_view name;
  std::string_view value;
};

constexpr Line kLines[kStaticCount + 1] = {
    {"", ""},
    {":authority", ""},
    {":method", "GET"},
    {":method", "POST"},
    {":path", "/"},
    {":path", "/index.html"},
    {":scheme", "http"},
    {":scheme", "https"},
    {":status", "200"},
    {":status", "204"},
    {":status", "206"},
    {":status", "304"},
    {":status", "400"},
    {":status", "404"},
    {":status", "500"},
    {"accept-charset", ""},
    {"accept-encoding", "gzip, deflate"},
    {"accept-language", ""},
    {"accept-ranges", ""},
    {"accept", ""},
    {"access-control-allow-origin", ""},
    {"age", ""},
    {"allow", ""},
    {"authorization", ""},
    {"cache-control", ""},
    {"content-disposition", ""},
    {"content-encoding", ""},
    {"content-language", ""},
    {"content-length", ""},
    {"content-location", ""},
    {"content-range", ""},
    {"content-type", ""},
    {"cookie", ""},
    {"date", ""},
    {"etag", ""},
    {"expect", ""},
    {"expires", ""},
    {"from", ""},
    {"host", ""},
    {"if-match", ""},
    {"if-modified-since", ""},
    {"if-none-match", ""},
    {"if-range", ""},
    {"if-unmodified-since", ""},
    {"last-modified", ""},
    {"link", ""},
    {"location", ""},
    {"max-forwards", ""},
    {"proxy-authenticate", ""},
    {"proxy-authorization", ""},
    {"range", ""},
    {"referer", ""},
    {"refresh", ""},
    {"retry-after", ""},
    {"server", ""},
    {"set-cookie", ""},
    {"strict-transport-security", ""},
    {"transfer-encoding", ""},
    {"user-agent", ""},
    {"vary", ""},
    {"via", ""},
    {"www-authenticate", ""},
};

struct KnownName {
  std::string_view text;
  http::FieldId id;
};
constexpr KnownName kKnownNames[] = {
#define VIOLET_KNOWN_NAME(id, text) {text, http::FieldId::id},
    VIOLET_FIELD_NAMES(VIOLET_KNOWN_NAME)
#undef VIOLET_KNOWN_NAME
};

consteval StaticEntry entry_of(const Line& line) {
  for (std::size_t i = 0; i < kPseudoCount; ++i) {
    const auto pseudo = static_cast<Pseudo>(i);
    if (line.name == name(pseudo)) return {line.name, line.value, pseudo};
  }
  for (const KnownName& known : kKnownNames) {
    if (ascii::equal_folded(known.text, line.name)) return {known.text, line.value, known.id};
  }
  return {line.name, line.value, {}};
}

consteval StaticTable make_table() {
  StaticTable table;
  for (std::size_t i = 0; i <= kStaticCount; ++i) table.at[i] = entry_of(kLines[i]);
  return table;
}

consteval StaticNames make_names(const StaticTable& table) {
  StaticNames names{};
  for (std::size_t i = kStaticCount; i > 0; --i) {
    const Key key = table.at[i].key;
    if (!key.is_other()) names.at[key.index()] = static_cast<std::uint8_t>(i);
  }
  return names;
}

}  // namespace

constinit const StaticTable kStaticTable = make_table();
constinit const StaticNames kStaticNames = make_names(make_table());

}  // namespace violet::hpack
