#pragma once

// Request: what a handler may ask about the request, one pointer wide. Texts stay valid as long as the handler: a
// synchronous one until it returns, a coroutine until it ends.

#include "violet/core/exchange.h"

#include <optional>
#include <string_view>

namespace violet {

class Request {
 public:
  explicit Request(Exchange& exchange) noexcept : exchange_(&exchange) {}

  [[nodiscard]] http::Method method() const noexcept { return head().method; }
  [[nodiscard]] std::string_view method_text() const noexcept { return head().method_text; }
  [[nodiscard]] http::Version version() const noexcept { return head().version; }
  // As received, not decoded: "/a%20b".
  [[nodiscard]] std::string_view path() const noexcept { return head().path; }
  // The pattern of the route, "/users/{id}"; "" where no route was found.
  [[nodiscard]] std::string_view pattern() const noexcept { return exchange_->match.pattern; }
  // The decoded value of {name}; "" when the pattern has no such parameter.
  [[nodiscard]] std::string_view param(std::string_view name) const noexcept;
  // Not decoded, without '?'.
  [[nodiscard]] std::string_view raw_query() const noexcept { return head().query; }
  // The decoded value of the first `name` in the query; nullopt when it is not there or badly encoded.
  [[nodiscard]] std::optional<std::string_view> query(std::string_view name) const;
  // The value of the first such field, "" when there is none.
  [[nodiscard]] std::string_view header(http::FieldId id) const noexcept { return head().fields.get(id); }
  [[nodiscard]] std::string_view header(std::string_view name) const noexcept { return head().fields.get(name); }
  [[nodiscard]] const http::Fields& fields() const noexcept { return head().fields; }
  [[nodiscard]] std::optional<std::string_view> cookie(std::string_view name) const noexcept;
  // Fields behind the body; nullptr until it has ended, and when there were none.
  [[nodiscard]] const http::Fields* trailers() const noexcept { return exchange_->request_trailers(); }
  [[nodiscard]] std::string_view scheme() const noexcept { return head().scheme; }
  [[nodiscard]] std::string_view authority() const noexcept { return head().authority; }
  [[nodiscard]] const Address& peer() const noexcept { return exchange_->peer(); }
  [[nodiscard]] bool is_secure() const noexcept { return exchange_->is_secure(); }
  // What TLS has established about the connection, a verified client certificate too; nullptr without TLS.
  [[nodiscard]] const Security* security() const noexcept { return exchange_->connection().security.get(); }
  [[nodiscard]] const http::Head& head() const noexcept { return exchange_->request(); }

  // The exchange behind it, for extractors and middleware.
  [[nodiscard]] Exchange& exchange() const noexcept { return *exchange_; }

 private:
  Exchange* exchange_;
};

namespace web {

// Takes the next name=value off a query or a form, neither decoded; false when nothing is left. Empty pairs are
// skipped.
bool next_pair(std::string_view& rest, std::string_view& name, std::string_view& value) noexcept;
// Takes the next name=value off a Cookie field (RFC 6265 §4.2.1), quotes around the value taken away.
bool next_cookie(std::string_view& rest, std::string_view& name, std::string_view& value) noexcept;

}  // namespace web
}  // namespace violet
