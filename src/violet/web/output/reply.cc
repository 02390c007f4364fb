#include "violet/web/output/reply.h"

#include "violet/base/ascii.h"
#include "violet/core/exchange.h"
#include "violet/web/output/respond.h"

#include <cstring>

namespace violet {
namespace web {
namespace {

struct PackedLine {
  http::FieldId id;
  bool is_trailer;
  std::uint16_t name_size;
  std::uint32_t value_size;
};

// A body that is all there, and trailers behind it.
class TrailedSource final : public Source {
 public:
  TrailedSource(Exchange& exchange, Body body)
      : exchange_(&exchange), body_(std::move(body)), fields_(exchange.arena()) {}

  Pull pull(Chain& out, std::size_t max) override {
    if (!body_.chain().is_empty()) {
      body_.chain().move_front(body_.chain().size() < max ? body_.chain().size() : max, out);
      return body_.chain().is_empty() && body_.source() == nullptr ? Pull::End : Pull::More;
    }
    return body_.source() != nullptr ? body_.source()->pull(out, max) : Pull::End;
  }
  const http::Fields* trailers() override { return &fields_; }
  void attach(Stream* stream) noexcept override {
    if (body_.source() != nullptr) body_.source()->attach(stream);
  }
  http::Fields& fields() noexcept { return fields_; }

 private:
  Ref<Exchange> exchange_;  // the trailers' memory
  Body body_;
  http::Fields fields_;
};

// Fields that a trailer section may not have: framing, routing, conditions, authentication, and what says how to read
// the body (RFC 9110 §6.5.1).
bool may_trail(http::FieldId id) noexcept {
  switch (id) {
    case http::FieldId::TransferEncoding:
    case http::FieldId::ContentLength:
    case http::FieldId::Connection:
    case http::FieldId::KeepAlive:
    case http::FieldId::Upgrade:
    case http::FieldId::Host:
    case http::FieldId::Te:
    case http::FieldId::Trailer:
    case http::FieldId::SetCookie:
    case http::FieldId::Authorization:
    case http::FieldId::ProxyAuthenticate:
    case http::FieldId::WwwAuthenticate:
    case http::FieldId::CacheControl:
    case http::FieldId::ContentEncoding:
    case http::FieldId::ContentType:
    case http::FieldId::ContentRange:
    case http::FieldId::Date:
    case http::FieldId::Expires:
    case http::FieldId::Location:
    case http::FieldId::RetryAfter:
    case http::FieldId::Vary: return false;
    default: return true;
  }
}

}  // namespace

void FieldPack::add(const Line& line) {
  const PackedLine head{line.id, line.is_trailer, static_cast<std::uint16_t>(line.name.size()),
                        static_cast<std::uint32_t>(line.value.size())};
  const std::size_t size = sizeof head + line.name.size() + line.value.size();
  if (size > capacity_ - size_) {
    const std::size_t capacity = (capacity_ + size) * 2;
    std::unique_ptr<char[]> more(new char[capacity]);
    std::memcpy(more.get(), data(), size_);
    more_ = std::move(more);
    capacity_ = static_cast<std::uint32_t>(capacity);
  }
  char* out = (more_ != nullptr ? more_.get() : room_) + size_;
  std::memcpy(out, &head, sizeof head);
  out += sizeof head;
  if (!line.name.empty()) std::memcpy(out, line.name.data(), line.name.size());
  out += line.name.size();
  if (!line.value.empty()) std::memcpy(out, line.value.data(), line.value.size());
  size_ += static_cast<std::uint32_t>(size);
}

bool FieldPack::next(std::uint32_t& at, Line& out) const noexcept {
  if (at == size_) return false;
  PackedLine head;
  const char* from = data() + at;
  std::memcpy(&head, from, sizeof head);
  from += sizeof head;
  out.id = head.id;
  out.is_trailer = head.is_trailer;
  out.name = {from, head.name_size};
  out.value = {from + head.name_size, head.value_size};
  at += static_cast<std::uint32_t>(sizeof head + head.name_size + head.value_size);
  return true;
}

void FieldPack::take(FieldPack& other) noexcept {
  size_ = std::exchange(other.size_, 0);
  capacity_ = std::exchange(other.capacity_, kRoom);
  more_ = std::move(other.more_);
  if (more_ == nullptr && size_ > 0) std::memcpy(room_, other.room_, size_);
}

}  // namespace web

Reply Reply::redirect(std::string_view to, Status status) {
  Reply reply(status);
  const int code = static_cast<int>(status);
  if (code != 301 && code != 302 && code != 303 && code != 307 && code != 308) {
    reply.set_defect("is no status to redirect with", std::to_string(code));
  }
  reply.field("Location", to);
  return reply;
}

Reply& Reply::cookie(const Cookie& cookie) & {
  if (const Result<std::string> text = cookie.to_field()) {
    add_field("Set-Cookie", *text, false);
  } else {
    set_defect("is a cookie with malformed parts", cookie.name);
  }
  return *this;
}

Reply& Reply::body(Body body) & noexcept {
  content_ = Content::Bytes;
  body_ = std::move(body);
  return *this;
}

void Reply::add_field(std::string_view name, std::string_view value, bool is_trailer) {
  // Lengths beyond these would not fit any peer's limits either.
  constexpr std::size_t kNameMax = 0xffff;
  constexpr std::size_t kValueMax = 16 << 20;
  const http::FieldId id = http::find_field(name);
  if (id == http::FieldId::Other && (!ascii::is_token(name) || name.size() > kNameMax)) {
    return set_defect("is no field name", name);
  }
  if (!http::is_field_value(value) || value.size() > kValueMax) return set_defect("has a malformed value", name);
  if (is_trailer && !web::may_trail(id)) return set_defect("may not be a trailer", name);
  has_content_type_ |= id == http::FieldId::ContentType && !is_trailer;
  has_trailers_ |= is_trailer;
  fields_.add({id, is_trailer, id == http::FieldId::Other ? name : std::string_view{}, value});
}

void Reply::set_defect(std::string_view what, std::string_view name) {
  if (!defect_.empty()) return;
  // Into a log line, so nothing that could look like another one.
  constexpr std::size_t kShownMax = 64;
  for (char c : name.substr(0, kShownMax)) defect_ += c >= 0x20 && c < 0x7f ? c : '?';
  defect_ = "\"" + defect_ + "\" ";
  defect_ += what;
}

Body Reply::write(Exchange& exchange) {
  http::Head& head = exchange.response();
  head.status = static_cast<std::uint16_t>(status_);
  std::uint32_t at = 0;
  web::FieldPack::Line line;
  // The head outlives this Reply for those who look at it later.
  while (fields_.next(at, line)) {
    if (line.is_trailer) continue;
    const std::string_view name =
        line.id == http::FieldId::Other ? exchange.arena().copy(line.name) : http::name(line.id);
    head.fields.push({.name = name, .value = exchange.arena().copy(line.value), .id = line.id});
  }
  switch (content_) {
    case Content::None: break;
    case Content::Literal:
      if (!has_content_type_) web::set_content_type(exchange, web::kPlainText);
      body_ = Body(Slice::literal(literal_));
      break;
    case Content::Text: body_ = web::string_body(exchange, std::move(text_)); break;
    case Content::Bytes:
      if (!has_content_type_ && !body_.is_empty()) web::set_content_type(exchange, web::kOctets);
      break;
  }
  if (!has_trailers_) return std::move(body_);
  body_.chain().make_owned();
  auto source = std::make_unique<web::TrailedSource>(exchange, std::move(body_));
  at = 0;
  while (fields_.next(at, line)) {
    if (line.is_trailer) {
      static_cast<void>(line.id == http::FieldId::Other ? source->fields().add(line.name, line.value)
                                                        : source->fields().add(line.id, line.value));
    }
  }
  return Body(SourcePtr(source.release()));
}

}  // namespace violet
