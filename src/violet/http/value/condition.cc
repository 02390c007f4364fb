#include "violet/http/value/condition.h"

#include "violet/base/ascii.h"
#include "violet/http/date.h"

namespace violet::http {
namespace {

bool is_weak(std::string_view etag) noexcept { return etag.starts_with("W/"); }

std::string_view opaque(std::string_view etag) noexcept { return is_weak(etag) ? etag.substr(2) : etag; }

bool is_same(std::string_view a, std::string_view b, Comparison comparison) noexcept {
  if (comparison == Comparison::Strong && (is_weak(a) || is_weak(b))) return false;
  return opaque(a) == opaque(b);
}

// Takes the next entity tag off `rest`; "" at the end, or where what follows is none. A backslash is a character like
// others here (RFC 9110 §8.8.3).
std::string_view next_etag(std::string_view& rest) noexcept {
  while (!rest.empty() && (rest.front() == ',' || rest.front() == ' ' || rest.front() == '\t')) rest.remove_prefix(1);
  const std::size_t open = is_weak(rest) ? 2 : 0;
  if (rest.size() <= open || rest[open] != '"') return {};
  const std::size_t close = rest.find('"', open + 1);
  if (close == std::string_view::npos) return {};
  const std::string_view etag = rest.substr(0, close + 1);
  rest.remove_prefix(close + 1);
  return etag;
}

// Over all lines of the field.
bool is_listed(const Fields& request, FieldId id, std::string_view etag, Comparison comparison) noexcept {
  for (const Field& field : request) {
    if (field.id == id && has_etag(field.value, etag, comparison)) return true;
  }
  return false;
}

bool fails(const Fields& request, const Validators& current, std::int64_t now) noexcept {
  if (request.has(FieldId::IfMatch)) {
    return !is_listed(request, FieldId::IfMatch, current.etag, Comparison::Strong);
  }
  const Field* since = request.find(FieldId::IfUnmodifiedSince);
  if (since == nullptr || !current.last_modified) return false;
  const auto date = parse_date(since->value, now);
  return date && *current.last_modified > *date;
}

bool is_unmodified(const Fields& request, const Validators& current, std::int64_t now) noexcept {
  const Field* since = request.find(FieldId::IfModifiedSince);
  if (since == nullptr || !current.last_modified) return false;
  const auto date = parse_date(since->value, now);
  return date && *current.last_modified <= *date;
}

}  // namespace

bool has_etag(std::string_view list, std::string_view etag, Comparison comparison) noexcept {
  if (ascii::trim(list) == "*") return true;
  if (etag.empty()) return false;
  for (;;) {
    const std::string_view member = next_etag(list);
    if (member.empty()) return false;
    if (is_same(member, etag, comparison)) return true;
  }
}

Condition evaluate(const Fields& request, Method method, const Validators& current, std::int64_t now) noexcept {
  if (fails(request, current, now)) return Condition::Failed;
  const bool is_read = method == Method::Get || method == Method::Head;
  if (request.has(FieldId::IfNoneMatch)) {
    if (!is_listed(request, FieldId::IfNoneMatch, current.etag, Comparison::Weak)) return Condition::Proceed;
    return is_read ? Condition::NotModified : Condition::Failed;
  }
  return is_read && is_unmodified(request, current, now) ? Condition::NotModified : Condition::Proceed;
}

bool allows_range(const Fields& request, const Validators& current, std::int64_t now) noexcept {
  const Field* field = request.find(FieldId::IfRange);
  if (field == nullptr) return true;
  const std::string_view value = field->value;
  if (value.starts_with('"') || is_weak(value)) {
    std::string_view rest = value;
    const std::string_view etag = next_etag(rest);
    return rest.empty() && !etag.empty() && is_same(etag, current.etag, Comparison::Strong);
  }
  // A date is as good as a tag only if nothing can have changed within its second (RFC 9110 §8.8.2.2).
  const auto date = parse_date(value, now);
  return date && current.last_modified && *date == *current.last_modified && now > *date;
}

}  // namespace violet::http
