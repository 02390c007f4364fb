#include "violet/h2/message/read.h"

#include "violet/base/ascii.h"
#include "violet/http/target.h"

#include <algorithm>

namespace violet::h2 {
namespace {

using hpack::Pseudo;
using hpack::Section;
using http::FieldId;

constexpr std::uint8_t bits(std::initializer_list<Pseudo> which) {
  std::uint8_t sum = 0;
  for (const Pseudo one : which) sum |= Section::bit(one);
  return sum;
}

// A set of field ids, laid out as Section::ids.
struct IdSet {
  std::uint64_t at[2] = {};
  constexpr IdSet(std::initializer_list<FieldId> ids) {
    for (const FieldId id : ids)
      at[static_cast<std::size_t>(id) / 64] |= std::uint64_t{1} << (static_cast<std::size_t>(id) % 64);
  }
  [[nodiscard]] constexpr bool meets(const std::uint64_t (&ids)[2]) const noexcept {
    return ((ids[0] & at[0]) | (ids[1] & at[1])) != 0;
  }
};

// Fields of a connection, which HTTP/2 has other means for (§8.2.2).
constexpr IdSet kForbidden{FieldId::Connection, FieldId::KeepAlive, FieldId::ProxyConnection, FieldId::TransferEncoding,
                           FieldId::Upgrade};
// Fields with a rule of their own.
constexpr IdSet kLookedAt{FieldId::Te, FieldId::ContentLength, FieldId::Host, FieldId::Cookie};

bool parse_length(std::string_view text, std::optional<std::uint64_t>& length) noexcept {
  // Nineteen digits, so that no sum can overflow.
  if (text.empty() || text.size() > 19 || length) return false;
  std::uint64_t value = 0;
  for (const char c : text) {
    if (!ascii::is(c, ascii::kDigit)) return false;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  length = value;
  return true;
}

// Clients split cookies for the sake of compression; handlers see one line (§8.2.3).
void join_cookies(http::Fields& fields) {
  std::size_t count = 0;
  std::size_t bytes = 0;
  for (const http::Field& field : fields) {
    if (field.id != FieldId::Cookie) continue;
    ++count;
    bytes += field.value.size() + 2;
  }
  if (count < 2) return;
  char* const text = static_cast<char*>(fields.arena().allocate(bytes, 1));
  char* p = text;
  http::Field whole;
  for (const http::Field& field : fields) {
    if (field.id != FieldId::Cookie) continue;
    if (p == text) {
      whole = field;
    } else {
      *p++ = ';';
      *p++ = ' ';
    }
    whole.is_sensitive |= field.is_sensitive;
    p = std::copy(field.value.begin(), field.value.end(), p);
  }
  whole.value = {text, static_cast<std::size_t>(p - text)};
  fields.remove(FieldId::Cookie);
  fields.push(whole);
}

// Two different ones are read as different things by different readers (RFC 9110 §5.3).
bool has_one_type(const http::Fields& fields) noexcept {
  const std::string_view first = fields.get(FieldId::ContentType);
  for (const http::Field& field : fields) {
    if (field.id == FieldId::ContentType && field.value != first) return false;
  }
  return true;
}

// Fields with a rule of their own. `host` is the only Host line, if there is one.
bool look_at_fields(const Section& section, std::optional<std::string_view>& host,
                    std::optional<std::uint64_t>& length) {
  for (const http::Field& field : section.fields) {
    switch (field.id) {
      case FieldId::Te:
        // No transfer codings here, so nothing but trailers can be accepted (§8.2.2).
        if (!ascii::equal_folded(field.value, "trailers")) return false;
        break;
      case FieldId::ContentLength:
        if (!parse_length(field.value, length)) return false;
        break;
      case FieldId::Host:
        if (host) return false;
        host = field.value;
        break;
      default: break;
    }
  }
  if (section.has(FieldId::Cookie)) join_cookies(section.fields);
  return true;
}

// :path and :scheme (§8.3.1). An absolute form has no place here.
Reading split_path(std::string_view path, std::uint64_t bytes_max, http::Head& head) noexcept {
  head.target = path;
  if (path.size() > bytes_max) return Reading::TargetTooLong;
  if (path.empty() || !ascii::all_are(path, ascii::kTarget)) return Reading::Malformed;
  if (path.front() == '/') [[likely]] {
    head.form = http::TargetForm::Origin;
    const std::size_t mark = path.find('?');
    head.path = path.substr(0, mark);
    head.query = mark == std::string_view::npos ? std::string_view{} : path.substr(mark + 1);
    return Reading::Good;
  }
  if (path != "*" || head.method != http::Method::Options) return Reading::Malformed;
  head.form = http::TargetForm::Asterisk;
  head.path = path;
  return Reading::Good;
}

Reading read_connect(const Section& section, http::Head& head) noexcept {
  // A tunnel has neither scheme nor path (§8.5).
  if ((section.seen & bits({Pseudo::Scheme, Pseudo::Path})) != 0) return Reading::Malformed;
  head.target = section.get(Pseudo::Authority);
  return http::split_target(head) ? Reading::Good : Reading::Malformed;
}

// What is kept of a request without any field that is looked at: that it was good, its method, and where its path ends.
struct Judged {
  static constexpr std::uint32_t kGood = 1;
  static constexpr std::size_t kPathMax = 0xffff;

  [[nodiscard]] static std::uint32_t pack(const http::Head& head) noexcept {
    if (head.form != http::TargetForm::Origin || head.path.size() > kPathMax) return 0;
    return kGood | static_cast<std::uint32_t>(head.method) << 8 | static_cast<std::uint32_t>(head.path.size()) << 16;
  }
  static void unpack(std::uint32_t note, const Section& section, http::Head& head) noexcept {
    head.method = static_cast<http::Method>(note >> 8 & 0xff);
    head.scheme = section.get(Pseudo::Scheme);
    head.authority = section.get(Pseudo::Authority);
    head.protocol = section.get(Pseudo::Protocol);
    head.target = section.get(Pseudo::Path);
    head.path = head.target.substr(0, note >> 16);
    if (head.path.size() != head.target.size()) head.query = head.target.substr(head.path.size() + 1);
  }
};

}  // namespace

Reading read_request(const Section& section, std::uint64_t target_bytes_max, bool may_extend, http::Head& head,
                     std::optional<std::uint64_t>& length) {
  head.version = http::Version::Http2;
  head.method_text = section.get(Pseudo::Method);
  if (section.note != nullptr && *section.note != 0) [[likely]] {
    Judged::unpack(*section.note, section, head);
    return Reading::Good;
  }
  head.method = http::find_method(head.method_text);
  if (section.flaws != 0 || section.has(Pseudo::Status) || kForbidden.meets(section.ids)) return Reading::Malformed;
  if (head.method == http::Method::Other && !ascii::is_token(head.method_text)) return Reading::Malformed;
  std::optional<std::string_view> host;
  if (section.has(FieldId::ContentType) && !has_one_type(section.fields)) return Reading::Malformed;
  if (kLookedAt.meets(section.ids) && !look_at_fields(section, host, length)) return Reading::Malformed;

  const bool is_extended = section.has(Pseudo::Protocol);
  if (is_extended && (!may_extend || head.method != http::Method::Connect)) return Reading::Malformed;
  if (head.method == http::Method::Connect && !is_extended) {
    if (const Reading reading = read_connect(section, head); reading != Reading::Good) return reading;
  } else {
    if ((~section.seen & bits({Pseudo::Scheme, Pseudo::Path})) != 0) return Reading::Malformed;
    head.scheme = section.get(Pseudo::Scheme);
    if (head.scheme != "http" && head.scheme != "https") return Reading::Malformed;
    head.protocol = section.get(Pseudo::Protocol);
    if (const Reading reading = split_path(section.get(Pseudo::Path), target_bytes_max, head); reading != Reading::Good)
      return reading;
    head.authority = section.has(Pseudo::Authority) ? section.get(Pseudo::Authority) : host.value_or("");
  }
  // Both schemes have an authority that is not empty (RFC 9110 §4.2.1), and Host must not contradict it (§8.3.1).
  if (!http::is_authority(head.authority, false)) return Reading::Malformed;
  if (host && !ascii::equal_folded(*host, head.authority)) return Reading::Malformed;
  if (section.note != nullptr && !kLookedAt.meets(section.ids)) *section.note = Judged::pack(head);
  return Reading::Good;
}

Reading read_response(const Section& section, http::Head& head, std::optional<std::uint64_t>& length) {
  head.version = http::Version::Http2;
  const std::string_view status = section.get(Pseudo::Status);
  if (section.flaws != 0 || section.seen != Section::bit(Pseudo::Status) || kForbidden.meets(section.ids))
    return Reading::Malformed;
  if (status.size() != 3 || !ascii::all_are(status, ascii::kDigit) || status[0] == '0') return Reading::Malformed;
  head.status = static_cast<std::uint16_t>((status[0] - '0') * 100 + (status[1] - '0') * 10 + (status[2] - '0'));
  // There is nothing to switch to (§8.6).
  if (head.status == 101) return Reading::Malformed;
  for (const http::Field& field : section.fields) {
    if (field.id == FieldId::ContentLength && !parse_length(field.value, length)) return Reading::Malformed;
  }
  return Reading::Good;
}

bool read_trailers(Section& section) noexcept {
  if (section.flaws != 0 || section.seen != 0 || kForbidden.meets(section.ids)) return false;
  for (const FieldId id : http::kForbiddenTrailers) {
    if (section.has(id)) section.fields.remove(id);
  }
  return true;
}

}  // namespace violet::h2
