#pragma once

// request_id: middleware that gives each request a name, for logs here and elsewhere.
//
//   app.use(request_id);
//   app.use(request_id({.accept = true}));      // behind a proxy that names requests already
//   app.get("/", [](RequestId id) { … *id … });
//
// The name is 128 random bits in hexadecimal, or, where `accept` says so, the X-Request-ID that came, if it is at most
// 128 letters, digits and signs that harm no log. It stands in Exchange::request_id, replaces the X-Request-ID of the
// request, so that it is handed on, and is sent back with the answer. Use it before access_log.

#include "violet/core/exchange.h"
#include "violet/web/input/extract.h"

#include <string_view>

namespace violet {

struct RequestIdOptions {
  // Takes the client's name for the request. Whoever may send one can make two requests look like one in the log.
  bool accept = false;
};

class NameRequests {
 public:
  constexpr NameRequests() noexcept = default;
  constexpr explicit NameRequests(const RequestIdOptions& options) noexcept : options_(options) {}
  [[nodiscard]] constexpr NameRequests operator()(const RequestIdOptions& options) const noexcept {
    return NameRequests(options);
  }

  void on_request(Exchange& exchange) const;
  void on_reply(Exchange& exchange, http::Head& head, Body& body) const;

 private:
  RequestIdOptions options_;
};

inline constexpr NameRequests request_id;

// A handler's parameter: what the request is called, "" without the middleware.
class RequestId {
 public:
  explicit RequestId(std::string_view text) noexcept : text_(text) {}
  [[nodiscard]] std::string_view operator*() const noexcept { return text_; }
  [[nodiscard]] const std::string_view* operator->() const noexcept { return &text_; }

 private:
  std::string_view text_;
};

template <>
struct Extract<RequestId> : Extractor {
  static RequestId from(Fetch& fetch) noexcept { return RequestId(fetch.exchange().request_id); }
};

}  // namespace violet
