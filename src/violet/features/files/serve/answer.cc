#include "violet/features/files/serve/answer.h"

#include "violet/base/ascii.h"
#include "violet/core/limits.h"
#include "violet/core/whole_answer.h"
#include "violet/features/files/serve/source.h"
#include "violet/http/value/condition.h"
#include "violet/http/value/range.h"

#include <algorithm>
#include <array>
#include <span>

namespace violet::files {
namespace {

using http::FieldId;

constexpr std::size_t kRangesMax = 256;  // whatever the limit says

// What of a request decides beside its path; one look at its fields.
enum Asks : unsigned { kConditions = 1, kRange = 2 };

constexpr auto kAsks = [] {
  std::array<unsigned char, http::kFieldIdCount> table{};
  for (const FieldId id :
       {FieldId::IfMatch, FieldId::IfNoneMatch, FieldId::IfModifiedSince, FieldId::IfUnmodifiedSince}) {
    table[static_cast<std::size_t>(id)] = kConditions;
  }
  table[static_cast<std::size_t>(FieldId::Range)] = kRange;
  return table;
}();

unsigned asks_of(const http::Fields& fields) noexcept {
  unsigned asks = 0;
  for (const http::Field& field : fields) asks |= kAsks[static_cast<std::size_t>(field.id)];
  return asks;
}

// The answer's texts outlive the entry: whoever looks at the head later finds them.
class Answer {
 public:
  Answer(Front& front, Exchange& exchange, const Entry& entry, const Variant& variant, Purpose purpose)
      : front_(front), exchange_(exchange), entry_(entry), variant_(variant), purpose_(purpose) {}

  void send() {
    if (purpose_ == Purpose::NotFound) {
      exchange_.response().status = 404;
      push_form();
      return send_whole();
    }
    const unsigned asks = asks_of(exchange_.request().fields);
    if (asks != 0) [[unlikely]] {
      if ((asks & kConditions) != 0 && !passes_conditions()) return;
      // Range has a meaning for GET alone (RFC 9110 §14.2).
      if ((asks & kRange) != 0 && exchange_.request().method == http::Method::Get && send_ranges()) return;
    }
    push_head();
    send_whole();
  }

 private:
  [[nodiscard]] std::string_view keep(std::string_view text) { return exchange_.arena().copy(text); }
  void push(FieldId id, std::string_view value) { exchange_.response().fields.push(id, value); }
  [[nodiscard]] std::int64_t now() { return exchange_.loop().wall_seconds(); }
  [[nodiscard]] http::Validators validators() const noexcept {
    return {.etag = variant_.etag, .last_modified = variant_.modified_s};
  }

  // What the bytes are.
  void push_form() {
    push(FieldId::ContentType, keep(entry_.media_type));
    if (variant_.coding != http::Coding::Identity) push(FieldId::ContentEncoding, http::name(variant_.coding));
    push_vary();
  }
  void push_vary() {
    const bool is_spa_404 = purpose_ == Purpose::NotFound && !front_.mount().options.spa.empty();
    if (purpose_ == Purpose::Spa || (is_spa_404 && may_be_navigation(exchange_))) {
      push(FieldId::Vary, entry_.varies ? "Accept, Sec-Fetch-Mode, Accept-Encoding" : kSpaVary);
    } else if (entry_.varies) {
      push(FieldId::Vary, "Accept-Encoding");
    }
  }
  void push_validators() {
    push(FieldId::ETag, keep(variant_.etag));
    push(FieldId::LastModified, keep(variant_.last_modified));
  }
  void push_rest() {
    if (!entry_.cache_control.empty()) push(FieldId::CacheControl, keep(entry_.cache_control));
    if (!entry_.disposition.empty()) push(FieldId::ContentDisposition, keep(entry_.disposition));
  }
  void push_head() {
    if (purpose_ == Purpose::Asked) return exchange_.response().fields.use(*variant_.fields);
    push_form();
    push_validators();
    push(FieldId::AcceptRanges, "bytes");
    push_rest();
  }

  // For hooks that would encode the whole; a twin they leave alone.
  void note_whole() {
    if (exchange_.match.reply_hooks.empty() || variant_.coding != http::Coding::Identity) return;
    exchange_.add_note<WholeAnswer>(keep(entry_.media_type), variant_.size());
  }

  // False: answered with 304 or 412.
  bool passes_conditions() {
    const http::Head& request = exchange_.request();
    switch (http::evaluate(request.fields, request.method, validators(), now())) {
      case http::Condition::Proceed: return true;
      case http::Condition::Failed: exchange_.refuse(Error(ErrorKind::Conflict, 0, 412)); return false;
      case http::Condition::NotModified: break;
    }
    exchange_.response().status = 304;
    // What the 200 would have said and a cache goes by (RFC 9110 §15.4.5).
    push_vary();
    push(FieldId::ETag, keep(variant_.etag));
    if (!entry_.cache_control.empty()) push(FieldId::CacheControl, keep(entry_.cache_control));
    note_whole();
    exchange_.reply();
    return false;
  }

  void send_whole() {
    if (variant_.holding) {
      exchange_.reply(Body(variant_.holding->slice(0, variant_.size())));
    } else {
      FileSource::Parts parts;
      parts.push_back({.first = 0, .size = variant_.size()});
      exchange_.reply(make_source(std::move(parts), variant_.size()));
    }
  }
  Body make_source(FileSource::Parts&& parts, std::uint64_t length) {
    if (length == 0) return {};
    return Body(SourcePtr(new FileSource(front_, exchange_, variant_, std::move(parts))), length);
  }

  [[nodiscard]] std::string content_range(const http::ByteRange& range) const {
    return "bytes " + std::to_string(range.first) + "-" + std::to_string(range.last) + "/" +
           std::to_string(variant_.size());
  }

  // False: the whole is to be sent.
  bool send_ranges() {
    const http::Fields& fields = exchange_.request().fields;
    if (!http::allows_range(fields, validators(), now())) return false;
    // One line: two of them would be one list with two units.
    http::ByteRange ranges[kRangesMax];
    const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(exchange_.limits().range_count_max, kRangesMax));
    std::size_t count = 0;
    switch (http::parse_range(fields.get(FieldId::Range), variant_.size(), std::span(ranges, most), count)) {
      case http::RangeVerdict::Whole: return false;
      case http::RangeVerdict::Unsatisfiable: {
        const std::string_view value = keep("bytes */" + std::to_string(variant_.size()));
        exchange_.refuse(Error(ErrorKind::Invalid, 0, 416), {},
                         {.name = http::name(FieldId::ContentRange), .value = value, .id = FieldId::ContentRange});
        return true;
      }
      case http::RangeVerdict::Some: break;
    }
    exchange_.response().status = 206;
    note_whole();
    if (count == 1) {
      send_range(ranges[0]);
    } else {
      send_parts(std::span(ranges, count));
    }
    return true;
  }
  void send_range(const http::ByteRange& range) {
    push_head();
    push(FieldId::ContentRange, keep(content_range(range)));
    if (variant_.holding) {
      exchange_.reply(Body(variant_.holding->slice(range.first, range.size())));
      return;
    }
    FileSource::Parts parts;
    parts.push_back({.first = range.first, .size = range.size()});
    exchange_.reply(make_source(std::move(parts), range.size()));
  }
  // multipart/byteranges (RFC 9110 §14.6): what the parts are stands in each of them.
  void send_parts(std::span<const http::ByteRange> ranges) {
    const std::string boundary = front_.make_boundary();
    if (variant_.coding != http::Coding::Identity) push(FieldId::ContentEncoding, http::name(variant_.coding));
    push_vary();
    push_validators();
    push(FieldId::AcceptRanges, "bytes");
    push_rest();
    push(FieldId::ContentType, keep("multipart/byteranges; boundary=" + boundary));
    FileSource::Parts parts;
    std::uint64_t length = 0;
    for (const http::ByteRange& range : ranges) {
      std::string head = parts.empty() ? "--" : "\r\n--";
      head += boundary + "\r\nContent-Type: " + entry_.media_type + "\r\nContent-Range: " + content_range(range);
      head += "\r\n\r\n";
      length += head.size() + range.size();
      parts.push_back({.text = std::move(head)});
      parts.push_back({.first = range.first, .size = range.size()});
    }
    std::string end = "\r\n--" + boundary + "--\r\n";
    length += end.size();
    parts.push_back({.text = std::move(end)});
    if (!variant_.holding) {
      exchange_.reply(make_source(std::move(parts), length));
      return;
    }
    Chain chain;
    for (FileSource::Part& part : parts) {
      chain.append(part.text.empty() ? variant_.holding->slice(part.first, part.size)
                                     : Slice::of(std::move(part.text)));
    }
    exchange_.reply(Body(std::move(chain)));
  }

  Front& front_;
  Exchange& exchange_;
  const Entry& entry_;
  const Variant& variant_;
  Purpose purpose_;
};

// Made for one request; nothing of it may be a script.
void send_listing(Exchange& exchange, const Entry& entry) {
  http::Fields& fields = exchange.response().fields;
  fields.push(FieldId::ContentType, "text/html; charset=utf-8");
  fields.push(FieldId::CacheControl, "no-cache");
  fields.push(FieldId::ContentSecurityPolicy, "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'");
  fields.push(FieldId::XContentTypeOptions, "nosniff");
  exchange.reply(Body(Slice::of(entry.page)));
}

}  // namespace

void send_file(Front& front, Exchange& exchange, Entry& entry, const Variant* variant, Purpose purpose) {
  if (variant == nullptr) [[unlikely]] {
    // What stands behind may still encode it; alone there is nothing that the client would take (RFC 9110 §12.5.3).
    if (exchange.match.reply_hooks.empty() && purpose != Purpose::NotFound) {
      exchange.refuse(Error(ErrorKind::Unsupported, 0, 406), {},
                      {.name = http::name(FieldId::Vary), .value = "Accept-Encoding", .id = FieldId::Vary});
      return;
    }
    variant = &entry.variants[0];
  }
  Answer(front, exchange, entry, *variant, purpose).send();
}

void send_other(Exchange& exchange, const Entry& entry) {
  static constexpr http::Field kRetry{.name = "Retry-After", .value = "1", .id = FieldId::RetryAfter};
  switch (entry.kind) {
    case Entry::Kind::Redirect: send_redirect(exchange); break;
    case Entry::Kind::Listing: send_listing(exchange, entry); break;
    case Entry::Kind::Forbidden: exchange.refuse(Error(ErrorKind::System, entry.check_error, 403)); break;
    case Entry::Kind::Busy: exchange.refuse(Error(ErrorKind::Busy), "the file is being written", kRetry); break;
    default: exchange.refuse(Error(ErrorKind::Busy), {}, kRetry); break;
  }
}

// The path that was asked for with a slash behind it, and its query.
void send_redirect(Exchange& exchange) {
  const http::Head& request = exchange.request();
  // "//host/" would be another host's (RFC 3986 §4.2).
  if (request.path.starts_with("//")) {
    exchange.refuse(Error(ErrorKind::NotFound));
    return;
  }
  std::string location(request.path);
  location += '/';
  if (!request.query.empty()) location.append("?").append(request.query);
  exchange.response().status = 301;
  if (!exchange.response().fields.add(FieldId::Location, location)) {
    exchange.refuse(Error(ErrorKind::NotFound));
    return;
  }
  exchange.reply();
}

bool may_be_navigation(const Exchange& exchange) noexcept {
  const http::Head& request = exchange.request();
  if (request.method != http::Method::Get && request.method != http::Method::Head) return false;
  const std::string_view name = request.path.substr(request.path.rfind('/') + 1);
  return name.find('.') == std::string_view::npos;
}

bool is_navigation(const Exchange& exchange) noexcept {
  if (!may_be_navigation(exchange)) return false;
  const http::Head& request = exchange.request();
  if (const http::Field* mode = request.fields.find(FieldId::SecFetchMode); mode != nullptr) {
    return ascii::equal_folded(mode->value, "navigate");
  }
  std::string_view accepted = request.fields.get(FieldId::Accept);
  for (http::Weighted member; http::next_weighted(accepted, member);) {
    const std::string_view type = ascii::trim(member.value.substr(0, member.value.find(';')));
    if (member.weight > 0 &&
        (ascii::equal_folded(type, "text/html") || ascii::equal_folded(type, "application/xhtml+xml"))) {
      return true;
    }
  }
  return false;
}

}  // namespace violet::files
