#pragma once

// Conditional requests: entity tags, dates, and what If-Match and its relatives say about a representation (RFC 9110
// §8.8, §13). Nothing here knows where the representation comes from.
//
//   const http::Validators current{.etag = "\"a1\"", .last_modified = 784111777};
//   switch (http::evaluate(head.fields, head.method, current, now)) … Proceed: 200 or 206, NotModified: 304, Failed:
//   412

#include "violet/http/fields.h"
#include "violet/http/method.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace violet::http {

struct Validators {
  std::string_view etag;                      // with its quotes, "W/" in front of a weak one; "" for none
  std::optional<std::int64_t> last_modified;  // seconds since 1970
};

enum class Condition : std::uint8_t {
  Proceed,
  NotModified,  // 304: the client has it already
  Failed,       // 412: it is not what the client thinks it is
};

// The four conditions in the order of RFC 9110 §13.2.2; `now` is what two-digit years are read by. To be asked only
// where the answer would be a success without them.
[[nodiscard]] Condition evaluate(const Fields& request, Method method, const Validators& current,
                                 std::int64_t now) noexcept;

// Whether a Range may be answered: there is no If-Range, or it names this very representation (RFC 9110 §13.1.5).
[[nodiscard]] bool allows_range(const Fields& request, const Validators& current, std::int64_t now) noexcept;

// Whether `list`, "*" or entity tags between commas, has `etag`. Strong: neither may be weak (RFC 9110 §8.8.3.2).
enum class Comparison : std::uint8_t { Strong, Weak };
[[nodiscard]] bool has_etag(std::string_view list, std::string_view etag, Comparison comparison) noexcept;

}  // namespace violet::http
