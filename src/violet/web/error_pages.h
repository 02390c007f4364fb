#pragma once

// ErrorPages: the look of every answer that violet makes by itself: what the wire refuses, what no route takes, what
// middleware or a handler answers by a Status or an Error, and handlers that threw.
//
//   app.on_error([](const ErrorInfo& error) {
//     return Reply(render_page(error.status(), error.detail())).content_type("text/html");
//   });
//
// Without a hook the page is plain text: the status, the detail, the limit that bit and the id that joins a 500 to its
// line in the log; for clients that speak JSON, and where values of a request are wrong, the same as a problem
// (web/content/problem.h). What an exception said, and how a limit is raised, is shown only in development; browsers
// get a page of all that is known then (web/page/dev_page.h).

#include "violet/base/function.h"
#include "violet/core/site.h"
#include "violet/data/findings.h"
#include "violet/web/output/reply.h"
#include "violet/web/request.h"

#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace violet {

namespace web {
struct RouteInfo;
}

class ErrorInfo {
 public:
  [[nodiscard]] int status() const noexcept { return status_; }
  // "Not Found"
  [[nodiscard]] std::string_view reason() const noexcept;
  [[nodiscard]] Error error() const noexcept { return error_; }
  // More about it, one line each, fit for the client; often "".
  [[nodiscard]] std::string_view detail() const noexcept { return detail_; }
  // Each value of the request that is wrong; empty where the error is about something else.
  [[nodiscard]] std::span<const data::Finding> findings() const noexcept {
    const data::Findings* found = request_.exchange().findings;
    return found != nullptr ? found->list() : std::span<const data::Finding>{};
  }
  // The limit of core/limits.h that was passed, and its value; "" and 0 when it was none.
  [[nodiscard]] std::string_view limit() const noexcept;
  [[nodiscard]] std::uint64_t limit_value() const noexcept;
  // Of a handler that threw: names its line in the log.
  [[nodiscard]] std::string_view id() const noexcept { return id_; }
  // How the program can raise the limit; "" outside development, and when it was none.
  [[nodiscard]] std::string_view hint() const noexcept { return hint_; }
  // What the exception said; "" outside development.
  [[nodiscard]] std::string_view exception() const noexcept { return exception_; }
  // The request; its texts are empty when it could not even be read.
  [[nodiscard]] Request request() const noexcept { return request_; }
  // The page that would be sent without a hook.
  [[nodiscard]] std::string to_string() const;

 private:
  friend class ErrorPages;
  explicit ErrorInfo(Exchange& exchange) noexcept : request_(exchange) {}
  int status_ = 500;
  Error error_;
  std::string_view detail_;
  std::string_view id_;
  std::string_view hint_;
  std::string exception_;
  Request request_;
};

class ErrorPages final : public ErrorPage {
 public:
  using Hook = Function<Reply(const ErrorInfo&)>;

  // Called by all loops at once. A Reply that does not say otherwise keeps the status of the error.
  void set_hook(Hook hook) noexcept { hook_ = std::move(hook); }
  // Shows what exceptions say, and browsers a page for whoever develops (web/page/dev_page.h).
  void set_dev(bool dev) noexcept { is_dev_ = dev; }
  [[nodiscard]] bool is_dev() const noexcept { return is_dev_; }
  // What that page knows of routes. REQUIRES: nobody serves; the router outlives this.
  void set_routes(std::vector<web::RouteInfo> routes);
  ~ErrorPages() override;
  ErrorPages();

  Body render(Exchange& exchange, Error why, const std::exception_ptr& exception, std::string_view id) override;

 private:
  bool run_hook(Exchange& exchange, const ErrorInfo& info, Body& out) noexcept;

  Hook hook_;
  std::vector<web::RouteInfo> routes_;
  bool is_dev_ = false;
};

}  // namespace violet
